//! Bound statements that read or write tables.

use std::sync::Arc;

use crate::ast::Permission;
use crate::catalog::{ObjectId, TableDef};
use crate::value::{ColumnMeta, DataType};

use super::{Assign, Cond, ForeignRules, Hints, Query, RowRules, Scalar, Typed};

/// A bound statement, or the bound expressions of a control-flow statement, ready to run and to be
/// kept until one of `depends` changes.
#[derive(Debug)]
pub struct Bound {
    pub kind: BoundKind,
    /// The objects it was bound against, with their versions.
    pub depends: Vec<(ObjectId, u64)>,
    /// Permissions to check at every execution, unless ownership chaining lifts the check.
    pub requires: Vec<Required>,
    /// When an adversary may make another plan.
    pub replan: Replan,
    /// Whether an adversary may keep rows for another look. Not where OPTION forbids it, nor where the statement
    /// changes variables while it runs.
    pub may_spool: bool,
}

/// When a plan that is at hand is made anew though its objects are as they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replan {
    /// At any time: statistics change.
    #[default]
    Freely,
    /// Not at all (KEEPFIXED PLAN).
    OnChange,
    /// Each time (RECOMPILE).
    Always,
}

/// A permission a statement needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Required {
    pub object: ObjectId,
    pub permission: Permission,
}

#[derive(Debug)]
pub enum BoundKind {
    /// SELECT that returns rows.
    Select(Query),
    SelectInto(SelectInto),
    /// `SELECT @a = x, …`.
    Assign(AssignQuery),
    Insert(Insert),
    Update(Update),
    Delete(Delete),
    /// The condition of IF or WHILE.
    Condition(Cond),
    /// Values: SET, RETURN, PRINT, arguments of EXEC, THROW, RAISERROR, DECLARE.
    Scalars(Vec<Typed>),
}

/// `SELECT @a = x FROM …`: the assignments are evaluated for each row, in order.
#[derive(Debug)]
pub struct AssignQuery {
    /// The rows (its `output` is empty).
    pub query: Query,
    /// The assignments, over the query's buffer.
    pub assign: Vec<Assign>,
}

/// `SELECT … INTO name`.
#[derive(Debug)]
pub struct SelectInto {
    pub name: crate::ast::ObjectName,
    /// Its columns and rows.
    pub query: Query,
    /// The column that is an identity column as in the table it comes from: position, seed, increment.
    pub identity: Option<(usize, (i64, i64))>,
}

/// A table that is written.
#[derive(Clone, Debug)]
pub enum Target {
    Table(Arc<TableDef>),
    /// A table variable by its slot.
    Local(usize, Arc<TableDef>),
}

impl Target {
    pub fn table(&self) -> &Arc<TableDef> {
        match self {
            Self::Table(t) | Self::Local(_, t) => t,
        }
    }
}

#[derive(Debug)]
pub struct Insert {
    pub target: Target,
    pub hints: Hints,
    /// Where each column's value comes from, one per table column.
    pub columns: Vec<ColumnSource>,
    /// Explicit values for the identity column are given (needs IDENTITY_INSERT ON for a base table).
    pub explicit_identity: bool,
    /// Read to its end before the first row is written.
    pub source: Source,
    /// Expressions over a row of the table (level 0, base 0) that every written row passes.
    pub rules: Arc<RowRules>,
    pub foreign: ForeignRules,
    /// OUTPUT; `inserted` columns are slots 0… of level 0.
    pub output: Option<Output>,
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "one per statement")]
pub enum Source {
    /// A query, also VALUES and DEFAULT VALUES (a query of one row without outputs).
    Query(Query),
    /// `INSERT … EXEC`: the interpreter runs it and hands the rows in; types are checked per row.
    Exec,
}

#[derive(Clone, Debug)]
pub enum ColumnSource {
    /// Output `n` of the source, of the given type.
    Output(usize, DataType),
    /// A constant expression: the column's default.
    Default(Scalar, DataType),
    /// The next identity value.
    Identity,
    /// Computed from the others, see [`RowRules::computed`].
    Computed,
    Null,
}

#[derive(Debug)]
pub struct Update {
    pub target: Target,
    /// The rows to change. It emits one row per qualifying target row (a target row met twice is
    /// updated once, with the first match).
    pub query: Query,
    /// The slot of the target's column 0 and of its locator.
    pub base: usize,
    /// See `base`.
    pub locator: usize,
    /// New values by column position, over the query's buffer (the old row).
    pub set: Vec<(usize, Scalar, DataType)>,
    /// Slot of the first column of the new row in the query's buffer.
    pub inserted: usize,
    /// Variables assigned per row; those of `@v = column = x` come after the new row is made and
    /// read it from `inserted` slots.
    pub assign: Vec<Assign>,
    pub rules: Arc<RowRules>,
    pub foreign: ForeignRules,
    /// OUTPUT: `inserted` columns at `output.inserted`, `deleted` at `output.deleted` of the query's buffer.
    pub output: Option<Output>,
}

#[derive(Debug)]
pub struct Delete {
    pub target: Target,
    pub query: Query,
    /// The slot of the target's column 0.
    pub base: usize,
    /// The slot of its locator.
    pub locator: usize,
    /// Constraints (the filters of indexes).
    pub rules: Arc<RowRules>,
    pub foreign: ForeignRules,
    pub output: Option<Output>,
}

#[derive(Debug)]
pub struct Output {
    /// Slot of the first `inserted` column in the statement's level-0 buffer, if INSERT or UPDATE.
    pub inserted: Option<usize>,
    /// Slot of the first `deleted` column, if UPDATE or DELETE.
    pub deleted: Option<usize>,
    pub exprs: Vec<Scalar>,
    /// Their names and types.
    pub columns: Vec<ColumnMeta>,
    /// INTO: the table, the source of each of its columns, its rules.
    pub into: Option<OutputInto>,
    /// So many slots must exist before the outputs are computed.
    pub width: usize,
}

#[derive(Debug)]
pub struct OutputInto {
    pub target: Target,
    /// One per column of it.
    pub columns: Vec<ColumnSource>,
    pub rules: Arc<RowRules>,
}
