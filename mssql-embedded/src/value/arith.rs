//! Arithmetic: the evaluation of the operators, whose types are in [`super::operation`].

use std::sync::Arc;

use super::datetime::{DAYS_1900, Moment, TICKS_PER_DAY};
use super::operation::{BinaryOp, word};
use super::{DataType, Length, Value, decimal, errors};
use crate::error::SqlResult;

/// `a op b`, with operands already of the types that [`super::operation::operation`] names and `ty` its result.
///
/// # Errors
///
/// 8115 when the result does not fit, 8134 for division by zero, 517 for dates.
pub fn binary(op: BinaryOp, a: &Value, b: &Value, ty: &DataType) -> SqlResult<Value> {
    match (a, b) {
        (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
        (Value::Int(x), Value::Int(y)) => integer(op, *x, *y, ty),
        (Value::Bit(x), Value::Bit(y)) => Ok(Value::Bit(match op {
            BinaryOp::BitAnd => x & y,
            BinaryOp::BitOr => x | y,
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Mod
            | BinaryOp::BitXor => x ^ y,
        })),
        (Value::Float(x), Value::Float(y)) => float(op, *x, *y, ty),
        (Value::Decimal { units: x, scale: s }, Value::Decimal { units: y, scale: t }) => {
            exact(op, (*x, *s), (*y, *t), ty)
        }
        (Value::Str(x), Value::Str(y)) => {
            let joined: Arc<[u16]> = x.iter().chain(y.iter()).copied().collect();
            let Some(Length::Limited(limit)) = ty.length() else {
                return Ok(Value::Str(joined));
            };
            let kept = super::text::fitting_prefix(&joined, ty, usize::from(limit));
            let whole = kept.len() == joined.len();
            Ok(Value::Str(if whole { joined } else { kept.into() }))
        }
        (Value::Bytes(x), Value::Bytes(y)) => {
            let joined: Vec<u8> = x.iter().chain(y.iter()).copied().collect();
            let end = if ty.is_max() {
                joined.len()
            } else {
                joined.len().min(8000)
            };
            Ok(Value::Bytes(joined[..end].into()))
        }
        (Value::DateTime { .. }, Value::DateTime { .. }) => dates(op, a, b, ty),
        (
            Value::Bit(_)
            | Value::Int(_)
            | Value::Decimal { .. }
            | Value::Float(_)
            | Value::Str(_)
            | Value::Bytes(_)
            | Value::Guid(_)
            | Value::Date(_)
            | Value::Time(_)
            | Value::DateTime { .. }
            | Value::DateTimeOffset { .. },
            _,
        ) => Err(errors::invalid_operand(ty, word(op))),
    }
}

fn integer(op: BinaryOp, x: i64, y: i64, ty: &DataType) -> SqlResult<Value> {
    let result = match op {
        BinaryOp::Add => x.checked_add(y),
        BinaryOp::Sub => x.checked_sub(y),
        BinaryOp::Mul => x.checked_mul(y),
        BinaryOp::Div | BinaryOp::Mod if y == 0 => return Err(errors::divide_by_zero()),
        BinaryOp::Div => x.checked_div(y),
        // The quotient is formed first, and may not fit: the smallest number by -1.
        BinaryOp::Mod => {
            let fits = x.checked_div(y).is_some_and(|n| in_range(n, ty));
            fits.then(|| x % y)
        }
        BinaryOp::BitAnd => Some(x & y),
        BinaryOp::BitOr => Some(x | y),
        BinaryOp::BitXor => Some(x ^ y),
    };
    result
        .filter(|n| in_range(*n, ty))
        .map(Value::Int)
        .ok_or_else(|| errors::overflow(ty))
}

/// Whether an integer fits an integer type.
pub fn in_range(n: i64, ty: &DataType) -> bool {
    match ty {
        DataType::TinyInt => (0..=255).contains(&n),
        DataType::SmallInt => i16::try_from(n).is_ok(),
        DataType::Int => i32::try_from(n).is_ok(),
        DataType::Null
        | DataType::Bit
        | DataType::BigInt
        | DataType::Decimal { .. }
        | DataType::Real
        | DataType::Float
        | DataType::Char(..)
        | DataType::VarChar(..)
        | DataType::NChar(..)
        | DataType::NVarChar(..)
        | DataType::Binary(_)
        | DataType::VarBinary(_)
        | DataType::UniqueIdentifier
        | DataType::Date
        | DataType::Time(_)
        | DataType::SmallDateTime
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_) => true,
    }
}

fn float(op: BinaryOp, x: f64, y: f64, ty: &DataType) -> SqlResult<Value> {
    let result = match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x * y,
        BinaryOp::Div if y == 0.0 => return Err(errors::divide_by_zero()),
        BinaryOp::Div => x / y,
        BinaryOp::Mod | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
            return Err(errors::invalid_operand(ty, word(op)));
        }
    };
    float_result(result, ty)
}

/// A floating-point result rounded to its type.
///
/// # Errors
///
/// 8115 when it is not finite.
pub fn float_result(value: f64, ty: &DataType) -> SqlResult<Value> {
    let value = if matches!(ty, DataType::Real) {
        f64::from(value as f32)
    } else {
        value
    };
    if value.is_finite() {
        Ok(Value::Float(value))
    } else {
        Err(errors::overflow(ty))
    }
}

fn exact(op: BinaryOp, (x, s): (i128, u8), (y, t): (i128, u8), ty: &DataType) -> SqlResult<Value> {
    let scale = ty.scale();
    let units = match op {
        BinaryOp::Mul if s + t >= scale => decimal::multiply(x, y, s + t - scale),
        BinaryOp::Mul => {
            decimal::multiply(x, y, 0).and_then(|units| decimal::rescale(units, s + t, scale))
        }
        BinaryOp::Div | BinaryOp::Mod if y == 0 => return Err(errors::divide_by_zero()),
        BinaryOp::Div => decimal::divide(x, y, i32::from(scale) - i32::from(s) + i32::from(t)),
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mod
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor => aligned(op, (x, s), (y, t), scale),
    };
    let units = units.filter(|u| decimal::fits(*u, ty.precision()));
    units
        .map(|units| Value::Decimal { units, scale })
        .ok_or_else(|| errors::overflow(ty))
}

/// Sum, difference and remainder, which need both operands at one scale.
fn aligned(op: BinaryOp, (x, s): (i128, u8), (y, t): (i128, u8), scale: u8) -> Option<i128> {
    let shared = s.max(t);
    let x = x.checked_mul(decimal::pow10(shared - s))?;
    let y = y.checked_mul(decimal::pow10(shared - t))?;
    let units = match op {
        BinaryOp::Add => x.checked_add(y)?,
        BinaryOp::Sub => x.checked_sub(y)?,
        BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Mod
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor => x.checked_rem(y)?,
    };
    decimal::rescale(units, shared, scale)
}

fn dates(op: BinaryOp, a: &Value, b: &Value, ty: &DataType) -> SqlResult<Value> {
    let since_1900 = |v: &Value| {
        Moment::of(v).map_or(0, |m| {
            m.total_ticks() - i64::from(DAYS_1900) * TICKS_PER_DAY
        })
    };
    let (x, y) = (since_1900(a), since_1900(b));
    let total = if op == BinaryOp::Add { x + y } else { x - y };
    Moment::from_total_ticks(total + i64::from(DAYS_1900) * TICKS_PER_DAY, 0)
        .and_then(|m| m.to_value(ty, ty).ok())
        .ok_or_else(|| errors::overflow(ty))
}

/// `-value`.
///
/// # Errors
///
/// 8115 when the result does not fit, 8117 for types without a sign.
pub fn negate(value: &Value, ty: &DataType) -> SqlResult<Value> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Int(n) => n
            .checked_neg()
            .filter(|n| in_range(*n, ty))
            .map(Value::Int)
            .ok_or_else(|| errors::overflow(ty)),
        Value::Decimal { units, scale } => Ok(Value::Decimal {
            units: -units,
            scale: *scale,
        }),
        Value::Float(f) => Ok(Value::Float(-f)),
        Value::Bit(_)
        | Value::Str(_)
        | Value::Bytes(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. } => Err(errors::invalid_operand(ty, "minus")),
    }
}

/// `~value`.
///
/// # Errors
///
/// 8117 for anything but integers and BIT.
pub fn bit_not(value: &Value, ty: &DataType) -> SqlResult<Value> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Int(n) if matches!(ty, DataType::TinyInt) => Ok(Value::Int(!n & 0xFF)),
        Value::Int(n) => Ok(Value::Int(!n)),
        Value::Bit(b) => Ok(Value::Bit(!b)),
        Value::Decimal { .. }
        | Value::Float(_)
        | Value::Str(_)
        | Value::Bytes(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. } => Err(errors::invalid_operand(ty, "'~'")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::operation::arith_type;
    use super::*;

    #[test]
    fn overflow_and_division_by_zero_are_errors() {
        let int = DataType::Int;
        let eval = |op, x, y| binary(op, &Value::Int(x), &Value::Int(y), &int);
        let max = i64::from(i32::MAX);
        assert_eq!(eval(BinaryOp::Add, max, 1).unwrap_err().number, 8115);
        assert_eq!(eval(BinaryOp::Div, 1, 0).unwrap_err().number, 8134);
        assert_eq!(eval(BinaryOp::Div, -7, 2).unwrap(), Value::Int(-3));
        assert_eq!(eval(BinaryOp::Mod, -7, 2).unwrap(), Value::Int(-1));
    }

    #[test]
    fn decimal_division_cuts_off_and_multiplication_rounds() {
        let ty = arith_type(
            BinaryOp::Div,
            &DataType::decimal(2, 1),
            &DataType::decimal(1, 0),
        )
        .unwrap();
        let (two, three) = (
            Value::Decimal {
                units: 20,
                scale: 1,
            },
            Value::Decimal { units: 3, scale: 0 },
        );
        let third = binary(BinaryOp::Div, &two, &three, &ty).unwrap();
        assert_eq!(
            third,
            Value::Decimal {
                units: 666_666,
                scale: 6
            }
        );
    }
}
