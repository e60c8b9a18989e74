//! The declared type of a column, variable, parameter or expression.

use std::fmt;

use super::Collation;
use super::facts::{Family, Size};

/// The declared length of a variable-length type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Length {
    /// `(n)`: bytes for VARCHAR and VARBINARY, UTF-16 units for NVARCHAR.
    Limited(u16),
    Max,
}

/// A SQL Server data type with its facets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DataType {
    /// The type of a bare NULL literal, before it takes the type of its surroundings (INT on the wire).
    Null,
    Bit,
    /// TINYINT, 0 to 255.
    TinyInt,
    SmallInt,
    Int,
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
    Char(u16, Collation),
    /// VARCHAR(n) and VARCHAR(MAX).
    VarChar(Length, Collation),
    NChar(u16, Collation),
    /// NVARCHAR(n) and NVARCHAR(MAX); SYSNAME is NVARCHAR(128).
    NVarChar(Length, Collation),
    Binary(u16),
    /// VARBINARY(n) and VARBINARY(MAX).
    VarBinary(Length),
    UniqueIdentifier,
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
    pub fn nvarchar(n: u16, collation: Collation) -> Self {
        Self::NVarChar(Length::Limited(n), collation)
    }

    pub fn nvarchar_max(collation: Collation) -> Self {
        Self::NVarChar(Length::Max, collation)
    }

    pub fn varchar(n: u16, collation: Collation) -> Self {
        Self::VarChar(Length::Limited(n), collation)
    }

    pub fn decimal(precision: u8, scale: u8) -> Self {
        Self::Decimal { precision, scale }
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
            Self::Bit
            | Self::TinyInt
            | Self::SmallInt
            | Self::Int
            | Self::BigInt
            | Self::Real
            | Self::Float
            | Self::Char(..)
            | Self::VarChar(..)
            | Self::NChar(..)
            | Self::NVarChar(..)
            | Self::Binary(_)
            | Self::VarBinary(_)
            | Self::UniqueIdentifier
            | Self::Date
            | Self::Time(_)
            | Self::SmallDateTime
            | Self::DateTime
            | Self::DateTime2(_)
            | Self::DateTimeOffset(_) => self.name(),
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
            Self::Null
            | Self::Bit
            | Self::TinyInt
            | Self::SmallInt
            | Self::Int
            | Self::BigInt
            | Self::Real
            | Self::Float
            | Self::UniqueIdentifier
            | Self::Date
            | Self::SmallDateTime
            | Self::DateTime => name.to_owned(),
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
            Self::Char(..)
            | Self::VarChar(..)
            | Self::NChar(..)
            | Self::NVarChar(..)
            | Self::Binary(_)
            | Self::VarBinary(_)
            | Self::UniqueIdentifier => 0,
        }
    }

    /// The scale as in `sys.columns`: digits after the point of a number or of the seconds.
    pub fn scale(&self) -> u8 {
        match self {
            Self::Decimal { scale, .. } => *scale,
            Self::DateTime => 3,
            Self::Time(n) | Self::DateTime2(n) | Self::DateTimeOffset(n) => *n,
            Self::Null
            | Self::Bit
            | Self::TinyInt
            | Self::SmallInt
            | Self::Int
            | Self::BigInt
            | Self::Real
            | Self::Float
            | Self::Char(..)
            | Self::VarChar(..)
            | Self::NChar(..)
            | Self::NVarChar(..)
            | Self::Binary(_)
            | Self::VarBinary(_)
            | Self::UniqueIdentifier
            | Self::Date
            | Self::SmallDateTime => 0,
        }
    }

    /// CHAR, VARCHAR, NCHAR and NVARCHAR.
    pub fn is_string(&self) -> bool {
        self.facts().family == Family::Text
    }

    /// NCHAR and NVARCHAR.
    pub fn is_unicode(&self) -> bool {
        matches!(self, Self::NChar(..) | Self::NVarChar(..))
    }

    /// BINARY and VARBINARY.
    pub fn is_binary(&self) -> bool {
        self.facts().family == Family::Binary
    }

    /// VARCHAR, NVARCHAR and VARBINARY: values differ in length.
    pub fn is_variable(&self) -> bool {
        matches!(self.facts().size, Size::UpTo(_))
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
        self.facts().family == Family::Float
    }

    /// Integers, DECIMAL, REAL and FLOAT; BIT is not a number.
    pub fn is_numeric(&self) -> bool {
        match self.facts().family {
            Family::Exact => !matches!(self, Self::Bit | Self::Null),
            Family::Float => true,
            Family::Text
            | Family::Binary
            | Family::Guid
            | Family::OldDate
            | Family::Date
            | Family::Time
            | Family::NewDate => false,
        }
    }

    /// DATETIME and SMALLDATETIME, which are numbers of days, too.
    pub fn is_old_date(&self) -> bool {
        self.facts().family == Family::OldDate
    }

    /// Every date and time type.
    pub fn is_datetime(&self) -> bool {
        match self.facts().family {
            Family::OldDate | Family::Date | Family::Time | Family::NewDate => true,
            Family::Exact | Family::Float | Family::Text | Family::Binary | Family::Guid => false,
        }
    }

    /// VARCHAR(MAX), NVARCHAR(MAX) and VARBINARY(MAX).
    pub fn is_max(&self) -> bool {
        self.length() == Some(Length::Max)
    }

    /// The collation of a character type.
    pub fn collation(&self) -> Option<Collation> {
        match self {
            Self::Char(_, c) | Self::VarChar(_, c) | Self::NChar(_, c) | Self::NVarChar(_, c) => {
                Some(*c)
            }
            Self::Null
            | Self::Bit
            | Self::TinyInt
            | Self::SmallInt
            | Self::Int
            | Self::BigInt
            | Self::Decimal { .. }
            | Self::Real
            | Self::Float
            | Self::Binary(_)
            | Self::VarBinary(_)
            | Self::UniqueIdentifier
            | Self::Date
            | Self::Time(_)
            | Self::SmallDateTime
            | Self::DateTime
            | Self::DateTime2(_)
            | Self::DateTimeOffset(_) => None,
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
            Self::Null
            | Self::Bit
            | Self::TinyInt
            | Self::SmallInt
            | Self::Int
            | Self::BigInt
            | Self::Decimal { .. }
            | Self::Real
            | Self::Float
            | Self::Binary(_)
            | Self::VarBinary(_)
            | Self::UniqueIdentifier
            | Self::Date
            | Self::Time(_)
            | Self::SmallDateTime
            | Self::DateTime
            | Self::DateTime2(_)
            | Self::DateTimeOffset(_) => self.clone(),
        }
    }

    /// The declared length of a character or binary type, in units for the Unicode types and bytes
    /// for the others.
    pub fn length(&self) -> Option<Length> {
        match self {
            Self::Char(n, _) | Self::NChar(n, _) | Self::Binary(n) => Some(Length::Limited(*n)),
            Self::VarChar(n, _) | Self::NVarChar(n, _) | Self::VarBinary(n) => Some(*n),
            Self::Null
            | Self::Bit
            | Self::TinyInt
            | Self::SmallInt
            | Self::Int
            | Self::BigInt
            | Self::Decimal { .. }
            | Self::Real
            | Self::Float
            | Self::UniqueIdentifier
            | Self::Date
            | Self::Time(_)
            | Self::SmallDateTime
            | Self::DateTime
            | Self::DateTime2(_)
            | Self::DateTimeOffset(_) => None,
        }
    }

    /// The precision and scale an exact number has as DECIMAL; `None` for other types.
    pub fn as_decimal(&self) -> Option<(u8, u8)> {
        match self {
            Self::Bit => Some((1, 0)),
            Self::Decimal { precision, scale } => Some((*precision, *scale)),
            Self::TinyInt | Self::SmallInt | Self::Int | Self::BigInt => {
                Some((self.precision(), 0))
            }
            Self::Null
            | Self::Real
            | Self::Float
            | Self::Char(..)
            | Self::VarChar(..)
            | Self::NChar(..)
            | Self::NVarChar(..)
            | Self::Binary(_)
            | Self::VarBinary(_)
            | Self::UniqueIdentifier
            | Self::Date
            | Self::Time(_)
            | Self::SmallDateTime
            | Self::DateTime
            | Self::DateTime2(_)
            | Self::DateTimeOffset(_) => None,
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.declaration())
    }
}

/// Characters of the point and the digits after it.
fn point(scale: u8) -> u8 {
    if scale == 0 { 0 } else { scale + 1 }
}
