//! Columns and output parameters on their way out: TYPE_INFO and values.

use super::collation::to_wire;
use super::type_in::DAYS_TO_1900;
use super::type_legacy::{
    date_text, is_legacy_lob, put_legacy_lob, put_legacy_lob_type, text_substitute,
};
use super::version::Version;
use super::write::{Mismatch, Put};
use crate::value::{Collation, DataType, Length, Value, datetime, guid, text};

/// Appends TYPE_INFO, always in the form that admits NULL. Within COLMETADATA the old large types
/// also carry a table name, left empty.
pub(crate) fn put_type(ty: &DataType, version: Version, in_metadata: bool, out: &mut Vec<u8>) {
    if let Some(text) = text_substitute(ty, version) {
        return put_type(&text, version, in_metadata, out);
    }
    if is_legacy_lob(ty, version) {
        put_legacy_lob_type(ty, in_metadata, out);
        return;
    }
    out.put_u8(ty.facts().token);
    match *ty {
        DataType::Null
        | DataType::Bit
        | DataType::TinyInt
        | DataType::SmallInt
        | DataType::Int
        | DataType::BigInt
        | DataType::Real
        | DataType::Float
        | DataType::UniqueIdentifier
        | DataType::SmallDateTime
        | DataType::DateTime => out.put_u8(ty.max_length() as u8),
        DataType::Decimal { precision, scale } => {
            out.extend_from_slice(&[decimal_bytes(precision), precision, scale]);
        }
        DataType::Char(n, collation) => put_length(n, Some(collation), out),
        DataType::VarChar(n, collation) => put_length(bytes(n, 1), Some(collation), out),
        DataType::NChar(n, collation) => put_length(n.saturating_mul(2), Some(collation), out),
        DataType::NVarChar(n, collation) => put_length(bytes(n, 2), Some(collation), out),
        DataType::Binary(n) => put_length(n, None, out),
        DataType::VarBinary(n) => put_length(bytes(n, 1), None, out),
        DataType::Date => {}
        DataType::Time(scale) | DataType::DateTime2(scale) | DataType::DateTimeOffset(scale) => {
            out.put_u8(scale);
        }
    }
}

fn bytes(length: Length, unit: u16) -> u16 {
    match length {
        Length::Limited(n) => n.saturating_mul(unit),
        Length::Max => 0xFFFF,
    }
}

fn put_length(size: u16, collation: Option<Collation>, out: &mut Vec<u8>) {
    out.put_u16(size);
    if let Some(collation) = collation {
        out.extend_from_slice(&to_wire(collation));
    }
}

fn decimal_bytes(precision: u8) -> u8 {
    match precision {
        0..=9 => 5,
        10..=19 => 9,
        20..=28 => 13,
        _ => 17,
    }
}

/// Appends a value of a type that [`put_type`] announced.
pub(crate) fn put_value(
    value: &Value,
    ty: &DataType,
    version: Version,
    out: &mut Vec<u8>,
) -> Result<(), Mismatch> {
    if let Some(text) = text_substitute(ty, version) {
        return put_value(&date_text(value, ty)?, &text, version, out);
    }
    if is_legacy_lob(ty, version) {
        return put_legacy_lob(value, ty, out);
    }
    if value.is_null() {
        put_null(ty, out);
        return Ok(());
    }
    match (ty, value) {
        (DataType::Bit, Value::Bit(bit)) => out.extend_from_slice(&[1, u8::from(*bit)]),
        (DataType::TinyInt, Value::Int(n)) => {
            out.extend_from_slice(&[1, u8::try_from(*n).map_err(|_| Mismatch)?]);
        }
        (DataType::SmallInt, Value::Int(n)) => {
            out.put_u8(2);
            out.put_u16(i16::try_from(*n).map_err(|_| Mismatch)? as u16);
        }
        (DataType::Int, Value::Int(n)) => {
            out.put_u8(4);
            out.put_u32(i32::try_from(*n).map_err(|_| Mismatch)? as u32);
        }
        (DataType::BigInt, Value::Int(n)) => {
            out.put_u8(8);
            out.put_u64(*n as u64);
        }
        (
            DataType::Decimal {
                precision,
                scale: declared,
            },
            Value::Decimal { units, scale },
        ) => {
            if scale != declared {
                return Err(Mismatch);
            }
            put_decimal(*units, *precision, out)?;
        }
        (DataType::Real, Value::Float(n)) => {
            out.put_u8(4);
            out.put_u32((*n as f32).to_bits());
        }
        (DataType::Float, Value::Float(n)) => {
            out.put_u8(8);
            out.put_u64(n.to_bits());
        }
        (DataType::UniqueIdentifier, Value::Guid(bytes)) => {
            out.put_u8(16);
            out.extend_from_slice(&guid::swap_groups(bytes));
        }
        (_, Value::Str(units)) => put_text(units, ty, out)?,
        (DataType::VarBinary(Length::Max), Value::Bytes(bytes)) => {
            put_chunked(out, |out| out.extend_from_slice(bytes))?;
        }
        (DataType::Binary(_) | DataType::VarBinary(_), Value::Bytes(bytes)) => {
            put_counted(out, |out| out.extend_from_slice(bytes))?;
        }
        (
            DataType::Date
            | DataType::Time(_)
            | DataType::SmallDateTime
            | DataType::DateTime
            | DataType::DateTime2(_)
            | DataType::DateTimeOffset(_),
            _,
        ) => put_date_time(value, ty, out)?,
        (
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
            | DataType::UniqueIdentifier,
            _,
        ) => return Err(Mismatch),
    }
    Ok(())
}

fn put_null(ty: &DataType, out: &mut Vec<u8>) {
    match ty {
        DataType::VarChar(Length::Max, _)
        | DataType::NVarChar(Length::Max, _)
        | DataType::VarBinary(Length::Max) => out.put_u64(u64::MAX),
        DataType::Char(..)
        | DataType::VarChar(..)
        | DataType::NChar(..)
        | DataType::NVarChar(..)
        | DataType::Binary(_)
        | DataType::VarBinary(_) => out.put_u16(0xFFFF),
        DataType::Null
        | DataType::Bit
        | DataType::TinyInt
        | DataType::SmallInt
        | DataType::Int
        | DataType::BigInt
        | DataType::Decimal { .. }
        | DataType::Real
        | DataType::Float
        | DataType::UniqueIdentifier
        | DataType::Date
        | DataType::Time(_)
        | DataType::SmallDateTime
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_) => out.put_u8(0),
    }
}

fn put_decimal(units: i128, precision: u8, out: &mut Vec<u8>) -> Result<(), Mismatch> {
    let size = decimal_bytes(precision);
    let magnitude = units.unsigned_abs().to_le_bytes();
    let (kept, cut) = magnitude.split_at(usize::from(size) - 1);
    if cut.iter().any(|&byte| byte != 0) {
        return Err(Mismatch);
    }
    out.extend_from_slice(&[size, u8::from(units >= 0)]);
    out.extend_from_slice(kept);
    Ok(())
}

fn put_text(units: &[u16], ty: &DataType, out: &mut Vec<u8>) -> Result<(), Mismatch> {
    match *ty {
        DataType::NVarChar(Length::Max, _) => put_chunked(out, |out| out.put_units(units)),
        DataType::NVarChar(..) | DataType::NChar(..) => {
            put_counted(out, |out| out.put_units(units))
        }
        DataType::VarChar(Length::Max, collation) => put_chunked(out, |out| {
            out.extend_from_slice(&text::varchar_bytes(units, collation))
        }),
        DataType::VarChar(_, collation) | DataType::Char(_, collation) => put_counted(out, |out| {
            out.extend_from_slice(&text::varchar_bytes(units, collation))
        }),
        DataType::Null
        | DataType::Bit
        | DataType::TinyInt
        | DataType::SmallInt
        | DataType::Int
        | DataType::BigInt
        | DataType::Decimal { .. }
        | DataType::Real
        | DataType::Float
        | DataType::Binary(_)
        | DataType::VarBinary(_)
        | DataType::UniqueIdentifier
        | DataType::Date
        | DataType::Time(_)
        | DataType::SmallDateTime
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_) => Err(Mismatch),
    }
}

/// Bytes after their count as two bytes.
fn put_counted(out: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>)) -> Result<(), Mismatch> {
    let at = out.len();
    out.put_u16(0);
    put(out);
    let length = out.len() - at - 2;
    if length > 8000 {
        return Err(Mismatch);
    }
    out[at..at + 2].copy_from_slice(&(length as u16).to_le_bytes());
    Ok(())
}

/// A value of a MAX type as one chunk: its length, the chunk, and the empty chunk that ends it.
fn put_chunked(out: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>)) -> Result<(), Mismatch> {
    let at = out.len();
    out.put_u64(0);
    out.put_u32(0);
    put(out);
    let length = out.len() - at - 12;
    if length == 0 {
        return Ok(());
    }
    let chunk = u32::try_from(length).map_err(|_| Mismatch)?;
    out[at..at + 8].copy_from_slice(&(length as u64).to_le_bytes());
    out[at + 8..at + 12].copy_from_slice(&chunk.to_le_bytes());
    out.put_u32(0);
    Ok(())
}

fn put_date_time(value: &Value, ty: &DataType, out: &mut Vec<u8>) -> Result<(), Mismatch> {
    match (ty, value) {
        (DataType::Date, Value::Date(days)) => {
            out.put_u8(3);
            put_days(*days, out)?;
        }
        (DataType::Time(scale), Value::Time(ticks)) => {
            out.put_u8(time_bytes(*scale));
            put_time(*ticks, *scale, out);
        }
        (DataType::DateTime2(scale), Value::DateTime { days, ticks }) => {
            out.put_u8(time_bytes(*scale) + 3);
            put_time(*ticks, *scale, out);
            put_days(*days, out)?;
        }
        (
            DataType::DateTimeOffset(scale),
            Value::DateTimeOffset {
                days,
                ticks,
                offset,
            },
        ) => {
            out.put_u8(time_bytes(*scale) + 5);
            put_time(*ticks, *scale, out);
            put_days(*days, out)?;
            out.put_u16(*offset as u16);
        }
        (DataType::DateTime, Value::DateTime { days, ticks }) => {
            out.put_u8(8);
            out.put_u32((days - DAYS_TO_1900) as u32);
            out.put_u32(datetime::ticks_to_datetime(*ticks) as u32);
        }
        (DataType::SmallDateTime, Value::DateTime { days, ticks }) => {
            out.put_u8(4);
            out.put_u16(u16::try_from(days - DAYS_TO_1900).map_err(|_| Mismatch)?);
            out.put_u16((ticks / 600_000_000) as u16);
        }
        (
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
            | DataType::SmallDateTime
            | DataType::DateTime
            | DataType::DateTime2(_)
            | DataType::DateTimeOffset(_),
            _,
        ) => return Err(Mismatch),
    }
    Ok(())
}

fn put_days(days: i32, out: &mut Vec<u8>) -> Result<(), Mismatch> {
    let [a, b, c, 0] = days.to_le_bytes() else {
        return Err(Mismatch);
    };
    out.extend_from_slice(&[a, b, c]);
    Ok(())
}

fn time_bytes(scale: u8) -> u8 {
    match scale {
        0..=2 => 3,
        3..=4 => 4,
        _ => 5,
    }
}

fn put_time(ticks: i64, scale: u8, out: &mut Vec<u8>) {
    let units = ticks / 10_i64.pow(7_u32.saturating_sub(u32::from(scale)));
    out.extend_from_slice(&units.to_le_bytes()[..usize::from(time_bytes(scale))]);
}

#[cfg(test)]
mod tests;
