//! Comparisons: both sides get one type, and a constant gives way to the other side where that
//! changes nothing, so that an index on the column can be used.

use crate::ast::CompareOp;
use crate::error::SqlResult;
use crate::plan::{Cond, Scalar};
use crate::value::precedence::common_type;
use crate::value::{DataType, Value, errors};

use super::collate::{Meeting, settle};
use super::typing::{Ex, coerce};

/// The word messages use for an operator.
fn word(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "equal to",
        CompareOp::Ne => "not equal to",
        CompareOp::Lt => "less than",
        CompareOp::Le => "less than or equal to",
        CompareOp::Gt => "greater than",
        CompareOp::Ge => "greater than or equal to",
    }
}

pub(super) fn compare(op: CompareOp, left: Ex, right: Ex) -> SqlResult<Cond> {
    let (left, right, ty) = operands(left, right, word(op))?;
    Ok(Cond::Compare {
        op,
        left,
        right,
        ty,
    })
}

/// Brings two operands to the type they are compared in.
pub(super) fn operands(
    mut left: Ex,
    mut right: Ex,
    operation: &str,
) -> SqlResult<(Scalar, Scalar, DataType)> {
    yield_constant(&mut left, &right.ty);
    yield_constant(&mut right, &left.ty);
    settle([&mut left, &mut right], Meeting::Compared(operation))?;
    if is_time_beside_moment(&left.ty, &right.ty) || is_time_beside_moment(&right.ty, &left.ty) {
        return Err(errors::incompatible(&left.ty, &right.ty, operation));
    }
    let mut ty = common_type(&left.ty, &right.ty)?;
    if ty == DataType::Null {
        ty = DataType::Int;
    }
    Ok((coerce(left, &ty)?, coerce(right, &ty)?, ty))
}

/// TIME becomes a date with a time where they share a type, and yet is compared with none.
fn is_time_beside_moment(a: &DataType, b: &DataType) -> bool {
    matches!(a, DataType::Time(_))
        && b.is_datetime()
        && !matches!(b, DataType::Time(_) | DataType::Date)
}

/// A number constant takes the type of an integer or BIT it is compared with, when it is such a
/// number: `flag = 1` compares bits, `id = 2147483648` integers.
fn yield_constant(ex: &mut Ex, other: &DataType) {
    let Scalar::Const(value) = &ex.expr else {
        return;
    };
    let (value, ty) = match value {
        Value::Int(n @ (0 | 1)) if *other == DataType::Bit => (Value::Bit(*n == 1), DataType::Bit),
        Value::Decimal { units, scale: 0 } if other.is_integer() => match i64::try_from(*units) {
            Ok(n) => (Value::Int(n), DataType::BigInt),
            Err(_) => return,
        },
        Value::Null
        | Value::Bit(_)
        | Value::Int(_)
        | Value::Decimal { .. }
        | Value::Float(_)
        | Value::Str(_)
        | Value::Bytes(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. } => return,
    };
    ex.expr = Scalar::Const(value);
    ex.ty = ty;
}
