//! Query operators.

use std::num::NonZeroU32;
use std::sync::Arc;

use crate::ast::SetOp;
use crate::catalog::{AccessPath, TableDef};
use crate::dictionary::View;
use crate::func::Aggregate;
use crate::value::{ColumnMeta, DataType};

use super::{Cond, Scalar};

/// A bound query with a row buffer of its own.
#[derive(Clone, Debug)]
pub struct Query {
    /// Its level; its buffer is number `level` of the environment.
    pub level: usize,
    /// Whether it reads slots of the levels above it or a working table. One that does not yields the same rows however
    /// often it is opened within a statement, apart from functions such as NEWID.
    pub correlated: bool,
    /// How many slots its buffer has.
    pub width: usize,
    pub root: Node,
    /// The output expressions, evaluated over the buffer after each row of `root`.
    pub output: Vec<Scalar>,
    /// Names and types of the outputs.
    pub columns: Vec<ColumnMeta>,
}

/// A query operator. `base` is the first slot it fills.
#[derive(Clone, Debug)]
pub enum Node {
    /// One row without columns: SELECT without FROM.
    Once,
    Values {
        rows: Vec<Vec<Scalar>>,
        base: usize,
    },
    Scan(Box<Scan>),
    LocalScan(Box<LocalScan>),
    /// A system view; the catalogue produces its rows.
    SystemView {
        view: &'static View,
        /// The database whose objects it shows, if it is not the current one.
        database: Option<String>,
        /// Where its columns begin in the row buffer of its level.
        base: usize,
    },
    /// `OPENJSON(json[, path])` with the default columns key, value, type (`with` is `None`), or the given ones.
    OpenJson {
        json: Scalar,
        path: Option<Scalar>,
        with: Option<Vec<JsonField>>,
        base: usize,
    },
    /// `STRING_SPLIT(text, separator)`.
    StringSplit {
        text: Scalar,
        separator: Scalar,
        base: usize,
    },
    /// A derived table, view, or CTE: its outputs are copied to `base…`.
    Derived {
        query: Box<Query>,
        base: usize,
    },
    /// A recursive CTE: UNION ALL of `anchor` and `recursive`; the latter reads [`Node::Working`] of the same id.
    Recursive {
        id: usize,
        anchor: Box<Query>,
        recursive: Vec<Query>,
        base: usize,
        max_recursion: Option<NonZeroU32>,
    },
    /// The rows that the previous step of the recursive CTE `id` produced.
    Working {
        id: usize,
        base: usize,
    },
    /// Rows that satisfy the condition.
    Filter {
        input: Box<Node>,
        cond: Cond,
    },
    /// Nested loops: for every row of `left`, `right` is opened anew and may read the slots of `left`.
    Loop {
        kind: LoopKind,
        left: Box<Node>,
        right: Box<Node>,
        on: Option<Cond>,
        right_slots: std::ops::Range<usize>,
    },
    /// Hash join on equal keys; `right` is read once and does not depend on `left`.
    Hash(Box<HashJoin>),
    /// FULL OUTER JOIN: `right` is read once; `on` is any condition.
    Full {
        left: Box<Node>,
        right: Box<Node>,
        on: Cond,
        left_slots: std::ops::Range<usize>,
        right_slots: std::ops::Range<usize>,
    },
    /// Computes expressions into slots.
    Compute {
        input: Box<Node>,
        exprs: Vec<(usize, Scalar)>,
    },
    /// GROUP BY and aggregates; all other slots are lost.
    Group(Box<Group>),
    /// Window functions: reads everything, computes, passes rows on.
    Window {
        input: Box<Node>,
        functions: Vec<WindowFunction>,
    },
    /// Removes rows that are equal in the given slots.
    Distinct {
        input: Box<Node>,
        keys: Vec<(usize, DataType)>,
    },
    /// Sorts; the sort is stable.
    Sort {
        input: Box<Node>,
        keys: Vec<SortKey>,
    },
    Top {
        input: Box<Node>,
        count: Scalar,
        percent: bool,
        ties: Option<Vec<SortKey>>,
    },
    Offset {
        input: Box<Node>,
        offset: Scalar,
        fetch: Option<Scalar>,
    },
    /// UNION ALL; outputs of each are copied to `base…` (already cast to the common types).
    Concat {
        inputs: Vec<Query>,
        base: usize,
    },
    /// EXCEPT and INTERSECT (distinct), UNION (distinct) is Distinct over Concat.
    Set {
        op: SetOp,
        left: Box<Query>,
        right: Box<Query>,
        base: usize,
        types: Vec<DataType>,
    },
    /// FOR JSON: one NVARCHAR(MAX) row in `base`; `columns` are paths.
    ForJson {
        query: Box<Query>,
        format: JsonFormat,
        base: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    /// INNER JOIN, CROSS JOIN, CROSS APPLY.
    Inner,
    /// LEFT JOIN, OUTER APPLY: unmatched rows get NULL in `right_slots`.
    Left,
}

/// What an access to a table is for; decides the locks together with hints and isolation level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Read,
    /// The target of UPDATE or DELETE: U locks while searching.
    Modify,
}

/// Lock-related hints of one table reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    pub nolock: bool,
    pub readpast: bool,
    pub updlock: bool,
    pub xlock: bool,
    /// HOLDLOCK, SERIALIZABLE.
    pub holdlock: bool,
    pub repeatableread: bool,
    pub readcommittedlock: bool,
    pub readcommitted: bool,
    pub tablock: bool,
    pub tablockx: bool,
    pub nowait: bool,
    /// ROWLOCK: only the adversary would lock anything else.
    pub rowlock: bool,
}

/// Access to a base table through one index.
#[derive(Clone, Debug)]
pub struct Scan {
    pub table: Arc<TableDef>,
    /// The index or heap that is read.
    pub path: AccessPath,
    /// Where to start and stop.
    pub seek: Seek,
    /// Against the index order.
    pub reverse: bool,
    /// Slot of column 0; column `i` is at `base + i`.
    pub base: usize,
    /// The columns that anything reads; the slots of others stay NULL.
    pub needed: Vec<usize>,
    /// What remains to be checked on each row, while its lock can still be given back.
    pub residual: Option<Cond>,
    /// What the query says of locks and indexes for this table.
    pub hints: Hints,
    pub purpose: Purpose,
    /// The slot that receives the row's locator (`Value::Bytes`), for DML targets.
    pub locator: Option<usize>,
    /// With optimized locking, a row may be looked at before it is locked: nothing but this scan decides
    /// whether it qualifies.
    pub qualify_first: bool,
}

/// The part of an index to read. The binder has converted the expressions so that their values can be
/// encoded with the key columns' types (text may be longer than the column, never cut); they may use
/// slots filled by operators to the left. A bound that evaluates to NULL finds nothing.
#[derive(Clone, Debug, Default)]
pub struct Seek {
    /// Equalities on the first key columns. A NULL value finds nothing, unless flagged as IS NULL.
    pub prefix: Vec<SeekEq>,
    /// Lower bound on the next key column: value and inclusive.
    pub low: Option<(Scalar, bool)>,
    /// Upper bound on the next key column.
    pub high: Option<(Scalar, bool)>,
}

#[derive(Clone, Debug)]
pub enum SeekEq {
    /// `column = value`.
    Value(Scalar),
    /// `column IS NULL`.
    IsNull,
}

/// Access to a table variable.
#[derive(Clone, Debug)]
pub struct LocalScan {
    /// Its slot among the frame's table variables.
    pub variable: usize,
    pub table: Arc<TableDef>,
    /// An index to seek in, with the bounds; `None` reads all rows in insertion order.
    pub seek: Option<(usize, Seek)>,
    /// Reads the index from its end.
    pub reverse: bool,
    /// Slot of column 0.
    pub base: usize,
    /// What remains to be checked.
    pub residual: Option<Cond>,
    /// The slot that receives the row's locator, for DML targets.
    pub locator: Option<usize>,
}

/// A column of OPENJSON … WITH.
#[derive(Clone, Debug)]
pub struct JsonField {
    pub path: String,
    pub ty: DataType,
    pub as_json: bool,
}

/// A join on equal keys: one side is read into a table, the other looks into it.
#[derive(Clone, Debug)]
pub struct HashJoin {
    /// Inner or left.
    pub kind: LoopKind,
    /// The probing side.
    pub left: Node,
    /// The built side.
    pub right: Node,
    /// Key pairs with their common type.
    pub keys: Vec<(Scalar, Scalar, DataType)>,
    /// The rest of the condition.
    pub residual: Option<Cond>,
    /// Slots filled by `right`.
    pub right_slots: std::ops::Range<usize>,
}

#[derive(Clone, Debug)]
pub struct Group {
    pub input: Node,
    /// Group keys: expression, type, the slot that holds it afterwards.
    pub keys: Vec<(Scalar, DataType, usize)>,
    /// Each with the slot that its value goes to.
    pub aggregates: Vec<AggregateCall>,
    /// Without GROUP BY: one row even for no input.
    pub scalar: bool,
    /// The keys of each grouping set; empty when there is only the one of all keys.
    pub sets: Vec<Vec<usize>>,
    /// GROUPING and GROUPING_ID: the keys they ask for and where the answer goes.
    pub indicators: Vec<(Vec<usize>, usize)>,
}

#[derive(Clone, Debug)]
pub struct AggregateCall {
    pub function: Aggregate,
    /// Arguments; none for COUNT(*). STRING_AGG has the separator second.
    pub args: Vec<Scalar>,
    pub arg_ty: DataType,
    /// Result type.
    pub ty: DataType,
    pub distinct: bool,
    /// WITHIN GROUP (ORDER BY …).
    pub order: Vec<SortKey>,
    /// Where the result goes.
    pub slot: usize,
}

/// A function with OVER, computed over the partition of each row.
#[derive(Clone, Debug)]
pub struct WindowFunction {
    pub kind: WindowKind,
    pub args: Vec<Scalar>,
    pub partition: Vec<(Scalar, DataType)>,
    pub order: Vec<SortKey>,
    /// The frame, for aggregates and FIRST_VALUE/LAST_VALUE; `None` is the default frame.
    pub frame: Option<crate::ast::Frame>,
    /// Result type.
    pub ty: DataType,
    pub arg_ty: DataType,
    /// Where the result goes.
    pub slot: usize,
}

#[derive(Clone, Debug)]
pub enum WindowKind {
    RowNumber,
    Rank,
    DenseRank,
    Ntile,
    PercentRank,
    CumeDist,
    Lag,
    Lead,
    FirstValue,
    LastValue,
    /// An aggregate over a frame.
    Aggregate(Aggregate),
}

#[derive(Clone, Debug)]
pub struct SortKey {
    pub expr: Scalar,
    pub ty: DataType,
    pub descending: bool,
}

/// The shape of FOR JSON PATH.
#[derive(Clone, Debug)]
pub struct JsonFormat {
    pub root: Option<String>,
    pub include_null_values: bool,
    pub without_array_wrapper: bool,
    /// Per output column: it already is JSON (JSON_QUERY, nested FOR JSON) and is not escaped.
    pub raw: Vec<bool>,
}

/// What `@v op= x` needs besides the value.
#[derive(Clone, Debug)]
pub struct Assign {
    pub variable: usize,
    /// The value; a compound operator is already part of it. Cast to the variable's type at assignment.
    pub value: Scalar,
    pub ty: DataType,
}
