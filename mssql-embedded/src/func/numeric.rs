//! Numeric functions that keep the type of their argument.

use super::sig::{any_null, arity, float, int, number, sig};
use super::{Arg, Function, Host, Signature};
use crate::error::SqlResult;
use crate::value::arith::{float_result, in_range, negate};
use crate::value::{CastMode, DataType, Value, cast, decimal, errors};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("ABS", unary, abs),
    Function::new("SIGN", unary, sign),
    Function::new("CEILING", whole, ceiling),
    Function::new("FLOOR", whole, floor),
    Function::new("ROUND", bind_round, round),
    Function::new("POWER", bind_power, power),
    Function::new("DEGREES", angle, |_, s, a| scaled(s, a, f64::to_degrees)),
    Function::new("RADIANS", angle, |_, s, a| scaled(s, a, f64::to_radians)),
];

fn unary(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 1)?;
    let ty = number(&args[0], 1, name)?;
    sig(ty.clone(), vec![ty])
}

fn abs(_: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    let negative = match &args[0] {
        Value::Int(n) => *n < 0,
        Value::Decimal { units, .. } => *units < 0,
        Value::Float(f) => *f < 0.0,
        Value::Null
        | Value::Bit(_)
        | Value::Str(_)
        | Value::Bytes(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. } => false,
    };
    if negative {
        negate(&args[0], &signature.ret)
    } else {
        Ok(args[0].clone())
    }
}

fn sign(_: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    Ok(match &args[0] {
        Value::Int(n) => Value::Int(n.signum()),
        Value::Decimal { units, scale } => {
            let units = units.signum() * decimal::pow10(*scale);
            // A type that has digits after the point only has no one.
            if !decimal::fits(units, signature.ret.precision()) {
                return Err(errors::overflow(&signature.ret));
            }
            Value::Decimal {
                units,
                scale: *scale,
            }
        }
        Value::Float(f) if *f == 0.0 => Value::Float(0.0),
        Value::Float(f) => Value::Float(f.signum()),
        other @ (Value::Null
        | Value::Bit(_)
        | Value::Str(_)
        | Value::Bytes(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. }) => other.clone(),
    })
}

/// CEILING and FLOOR of a DECIMAL have scale zero.
fn whole(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 1)?;
    let ty = number(&args[0], 1, name)?;
    let ret = if let DataType::Decimal { precision, .. } = &ty {
        DataType::decimal(*precision, 0)
    } else {
        ty.clone()
    };
    sig(ret, vec![ty])
}

fn ceiling(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    Ok(match &args[0] {
        Value::Decimal { units, scale } => {
            let unit = decimal::pow10(*scale);
            let up = i128::from(units.rem_euclid(unit) != 0);
            Value::Decimal {
                units: units.div_euclid(unit) + up,
                scale: 0,
            }
        }
        Value::Float(f) => Value::Float(f.ceil()),
        other @ (Value::Null
        | Value::Bit(_)
        | Value::Int(_)
        | Value::Str(_)
        | Value::Bytes(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. }) => other.clone(),
    })
}

fn floor(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    Ok(match &args[0] {
        Value::Decimal { units, scale } => Value::Decimal {
            units: units.div_euclid(decimal::pow10(*scale)),
            scale: 0,
        },
        Value::Float(f) => Value::Float(f.floor()),
        other @ (Value::Null
        | Value::Bit(_)
        | Value::Int(_)
        | Value::Str(_)
        | Value::Bytes(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. }) => other.clone(),
    })
}

fn bind_round(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 2, 3)?;
    let ty = number(&args[0], 1, name)?;
    let params = [ty.clone(), DataType::Int, DataType::Int];
    sig(ty, params.into_iter().take(args.len()).collect())
}

fn round(_: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    if any_null(args) {
        return Ok(Value::Null);
    }
    let ty = &signature.ret;
    let digits = int(&args[1]);
    let cut = args.get(2).map_or(0, int) != 0;
    match &args[0] {
        Value::Int(n) => {
            let rounded = round_units(i128::from(*n), -digits, cut);
            i64::try_from(rounded)
                .ok()
                .filter(|n| in_range(*n, ty))
                .map(Value::Int)
                .ok_or_else(|| errors::overflow(ty))
        }
        Value::Decimal { units, scale } => {
            let rounded = round_units(*units, i64::from(*scale) - digits, cut);
            if decimal::fits(rounded, ty.precision()) {
                Ok(Value::Decimal {
                    units: rounded,
                    scale: *scale,
                })
            } else {
                Err(errors::overflow(ty))
            }
        }
        Value::Float(f) => float_result(round_float(*f, digits, cut), ty),
        other @ (Value::Null
        | Value::Bit(_)
        | Value::Str(_)
        | Value::Bytes(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. }) => Ok(other.clone()),
    }
}

/// Rounds away the last `digits` digits, half away from zero, keeping the size of the number.
fn round_units(units: i128, digits: i64, cut: bool) -> i128 {
    if digits <= 0 {
        return units;
    }
    if digits > 38 {
        return 0;
    }
    let unit = decimal::pow10(digits as u8);
    let quotient = if cut {
        units / unit
    } else {
        decimal::divide_rounded(units, unit)
    };
    quotient.saturating_mul(unit)
}

fn round_float(f: f64, digits: i64, cut: bool) -> f64 {
    let scale = 10_f64.powi(digits.clamp(-300, 300) as i32);
    let scaled = f * scale;
    if !scaled.is_finite() {
        return f;
    }
    (if cut { scaled.trunc() } else { scaled.round() }) / scale
}

fn bind_power(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 2, 2)?;
    let ty = number(&args[0], 1, name)?;
    let ret = if let DataType::Decimal { scale, .. } = &ty {
        DataType::decimal(38, *scale)
    } else {
        ty.clone()
    };
    sig(ret, vec![ty, DataType::Float])
}

fn power(_: &mut dyn Host, signature: &Signature, args: &[Value]) -> SqlResult<Value> {
    if any_null(args) {
        return Ok(Value::Null);
    }
    let base = cast(
        &args[0],
        &signature.params[0],
        &DataType::Float,
        None,
        CastMode::Assign,
    )?;
    let exponent = float(&args[1]);
    if float(&base) == 0.0 && exponent < 0.0 {
        return Err(errors::divide_by_zero());
    }
    let result = float_result(float(&base).powf(exponent), &DataType::Float)?;
    cast(
        &result,
        &DataType::Float,
        &signature.ret,
        None,
        CastMode::Assign,
    )
}

fn angle(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 1, 1)?;
    let ty = number(&args[0], 1, name)?;
    let ret = if let DataType::Decimal { .. } = &ty {
        DataType::decimal(38, 18)
    } else {
        ty.clone()
    };
    sig(ret, vec![ty])
}

fn scaled(signature: &Signature, args: &[Value], f: fn(f64) -> f64) -> SqlResult<Value> {
    let value = cast(
        &args[0],
        &signature.params[0],
        &DataType::Float,
        None,
        CastMode::Assign,
    )?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    let result = float_result(f(float(&value)), &DataType::Float)?;
    cast(
        &result,
        &DataType::Float,
        &signature.ret,
        None,
        CastMode::Assign,
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, call_typed, n};
    use super::*;

    fn d(units: i128, scale: u8) -> Value {
        Value::Decimal { units, scale }
    }

    #[test]
    fn rounding_keeps_the_type() {
        assert_eq!(call("ROUND", &[d(12_345, 2), n(1)]).unwrap(), d(12_350, 2));
        assert_eq!(
            call("ROUND", &[d(-12_345, 2), n(0)]).unwrap(),
            d(-12_300, 2)
        );
        assert_eq!(
            call("ROUND", &[d(15_999, 2), n(1), n(1)]).unwrap(),
            d(15_990, 2)
        );
        assert_eq!(call("ROUND", &[n(155), n(-1)]).unwrap(), n(160));
        assert_eq!(call("CEILING", &[d(-150, 2)]).unwrap(), d(-1, 0));
        assert_eq!(call("FLOOR", &[d(-150, 2)]).unwrap(), d(-2, 0));
        assert_eq!(call("SIGN", &[d(-150, 2)]).unwrap(), d(-100, 2));
    }

    #[test]
    fn integers_overflow() {
        let min = (n(i64::from(i32::MIN)), DataType::Int);
        assert_eq!(call_typed("ABS", &[min]).unwrap_err().number, 8115);
        assert_eq!(call("POWER", &[n(2), n(10)]).unwrap(), n(1024));
        assert_eq!(call("POWER", &[n(2), n(40)]).unwrap_err().number, 232);
    }
}
