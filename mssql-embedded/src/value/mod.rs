//! Data types and values: what a column can hold and how it is held.
//!
//! A value does not know its declared type. `Int` serves TINYINT to BIGINT, `Str` serves the four
//! character types; the binder carries the [`DataType`] beside every expression.

pub mod arith;
mod coercibility;
mod collation;
mod column;
pub mod compare;
pub mod convert;
mod data_type;
pub mod date_format;
pub mod date_parse;
pub mod date_part;
pub mod datetime;
pub mod decimal;
pub mod delay;
pub(crate) mod errors;
#[cfg(test)]
pub(crate) mod extremes;
pub mod facts;
pub(crate) mod fold;
pub mod guid;
pub mod json;
pub mod number_text;
pub mod operation;
pub mod precedence;
mod steps;
pub mod text;
mod type_name;

use std::sync::Arc;

pub use coercibility::{Coercibility, Conflict};
pub use collation::Collation;
pub use column::ColumnMeta;
pub use convert::{CastMode, StoreTarget, cast, cast_asking, refuse_style, room_for, store};
pub use data_type::{DataType, Length};
pub use operation::BinaryOp;
pub use steps::{STEPS_PER_TURN, Steps};
pub use type_name::{BareLength, TypeArg, bad_scale, no_such_type};

/// One SQL value.
///
/// `PartialEq` compares representations and is meant for tests; SQL comparison (collation, padding,
/// decimal scale) is [`compare::compare`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// NULL of any type.
    Null,
    Bit(bool),
    /// TINYINT, SMALLINT, INT and BIGINT.
    Int(i64),
    /// DECIMAL and NUMERIC (also MONEY where met): `units / 10^scale`.
    Decimal {
        /// The unscaled number, at most 38 digits.
        units: i128,
        /// Digits after the point, equal to the scale of the static type.
        scale: u8,
    },
    /// REAL (already rounded to single precision) and FLOAT.
    Float(f64),
    /// CHAR, VARCHAR, NCHAR and NVARCHAR, always as UTF-16 code units and never validated, since
    /// NVARCHAR may hold unpaired surrogates. A VARCHAR value only ever holds characters of its
    /// code page: the conversion into VARCHAR has replaced the others by '?'.
    Str(Arc<[u16]>),
    /// BINARY and VARBINARY.
    Bytes(Arc<[u8]>),
    /// UNIQUEIDENTIFIER, in the byte order of the text form (big-endian groups).
    Guid([u8; 16]),
    /// DATE: days since 0001-01-01.
    Date(i32),
    /// TIME: 100 ns ticks since midnight.
    Time(i64),
    /// DATETIME, SMALLDATETIME and DATETIME2: days since 0001-01-01 and 100 ns ticks of the day,
    /// already rounded to the precision of the static type.
    DateTime {
        /// Days since 0001-01-01.
        days: i32,
        /// 100 ns ticks since midnight.
        ticks: i64,
    },
    /// DATETIMEOFFSET: the UTC instant and the offset it is shown in.
    DateTimeOffset {
        /// UTC days since 0001-01-01.
        days: i32,
        /// UTC 100 ns ticks since midnight.
        ticks: i64,
        /// Minutes east of UTC.
        offset: i16,
    },
}

impl Value {
    /// Text as a character value.
    pub fn text(s: &str) -> Self {
        Self::Str(s.encode_utf16().collect())
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}
