//! Conversions into BINARY and VARBINARY.

use super::super::datetime::{DAYS_1900, ticks_to_datetime};
use super::super::{DataType, Length, Steps, Value, errors, guid, text};
use super::{CastMode, hex, would_truncate};
use crate::error::{SqlError, SqlResult};

pub(super) fn binary(
    value: &Value,
    from: &DataType,
    to: &DataType,
    style: Option<i32>,
    mode: CastMode,
    steps: Steps<'_>,
) -> SqlResult<Value> {
    let (bytes, right_aligned) = match value {
        Value::Bytes(b) => (b.to_vec(), false),
        Value::Str(s) => (text_bytes(s, from, to, style, steps)?, false),
        Value::Guid(g) => (guid::swap_groups(g).to_vec(), false),
        Value::Bit(b) => (vec![u8::from(*b)], true),
        Value::Int(n) => {
            let size = from.max_length().unsigned_abs() as usize;
            (
                n.to_be_bytes()[8_usize.saturating_sub(size)..].to_vec(),
                true,
            )
        }
        Value::Float(f) if matches!(from, DataType::Real) => {
            ((*f as f32).to_be_bytes().to_vec(), true)
        }
        Value::Float(f) => (f.to_be_bytes().to_vec(), true),
        Value::Decimal { units, scale } => (decimal_bytes(*units, *scale, from), false),
        Value::DateTime { days, ticks } if matches!(from, DataType::DateTime) => {
            let mut bytes = (days - DAYS_1900).to_be_bytes().to_vec();
            bytes.extend_from_slice(&(ticks_to_datetime(*ticks) as u32).to_be_bytes());
            (bytes, true)
        }
        Value::Date(days) => (days.to_le_bytes()[..3].to_vec(), false),
        Value::Null => return Err(SqlError::internal("a NULL to be converted")),
        Value::Time(_) | Value::DateTime { .. } | Value::DateTimeOffset { .. } => {
            return Err(errors::missing_conversion(from, to));
        }
    };
    fit(bytes, right_aligned, to, mode)
}

fn fit(mut bytes: Vec<u8>, right_aligned: bool, to: &DataType, mode: CastMode) -> SqlResult<Value> {
    if let Some(Length::Limited(n)) = to.length() {
        let limit = usize::from(n);
        if bytes.len() > limit {
            // Numbers lose their leading bytes in silence, whatever the target.
            if mode == CastMode::Store && !right_aligned && bytes[limit..].iter().any(|b| *b != 0) {
                return Err(would_truncate());
            }
            if right_aligned {
                bytes.drain(..bytes.len() - limit);
            } else {
                bytes.truncate(limit);
            }
        }
        if matches!(to, DataType::Binary(_)) && bytes.len() < limit {
            let padding = limit - bytes.len();
            if right_aligned {
                bytes.splice(0..0, std::iter::repeat_n(0, padding));
            } else {
                bytes.resize(limit, 0);
            }
        }
    }
    Ok(Value::Bytes(bytes.into()))
}

fn text_bytes(
    s: &[u16],
    from: &DataType,
    to: &DataType,
    style: Option<i32>,
    steps: Steps<'_>,
) -> SqlResult<Vec<u8>> {
    const UPPER: [u16; 2] = [b'0' as u16, b'X' as u16];
    const LOWER: [u16; 2] = [b'0' as u16, b'x' as u16];
    let digits = match style {
        Some(1) => s.strip_prefix(&LOWER).or_else(|| s.strip_prefix(&UPPER)),
        Some(2) => Some(s),
        _ if from.is_unicode() => return Ok(text::nvarchar_bytes(s)),
        _ => {
            let collation = from
                .collation()
                .unwrap_or(super::super::Collation::SqlLatin1CiAs);
            return Ok(text::varchar_bytes(s, collation));
        }
    };
    let bytes = match digits {
        Some(digits) => hex::bytes(digits, steps)?,
        None => None,
    };
    bytes.ok_or_else(|| errors::error_converting(from, to))
}

fn decimal_bytes(units: i128, scale: u8, from: &DataType) -> Vec<u8> {
    let size = match from.precision() {
        0..=9 => 4,
        10..=19 => 8,
        20..=28 => 12,
        _ => 16,
    };
    let mut bytes = vec![from.precision(), scale, 0, u8::from(units >= 0)];
    bytes.extend_from_slice(&units.unsigned_abs().to_le_bytes()[..size]);
    bytes
}
