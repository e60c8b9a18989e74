//! Parameters on their way in: TYPE_INFO and the value that follows it.

use std::sync::Arc;

use super::collation::from_wire;
use super::read::Reader;
use crate::error::{SqlError, SqlResult};
use crate::refused::{Kind, refused};
use crate::value::{Collation, DataType, Length, Value, datetime, guid, text};

/// 1900-01-01 in days since 0001-01-01: where DATETIME counts from.
pub(crate) const DAYS_TO_1900: i32 = 693_595;
/// 9999-12-31 in days since 0001-01-01.
const LAST_DAY: i32 = 3_652_058;
/// 1753-01-01 in days since 0001-01-01: the first day of DATETIME.
const FIRST_DATETIME_DAY: i32 = 639_905;
/// 100 ns ticks of a day.
const TICKS_PER_DAY: i64 = 864_000_000_000;

/// Reads one parameter's type and value.
pub(crate) fn read_typed_value(r: &mut Reader<'_>) -> SqlResult<(DataType, Value)> {
    let token = r.u8()?;
    match token {
        0x1F => Ok((DataType::Null, Value::Null)),
        0x30 | 0x32 | 0x34 | 0x38 | 0x3A..=0x3E | 0x7A | 0x7F => fixed(token, r),
        0x24 | 0x26 | 0x68 | 0x6D..=0x6F => sized(token, r),
        0x37 | 0x3F | 0x6A | 0x6C => decimal(r),
        0x28..=0x2B => date_time(token, r),
        0x25 | 0x27 | 0x2D | 0x2F => short_legacy(token, r),
        0xA5 | 0xA7 | 0xAD | 0xAF | 0xE7 | 0xEF => counted(token, r),
        0x22 | 0x23 | 0x63 => legacy_lob(token, r),
        0x62 => Err(refused(Kind::Client, "a parameter of type sql_variant")),
        0xF0 => Err(refused(Kind::Client, "a parameter of a CLR type")),
        0xF1 => Err(refused(Kind::Client, "a parameter of type xml")),
        0xF3 => Err(refused(Kind::Client, "a table-valued parameter")),
        0xF4 => Err(refused(Kind::Client, "a parameter of type json")),
        0xF5 => Err(refused(Kind::Client, "a parameter of type vector")),
        _ => Err(SqlError::new(
            8009,
            format!(
                "The incoming tabular data stream (TDS) remote procedure call (RPC) protocol \
                 stream is incorrect. Data type 0x{token:02X} is unknown."
            ),
        )),
    }
}

/// A family of tokens has another member than its reader knows.
fn other_token(token: u8) -> SqlError {
    SqlError::internal(format!("a type token {token:#04x} of another family"))
}

fn bad_length(what: &str) -> SqlError {
    SqlError::new(
        8016,
        format!(
            "The incoming tabular data stream (TDS) remote procedure call (RPC) protocol stream \
             is incorrect. The {what} has an invalid data length or metadata length."
        ),
    )
}

fn bad_value(what: &str) -> SqlError {
    SqlError::new(
        8023,
        format!(
            "The incoming tabular data stream (TDS) remote procedure call (RPC) protocol stream \
             is incorrect. The supplied value is not a valid instance of data type {what}. Check \
             the source data for invalid values."
        ),
    )
}

/// The fixed-length types: no length in TYPE_INFO, none before the value, never NULL.
fn fixed(token: u8, r: &mut Reader<'_>) -> SqlResult<(DataType, Value)> {
    let (family, size) = match token {
        0x30 => (0x26, 1),
        0x32 => (0x68, 1),
        0x34 => (0x26, 2),
        0x38 => (0x26, 4),
        0x3A => (0x6F, 4),
        0x3B => (0x6D, 4),
        0x3C => (0x6E, 8),
        0x3D => (0x6F, 8),
        0x3E => (0x6D, 8),
        0x7A => (0x6E, 4),
        _ => (0x26, 8),
    };
    let ty = sized_type(family, size)?;
    let value = sized_value(family, r.bytes(usize::from(size))?)?;
    Ok((ty, value))
}

/// The types with a length of one byte, 0 meaning NULL.
fn sized(token: u8, r: &mut Reader<'_>) -> SqlResult<(DataType, Value)> {
    let size = r.u8()?;
    let ty = sized_type(token, size)?;
    let length = r.u8()?;
    if length == 0 {
        return Ok((ty, Value::Null));
    }
    // An INTN value may be shorter than its type, which widens it; a longer one is none of its type.
    if length > size {
        return Err(bad_length("parameter"));
    }
    let bytes = r.bytes(usize::from(length))?;
    sized_type(token, length)?;
    let value = sized_value(token, bytes)?;
    Ok((ty, value))
}

fn sized_type(token: u8, size: u8) -> SqlResult<DataType> {
    Ok(match (token, size) {
        (0x24, 16) => DataType::UniqueIdentifier,
        (0x26, 1) => DataType::TinyInt,
        (0x26, 2) => DataType::SmallInt,
        (0x26, 4) => DataType::Int,
        (0x26, 8) => DataType::BigInt,
        (0x68, 1) => DataType::Bit,
        (0x6D, 4) => DataType::Real,
        (0x6D, 8) => DataType::Float,
        // MONEY and SMALLMONEY, of which the engine keeps the numbers exactly.
        (0x6E, 4) => DataType::Decimal {
            precision: 10,
            scale: 4,
        },
        (0x6E, 8) => DataType::Decimal {
            precision: 19,
            scale: 4,
        },
        (0x6F, 4) => DataType::SmallDateTime,
        (0x6F, 8) => DataType::DateTime,
        _ => return Err(bad_length("parameter")),
    })
}

fn sized_value(token: u8, bytes: &[u8]) -> SqlResult<Value> {
    let unsigned = le_number(bytes) as u64;
    Ok(match (token, bytes.len()) {
        (0x24, _) => {
            let wire = bytes
                .try_into()
                .map_err(|_| bad_length("uniqueidentifier"))?;
            Value::Guid(guid::swap_groups(&wire))
        }
        (0x68, _) => Value::Bit(unsigned != 0),
        (0x26, 1) => Value::Int(i64::from(unsigned as u8)),
        (0x26, 2) => Value::Int(i64::from(unsigned as i16)),
        (0x26, 4) => Value::Int(i64::from(unsigned as i32)),
        (0x26, _) => Value::Int(unsigned as i64),
        (0x6D, size) => {
            let number = match size {
                4 => f64::from(f32::from_bits(unsigned as u32)),
                _ => f64::from_bits(unsigned),
            };
            if !number.is_finite() {
                return Err(bad_value(if size == 4 { "real" } else { "float" }));
            }
            Value::Float(number)
        }
        (0x6E, 4) => Value::Decimal {
            units: i128::from(unsigned as i32),
            scale: 4,
        },
        // MONEY travels with its high half first.
        (0x6E, _) => Value::Decimal {
            units: i128::from(unsigned.rotate_left(32) as i64),
            scale: 4,
        },
        (_, 4) => {
            let (days, minutes) = (unsigned as u16, (unsigned >> 16) as u16);
            if minutes >= 1440 {
                return Err(bad_value("smalldatetime"));
            }
            let ticks = i64::from(minutes) * 600_000_000;
            Value::DateTime {
                days: DAYS_TO_1900 + i32::from(days),
                ticks,
            }
        }
        _ => date_time_300(unsigned)?,
    })
}

/// DATETIME: days since 1900 and 1/300 seconds, rounded to the nearest tick.
fn date_time_300(bits: u64) -> SqlResult<Value> {
    let days = DAYS_TO_1900
        .checked_add(bits as u32 as i32)
        .ok_or_else(|| bad_value("datetime"))?;
    let part = (bits >> 32) as i64;
    if !(FIRST_DATETIME_DAY..=LAST_DAY).contains(&days) || part >= 25_920_000 {
        return Err(bad_value("datetime"));
    }
    Ok(Value::DateTime {
        days,
        ticks: datetime::datetime_ticks(part),
    })
}

fn le_number(bytes: &[u8]) -> u128 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, &byte| number << 8 | u128::from(byte))
}

fn decimal(r: &mut Reader<'_>) -> SqlResult<(DataType, Value)> {
    let _size = r.u8()?;
    let (precision, scale) = (r.u8()?, r.u8()?);
    if !(1..=38).contains(&precision) || scale > precision {
        return Err(bad_value("decimal"));
    }
    let ty = DataType::Decimal { precision, scale };
    let length = r.u8()?;
    if length == 0 {
        return Ok((ty, Value::Null));
    }
    if !matches!(length, 5 | 9 | 13 | 17) {
        return Err(bad_length("decimal"));
    }
    let negative = r.u8()? == 0;
    let magnitude = le_number(r.bytes(usize::from(length) - 1)?);
    if magnitude >= 10_u128.pow(u32::from(precision)) {
        return Err(bad_value("decimal"));
    }
    let units = magnitude as i128;
    Ok((
        ty,
        Value::Decimal {
            units: if negative { -units } else { units },
            scale,
        },
    ))
}

/// DATE, TIME, DATETIME2 and DATETIMEOFFSET.
fn date_time(token: u8, r: &mut Reader<'_>) -> SqlResult<(DataType, Value)> {
    let scale = if token == 0x28 { 0 } else { r.u8()? };
    let (ty, extra) = match token {
        0x28 => (DataType::Date, 3),
        0x29 => (DataType::Time(scale), 0),
        0x2A => (DataType::DateTime2(scale), 3),
        _ => (DataType::DateTimeOffset(scale), 5),
    };
    let time_bytes = match (token, scale) {
        (0x28, _) => 0,
        (_, 0..=2) => 3,
        (_, 3..=4) => 4,
        (_, 5..=7) => 5,
        _ => return Err(bad_length("date or time")),
    };
    let length = usize::from(r.u8()?);
    if length == 0 {
        return Ok((ty, Value::Null));
    }
    if length != time_bytes + extra {
        return Err(bad_length("date or time"));
    }
    let ticks = le_number(r.bytes(time_bytes)?) as i64 * 10_i64.pow(7 - u32::from(scale));
    let days = if extra == 0 {
        0
    } else {
        le_number(r.bytes(3)?) as i32
    };
    if ticks >= TICKS_PER_DAY || days > LAST_DAY {
        return Err(bad_value("date or time"));
    }
    let value = match token {
        0x28 => Value::Date(days),
        0x29 => Value::Time(ticks),
        0x2A => Value::DateTime { days, ticks },
        _ => {
            let offset = r.u16()? as i16;
            if !(-840..=840).contains(&offset) {
                return Err(bad_value("datetimeoffset"));
            }
            let value = Value::DateTimeOffset {
                days,
                ticks,
                offset,
            };
            // What is shown must be in the calendar, too.
            if !datetime::Moment::of(&value).is_some_and(datetime::Moment::is_in_calendar) {
                return Err(bad_value("datetimeoffset"));
            }
            value
        }
    };
    Ok((ty, value))
}

/// CHAR, VARCHAR, BINARY and VARBINARY as they were before TDS 7: one byte of length.
fn short_legacy(token: u8, r: &mut Reader<'_>) -> SqlResult<(DataType, Value)> {
    let size = u16::from(r.u8()?).max(1);
    let length = usize::from(r.u8()?);
    if length > usize::from(size) {
        return Err(bad_length("parameter"));
    }
    let collation = Collation::SqlLatin1CiAs;
    let ty = match token {
        0x25 => DataType::VarBinary(Length::Limited(size)),
        0x27 => DataType::VarChar(Length::Limited(size), collation),
        0x2D => DataType::Binary(size),
        0x2F => DataType::Char(size, collation),
        _ => return Err(other_token(token)),
    };
    if length == 0 {
        return Ok((ty, Value::Null));
    }
    let bytes = r.bytes(length)?;
    let value = match token {
        0x25 | 0x2D => Value::Bytes(bytes.into()),
        _ => Value::Str(text::from_varchar_bytes(bytes, collation)),
    };
    Ok((ty, value))
}

fn read_collation(r: &mut Reader<'_>) -> SqlResult<Collation> {
    let bytes = r.bytes(5)?;
    Ok(from_wire([
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4],
    ]))
}

/// The character and binary types with two bytes of length, and their MAX forms.
fn counted(token: u8, r: &mut Reader<'_>) -> SqlResult<(DataType, Value)> {
    let size = r.u16()?;
    let collation = match token {
        0xA5 | 0xAD => Collation::SqlLatin1CiAs,
        _ => read_collation(r)?,
    };
    let max = size == 0xFFFF;
    if !max && size > 8000 {
        return Err(bad_length("parameter"));
    }
    let unit = if matches!(token, 0xE7 | 0xEF) { 2 } else { 1 };
    let declared = (size / unit).max(1);
    let length = if max {
        Length::Max
    } else {
        Length::Limited(declared)
    };
    let ty = match token {
        0xA5 => DataType::VarBinary(length),
        0xA7 => DataType::VarChar(length, collation),
        0xE7 => DataType::NVarChar(length, collation),
        _ if max => return Err(bad_length("parameter")),
        0xAD => DataType::Binary(declared),
        0xAF => DataType::Char(declared, collation),
        0xEF => DataType::NChar(declared, collation),
        _ => return Err(other_token(token)),
    };
    let value = if max {
        match read_chunks(r)? {
            None => Value::Null,
            Some(Chunks::One(bytes)) => content(token, bytes, collation)?,
            Some(Chunks::Many(bytes)) => content(token, &bytes, collation)?,
        }
    } else {
        match r.u16()? {
            0xFFFF => Value::Null,
            n if n > size.max(unit) => return Err(bad_length("parameter")),
            n => content(token, r.bytes(usize::from(n))?, collation)?,
        }
    };
    Ok((ty, value))
}

fn content(token: u8, bytes: &[u8], collation: Collation) -> SqlResult<Value> {
    Ok(match token {
        0xA5 | 0xAD | 0x22 => Value::Bytes(bytes.into()),
        0xA7 | 0xAF | 0x23 => Value::Str(text::from_varchar_bytes(bytes, collation)),
        _ if !bytes.len().is_multiple_of(2) => return Err(bad_length("Unicode text")),
        _ => Value::Str(units(bytes)),
    })
}

/// UTF-16 code units as they came, unpaired surrogates included.
fn units(bytes: &[u8]) -> Arc<[u16]> {
    bytes
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect()
}

enum Chunks<'a> {
    One(&'a [u8]),
    Many(Vec<u8>),
}

/// A value of a MAX type, which travels in chunks (PLP). `None` is NULL.
fn read_chunks<'a>(r: &mut Reader<'a>) -> SqlResult<Option<Chunks<'a>>> {
    const NULL: u64 = u64::MAX;
    const UNKNOWN_LENGTH: u64 = u64::MAX - 1;
    let total = r.u64()?;
    if total == NULL {
        return Ok(None);
    }
    let mut chunks = Chunks::One(&[]);
    loop {
        let chunk = match r.u32()? as usize {
            0 => break,
            n => r.bytes(n)?,
        };
        chunks = match chunks {
            Chunks::One([]) => Chunks::One(chunk),
            Chunks::One(first) => Chunks::Many([first, chunk].concat()),
            Chunks::Many(mut all) => {
                all.extend_from_slice(chunk);
                Chunks::Many(all)
            }
        };
    }
    let length = match &chunks {
        Chunks::One(bytes) => bytes.len(),
        Chunks::Many(bytes) => bytes.len(),
    };
    if total != UNKNOWN_LENGTH && total != length as u64 {
        return Err(bad_length("parameter of a MAX type"));
    }
    Ok(Some(chunks))
}

/// TEXT, NTEXT and IMAGE, which clients before TDS 7.2 send for long values.
fn legacy_lob(token: u8, r: &mut Reader<'_>) -> SqlResult<(DataType, Value)> {
    let _size = r.u32()?;
    let collation = match token {
        0x22 => Collation::SqlLatin1CiAs,
        _ => read_collation(r)?,
    };
    let ty = match token {
        0x22 => DataType::VarBinary(Length::Max),
        0x23 => DataType::VarChar(Length::Max, collation),
        0x63 => DataType::NVarChar(Length::Max, collation),
        _ => return Err(other_token(token)),
    };
    let value = match r.u32()? {
        u32::MAX => Value::Null,
        n => content(token, r.bytes(n as usize)?, collation)?,
    };
    Ok((ty, value))
}
