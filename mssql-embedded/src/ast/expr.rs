//! Scalar expressions and search conditions. T-SQL keeps the two apart; the parser does too and
//! reports a condition where a value is wanted (and the reverse, 4145) by itself.

use super::{BinaryOp, Ident, ObjectName, OrderItem, Pos, QueryExpr, TypeName};

#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Where it starts.
    pub pos: Pos,
    pub kind: ExprKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Literal(Literal),
    /// `@name`.
    Variable(String),
    /// `@@NAME`, upper case, without the signs.
    GlobalVariable(String),
    /// A column, possibly qualified. Also keywords such as CURRENT_TIMESTAMP arrive as [`ExprKind::Call`].
    Column(ObjectName),
    /// `a + b` and the like.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `-a`, `+a`, `~a`.
    Unary(UnaryOp, Box<Expr>),
    /// `name(args)`, also niladic keywords (CURRENT_TIMESTAMP, USER, …) with no arguments.
    Call(Call),
    /// `CAST(x AS t)` and `TRY_CAST`.
    Cast {
        expr: Box<Expr>,
        ty: TypeName,
        try_: bool,
    },
    /// `CONVERT(t, x[, style])` and `TRY_CONVERT`.
    Convert {
        expr: Box<Expr>,
        ty: TypeName,
        style: Option<Box<Expr>>,
        try_: bool,
    },
    /// `CASE operand WHEN v THEN r … ELSE e END`.
    SimpleCase {
        operand: Box<Expr>,
        whens: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    /// `CASE WHEN condition THEN r … ELSE e END`.
    SearchedCase {
        whens: Vec<(Condition, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    /// `IIF(condition, a, b)`.
    Iif {
        condition: Box<Condition>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    /// `(SELECT …)` used as a value.
    Subquery(Box<QueryExpr>),
    /// `x COLLATE name`.
    Collate(Box<Expr>, Ident),
    /// `x AT TIME ZONE z`.
    AtTimeZone(Box<Expr>, Box<Expr>),
}

impl ExprKind {
    /// The column that an expression merely names: only that has a name of its own.
    pub fn as_column(&self) -> Option<&ObjectName> {
        match self {
            Self::Column(name) => Some(name),
            Self::Literal(_)
            | Self::Variable(_)
            | Self::GlobalVariable(_)
            | Self::Binary(..)
            | Self::Unary(..)
            | Self::Call(_)
            | Self::Cast { .. }
            | Self::Convert { .. }
            | Self::SimpleCase { .. }
            | Self::SearchedCase { .. }
            | Self::Iif { .. }
            | Self::Subquery(_)
            | Self::Collate(..)
            | Self::AtTimeZone(..) => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The function's name, possibly with a schema.
    pub name: ObjectName,
    /// Arguments. The date part of DATEADD and friends arrives as a Column of one part;
    /// `TRIM(characters FROM s)` arrives as two arguments in that order.
    pub args: Vec<Expr>,
    /// `COUNT(*)`.
    pub star: bool,
    /// `SUM(DISTINCT x)`.
    pub distinct: bool,
    pub within_group: Vec<OrderItem>,
    pub over: Option<Over>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Over {
    pub partition_by: Vec<Expr>,
    pub order_by: Vec<OrderItem>,
    /// `ROWS` or `RANGE`.
    pub frame: Option<Frame>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// `ROWS` (true) or `RANGE`.
    pub rows: bool,
    pub start: FrameBound,
    /// Upper bound; `CURRENT ROW` when not written.
    pub end: FrameBound,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FrameBound {
    UnboundedPreceding,
    /// `n PRECEDING`.
    Preceding(u64),
    CurrentRow,
    /// `n FOLLOWING`.
    Following(u64),
    UnboundedFollowing,
}

/// A literal as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    Null,
    /// Digits; INT if it fits, otherwise DECIMAL.
    Integer(String),
    /// Digits with a point: DECIMAL.
    Decimal(String),
    /// With an exponent: FLOAT.
    Float(String),
    /// `'…'`: VARCHAR.
    String(String),
    /// `N'…'`: NVARCHAR.
    NString(String),
    /// `0x…`: VARBINARY.
    Binary(Vec<u8>),
    /// `$1.5`: MONEY (refused by the binder by name).
    Money(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`.
    Minus,
    /// `+`.
    Plus,
    /// `~`.
    BitNot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `=`.
    Eq,
    /// `<>` and `!=`.
    Ne,
    /// `<` and `!>=`… (`!<` is Ge, `!>` is Le).
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
}

/// A search condition: true, false or unknown.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// `a AND b`.
    And(Box<Condition>, Box<Condition>),
    /// `a OR b`.
    Or(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
    /// `a < b`.
    Compare(CompareOp, Expr, Expr),
    /// `a < ALL (SELECT …)`; `all` false means ANY or SOME.
    Quantified {
        op: CompareOp,
        left: Expr,
        all: bool,
        query: Box<QueryExpr>,
    },
    IsNull {
        expr: Expr,
        negated: bool,
    },
    /// `a [NOT] BETWEEN b AND c`.
    Between {
        expr: Expr,
        low: Expr,
        high: Expr,
        negated: bool,
    },
    /// `a [NOT] IN (b, c)`.
    InList {
        expr: Expr,
        list: Vec<Expr>,
        negated: bool,
    },
    /// `a [NOT] IN (SELECT …)`.
    InQuery {
        expr: Expr,
        query: Box<QueryExpr>,
        negated: bool,
    },
    /// `a [NOT] LIKE b [ESCAPE c]`.
    Like {
        expr: Expr,
        pattern: Expr,
        escape: Option<Expr>,
        negated: bool,
    },
    /// `EXISTS (SELECT …)`.
    Exists(Box<QueryExpr>),
}
