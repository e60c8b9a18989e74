//! INSERT, UPDATE, DELETE.

use super::stmt::ExecStmt;
use super::{
    BinaryOp, Condition, Cte, Expr, Ident, ObjectName, QueryExpr, QueryHint, SelectItem, TableHint,
    TableSource, Top,
};

/// What an INSERT, UPDATE or DELETE writes to: a table or alias, or a table variable.
#[derive(Clone, Debug, PartialEq)]
pub enum DmlTarget {
    /// A table, or an alias of the FROM clause.
    Named(ObjectName, Vec<TableHint>),
    /// `@t`.
    Variable(String),
}

/// `OUTPUT … [INTO @t (…)]`.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputClause {
    /// Items over `inserted` and `deleted`.
    pub items: Vec<SelectItem>,
    /// Where they go; the client when absent.
    pub into: Option<(DmlTarget, Vec<Ident>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct InsertStmt {
    pub with: Vec<Cte>,
    /// `TOP (n)`.
    pub top: Option<Top>,
    /// A table, a view that leads to one, or a table variable.
    pub target: DmlTarget,
    /// Its columns, if listed.
    pub columns: Vec<Ident>,
    pub output: Option<OutputClause>,
    pub source: InsertSource,
    pub options: Vec<QueryHint>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum InsertSource {
    /// `VALUES …` with DEFAULT allowed.
    Values(Vec<Vec<InsertValue>>),
    /// `SELECT …`.
    Query(Box<QueryExpr>),
    DefaultValues,
    Exec(Box<ExecStmt>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum InsertValue {
    Expr(Expr),
    Default,
}

#[derive(Clone, Debug, PartialEq)]
pub struct UpdateStmt {
    pub with: Vec<Cte>,
    /// `TOP (n)`.
    pub top: Option<Top>,
    pub target: DmlTarget,
    pub set: Vec<SetClause>,
    pub output: Option<OutputClause>,
    pub from: Vec<TableSource>,
    /// `WHERE`.
    pub filter: Option<Condition>,
    pub options: Vec<QueryHint>,
}

/// One assignment of UPDATE.
#[derive(Clone, Debug, PartialEq)]
pub enum SetClause {
    /// `column = expr`, `column += expr`; `None` is DEFAULT.
    Column {
        column: ObjectName,
        op: Option<BinaryOp>,
        value: Option<Expr>,
    },
    /// `@v = expr`.
    Variable {
        variable: String,
        op: Option<BinaryOp>,
        value: Expr,
    },
    /// `@v = column = expr`.
    Both {
        variable: String,
        column: ObjectName,
        op: Option<BinaryOp>,
        value: Expr,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct DeleteStmt {
    pub with: Vec<Cte>,
    /// `TOP (n)`.
    pub top: Option<Top>,
    pub target: DmlTarget,
    pub output: Option<OutputClause>,
    /// `FROM`, the second one.
    pub from: Vec<TableSource>,
    /// `WHERE`.
    pub filter: Option<Condition>,
    pub options: Vec<QueryHint>,
}
