//! A metadata function: its name, its signature and its value together.

use std::fmt;

use super::Source;
use crate::catalog::{
    Database, Found, Object, TEMPDB, TableDef, Viewer, database_user, is_temporary,
};
use crate::error::SqlResult;
use crate::refused::{Kind, refusal};
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
            function: self,
            args,
            source,
            database,
        })
    }

    /// Refuses a word that SQL Server knows as an argument of this function and the engine does not.
    ///
    /// # Errors
    ///
    /// 40517.
    pub fn refuse(&self, word: &str) -> SqlResult<()> {
        let named = |function| refusal(Kind::Word(function), word);
        let refused = match self.name {
            // It knows what OBJECTPROPERTY knows, and more.
            "OBJECTPROPERTYEX" => named("OBJECTPROPERTY").or_else(|| named("OBJECTPROPERTYEX")),
            name => named(name),
        };
        refused.map_or(Ok(()), Err)
    }
}

/// Defines metadata functions: name, parameters (optional ones behind `;`), type of the value, and the value. A value of
/// another type does not compile. `?` marks a value that can be an error.
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
    pub function: &'c Metadata,
    args: &'c [Value],
    pub source: &'c dyn Source,
    /// The current database.
    pub database: &'c Database,
}

impl<'c> Call<'c> {
    /// Whether an argument was given, be it NULL.
    pub fn has(&self, i: usize) -> bool {
        i < self.args.len()
    }

    /// `None` for NULL and for what was left out.
    pub fn text(&self, i: usize) -> Option<String> {
        match self.args.get(i) {
            Some(Value::Str(s)) => Some(String::from_utf16_lossy(s)),
            _ => None,
        }
    }

    /// NULL for a word that is no property: neither here nor in SQL Server.
    ///
    /// # Errors
    ///
    /// 40517 for one that SQL Server has.
    pub fn no_property<T>(&self, word: &str) -> SqlResult<Option<T>> {
        self.function.refuse(word)?;
        Ok(None)
    }

    pub fn int(&self, i: usize) -> Option<i32> {
        match self.args.get(i) {
            Some(Value::Int(n)) => i32::try_from(*n).ok(),
            _ => None,
        }
    }

    pub fn bytes(&self, i: usize) -> Option<&'c [u8]> {
        match self.args.get(i) {
            Some(Value::Bytes(b)) => Some(b),
            _ => None,
        }
    }

    /// The object that an argument names, if the session's user sees it.
    pub fn named(&self, i: usize) -> Option<&'c Object> {
        let found = self.found(i)?;
        let (source, database) = (self.source, found.database);
        let sees = |user| Viewer::new(database, user, source.sysadmin()).sees(found.object);
        let seen = if database.id == self.database.id {
            sees(source.user())
        } else {
            let user = database_user(database, &source.login(), source.sysadmin());
            is_temporary(found.object.name()) || user.is_some_and(sees)
        };
        seen.then_some(found.object)
    }

    /// The object that an argument names, whoever sees it.
    pub fn found(&self, i: usize) -> Option<Found<'c>> {
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
        self.named(i)?.as_table().map(AsRef::as_ref)
    }

    /// The object whose id an argument holds, if the session's user sees it.
    pub fn object(&self, i: usize) -> Option<&'c Object> {
        let object = self.database.objects.get(&self.int(i)?)?;
        let user = self.source.user();
        let viewer = Viewer::new(self.database, user, self.source.sysadmin());
        viewer.sees(object).then_some(object)
    }

    /// The table whose id an argument holds.
    pub fn table(&self, i: usize) -> Option<&'c TableDef> {
        self.object(i)?.as_table().map(AsRef::as_ref)
    }
}
