//! Conversions into the date and time types.

use super::super::date_parse::{ParseDateError, parse_ordered};
use super::super::datetime::{Moment, TICKS_PER_DAY, datetime_ticks};
use super::super::{DataType, Value, decimal, errors, text};
use crate::error::{SqlError, SqlResult};

pub(super) fn date(
    value: &Value,
    from: &DataType,
    to: &DataType,
    style: Option<i32>,
) -> SqlResult<Value> {
    let old = to.is_old_date();
    let moment = match value {
        Value::Str(s) => return from_text(&text::to_string(s), from, to, style),
        Value::Date(_) if matches!(to, DataType::Time(_)) => {
            return Err(errors::explicit_refused(from, to));
        }
        Value::Time(_) if matches!(to, DataType::Date) => {
            return Err(errors::explicit_refused(from, to));
        }
        Value::Date(_) | Value::Time(_) | Value::DateTime { .. } | Value::DateTimeOffset { .. } => {
            Moment::of(value)
        }
        Value::Bit(b) if old => from_days(f64::from(u8::from(*b))),
        Value::Int(n) if old => from_days(*n as f64),
        Value::Decimal { units, scale } if old => from_days(decimal::to_f64(*units, *scale)),
        Value::Float(f) if old => from_days(*f),
        Value::Bytes(bytes) if matches!(to, DataType::DateTime) => from_bytes(bytes),
        Value::Bytes(_) => return Err(errors::missing_conversion(from, to)),
        Value::Null
        | Value::Bit(_)
        | Value::Int(_)
        | Value::Decimal { .. }
        | Value::Float(_)
        | Value::Guid(_) => return Err(errors::explicit_refused(from, to)),
    };
    match moment {
        Some(moment) => moment.to_value(from, to),
        None => Err(errors::overflow(to)),
    }
}

fn from_days(days: f64) -> Option<Moment> {
    if !(-700_000.0..3_000_000.0).contains(&days) {
        return None;
    }
    let whole = days.floor();
    let ticks = ((days - whole) * TICKS_PER_DAY as f64).round() as i64;
    Moment::since_1900(whole as i64, ticks)
}

/// DATETIME's storage: days since 1900 and 1/300 seconds, big-endian, right-aligned.
fn from_bytes(bytes: &[u8]) -> Option<Moment> {
    let mut stored = [0_u8; 8];
    for (to, from) in stored.iter_mut().rev().zip(bytes.iter().rev()) {
        *to = *from;
    }
    let n = u64::from_be_bytes(stored);
    let (days, units) = ((n >> 32) as i32, i64::from(n as u32));
    let ticks = datetime_ticks(units);
    if ticks >= TICKS_PER_DAY {
        return None;
    }
    Moment::since_1900(i64::from(days), ticks)
}

fn from_text(s: &str, from: &DataType, to: &DataType, style: Option<i32>) -> SqlResult<Value> {
    let day_first = reads_day_first(style, from, to)?;
    let syntax = || match to {
        DataType::SmallDateTime => SqlError::with(
            295,
            16,
            3,
            "Conversion failed when converting character string to smalldatetime data type.",
        ),
        DataType::Null
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
        | DataType::Time(_)
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_) => errors::not_a_date(),
    };
    let old = to.is_old_date();
    let parsed = parse_ordered(s, day_first).map_err(|error| match error {
        ParseDateError::OutOfRange if old => errors::date_out_of_range(from, to),
        ParseDateError::Syntax | ParseDateError::OutOfRange => syntax(),
    })?;
    // The older types know neither offsets nor more than milliseconds.
    if old && (parsed.fraction_digits > 3 || (parsed.offset.is_some() && !parsed.zulu)) {
        return Err(syntax());
    }
    let offset = if let DataType::DateTimeOffset(_) = to {
        parsed.offset.unwrap_or(0)
    } else {
        0
    };
    Moment {
        days: parsed.days,
        ticks: parsed.ticks,
        offset,
    }
    .to_value(from, to)
}

/// Whether a style puts the day before the month in numeric dates.
///
/// # Errors
///
/// 9809 for a style that does not exist; those that would be misread are refused before.
fn reads_day_first(style: Option<i32>, from: &DataType, to: &DataType) -> SqlResult<bool> {
    match style {
        Some(3 | 4 | 5 | 103 | 104 | 105) => Ok(true),
        None
        | Some(
            0 | 1 | 6..=10 | 12..=14 | 20..=25 | 100..=102 | 106..=114 | 120 | 121 | 126 | 127,
        ) => Ok(false),
        Some(style) => {
            let (from, to) = (from.error_name(), to.error_name());
            Err(SqlError::new(
                9809,
                format!("The style {style} is not supported for conversions from {from} to {to}."),
            ))
        }
    }
}
