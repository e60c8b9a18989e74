//! Conversions into BIT, the integers, DECIMAL, REAL and FLOAT.

use super::super::arith::{float_result, in_range};
use super::super::datetime::{DAYS_1900, Moment, TICKS_PER_DAY};
use super::super::number_text::{ParseIntError, parse_float, parse_int};
use super::super::{DataType, Value, decimal as dec, errors, text};
use crate::error::{SqlError, SqlResult};

pub(super) fn bit(value: &Value, from: &DataType, to: &DataType) -> SqlResult<Value> {
    let set = match value {
        Value::Bit(b) => *b,
        Value::Int(n) => *n != 0,
        Value::Decimal { units, .. } => *units != 0,
        Value::Float(f) => *f != 0.0,
        Value::Str(s) => {
            let s = text::to_string(s);
            match s.trim().to_ascii_lowercase().as_str() {
                "true" => true,
                "false" => false,
                word => parse_int(word).map_err(|_| errors::conversion_failed(from, &s, to))? != 0,
            }
        }
        Value::Bytes(b) => b.last().is_some_and(|b| *b != 0),
        Value::DateTime { .. } => days_since_1900(value) != 0.0,
        Value::Null
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTimeOffset { .. } => return Err(errors::explicit_refused(from, to)),
    };
    Ok(Value::Bit(set))
}

pub(super) fn integer(value: &Value, from: &DataType, to: &DataType) -> SqlResult<Value> {
    let n = match value {
        Value::Int(n) => {
            return if in_range(*n, to) {
                Ok(value.clone())
            } else {
                Err(int_overflow(*n, to))
            };
        }
        Value::Bit(b) => i64::from(*b),
        Value::Decimal { units, scale } => {
            let whole = dec::truncate(*units, *scale, 0);
            i64::try_from(whole)
                .ok()
                .filter(|n| in_range(*n, to))
                .ok_or_else(|| errors::overflow(to))?
        }
        Value::Float(f) => {
            let whole = f.trunc();
            if !(-9.223_372_036_854_776e18..9.223_372_036_854_776e18).contains(&whole)
                || !in_range(whole as i64, to)
            {
                return Err(if let DataType::BigInt = to {
                    errors::overflow_from(from.error_name(), to)
                } else {
                    errors::float_overflow(to, *f)
                });
            }
            whole as i64
        }
        Value::Str(s) => return integer_text(&text::to_string(s), from, to),
        Value::Bytes(bytes) => integer_bytes(bytes, to),
        Value::DateTime { .. } => {
            let days = days_since_1900(value);
            let n = (days + 0.5).floor() as i64;
            if !in_range(n, to) {
                return Err(int_overflow(n, to));
            }
            n
        }
        Value::Null
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTimeOffset { .. } => return Err(errors::explicit_refused(from, to)),
    };
    Ok(Value::Int(n))
}

fn int_overflow(n: i64, to: &DataType) -> SqlError {
    if let DataType::TinyInt | DataType::SmallInt = to
        && i32::try_from(n).is_ok()
    {
        errors::small_overflow(to, n)
    } else {
        errors::overflow(to)
    }
}

fn integer_text(s: &str, from: &DataType, to: &DataType) -> SqlResult<Value> {
    let overflow = || {
        let (from, shown) = (from.error_name(), s.trim_end());
        match to {
            DataType::BigInt => errors::overflow(to),
            DataType::Int => SqlError::with(
                248,
                16,
                1,
                format!("The conversion of the {from} value '{shown}' overflowed an int column."),
            ),
            DataType::Null
            | DataType::Bit
            | DataType::TinyInt
            | DataType::SmallInt
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
            | DataType::DateTimeOffset(_) => {
                let column = if matches!(to, DataType::TinyInt) {
                    "INT1"
                } else {
                    "INT2"
                };
                SqlError::with(
                    244,
                    16,
                    2,
                    format!(
                        "The conversion of the {from} value '{shown}' overflowed an {column} column. \
                         Use a larger integer column."
                    ),
                )
            }
        }
    };
    match parse_int(s) {
        Ok(n) if in_range(n, to) => Ok(Value::Int(n)),
        Ok(_) | Err(ParseIntError::Overflow) => Err(overflow()),
        Err(ParseIntError::Syntax) => Err(if let DataType::BigInt = to {
            errors::error_converting(from, to)
        } else {
            errors::conversion_failed(from, s, to)
        }),
    }
}

/// The last bytes as a big-endian number of the type's size.
fn integer_bytes(bytes: &[u8], to: &DataType) -> i64 {
    let size = to.max_length().unsigned_abs() as usize;
    let tail = &bytes[bytes.len().saturating_sub(size)..];
    let n = tail.iter().fold(0_u64, |n, b| (n << 8) | u64::from(*b));
    match to {
        DataType::SmallInt => i64::from(n as u16 as i16),
        DataType::Int => i64::from(n as u32 as i32),
        DataType::Null
        | DataType::Bit
        | DataType::TinyInt
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
        | DataType::DateTimeOffset(_) => n as i64,
    }
}

pub(super) fn decimal(value: &Value, from: &DataType, to: &DataType) -> SqlResult<Value> {
    let (precision, scale) = (to.precision(), to.scale());
    let overflow = || errors::overflow_from(from.error_name(), to);
    let units = match value {
        Value::Bit(b) => dec::rescale(i128::from(*b), 0, scale),
        Value::Int(n) => dec::rescale(i128::from(*n), 0, scale),
        Value::Decimal { units, scale: s } => dec::rescale(*units, *s, scale),
        Value::Float(f) => dec::from_f64(*f, scale),
        Value::Str(s) => match dec::parse(&text::to_string(s), scale) {
            Ok(units) => Some(units),
            Err(dec::ParseDecimalError::Overflow)
                if written_digits(s) > dec::MAX_PRECISION.into() =>
            {
                return Err(errors::too_many_digits(from, to));
            }
            Err(dec::ParseDecimalError::Overflow) => None,
            Err(dec::ParseDecimalError::Syntax) => return Err(errors::error_converting(from, to)),
        },
        Value::Bytes(bytes) => {
            let (units, s) =
                decimal_bytes(bytes).ok_or_else(|| errors::error_converting(from, to))?;
            dec::rescale(units, s, scale)
        }
        Value::DateTime { .. } => dec::from_f64(days_since_1900(value), scale),
        Value::Null
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTimeOffset { .. } => return Err(errors::explicit_refused(from, to)),
    };
    let units = units
        .filter(|u| dec::fits(*u, precision))
        .ok_or_else(overflow)?;
    Ok(Value::Decimal { units, scale })
}

/// How many digits a number has as it is written, without the zeros it begins with.
fn written_digits(s: &[u16]) -> usize {
    let digit = |u: &u16| (0x30..=0x39).contains(u);
    let point = s.iter().position(|u| *u == 0x2E).unwrap_or(s.len());
    let whole = s[..point].iter().filter(|u| digit(u));
    whole.skip_while(|u| **u == 0x30).count() + s[point..].iter().filter(|u| digit(u)).count()
}

/// The binary form of DECIMAL: precision, scale, zero, sign, then the number in little-endian.
fn decimal_bytes(bytes: &[u8]) -> Option<(i128, u8)> {
    let [_, scale, _, sign, digits @ ..] = bytes else {
        return None;
    };
    if digits.len() > 16 || *scale > 38 {
        return None;
    }
    let units = digits
        .iter()
        .rev()
        .fold(0_u128, |n, b| (n << 8) | u128::from(*b));
    let units = i128::try_from(units).ok()?;
    Some((if *sign == 0 { -units } else { units }, *scale))
}

pub(super) fn float(value: &Value, from: &DataType, to: &DataType) -> SqlResult<Value> {
    let f = match value {
        Value::Bit(b) => f64::from(u8::from(*b)),
        Value::Int(n) => *n as f64,
        Value::Decimal { units, scale } => dec::to_f64(*units, *scale),
        Value::Float(f) => *f,
        Value::Str(s) => {
            parse_float(&text::to_string(s)).ok_or_else(|| errors::error_converting(from, to))?
        }
        Value::DateTime { .. } => days_since_1900(value),
        Value::Null
        | Value::Bytes(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTimeOffset { .. } => return Err(errors::explicit_refused(from, to)),
    };
    float_result(f, to)
}

fn days_since_1900(value: &Value) -> f64 {
    Moment::of(value).map_or(0.0, |m| {
        f64::from(m.days - DAYS_1900) + m.ticks as f64 / TICKS_PER_DAY as f64
    })
}
