//! What every row of a table must satisfy.

use crate::value::DataType;

use super::{Cond, Scalar};

/// What each stored row must satisfy, bound once per table version: slots 0… of level 0 are the
/// table's columns.
#[derive(Debug, Default)]
pub struct RowRules {
    /// Computed columns: position, expression, type.
    pub computed: Vec<(usize, Scalar, DataType)>,
    /// CHECK constraints: position in `TableDef::checks`.
    pub checks: Vec<Cond>,
    /// Filters of the indexes, by position in `TableDef::indexes`.
    pub filters: Vec<Option<Cond>>,
}
