//! The declared type of a column, variable, parameter or expression.

use super::Collation;

/// The declared length of a variable-length type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Length {
    /// `(n)`: bytes for VARCHAR and VARBINARY, UTF-16 units for NVARCHAR.
    Limited(u16),
    /// `(MAX)`.
    Max,
}

/// A SQL Server data type with its facets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DataType {
    /// The type of a bare NULL literal, before it takes the type of its surroundings (INT on the wire).
    Null,
    /// BIT.
    Bit,
    /// TINYINT, 0 to 255.
    TinyInt,
    /// SMALLINT.
    SmallInt,
    /// INT.
    Int,
    /// BIGINT.
    BigInt,
    /// DECIMAL(p, s) and NUMERIC(p, s).
    Decimal {
        /// Total digits, 1 to 38.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// REAL, also FLOAT(1..=24).
    Real,
    /// FLOAT, also FLOAT(25..=53).
    Float,
    /// CHAR(n).
    Char(u16, Collation),
    /// VARCHAR(n) and VARCHAR(MAX).
    VarChar(Length, Collation),
    /// NCHAR(n).
    NChar(u16, Collation),
    /// NVARCHAR(n) and NVARCHAR(MAX); SYSNAME is NVARCHAR(128).
    NVarChar(Length, Collation),
    /// BINARY(n).
    Binary(u16),
    /// VARBINARY(n) and VARBINARY(MAX).
    VarBinary(Length),
    /// UNIQUEIDENTIFIER.
    UniqueIdentifier,
    /// DATE.
    Date,
    /// TIME(n).
    Time(u8),
    /// SMALLDATETIME, minutes.
    SmallDateTime,
    /// DATETIME, 1/300 s.
    DateTime,
    /// DATETIME2(n).
    DateTime2(u8),
    /// DATETIMEOFFSET(n).
    DateTimeOffset(u8),
}
