//! What a result set says of a column.

use super::{Coercibility, DataType};

/// A column of a result set.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnMeta {
    /// What the client calls it; empty when the select list gives no name.
    pub name: String,
    /// The declared type, which its values do not carry.
    pub ty: DataType,
    pub nullable: bool,
    pub identity: bool,
    /// How strongly its text insists on its collation, for the queries around this one.
    pub label: Coercibility,
}
