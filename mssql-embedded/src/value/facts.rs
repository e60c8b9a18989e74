//! What is known of each data type, in one table: its name, ids, place in the order of precedence, size, and which
//! conversions it takes part in. Adding a variant to [`DataType`] does not compile until it has its entry here.

use super::{Collation, DataType, Length};

#[derive(Debug)]
pub struct Facts {
    /// The name in sys.types.
    pub name: &'static str,
    /// sys.types.system_type_id.
    pub system_type_id: u8,
    /// The token of TYPE_INFO in TDS, in the form that admits NULL.
    pub token: u8,
    /// The place in SQL Server's order of precedence; where two types meet, the higher one wins.
    pub rank: u8,
    /// How many bytes a value takes.
    pub size: Size,
    /// The line of the table of conversions.
    pub family: Family,
    /// The type with the largest arguments that it takes.
    pub largest: fn() -> DataType,
}

/// The collation of texts of which only the size counts.
const ANY: Collation = Collation::SqlLatin1CiAs;

/// How many bytes values of a type take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Always so many.
    Fixed(i16),
    /// By the precision of a DECIMAL.
    Digits,
    /// So many for each unit of the declared length.
    Units(u16),
    /// So many for each unit of the value, which has at most the declared length.
    UpTo(u16),
    /// So many, and up to two more for fractions of a second.
    Fraction(i16),
}

/// The types that the table of conversions tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// BIT, the integers and DECIMAL.
    Exact,
    /// REAL and FLOAT.
    Float,
    /// The character types.
    Text,
    /// BINARY and VARBINARY.
    Binary,
    Guid,
    /// DATETIME and SMALLDATETIME, which are numbers of days, too.
    OldDate,
    Date,
    Time,
    /// DATETIME2 and DATETIMEOFFSET.
    NewDate,
}

/// How a type becomes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// By itself.
    Implicit,
    /// With CAST or CONVERT.
    Explicit,
    None,
}

impl Family {
    /// How a value of this family becomes one of another.
    pub fn conversion(self, to: Self) -> Conversion {
        use Family::{Binary, Date, Exact, Float, Guid, NewDate, OldDate, Text, Time};
        let (implicit, explicit): (&[Self], &[Self]) = match self {
            Exact | Float => (&[Exact, Float, Text, Binary, OldDate], &[]),
            Text => (
                &[Exact, Float, Text, Guid, OldDate, Date, Time, NewDate],
                &[Binary],
            ),
            Binary => (
                &[Exact, Text, Binary, Guid, OldDate],
                &[Date, Time, NewDate],
            ),
            Guid => (&[Guid, Text, Binary], &[]),
            OldDate => (
                &[Text, OldDate, Date, Time, NewDate],
                &[Exact, Float, Binary],
            ),
            Date => (&[Text, OldDate, Date, NewDate], &[Binary]),
            Time => (&[Text, OldDate, Time, NewDate], &[Binary]),
            NewDate => (&[Text, OldDate, Date, Time, NewDate], &[Binary]),
        };
        if implicit.contains(&to) {
            Conversion::Implicit
        } else if explicit.contains(&to) {
            Conversion::Explicit
        } else {
            Conversion::None
        }
    }
}

/// The table: a pattern of [`DataType`], name, system type id, TDS token, rank, size, family, the largest of the type.
macro_rules! facts {
    ($($variant:ident $pattern:tt: $name:literal, $id:literal, $token:literal, $rank:literal, $size:expr, $family:ident, $largest:expr;)*) => {
        /// The facts of every type that has a name of its own.
        pub static ALL: &[Facts] = &[$(facts!(@entry $name, $id, $token, $rank, $size, $family, $largest)),*];

        impl DataType {
            /// What is known of the type. A bare NULL is an INT that gives way to every other type.
            pub fn facts(&self) -> &'static Facts {
                match self {
                    $(facts!(@pattern $variant $pattern) => {
                        static ENTRY: Facts = facts!(@entry $name, $id, $token, $rank, $size, $family, $largest);
                        &ENTRY
                    })*
                    Self::Null => {
                        static ENTRY: Facts = facts!(@entry "int", 56, 0x26, 0, Size::Fixed(4), Exact, DataType::Int);
                        &ENTRY
                    }
                }
            }
        }
    };
    (@pattern $variant:ident ()) => { Self::$variant };
    (@pattern $variant:ident (..)) => { Self::$variant(..) };
    (@pattern $variant:ident {}) => { Self::$variant { .. } };
    (@entry $name:literal, $id:literal, $token:literal, $rank:literal, $size:expr, $family:ident, $largest:expr) => {
        Facts {
            name: $name,
            system_type_id: $id,
            token: $token,
            rank: $rank,
            size: $size,
            family: Family::$family,
            largest: || $largest,
        }
    };
}

facts! {
    //                    name                id  token  rank  size               family   the largest
    UniqueIdentifier ():  "uniqueidentifier", 36,  0x24, 16, Size::Fixed(16),    Guid,    DataType::UniqueIdentifier;
    Date ():              "date",             40,  0x28, 26, Size::Fixed(3),     Date,    DataType::Date;
    Time (..):            "time",             41,  0x29, 25, Size::Fraction(3),  Time,    DataType::Time(7);
    DateTime2 (..):       "datetime2",        42,  0x2A, 29, Size::Fraction(6),  NewDate, DataType::DateTime2(7);
    DateTimeOffset (..):  "datetimeoffset",   43,  0x2B, 30, Size::Fraction(8),  NewDate, DataType::DateTimeOffset(7);
    TinyInt ():           "tinyint",          48,  0x26, 18, Size::Fixed(1),     Exact,   DataType::TinyInt;
    SmallInt ():          "smallint",         52,  0x26, 19, Size::Fixed(2),     Exact,   DataType::SmallInt;
    Int ():               "int",              56,  0x26, 20, Size::Fixed(4),     Exact,   DataType::Int;
    SmallDateTime ():     "smalldatetime",    58,  0x6F, 27, Size::Fixed(4),     OldDate, DataType::SmallDateTime;
    Real ():              "real",             59,  0x6D, 23, Size::Fixed(4),     Float,   DataType::Real;
    DateTime ():          "datetime",         61,  0x6F, 28, Size::Fixed(8),     OldDate, DataType::DateTime;
    Float ():             "float",            62,  0x6D, 24, Size::Fixed(8),     Float,   DataType::Float;
    Bit ():               "bit",              104, 0x68, 17, Size::Fixed(1),     Exact,   DataType::Bit;
    Decimal {}:           "decimal",          106, 0x6A, 22, Size::Digits,       Exact,   DataType::decimal(38, 38);
    BigInt ():            "bigint",           127, 0x26, 21, Size::Fixed(8),     Exact,   DataType::BigInt;
    VarBinary (..):       "varbinary",        165, 0xA5, 11, Size::UpTo(1),      Binary,  DataType::VarBinary(Length::Limited(8000));
    VarChar (..):         "varchar",          167, 0xA7, 13, Size::UpTo(1),      Text,    DataType::varchar(8000, ANY);
    Binary (..):          "binary",           173, 0xAD, 10, Size::Units(1),     Binary,  DataType::Binary(8000);
    Char (..):            "char",             175, 0xAF, 12, Size::Units(1),     Text,    DataType::Char(8000, ANY);
    NVarChar (..):        "nvarchar",         231, 0xE7, 15, Size::UpTo(2),      Text,    DataType::nvarchar(4000, ANY);
    NChar (..):           "nchar",            239, 0xEF, 14, Size::Units(2),     Text,    DataType::NChar(4000, ANY);
}

/// A name of sys.types.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    pub name: &'static str,
    /// The type behind it.
    pub system_type_id: u8,
    /// What tells it from other names of the same type.
    pub user_type_id: i32,
    /// What it stands for, as large as it can be declared.
    pub largest: fn() -> DataType,
}

/// Names of sys.types which stand for another type.
const SYNONYMS: [Named; 2] = [
    Named {
        name: "numeric",
        system_type_id: 108,
        user_type_id: 108,
        largest: || DataType::decimal(38, 38),
    },
    Named {
        name: "sysname",
        system_type_id: 231,
        user_type_id: 256,
        largest: || DataType::nvarchar(128, ANY),
    },
];

/// All names of sys.types that the engine has.
pub fn names() -> impl Iterator<Item = Named> {
    let own = ALL.iter().map(|f| Named {
        name: f.name,
        system_type_id: f.system_type_id,
        user_type_id: i32::from(f.system_type_id),
        largest: f.largest,
    });
    own.chain(SYNONYMS)
}

impl DataType {
    /// The system type's name, as in `sys.types`.
    pub fn name(&self) -> &'static str {
        self.facts().name
    }

    pub fn system_type_id(&self) -> u8 {
        self.facts().system_type_id
    }

    /// The size in bytes as in `sys.columns.max_length`; -1 for the MAX types.
    pub fn max_length(&self) -> i16 {
        match self.facts().size {
            Size::Fixed(bytes) => bytes,
            Size::Digits => match self.precision() {
                0..=9 => 5,
                10..=19 => 9,
                20..=28 => 13,
                _ => 17,
            },
            Size::Units(bytes) | Size::UpTo(bytes) => match self.length() {
                Some(Length::Limited(n)) => i16::try_from(n * bytes).unwrap_or(i16::MAX),
                Some(Length::Max) | None => -1,
            },
            Size::Fraction(bytes) => {
                bytes
                    + match self.scale() {
                        0..=2 => 0,
                        3..=4 => 1,
                        _ => 2,
                    }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No two types share an id, a name or a place in the order of precedence.
    #[test]
    fn the_facts_of_two_types_differ() {
        for (i, a) in ALL.iter().enumerate() {
            for b in &ALL[..i] {
                assert_ne!(a.name, b.name);
                assert_ne!(
                    a.system_type_id, b.system_type_id,
                    "{} and {}",
                    a.name, b.name
                );
                assert_ne!(a.rank, b.rank, "{} and {}", a.name, b.name);
            }
        }
    }

    /// Every name of sys.types can be declared, and means the type whose id it has.
    #[test]
    fn every_name_is_a_type() {
        use crate::value::{BareLength, Collation};
        for named in names() {
            let ty =
                DataType::from_name(named.name, &[], Collation::Bin2, BareLength::One).unwrap();
            if named.name != "numeric" {
                assert_eq!(ty.system_type_id(), named.system_type_id, "{}", named.name);
            }
            let largest = (named.largest)();
            assert_eq!(largest.system_type_id(), ty.system_type_id());
            assert!(largest.max_length() >= ty.max_length(), "{}", named.name);
        }
    }
}
