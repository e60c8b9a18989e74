//! Queries: SELECT, set operators, FROM sources, hints.

use std::num::NonZeroU32;

use super::{Condition, Expr, Ident, ObjectName, TypeName};

#[derive(Clone, Debug, PartialEq)]
pub struct SelectStmt {
    pub with: Vec<Cte>,
    /// The query. `SELECT … INTO` sets `into` on its first specification.
    pub query: QueryExpr,
    pub options: Vec<QueryHint>,
}

/// A common table expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Cte {
    pub name: Ident,
    /// Column names, if given.
    pub columns: Vec<Ident>,
    pub query: QueryExpr,
}

/// A query with its ordering; also the content of subqueries and CTEs.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryExpr {
    pub body: QueryBody,
    pub order_by: Vec<OrderItem>,
    /// `OFFSET n ROWS`.
    pub offset: Option<Expr>,
    /// `FETCH NEXT n ROWS ONLY`.
    pub fetch: Option<Expr>,
    pub for_json: Option<ForJson>,
}

/// One SELECT, or two combined.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryBody {
    Select(Box<QuerySpec>),
    /// `a UNION b` and the like.
    SetOp {
        op: SetOp,
        all: bool,
        left: Box<QueryBody>,
        right: Box<QueryBody>,
    },
    Nested(Box<QueryExpr>),
    /// `VALUES (…), (…)`, as a table source or the source of an INSERT.
    Values(Vec<Vec<Expr>>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOp {
    Union,
    Except,
    Intersect,
}

/// `SELECT … FROM … WHERE … GROUP BY … HAVING …`.
#[derive(Clone, Debug, PartialEq)]
pub struct QuerySpec {
    pub distinct: bool,
    /// `TOP (n)`.
    pub top: Option<Top>,
    pub items: Vec<SelectItem>,
    pub into: Option<ObjectName>,
    /// `FROM a, b JOIN c …`.
    pub from: Vec<TableSource>,
    /// `WHERE`.
    pub filter: Option<Condition>,
    /// `GROUP BY`: every expression, those of ROLLUP, CUBE and GROUPING SETS too.
    pub group_by: Vec<Expr>,
    /// The sets of ROLLUP, CUBE and GROUPING SETS, as positions in `group_by`; empty for a plain list.
    pub grouping_sets: Vec<Vec<usize>>,
    pub having: Option<Condition>,
}

/// `TOP (n) [PERCENT] [WITH TIES]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Top {
    pub count: Expr,
    pub percent: bool,
    pub with_ties: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SelectItem {
    /// `*` or `t.*`.
    Star(Option<ObjectName>),
    /// `expr [AS] alias`, also `alias = expr`.
    Expr { expr: Expr, alias: Option<Ident> },
    /// `@v = expr`, or `@v += expr` with an operator.
    Assign {
        variable: String,
        op: Option<super::BinaryOp>,
        expr: Expr,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum TableSource {
    /// A table, view, or CTE, with alias and hints.
    Named {
        name: ObjectName,
        alias: Option<Ident>,
        hints: Vec<TableHint>,
    },
    /// `@t`.
    Variable { name: String, alias: Option<Ident> },
    /// `(SELECT …) AS a (c, d)`, also `(VALUES …)`.
    Derived {
        query: Box<QueryExpr>,
        alias: Option<Ident>,
        columns: Vec<Ident>,
    },
    /// `OPENJSON(x[, path]) WITH (…)`.
    OpenJson {
        json: Expr,
        path: Option<Expr>,
        with: Option<Vec<JsonColumn>>,
        alias: Option<Ident>,
    },
    /// Another table function, such as STRING_SPLIT.
    Function {
        name: ObjectName,
        args: Vec<Expr>,
        alias: Option<Ident>,
        columns: Vec<Ident>,
    },
    Join {
        kind: JoinKind,
        /// `LOOP`, `HASH` or `MERGE` before JOIN.
        strategy: JoinStrategy,
        left: Box<TableSource>,
        right: Box<TableSource>,
        on: Option<Condition>,
    },
}

/// How two tables are joined, as far as a hint says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JoinStrategy {
    /// As the planner likes.
    #[default]
    Any,
    /// `LOOP`: the right side is read for each row of the left.
    Loop,
    /// `HASH` and `MERGE`: each side is read once.
    Hash,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    Inner,
    /// `LEFT [OUTER] JOIN`.
    Left,
    /// `RIGHT [OUTER] JOIN`.
    Right,
    /// `FULL [OUTER] JOIN`.
    Full,
    Cross,
    CrossApply,
    OuterApply,
}

/// A column of OPENJSON's WITH clause.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonColumn {
    pub name: Ident,
    pub ty: TypeName,
    pub collate: Option<Ident>,
    /// The path; `$.name` when absent.
    pub path: Option<String>,
    pub as_json: bool,
}

/// Table hints the engine acts on. All others are refused by the parser, by name.
#[derive(Clone, Debug, PartialEq)]
pub enum TableHint {
    /// `NOLOCK`, `READUNCOMMITTED`.
    NoLock,
    ReadPast,
    UpdLock,
    XLock,
    RowLock,
    TabLock,
    TabLockX,
    /// `HOLDLOCK`, `SERIALIZABLE`.
    HoldLock,
    RepeatableRead,
    ReadCommitted,
    ReadCommittedLock,
    /// `NOWAIT`.
    NoWait,
    /// `FORCESEEK` without arguments.
    ForceSeek,
    ForceScan,
    /// `INDEX(name)`, `INDEX = name`.
    Index(Vec<Ident>),
    /// `INDEX(1)`: 0 the table or clustered index, 1 the clustered index.
    IndexId(u32),
}

/// Query hints of OPTION. All others are refused by the parser, by name.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryHint {
    Recompile,
    /// `MAXDOP n`.
    MaxDop(u32),
    /// `MAXRECURSION n`; 0 is without a limit.
    MaxRecursion(Option<NonZeroU32>),
    /// `OPTIMIZE FOR UNKNOWN` and `OPTIMIZE FOR (…)`.
    OptimizeFor,
    ForceOrder,
    /// `LOOP JOIN`, `HASH JOIN`, `MERGE JOIN`.
    Join(JoinStrategy),
    KeepFixedPlan,
    NoPerformanceSpool,
    /// `FAST n`, `HASH GROUP`, `ROBUST PLAN`, …: no observable effect.
    NoEffect,
}

#[derive(Clone, Debug, PartialEq)]
pub struct OrderItem {
    /// The expression, an alias, or a position.
    pub expr: Expr,
    pub descending: bool,
}

/// `FOR JSON PATH …`.
#[derive(Clone, Debug, PartialEq)]
pub struct ForJson {
    /// `ROOT('name')`; `Some("root")` for a bare ROOT.
    pub root: Option<String>,
    pub include_null_values: bool,
    pub without_array_wrapper: bool,
}
