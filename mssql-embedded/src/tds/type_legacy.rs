//! What clients of older versions of TDS get in place of types they do not know.

use super::collation::to_wire;
use super::version::Version;
use super::write::{Mismatch, Put};
use crate::value::{Collation, DataType, Value, date_format, text};

/// Whether this type travels as TEXT, NTEXT or IMAGE because the client knows no MAX types.
pub(super) fn is_legacy_lob(ty: &DataType, version: Version) -> bool {
    version < Version::V72 && ty.is_max()
}

/// The text type that stands for a date or time type when the client knows none of those of SQL
/// Server 2008.
pub(super) fn text_substitute(ty: &DataType, version: Version) -> Option<DataType> {
    let units = match ty {
        _ if version >= Version::V73 => return None,
        DataType::Date => 10,
        DataType::Time(_) => 16,
        DataType::DateTime2(_) => 27,
        DataType::DateTimeOffset(_) => 34,
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
        | DataType::SmallDateTime
        | DataType::DateTime => return None,
    };
    Some(DataType::nvarchar(units, Collation::SqlLatin1CiAs))
}

/// The text that stands for a date or time which the client's version has no type for.
pub(super) fn date_text(value: &Value, ty: &DataType) -> Result<Value, Mismatch> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    date_format::format(value, ty, None)
        .map(|text| Value::text(&text))
        .map_err(|_| Mismatch)
}

/// TYPE_INFO of such a type.
pub(super) fn put_legacy_lob_type(ty: &DataType, in_metadata: bool, out: &mut Vec<u8>) {
    let (token, collation) = match *ty {
        DataType::NVarChar(_, collation) => (0x63, Some(collation)),
        DataType::VarChar(_, collation) => (0x23, Some(collation)),
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
        | DataType::NChar(..)
        | DataType::Binary(_)
        | DataType::VarBinary(_)
        | DataType::UniqueIdentifier
        | DataType::Date
        | DataType::Time(_)
        | DataType::SmallDateTime
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_) => (0x22, None),
    };
    out.put_u8(token);
    out.put_u32(0x7FFF_FFFF);
    if let Some(collation) = collation {
        out.extend_from_slice(&to_wire(collation));
    }
    if in_metadata {
        out.put_u16(0);
    }
}

/// TEXT, NTEXT and IMAGE: a text pointer and a timestamp that mean nothing, then the bytes.
pub(super) fn put_legacy_lob(
    value: &Value,
    ty: &DataType,
    out: &mut Vec<u8>,
) -> Result<(), Mismatch> {
    if value.is_null() {
        out.put_u8(0);
        return Ok(());
    }
    out.put_u8(16);
    out.extend_from_slice(&[0; 24]);
    let at = out.len();
    out.put_u32(0);
    match (ty, value) {
        (DataType::NVarChar(..), Value::Str(units)) => out.put_units(units),
        (DataType::VarChar(_, collation), Value::Str(units)) => {
            out.extend_from_slice(&text::varchar_bytes(units, *collation));
        }
        (DataType::VarBinary(_), Value::Bytes(bytes)) => out.extend_from_slice(bytes),
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
    let length = u32::try_from(out.len() - at - 4).map_err(|_| Mismatch)?;
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
    Ok(())
}
