//! Conditions on single columns that an index can answer.

use crate::ast::CompareOp;
use crate::plan::{Cond, Scalar};
use crate::value::DataType;

/// `column op value` or `column IS NULL`.
pub(super) struct Predicate {
    /// Position of the column in its table.
    pub(super) column: usize,
    pub(super) test: Test,
    /// Position of the condition it comes from.
    pub(super) cond: usize,
}

/// What is demanded of the column.
pub(super) enum Test {
    Compare(CompareOp, Scalar),
    IsNull,
}

/// The operator with its sides swapped.
fn swapped(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::Le => CompareOp::Ge,
        CompareOp::Gt => CompareOp::Lt,
        CompareOp::Ge => CompareOp::Le,
        same @ (CompareOp::Eq | CompareOp::Ne) => same,
    }
}

/// Whether a comparison in type `ty` orders values as an index on a column of type `column` does,
/// so that a value of type `ty` can be looked up in it.
pub(super) fn index_compares(column: &DataType, ty: &DataType) -> bool {
    use DataType as D;
    match (column, ty) {
        // Keys of all integer types are encoded alike, so a value out of the column's range simply
        // is before or after all of them.
        (a, b) if a.is_integer() && b.is_integer() => true,
        (D::Char(_, a) | D::VarChar(_, a), D::Char(_, b) | D::VarChar(_, b))
        | (D::NChar(_, a) | D::NVarChar(_, a), D::NChar(_, b) | D::NVarChar(_, b)) => a == b,
        (D::Decimal { scale: a, .. }, D::Decimal { scale: b, .. }) => a == b,
        (D::Binary(_) | D::VarBinary(_), D::Binary(_) | D::VarBinary(_))
        | (D::DateTime2(_), D::DateTime2(_))
        | (D::Time(_), D::Time(_))
        | (D::DateTimeOffset(_), D::DateTimeOffset(_)) => true,
        (a, b) => a == b,
    }
}

/// A comparison read from one of its sides.
pub(super) struct Comparison<'a> {
    pub(super) level: usize,
    pub(super) slot: usize,
    pub(super) op: CompareOp,
    pub(super) other: &'a Scalar,
    pub(super) ty: &'a DataType,
}

/// The comparisons of a slot with something that a condition is, read from either side.
pub(super) fn comparisons(cond: &Cond) -> Vec<Comparison<'_>> {
    let mut found = Vec::new();
    if let Cond::Compare {
        op,
        left,
        right,
        ty,
    } = cond
    {
        if let Scalar::Slot { level, slot } = left {
            found.push(Comparison {
                level: *level,
                slot: *slot,
                op: *op,
                other: right,
                ty,
            });
        }
        if let Scalar::Slot { level, slot } = right {
            found.push(Comparison {
                level: *level,
                slot: *slot,
                op: swapped(*op),
                other: left,
                ty,
            });
        }
    }
    found
}
