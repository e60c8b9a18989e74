//! Bound expressions and conditions.

use crate::ast::{BinaryOp, CompareOp};
use crate::func::{Callable, Signature};
use crate::value::{Collation, DataType, Value};

use super::Query;

/// An expression with the type the binder found for it.
#[derive(Clone, Debug)]
pub struct Typed {
    pub expr: Scalar,
    pub ty: DataType,
}

/// A bound scalar expression. Operands already have the types that the operation wants: the binder
/// inserted the casts.
#[derive(Clone, Debug)]
pub enum Scalar {
    Const(Value),
    /// A variable or parameter, by its slot in the frame.
    Variable(usize),
    /// A slot of the row buffer of a query level; level 0 is the outermost query of the statement.
    Slot {
        level: usize,
        slot: usize,
    },
    /// Arithmetic, bit operations, concatenation (`value::arith::binary` with the result type).
    Arith {
        op: BinaryOp,
        left: Box<Scalar>,
        right: Box<Scalar>,
        /// Result type.
        ty: DataType,
    },
    /// `-x`.
    Negate(Box<Scalar>, DataType),
    /// `~x`.
    BitNot(Box<Scalar>, DataType),
    /// CAST, CONVERT, and implicit conversions.
    Cast {
        expr: Box<Scalar>,
        /// What the operand is computed as.
        from: DataType,
        to: DataType,
        style: Option<Box<Scalar>>,
        /// TRY_CAST, TRY_CONVERT: NULL instead of a conversion error.
        try_: bool,
    },
    /// A function of the registry; arguments have the parameter types of its signature.
    Call {
        function: Callable,
        args: Vec<Scalar>,
        /// The signature that typed the call; functions read types and collations from it.
        signature: Box<Signature>,
    },
    /// CASE and IIF; branches have the common type.
    Case {
        whens: Vec<(Cond, Scalar)>,
        /// ELSE.
        otherwise: Box<Scalar>,
    },
    /// COALESCE and ISNULL: the first that is not NULL.
    Coalesce(Vec<Scalar>),
    /// A subquery used as a value; 512 when it yields more than one row.
    Subquery(Box<Query>),
}

/// A bound search condition, in three-valued logic.
#[derive(Clone, Debug)]
pub enum Cond {
    /// Always true, false, or unknown.
    Const(Option<bool>),
    And(Vec<Cond>),
    Or(Vec<Cond>),
    /// Unknown stays unknown.
    Not(Box<Cond>),
    /// Comparison of two operands of the same type.
    Compare {
        op: CompareOp,
        left: Scalar,
        right: Scalar,
        /// Their common type.
        ty: DataType,
    },
    /// `x IS NULL`.
    IsNull(Scalar),
    /// `x IN (a, b)`. The binder has cast all of them to `ty`, which compares them.
    InList {
        expr: Scalar,
        list: Vec<Scalar>,
        ty: DataType,
    },
    /// `x LIKE p ESCAPE e`.
    Like {
        /// What the pattern is compared with.
        expr: Scalar,
        pattern: Scalar,
        escape: Option<Scalar>,
        /// The collation that compares.
        collation: Collation,
        /// Neither side is Unicode: blanks at the end of the text need no match.
        blanks: bool,
    },
    Exists(Box<Query>),
    /// `x op ANY|ALL (query)`; IN is `= ANY`. The left side and the query's one output column have been cast to `ty`.
    Quantified {
        op: CompareOp,
        /// ALL rather than ANY.
        all: bool,
        left: Scalar,
        query: Box<Query>,
        ty: DataType,
    },
}
