//! AT TIME ZONE, for the one zone whose rules need no table: UTC.

use super::sig::{arity, sig, units};
use super::{Arg, Function, Host, Signature};
use crate::error::{SqlError, SqlResult};
use crate::value::{DataType, Value, errors, text};

/// The name under which the binder finds it; no call can be written so.
pub const AT_TIME_ZONE: &str = "AT TIME ZONE";

pub(super) static FUNCTIONS: &[Function] = &[Function::new(AT_TIME_ZONE, bind, eval)];

fn bind(name: &str, args: &[Arg]) -> SqlResult<Signature> {
    arity(name, args, 2, 2)?;
    let scale = match &args[0].ty {
        DataType::DateTimeOffset(n) | DataType::DateTime2(n) => *n,
        DataType::DateTime => 3,
        DataType::SmallDateTime => 0,
        other @ (DataType::Null
        | DataType::Bit
        | DataType::TinyInt
        | DataType::SmallInt
        | DataType::Int
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
        | DataType::Time(_)) => return Err(errors::invalid_argument(other, 1, name)),
    };
    if !args[1].ty.is_string() {
        return Err(errors::invalid_argument(&args[1].ty, 2, name));
    }
    let ty = DataType::DateTimeOffset(scale);
    sig(ty.clone(), vec![ty, args[1].ty.clone()])
}

/// A value without an offset has become one of offset zero, which is what UTC makes of it.
fn eval(_: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    let (Value::DateTimeOffset { days, ticks, .. }, Value::Str(_)) = (&args[0], &args[1]) else {
        return Ok(Value::Null);
    };
    let zone = text::to_string(units(&args[1]));
    if !zone.trim_end().eq_ignore_ascii_case("UTC") {
        return Err(wrong_zone(&zone));
    }
    Ok(Value::DateTimeOffset {
        days: *days,
        ticks: *ticks,
        offset: 0,
    })
}

/// The zones of Windows are refused by name; 9820 for anything that is none.
fn wrong_zone(zone: &str) -> SqlError {
    let lower = zone.to_lowercase();
    if lower.ends_with(" time") || lower.starts_with("utc") {
        return SqlError::unsupported(format!("the time zone {zone}"));
    }
    SqlError::new(
        9820,
        format!("The time zone parameter '{zone}' provided to AT TIME ZONE clause is invalid."),
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, t};
    use super::*;

    #[test]
    fn utc_keeps_the_moment() {
        let noon = Value::DateTimeOffset {
            days: 700_000,
            ticks: 432_000_000_000,
            offset: 120,
        };
        let shown = call(AT_TIME_ZONE, &[noon, t("utc")]).unwrap();
        assert!(matches!(
            shown,
            Value::DateTimeOffset {
                ticks: 432_000_000_000,
                offset: 0,
                ..
            }
        ));
    }

    #[test]
    fn zones_are_told_from_nonsense() {
        assert_eq!(wrong_zone("W. Europe Standard Time").number, 40517);
        assert_eq!(wrong_zone("Nowhere").number, 9820);
    }
}
