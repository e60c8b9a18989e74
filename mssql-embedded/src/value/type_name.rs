//! From a type's name and arguments in a declaration to a [`DataType`].

use super::{Collation, DataType, Length};
use crate::error::{SqlError, SqlResult};
use crate::refused::{Kind, refusal};

/// One argument of a type, as in `DECIMAL(18, 2)` or `NVARCHAR(MAX)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeArg {
    Number(i64),
    Max,
}

/// What a character or binary type without a length means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BareLength {
    /// One character: declarations, parameters and columns.
    One,
    /// Thirty characters: CAST and CONVERT.
    Thirty,
}

impl DataType {
    /// The type of this name (in any case) with these arguments.
    ///
    /// # Errors
    ///
    /// 2715 for an unknown name, 2716 for arguments on a type that takes none, 131 and 2717 for
    /// sizes out of range, 1002 and 192 for precision and scale, 1001 for a length of zero; the types
    /// of SQL Server which the engine lacks are refused by name.
    pub fn from_name(
        name: &str,
        args: &[TypeArg],
        collation: Collation,
        bare: BareLength,
    ) -> SqlResult<Self> {
        let lower = name.to_ascii_lowercase();
        let no_args = |ty: Self| {
            if args.is_empty() {
                Ok(ty)
            } else {
                Err(takes_no_size(&lower))
            }
        };
        match lower.as_str() {
            "bit" => no_args(Self::Bit),
            "tinyint" => no_args(Self::TinyInt),
            "smallint" => no_args(Self::SmallInt),
            "int" | "integer" => no_args(Self::Int),
            "bigint" => no_args(Self::BigInt),
            "real" => no_args(Self::Real),
            "uniqueidentifier" => no_args(Self::UniqueIdentifier),
            "date" => no_args(Self::Date),
            "datetime" => no_args(Self::DateTime),
            "smalldatetime" => no_args(Self::SmallDateTime),
            "sysname" => no_args(Self::nvarchar(128, collation)),
            "float" | "double precision" => float(args),
            "decimal" | "numeric" | "dec" => decimal(&lower, args),
            "time" => Ok(Self::Time(fraction(&lower, args)?)),
            "datetime2" => Ok(Self::DateTime2(fraction(&lower, args)?)),
            "datetimeoffset" => Ok(Self::DateTimeOffset(fraction(&lower, args)?)),
            "char" | "character" => Ok(Self::Char(fixed(&lower, args, bare, 8000)?, collation)),
            "nchar" | "national char" | "national character" => {
                Ok(Self::NChar(fixed(&lower, args, bare, 4000)?, collation))
            }
            "binary" => Ok(Self::Binary(fixed(&lower, args, bare, 8000)?)),
            "varchar" | "char varying" | "character varying" => Ok(Self::VarChar(
                variable(&lower, args, bare, 8000)?,
                collation,
            )),
            "nvarchar" | "national char varying" | "national character varying" => Ok(
                Self::NVarChar(variable(&lower, args, bare, 4000)?, collation),
            ),
            "varbinary" | "binary varying" => {
                Ok(Self::VarBinary(variable(&lower, args, bare, 8000)?))
            }
            _ => Err(refusal(Kind::Type, &lower).unwrap_or_else(|| no_such_type(name, 6))),
        }
    }
}

/// 2715: a name that is no data type; the state says whether it has parts.
pub fn no_such_type(name: &str, state: u8) -> SqlError {
    let message = format!("Column, parameter, or variable #1: Cannot find data type {name}.");
    SqlError::with(2715, 16, state, message)
}

/// 1002: more digits for the fraction of a second than there are.
pub fn bad_scale(scale: i64) -> SqlError {
    let message = format!("Line 1: Specified scale {scale} is invalid.");
    SqlError::with(1002, 15, 1, message)
}

fn takes_no_size(name: &str) -> SqlError {
    SqlError::new(
        2716,
        format!(
            "Column, parameter, or variable #1: Cannot specify a column width on data type {name}."
        ),
    )
}

fn too_large(size: i64, name: &str, most: i64) -> SqlError {
    SqlError::with(
        131,
        15,
        2,
        format!(
            "The size ({size}) given to the type '{name}' exceeds the maximum allowed for any data \
             type ({most})."
        ),
    )
}

fn too_precise(precision: i64, most: i64) -> SqlError {
    SqlError::new(
        2750,
        format!(
            "Column or parameter #1: Specified column precision {precision} is greater than the \
             maximum precision of {most}."
        ),
    )
}

fn float(args: &[TypeArg]) -> SqlResult<DataType> {
    match args {
        [] => Ok(DataType::Float),
        [TypeArg::Number(1..=24)] => Ok(DataType::Real),
        [TypeArg::Number(25..=53)] => Ok(DataType::Float),
        [TypeArg::Number(n)] => Err(too_precise(*n, 53)),
        _ => Err(takes_no_size("float")),
    }
}

fn decimal(name: &str, args: &[TypeArg]) -> SqlResult<DataType> {
    let (precision, scale) = match args {
        [] => (18, 0),
        [TypeArg::Number(p)] => (*p, 0),
        [TypeArg::Number(p), TypeArg::Number(s)] => (*p, *s),
        _ => return Err(takes_no_size(name)),
    };
    if precision > 38 {
        return Err(too_precise(precision, 38));
    }
    if precision < 1 {
        return Err(zero_length());
    }
    if scale < 0 || scale > precision {
        return Err(SqlError::with(
            192,
            15,
            1,
            "The scale must be less than or equal to the precision.",
        ));
    }
    Ok(DataType::decimal(precision as u8, scale as u8))
}

fn fraction(name: &str, args: &[TypeArg]) -> SqlResult<u8> {
    match args {
        [] => Ok(7),
        [TypeArg::Number(n @ 0..=7)] => Ok(*n as u8),
        [TypeArg::Number(n)] => Err(bad_scale(*n)),
        _ => Err(takes_no_size(name)),
    }
}

fn zero_length() -> SqlError {
    SqlError::with(
        1001,
        15,
        1,
        "Line 1: Length or precision specification 0 is invalid.",
    )
}

fn size(name: &str, n: i64, most: u16) -> SqlResult<u16> {
    match u16::try_from(n) {
        Ok(0) => Err(zero_length()),
        Ok(n) if n <= most => Ok(n),
        _ if n < 0 => Err(SqlError::near("-")),
        _ if n > 8000 => Err(too_large(n, name, 8000)),
        _ => Err(SqlError::with(
            2717,
            16,
            2,
            format!(
                "The size ({n}) given to the parameter '{name}' exceeds the maximum allowed ({most})."
            ),
        )),
    }
}

fn fixed(name: &str, args: &[TypeArg], bare: BareLength, most: u16) -> SqlResult<u16> {
    match args {
        [] => Ok(if bare == BareLength::One { 1 } else { 30 }),
        [TypeArg::Number(n)] => size(name, *n, most),
        [TypeArg::Max] => Err(SqlError::near("max")),
        _ => Err(takes_no_size(name)),
    }
}

fn variable(name: &str, args: &[TypeArg], bare: BareLength, most: u16) -> SqlResult<Length> {
    match args {
        [TypeArg::Max] => Ok(Length::Max),
        _ => fixed(name, args, bare, most).map(Length::Limited),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: Collation = Collation::SqlLatin1CiAs;

    fn named(name: &str, args: &[TypeArg]) -> SqlResult<String> {
        DataType::from_name(name, args, C, BareLength::One).map(|t| t.declaration())
    }

    #[test]
    fn defaults_are_those_of_sql_server() {
        assert_eq!(named("VARCHAR", &[]).unwrap(), "varchar(1)");
        assert_eq!(named("decimal", &[]).unwrap(), "decimal(18,0)");
        assert_eq!(named("datetime2", &[]).unwrap(), "datetime2(7)");
        assert_eq!(named("sysname", &[]).unwrap(), "nvarchar(128)");
        assert_eq!(named("float", &[TypeArg::Number(24)]).unwrap(), "real");
        assert_eq!(named("nvarchar", &[TypeArg::Max]).unwrap(), "nvarchar(max)");
        let cast = DataType::from_name("nvarchar", &[], C, BareLength::Thirty).unwrap();
        assert_eq!(cast.declaration(), "nvarchar(30)");
    }

    #[test]
    fn wrong_sizes_and_unknown_types_have_their_own_numbers() {
        let number = |name, args: &[TypeArg]| named(name, args).unwrap_err().number;
        assert_eq!(number("int", &[TypeArg::Number(4)]), 2716);
        assert_eq!(number("varchar", &[TypeArg::Number(0)]), 1001);
        assert_eq!(number("varchar", &[TypeArg::Number(8001)]), 131);
        assert_eq!(number("nvarchar", &[TypeArg::Number(4001)]), 2717);
        assert_eq!(number("decimal", &[TypeArg::Number(39)]), 2750);
        assert_eq!(
            number("decimal", &[TypeArg::Number(5), TypeArg::Number(6)]),
            192
        );
        assert_eq!(number("nosuch", &[]), 2715);
        for refused in crate::refused::names(Kind::Type) {
            assert_eq!(number(refused, &[]), 40517, "{refused}");
        }
    }
}
