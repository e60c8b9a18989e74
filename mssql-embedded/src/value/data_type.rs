//! The declared type of a column, variable, parameter or expression.

use std::fmt;

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

impl DataType {
    /// NVARCHAR(n).
    pub fn nvarchar(n: u16, collation: Collation) -> Self {
        Self::NVarChar(Length::Limited(n), collation)
    }

    /// NVARCHAR(MAX).
    pub fn nvarchar_max(collation: Collation) -> Self {
        Self::NVarChar(Length::Max, collation)
    }

    /// VARCHAR(n).
    pub fn varchar(n: u16, collation: Collation) -> Self {
        Self::VarChar(Length::Limited(n), collation)
    }

    /// DECIMAL(p, s).
    pub fn decimal(precision: u8, scale: u8) -> Self {
        Self::Decimal { precision, scale }
    }

    /// The system type's name, as in `sys.types`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Null => "int",
            Self::Bit => "bit",
            Self::TinyInt => "tinyint",
            Self::SmallInt => "smallint",
            Self::Int => "int",
            Self::BigInt => "bigint",
            Self::Decimal { .. } => "decimal",
            Self::Real => "real",
            Self::Float => "float",
            Self::Char(..) => "char",
            Self::VarChar(..) => "varchar",
            Self::NChar(..) => "nchar",
            Self::NVarChar(..) => "nvarchar",
            Self::Binary(_) => "binary",
            Self::VarBinary(_) => "varbinary",
            Self::UniqueIdentifier => "uniqueidentifier",
            Self::Date => "date",
            Self::Time(_) => "time",
            Self::SmallDateTime => "smalldatetime",
            Self::DateTime => "datetime",
            Self::DateTime2(_) => "datetime2",
            Self::DateTimeOffset(_) => "datetimeoffset",
        }
    }

    /// The name used in messages: DECIMAL is called numeric there, the MAX types carry `(max)` and
    /// an untyped NULL is named so.
    pub fn error_name(&self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Decimal { .. } => "numeric",
            Self::VarChar(Length::Max, _) => "varchar(max)",
            Self::NVarChar(Length::Max, _) => "nvarchar(max)",
            Self::VarBinary(Length::Max) => "varbinary(max)",
            other => other.name(),
        }
    }

    /// The type as one would declare it, for example `nvarchar(400)`.
    pub fn declaration(&self) -> String {
        let name = self.name();
        match self {
            Self::Decimal { precision, scale } => format!("{name}({precision},{scale})"),
            Self::Char(n, _) | Self::NChar(n, _) | Self::Binary(n) => format!("{name}({n})"),
            Self::VarChar(length, _) | Self::NVarChar(length, _) | Self::VarBinary(length) => {
                match length {
                    Length::Limited(n) => format!("{name}({n})"),
                    Length::Max => format!("{name}(max)"),
                }
            }
            Self::Time(n) | Self::DateTime2(n) | Self::DateTimeOffset(n) => format!("{name}({n})"),
            _ => name.to_owned(),
        }
    }

    /// The size in bytes as in `sys.columns.max_length`; -1 for the MAX types.
    pub fn max_length(&self) -> i16 {
        match self {
            Self::Bit | Self::TinyInt => 1,
            Self::SmallInt => 2,
            Self::Null | Self::Int | Self::Real | Self::SmallDateTime => 4,
            Self::BigInt | Self::Float | Self::DateTime => 8,
            Self::Decimal { precision, .. } => match precision {
                0..=9 => 5,
                10..=19 => 9,
                20..=28 => 13,
                _ => 17,
            },
            Self::Char(n, _) | Self::Binary(n) => *n as i16,
            Self::NChar(n, _) => (*n * 2) as i16,
            Self::VarChar(length, _) | Self::VarBinary(length) => match length {
                Length::Limited(n) => *n as i16,
                Length::Max => -1,
            },
            Self::NVarChar(length, _) => match length {
                Length::Limited(n) => (*n * 2) as i16,
                Length::Max => -1,
            },
            Self::UniqueIdentifier => 16,
            Self::Date => 3,
            Self::Time(scale) => 3 + fraction_bytes(*scale),
            Self::DateTime2(scale) => 6 + fraction_bytes(*scale),
            Self::DateTimeOffset(scale) => 8 + fraction_bytes(*scale),
        }
    }

    /// The most bytes a value takes in an index key, or `None` for the MAX types, which cannot be
    /// key columns.
    pub fn key_bytes(&self) -> Option<usize> {
        usize::try_from(self.max_length()).ok()
    }

    /// The precision as in `sys.columns`; 0 where it does not apply.
    pub fn precision(&self) -> u8 {
        match self {
            Self::Bit => 1,
            Self::TinyInt => 3,
            Self::SmallInt => 5,
            Self::Null | Self::Int => 10,
            Self::BigInt => 19,
            Self::Decimal { precision, .. } => *precision,
            Self::Real => 24,
            Self::Float => 53,
            Self::Date => 10,
            Self::SmallDateTime => 16,
            Self::DateTime => 23,
            Self::Time(n) => 8 + point(*n),
            Self::DateTime2(n) => 19 + point(*n),
            Self::DateTimeOffset(n) => 26 + point(*n),
            _ => 0,
        }
    }

    /// The scale as in `sys.columns`: digits after the point of a number or of the seconds.
    pub fn scale(&self) -> u8 {
        match self {
            Self::Decimal { scale, .. } => *scale,
            Self::DateTime => 3,
            Self::Time(n) | Self::DateTime2(n) | Self::DateTimeOffset(n) => *n,
            _ => 0,
        }
    }

    /// CHAR, VARCHAR, NCHAR and NVARCHAR.
    pub fn is_string(&self) -> bool {
        self.collation().is_some()
    }

    /// NCHAR and NVARCHAR.
    pub fn is_unicode(&self) -> bool {
        matches!(self, Self::NChar(..) | Self::NVarChar(..))
    }

    /// BINARY and VARBINARY.
    pub fn is_binary(&self) -> bool {
        matches!(self, Self::Binary(_) | Self::VarBinary(_))
    }

    /// TINYINT, SMALLINT, INT and BIGINT.
    pub fn is_integer(&self) -> bool {
        matches!(
            self,
            Self::TinyInt | Self::SmallInt | Self::Int | Self::BigInt
        )
    }

    /// REAL and FLOAT.
    pub fn is_float(&self) -> bool {
        matches!(self, Self::Real | Self::Float)
    }

    /// Integers, DECIMAL, REAL and FLOAT; BIT is not a number.
    pub fn is_numeric(&self) -> bool {
        self.is_integer() || self.is_float() || matches!(self, Self::Decimal { .. })
    }

    /// Every date and time type.
    pub fn is_datetime(&self) -> bool {
        matches!(
            self,
            Self::Date
                | Self::Time(_)
                | Self::SmallDateTime
                | Self::DateTime
                | Self::DateTime2(_)
                | Self::DateTimeOffset(_)
        )
    }

    /// VARCHAR(MAX), NVARCHAR(MAX) and VARBINARY(MAX).
    pub fn is_max(&self) -> bool {
        matches!(
            self,
            Self::VarChar(Length::Max, _)
                | Self::NVarChar(Length::Max, _)
                | Self::VarBinary(Length::Max)
        )
    }

    /// The collation of a character type.
    pub fn collation(&self) -> Option<Collation> {
        match self {
            Self::Char(_, c) | Self::VarChar(_, c) | Self::NChar(_, c) | Self::NVarChar(_, c) => {
                Some(*c)
            }
            _ => None,
        }
    }

    /// The same type with another collation; other types than character ones are unchanged.
    #[must_use]
    pub fn with_collation(&self, collation: Collation) -> Self {
        match self {
            Self::Char(n, _) => Self::Char(*n, collation),
            Self::VarChar(n, _) => Self::VarChar(*n, collation),
            Self::NChar(n, _) => Self::NChar(*n, collation),
            Self::NVarChar(n, _) => Self::NVarChar(*n, collation),
            other => other.clone(),
        }
    }

    /// The declared length of a character or binary type, in units for the Unicode types and bytes
    /// for the others.
    pub fn length(&self) -> Option<Length> {
        match self {
            Self::Char(n, _) | Self::NChar(n, _) | Self::Binary(n) => Some(Length::Limited(*n)),
            Self::VarChar(n, _) | Self::NVarChar(n, _) | Self::VarBinary(n) => Some(*n),
            _ => None,
        }
    }

    /// The precision and scale an exact number has as DECIMAL; `None` for other types.
    pub fn as_decimal(&self) -> Option<(u8, u8)> {
        match self {
            Self::Bit => Some((1, 0)),
            Self::Decimal { precision, scale } => Some((*precision, *scale)),
            _ if self.is_integer() => Some((self.precision(), 0)),
            _ => None,
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.declaration())
    }
}

/// Bytes that fractional seconds add to the smallest form of a type.
fn fraction_bytes(scale: u8) -> i16 {
    match scale {
        0..=2 => 0,
        3..=4 => 1,
        _ => 2,
    }
}

/// Characters of the point and the digits after it.
fn point(scale: u8) -> u8 {
    if scale == 0 { 0 } else { scale + 1 }
}
