//! What binding a statement keeps in mind. The files that work with it each add their part to the binder.

use std::sync::Arc;

use crate::ast::{Cte, ObjectName};
use crate::catalog::TableDef;
use crate::plan::Target;
use crate::value::ColumnMeta;

use super::planner::Rel;
use super::typing::Ex;

#[derive(Clone)]
pub(super) enum QueryUse {
    /// The statement itself, or the source of an INSERT.
    Statement,
    /// A subquery used as a value, or under ANY, ALL, IN.
    Value,
    /// Under EXISTS: its outputs do not matter.
    Exists,
    /// Under EXISTS, with the first output equal to this value: `x IN (query)`.
    Member(Ex),
    Derived,
    /// The body of a CTE or view, which sees no names from outside.
    Closed,
    /// Under a set operator or FOR JSON.
    Part,
}

/// The CTEs that can be named.
#[derive(Default)]
pub(super) struct CteEnvironment<'a> {
    pub(super) defs: Vec<CteDef<'a>>,
    /// How many of them, from the first, are visible.
    pub(super) visible: usize,
    /// The one that is being bound.
    pub(super) current: Option<usize>,
}

pub(super) struct CteDef<'a> {
    pub(super) cte: &'a Cte,
    /// While its recursive part is bound.
    pub(super) working: Option<Working<'a>>,
}

/// The rows of the round before, as a recursive member sees them.
#[derive(Clone)]
pub(super) struct Working<'a> {
    pub(super) id: usize,
    pub(super) columns: Vec<ColumnMeta>,
    /// The one place of the member that may name them.
    pub(super) reference: &'a ObjectName,
}

/// Counted against the limits of `growth`.
#[derive(Default)]
pub(super) struct Growth {
    /// How many SELECTs have been bound; a CTE or view counts each time it is named.
    pub(super) selects: usize,
    /// What copies of expressions read.
    pub(super) copied: usize,
    /// How many queries enclose the current place.
    pub(super) queries: usize,
    /// How many expressions, conditions and joins enclose the current place.
    pub(super) levels: usize,
    /// How many CASE expressions enclose the current place within its query.
    pub(super) cases: usize,
}

/// A source of the innermost level whose rows can be changed.
pub(super) struct Modifiable<'a> {
    pub(super) rel: Rel,
    pub(super) target: Target,
    pub(super) table: &'a Arc<TableDef>,
    /// Its position among the sources.
    pub(super) source: usize,
    /// The slot of the table's column 0.
    pub(super) base: usize,
    /// The slot of the row's locator.
    pub(super) locator: usize,
    /// For each column that the source offers, the table's column behind it; `None` for a table itself.
    pub(super) through: Option<Vec<Option<usize>>>,
}

/// What a query through which rows are changed passes on.
pub(super) struct Passed<'a> {
    pub(super) target: Target,
    pub(super) table: &'a Arc<TableDef>,
    /// For each of its own outputs, the table's column behind it.
    pub(super) columns: Vec<Option<usize>>,
}
