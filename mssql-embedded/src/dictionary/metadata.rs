//! A metadata function: its name, its signature and its value together.

use std::fmt;

use super::Source;
use crate::catalog::{Database, Object, TEMPDB, TableDef, is_temporary};
use crate::error::SqlResult;
use crate::value::{Collation, DataType, Value};

/// A function over the catalogue, the locks or the permissions.
pub struct Metadata {
    /// Upper-case name.
    pub name: &'static str,
    /// How many arguments it takes at least; at most as many as it has parameters.
    pub least: usize,
    /// The types its arguments are cast to.
    pub params: &'static [fn(Collation) -> DataType],
    /// The type of its value.
    pub ret: fn(Collation) -> DataType,
    /// Its value; NULL when an argument names nothing.
    pub value: fn(&Call<'_>) -> SqlResult<Value>,
}

impl fmt::Debug for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Metadata {
    /// Computes a call whose arguments have the types of the parameters.
    ///
    /// # Errors
    ///
    /// Refuses properties that SQL Server has and the engine has not.
    pub fn call(&self, source: &dyn Source, args: &[Value]) -> SqlResult<Value> {
        let Some(database) = source.database() else {
            return Ok(Value::Null);
        };
        (self.value)(&Call {
            args,
            source,
            database,
        })
    }
}

/// Defines metadata functions: name, parameters (optional ones behind `;`), type of the value, and the value. A value of
/// another type does not compile. `?=` marks a value that can be an error.
macro_rules! metadata {
    ($($name:literal($($param:ident),* $(; $($more:ident),+)?) -> $ret:ident $how:tt $value:expr,)+) => {
        /// The functions of this file.
        pub static FUNCTIONS: &[$crate::dictionary::Metadata] = &[$(
            $crate::dictionary::Metadata {
                name: $name,
                least: <[&str]>::len(&[$(stringify!($param)),*]),
                params: &[
                    $(<$crate::dictionary::kind::$param as $crate::dictionary::kind::Kind>::data_type,)*
                    $($(<$crate::dictionary::kind::$more as $crate::dictionary::kind::Kind>::data_type,)+)?
                ],
                ret: <$crate::dictionary::kind::$ret as $crate::dictionary::kind::Kind>::data_type,
                value: |call| $crate::dictionary::metadata::metadata!(@value $ret $how $value, call),
            },
        )+];
    };
    (@value $ret:ident => $value:expr, $call:ident) => {
        Ok(<$crate::dictionary::kind::$ret as $crate::dictionary::kind::Holds<_>>::value($value($call)))
    };
    (@value $ret:ident ? $value:expr, $call:ident) => {
        Ok(<$crate::dictionary::kind::$ret as $crate::dictionary::kind::Holds<_>>::value($value($call)?))
    };
}

pub(super) use metadata;

/// One call: its arguments and where it looks.
pub struct Call<'c> {
    args: &'c [Value],
    /// What can be read.
    pub source: &'c dyn Source,
    /// The current database.
    pub database: &'c Database,
}

impl<'c> Call<'c> {
    /// Whether an argument was given, be it NULL.
    pub fn has(&self, i: usize) -> bool {
        i < self.args.len()
    }

    /// An argument as text.
    pub fn text(&self, i: usize) -> Option<String> {
        match self.args.get(i) {
            Some(Value::Str(s)) => Some(String::from_utf16_lossy(s)),
            _ => None,
        }
    }

    /// An argument as a number.
    pub fn int(&self, i: usize) -> Option<i32> {
        match self.args.get(i) {
            Some(Value::Int(n)) => i32::try_from(*n).ok(),
            _ => None,
        }
    }

    /// An argument as bytes.
    pub fn bytes(&self, i: usize) -> Option<&'c [u8]> {
        match self.args.get(i) {
            Some(Value::Bytes(b)) => Some(b),
            _ => None,
        }
    }

    /// The object that an argument names.
    pub fn named(&self, i: usize) -> Option<&'c Object> {
        let name = crate::parse::parse_name(&self.text(i)?).ok()?;
        // Temporary tables are in tempdb: from elsewhere the name says so.
        if let [place @ .., table] = name.parts.as_slice()
            && is_temporary(&table.name)
            && !self.database.name.eq_ignore_ascii_case(TEMPDB)
            && !matches!(place, [d, _] if d.name.eq_ignore_ascii_case(TEMPDB))
        {
            return None;
        }
        self.source.resolve(&name)
    }

    /// The table that an argument names.
    pub fn named_table(&self, i: usize) -> Option<&'c TableDef> {
        table(self.named(i)?)
    }

    /// The object whose id an argument holds.
    pub fn object(&self, i: usize) -> Option<&'c Object> {
        self.database.objects.get(&self.int(i)?)
    }

    /// The table whose id an argument holds.
    pub fn table(&self, i: usize) -> Option<&'c TableDef> {
        table(self.object(i)?)
    }
}

fn table(object: &Object) -> Option<&TableDef> {
    match object {
        Object::Table(t) => Some(t),
        Object::Procedure(_) | Object::View(_) | Object::Constraint { .. } => None,
    }
}
