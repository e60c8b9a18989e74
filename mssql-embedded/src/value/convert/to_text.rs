//! Conversions into CHAR, VARCHAR, NCHAR and NVARCHAR.

use std::sync::Arc;

use super::super::number_text::format_float;
use super::super::{DataType, Length, Steps, Value, date_format, decimal, errors, guid, text};
use super::{CastMode, hex, limited, would_truncate};
use crate::error::{SqlError, SqlResult};

pub(super) fn text(
    value: &Value,
    from: &DataType,
    to: &DataType,
    style: Option<i32>,
    mode: CastMode,
    steps: Steps<'_>,
) -> SqlResult<Value> {
    let shown = match value {
        Value::Str(s) => return Ok(Value::Str(fit(s, to, mode)?)),
        Value::Bytes(bytes) => {
            let shown = bytes_text(bytes, to, style, steps)?;
            return Ok(Value::Str(fit(&shown, to, mode)?));
        }
        Value::Bit(b) => (if *b { "1" } else { "0" }).to_owned(),
        Value::Int(n) => n.to_string(),
        Value::Decimal { units, scale } => decimal::format(*units, *scale),
        Value::Float(f) => format_float(*f, style.unwrap_or(0)),
        Value::Guid(g) => guid::format(g),
        Value::Null
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. } => {
            if style.is_some_and(|style| date_format::shows_nothing_of(from, style)) {
                return Err(errors::error_converting(from, &of_varying_length(to)));
            }
            date_format::format(value, from, style)?
        }
    };
    if let Some(Length::Limited(n)) = to.length()
        && shown.len() > usize::from(n)
    {
        return too_long(value, from, to, mode);
    }
    Ok(Value::Str(fit(&text::from_str(&shown), to, mode)?))
}

/// Numbers are never cut off: up to INT they show as an asterisk in the old types, otherwise they are errors, of which
/// those of the Unicode types are alike. Messages name the type of varying length. Dates are cut off.
fn too_long(value: &Value, from: &DataType, to: &DataType, mode: CastMode) -> SqlResult<Value> {
    let named = of_varying_length(to);
    match value {
        Value::Int(_) | Value::Bit(_) if !to.is_unicode() && *from != DataType::BigInt => {
            Ok(Value::Str(fit(&text::from_str("*"), to, mode)?))
        }
        Value::Int(_) | Value::Bit(_) => Err(errors::overflow(&named)),
        Value::Decimal { .. } | Value::Float(_) | Value::Guid(_) if to.is_unicode() => {
            Err(errors::overflow(&named))
        }
        Value::Decimal { .. } => Err(errors::overflow_from(from.error_name(), &named)),
        Value::Float(f) => Err(errors::float_overflow(&named, *f)),
        Value::Guid(_) => Err(SqlError::with(
            8170,
            16,
            2,
            "Insufficient result space to convert uniqueidentifier value to char.",
        )),
        Value::Null
        | Value::Str(_)
        | Value::Bytes(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. } => {
            let shown = date_format::format(value, from, None)?;
            Ok(Value::Str(fit(&text::from_str(&shown), to, mode)?))
        }
    }
}

/// VARCHAR or NVARCHAR, which messages name for CHAR and NCHAR, too.
fn of_varying_length(ty: &DataType) -> DataType {
    match (ty.is_unicode(), ty.collation()) {
        (true, Some(collation)) => DataType::nvarchar(1, collation),
        (false, Some(collation)) => DataType::varchar(1, collation),
        (_, None) => ty.clone(),
    }
}

/// Text brought into a type: its characters, then its length, then the padding of CHAR.
fn fit(s: &Arc<[u16]>, to: &DataType, mode: CastMode) -> SqlResult<Arc<[u16]>> {
    let s = match to.collation() {
        Some(collation) if !to.is_unicode() => text::to_varchar(s, collation),
        _ => Arc::clone(s),
    };
    let Some(Length::Limited(limit)) = to.length() else {
        return Ok(s);
    };
    let limit = usize::from(limit);
    let kept = text::fitting_prefix(&s, to, limit);
    let cut = kept.len() < s.len();
    // Spaces beyond the end are dropped in silence, as ANSI_PADDING has it.
    if cut && mode == CastMode::Store && s[kept.len()..].iter().any(|u| *u != 0x20) {
        return Err(would_truncate());
    }
    if matches!(to, DataType::Char(..) | DataType::NChar(..)) {
        let used = if to.is_unicode() {
            kept.len()
        } else {
            text::byte_len(kept, to)
        };
        if used < limit {
            let padding = std::iter::repeat_n(0x20, limit - used);
            return Ok(kept.iter().copied().chain(padding).collect());
        }
    }
    if cut { Ok(kept.into()) } else { Ok(s) }
}

fn bytes_text(
    bytes: &[u8],
    to: &DataType,
    style: Option<i32>,
    steps: Steps<'_>,
) -> SqlResult<Arc<[u16]>> {
    // What is cut off need not be written.
    let shown = &bytes[..limited(bytes.len(), to)];
    match style {
        Some(1) => hex::digits("0x", shown, steps),
        Some(2) => hex::digits("", shown, steps),
        _ if to.is_unicode() => Ok(text::from_nvarchar_bytes(bytes)),
        _ => {
            let collation = to
                .collation()
                .unwrap_or(super::super::Collation::SqlLatin1CiAs);
            Ok(text::from_varchar_bytes(bytes, collation))
        }
    }
}
