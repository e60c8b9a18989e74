//! A system view: its name, its columns and its rows in one value.

use std::fmt;

use super::Source;
use crate::error::SqlResult;
use crate::value::{Collation, DataType, Value};

pub struct View {
    /// Lower-case two-part name, for example `sys.tables`.
    pub name: &'static str,
    pub columns: &'static [Column],
    /// Hands over its rows: of each as many values as there are columns.
    pub rows: fn(&dyn Source, &mut TakeRow<'_>) -> SqlResult<()>,
}

/// Takes a row of a system view; its error ends the reading.
pub type TakeRow<'a> = dyn FnMut(Vec<Value>) -> SqlResult<()> + 'a;

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

pub struct Column {
    /// As `SELECT *` shows it.
    pub name: &'static str,
    /// Its type under the current database's collation.
    pub ty: fn(Collation) -> DataType,
}

/// Defines system views. Each column is one line with its name, its type and its value in a row; a value of the
/// wrong type does not compile, and no column can lack a value or have one too many.
///
/// ```text
/// view! {
///     /// What it lists.
///     NAME: "sys.name";
///     each pattern in |source| an iterator;
///     "column": Kind = value,
/// }
/// ```
macro_rules! view {
    (
        $(#[$doc:meta])*
        $id:ident: $name:expr;
        each $row:pat in |$source:ident| $rows:expr;
        $($column:literal: $kind:ident = $value:expr,)+
    ) => {
        $(#[$doc])*
        pub static $id: $crate::dictionary::View = $crate::dictionary::View {
            name: $name,
            columns: &[$($crate::dictionary::Column {
                name: $column,
                ty: <$crate::dictionary::kind::$kind as $crate::dictionary::kind::Kind>::data_type,
            }),+],
            rows: |$source, take| {
                ($rows).try_for_each(|$row| take(vec![
                    $(<$crate::dictionary::kind::$kind as $crate::dictionary::kind::Holds<_>>::value($value)),+
                ]))
            },
        };
    };
}

pub(super) use view;
