//! Conversions between types: CAST, CONVERT, assignment and storage.

mod hex;
mod style;
mod to_binary;
mod to_date;
mod to_number;
mod to_text;

pub use style::refuse_style;

use super::{DataType, Length, Steps, Value, errors, guid, text};
use crate::error::{SqlError, SqlResult};

/// Why a conversion happens, which decides what becomes of text that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastMode {
    /// CAST and CONVERT: cut off silently.
    Explicit,
    /// Variables, parameters and operands: cut off silently.
    Assign,
    /// Columns: refused with 8152, which [`store`] completes to 2628.
    Store,
}

/// The column a value is about to be stored in, for the message of 2628.
#[derive(Clone, Copy, Debug)]
pub struct StoreTarget<'a> {
    /// `database.schema.table`.
    pub table: &'a str,
    pub column: &'a str,
}

/// The value as another type.
///
/// # Errors
///
/// 529 when there is no such conversion, and the numbers of the conversion itself: 220, 232, 241,
/// 242, 244, 245, 248, 281, 295, 8114, 8115, 8152, 8169, 8170.
pub fn cast(
    value: &Value,
    from: &DataType,
    to: &DataType,
    style: Option<i32>,
    mode: CastMode,
) -> SqlResult<Value> {
    cast_asking(value, from, to, style, mode, &mut || Ok(()))
}

/// [`cast`] that asks now and then whether to go on.
///
/// # Errors
///
/// Those of [`cast`] and of `ask`.
pub fn cast_asking(
    value: &Value,
    from: &DataType,
    to: &DataType,
    style: Option<i32>,
    mode: CastMode,
    ask: &mut dyn FnMut() -> SqlResult<()>,
) -> SqlResult<Value> {
    if value.is_null() || matches!(to, DataType::Null) || (from == to && style.is_none()) {
        return Ok(value.clone());
    }
    if let Some(style) = style {
        refuse_style(from, to, style)?;
    }
    match to {
        DataType::Null => Ok(value.clone()),
        DataType::Bit => to_number::bit(value, from, to),
        DataType::TinyInt | DataType::SmallInt | DataType::Int | DataType::BigInt => {
            to_number::integer(value, from, to)
        }
        DataType::Decimal { .. } => to_number::decimal(value, from, to),
        DataType::Real | DataType::Float => to_number::float(value, from, to),
        DataType::Char(..)
        | DataType::VarChar(..)
        | DataType::NChar(..)
        | DataType::NVarChar(..) => to_text::text(value, from, to, style, mode, Steps::new(ask)),
        DataType::Binary(_) | DataType::VarBinary(_) => {
            to_binary::binary(value, from, to, style, mode, Steps::new(ask))
        }
        DataType::UniqueIdentifier => to_guid(value, from, to),
        DataType::Date
        | DataType::Time(_)
        | DataType::SmallDateTime
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_) => to_date::date(value, from, to, style),
    }
}

/// How many bytes a conversion fills at most, besides what the value itself takes.
pub fn room_for(value: &Value, to: &DataType, style: Option<i32>) -> usize {
    let digits = matches!(style, Some(1 | 2));
    match value {
        Value::Bytes(bytes) if to.is_string() => {
            let units = if digits {
                2 + bytes.len() * 2
            } else {
                bytes.len()
            };
            limited(units, to) * 2
        }
        // The bytes, and they again where they stay.
        Value::Str(s) if to.is_binary() => {
            limited(if digits { s.len() / 2 } else { s.len() * 2 }, to) * 2
        }
        Value::Str(s) => s.len() * 2,
        Value::Null
        | Value::Bit(_)
        | Value::Int(_)
        | Value::Decimal { .. }
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. } => 0,
    }
}

/// So many units or bytes, or one more than the type takes, which tells that something is cut off.
fn limited(units: usize, to: &DataType) -> usize {
    match to.length() {
        Some(Length::Limited(n)) => units.min(usize::from(n) + 1),
        Some(Length::Max) | None => units,
    }
}

/// The value as it is stored in a column.
///
/// # Errors
///
/// Those of [`cast`], with 2628 naming table, column and the start of the value when text or
/// binary data is too long.
pub fn store(
    value: &Value,
    from: &DataType,
    to: &DataType,
    target: &StoreTarget<'_>,
) -> SqlResult<Value> {
    cast(value, from, to, None, CastMode::Store).map_err(|error| {
        if error.number == 8152 {
            truncated_in(value, to, target)
        } else {
            error
        }
    })
}

fn truncated_in(value: &Value, to: &DataType, target: &StoreTarget<'_>) -> SqlError {
    let shown = if let (Value::Str(s), Some(Length::Limited(limit))) = (value, to.length()) {
        text::to_string(text::fitting_prefix(s, to, usize::from(limit)))
    } else {
        String::new()
    };
    let StoreTarget { table, column } = target;
    SqlError::new(
        2628,
        format!(
            "String or binary data would be truncated in table '{table}', column '{column}'. \
             Truncated value: '{shown}'."
        ),
    )
}

/// 8152, for places that do not know the column.
pub(crate) fn would_truncate() -> SqlError {
    SqlError::with(8152, 16, 30, "String or binary data would be truncated.")
}

fn to_guid(value: &Value, from: &DataType, to: &DataType) -> SqlResult<Value> {
    match value {
        Value::Guid(_) => Ok(value.clone()),
        Value::Str(s) => guid::parse(&text::to_string(s)).map(Value::Guid).ok_or_else(|| {
            SqlError::with(
                8169,
                16,
                2,
                "Conversion failed when converting from a character string to uniqueidentifier.",
            )
        }),
        Value::Bytes(bytes) => {
            let mut stored = [0_u8; 16];
            let len = bytes.len().min(16);
            stored[..len].copy_from_slice(&bytes[..len]);
            Ok(Value::Guid(guid::swap_groups(&stored)))
        }
        Value::Null | Value::Bit(_) | Value::Int(_) | Value::Decimal { .. } | Value::Float(_) | Value::Date(_) | Value::Time(_) | Value::DateTime { .. } | Value::DateTimeOffset { .. } => Err(errors::explicit_refused(from, to)),
    }
}

#[cfg(test)]
mod tests;
