//! Which type an expression has when two types meet, and which conversions are allowed.

use super::facts::{Conversion, Family};
use super::{Collation, DataType, Length, errors};
use crate::error::SqlResult;

/// How one type becomes another; a bare NULL becomes anything.
fn conversion(from: &DataType, to: &DataType) -> Conversion {
    if *from == DataType::Null {
        return Conversion::Implicit;
    }
    from.facts().family.conversion(to.facts().family)
}

/// Whether CAST and CONVERT exist between two types (529 otherwise).
pub fn explicit_allowed(from: &DataType, to: &DataType) -> bool {
    conversion(from, to) != Conversion::None
}

/// Fails as SQL Server does when a value of `from` is used where `to` is needed.
///
/// # Errors
///
/// 206 when no conversion exists, 257 when it needs CAST, 40517 when it is not implemented.
pub fn check_implicit(from: &DataType, to: &DataType) -> SqlResult<()> {
    match conversion(from, to) {
        Conversion::Implicit => refuse_missing(from, to),
        Conversion::Explicit => Err(errors::implicit_refused(from, to)),
        Conversion::None => Err(errors::operand_clash(from, to)),
    }
}

/// Fails as CAST does when there is no conversion.
///
/// # Errors
///
/// 529, and 40517 when it is not implemented.
pub fn check_explicit(from: &DataType, to: &DataType) -> SqlResult<()> {
    if explicit_allowed(from, to) {
        refuse_missing(from, to)
    } else {
        Err(errors::explicit_refused(from, to))
    }
}

/// Refuses the conversions between bytes and dates that are documented nowhere but in what they give: those of DATETIME
/// are its days and parts of a second, and that of DATE its days.
fn refuse_missing(from: &DataType, to: &DataType) -> SqlResult<()> {
    let missing = if from.is_binary() {
        match to.facts().family {
            Family::OldDate => *to != DataType::DateTime,
            Family::Date | Family::Time | Family::NewDate => true,
            Family::Exact | Family::Float | Family::Text | Family::Binary | Family::Guid => false,
        }
    } else if to.is_binary() {
        match from.facts().family {
            Family::OldDate => *from != DataType::DateTime,
            Family::Time | Family::NewDate => true,
            Family::Date
            | Family::Exact
            | Family::Float
            | Family::Text
            | Family::Binary
            | Family::Guid => false,
        }
    } else {
        false
    };
    if missing {
        return Err(errors::missing_conversion(from, to));
    }
    Ok(())
}

/// The type two expressions share in a comparison, CASE, COALESCE, UNION or VALUES.
///
/// # Errors
///
/// 206 or 257 when the type of lower precedence does not convert by itself.
pub fn common_type(a: &DataType, b: &DataType) -> SqlResult<DataType> {
    if a == b || matches!(b, DataType::Null) {
        return Ok(a.clone());
    }
    if matches!(a, DataType::Null) {
        return Ok(b.clone());
    }
    if a.is_string() && b.is_string() {
        return Ok(common_text(a, b));
    }
    let (high, low) = if a.facts().rank >= b.facts().rank {
        (a, b)
    } else {
        (b, a)
    };
    check_implicit(low, high)?;
    Ok(match (high, low) {
        (DataType::Decimal { .. }, _) => match (high.as_decimal(), low.as_decimal()) {
            (Some((p1, s1)), Some((p2, s2))) => {
                let scale = s1.max(s2);
                limited_decimal(scale, (p1 - s1).max(p2 - s2))
            }
            (None, _) | (_, None) => high.clone(),
        },
        (DataType::VarBinary(_) | DataType::Binary(_), _) => common_binary(high, low),
        (DataType::DateTimeOffset(n), other) => DataType::DateTimeOffset(fraction(*n, other)),
        (DataType::DateTime2(n), other) => DataType::DateTime2(fraction(*n, other)),
        (DataType::Time(n), other) => DataType::Time(fraction(*n, other)),
        (
            DataType::Char(..)
            | DataType::VarChar(..)
            | DataType::NChar(..)
            | DataType::NVarChar(..),
            low,
        ) => text_with_binary(high, low),
        (
            DataType::Null
            | DataType::Bit
            | DataType::TinyInt
            | DataType::SmallInt
            | DataType::Int
            | DataType::BigInt
            | DataType::Real
            | DataType::Float
            | DataType::UniqueIdentifier
            | DataType::Date
            | DataType::SmallDateTime
            | DataType::DateTime,
            _,
        ) => high.clone(),
    })
}

/// The digits of fractional seconds needed to hold another date type too.
fn fraction(scale: u8, other: &DataType) -> u8 {
    match other {
        DataType::Time(n) | DataType::DateTime2(n) | DataType::DateTimeOffset(n) => scale.max(*n),
        DataType::DateTime => scale.max(3),
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
        | DataType::SmallDateTime => scale,
    }
}

fn longer(a: Option<Length>, b: Option<Length>) -> Length {
    match (a, b) {
        (Some(Length::Limited(x)), Some(Length::Limited(y))) => Length::Limited(x.max(y)),
        (Some(Length::Limited(x)), None) | (None, Some(Length::Limited(x))) => Length::Limited(x),
        (Some(Length::Max), _) | (_, Some(Length::Max)) | (None, None) => Length::Max,
    }
}

fn common_text(a: &DataType, b: &DataType) -> DataType {
    let collation = common_collation(a, b);
    let unicode = a.is_unicode() || b.is_unicode();
    let fixed = matches!(a, DataType::Char(..) | DataType::NChar(..))
        && matches!(b, DataType::Char(..) | DataType::NChar(..));
    match longer(a.length(), b.length()) {
        Length::Limited(n) if fixed && unicode => DataType::NChar(n.min(4000), collation),
        Length::Limited(n) if fixed => DataType::Char(n, collation),
        Length::Limited(n) if unicode => DataType::nvarchar(n.min(4000), collation),
        Length::Limited(n) => DataType::varchar(n, collation),
        Length::Max if unicode => DataType::nvarchar_max(collation),
        Length::Max => DataType::VarChar(Length::Max, collation),
    }
}

fn common_binary(a: &DataType, b: &DataType) -> DataType {
    let length = longer(a.length(), b.length());
    match length {
        Length::Limited(n) if !a.is_variable() && !b.is_variable() => DataType::Binary(n),
        Length::Limited(_) | Length::Max => DataType::VarBinary(length),
    }
}

fn text_with_binary(text: &DataType, other: &DataType) -> DataType {
    match (text, other.length()) {
        (DataType::VarChar(n, c), Some(m)) => DataType::VarChar(longer(Some(*n), Some(m)), *c),
        (DataType::NVarChar(n, c), Some(Length::Max)) => {
            DataType::NVarChar(longer(Some(*n), Some(Length::Max)), *c)
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
        ) => text.clone(),
    }
}

/// The collation of two texts: a collation other than the server's default comes from a column or
/// a COLLATE clause and wins over a literal or variable. The binder settles explicit COLLATE and
/// conflicts (468) before it asks.
fn common_collation(a: &DataType, b: &DataType) -> Collation {
    let default = Collation::SqlLatin1CiAs;
    let (x, y) = (
        a.collation().unwrap_or(default),
        b.collation().unwrap_or(default),
    );
    if x == default { y } else { x }
}

/// DECIMAL with this scale and this many digits before the point; beyond 38 digits the scale gives
/// way.
pub(crate) fn limited_decimal(scale: u8, whole: u8) -> DataType {
    let precision = (scale + whole).min(38);
    DataType::decimal(precision, scale.min(38 - whole.min(38)))
}

/// The type of text or binary joined by `+`.
///
/// # Errors
///
/// 402 unless both are text or both are binary.
pub fn concat_type(a: &DataType, b: &DataType) -> SqlResult<DataType> {
    let sum = |most: u16| match (a.length(), b.length()) {
        (Some(Length::Limited(x)), Some(Length::Limited(y))) => {
            Length::Limited(x.saturating_add(y).min(most))
        }
        (Some(Length::Limited(x)), None) | (None, Some(Length::Limited(x))) => {
            Length::Limited(x.min(most))
        }
        (Some(Length::Max), _) | (_, Some(Length::Max)) | (None, None) => Length::Max,
    };
    let text = |t: &DataType| t.is_string() || matches!(t, DataType::Null);
    let binary = |t: &DataType| t.is_binary() || matches!(t, DataType::Null);
    if text(a) && text(b) {
        let collation = common_collation(a, b);
        return Ok(if a.is_unicode() || b.is_unicode() {
            DataType::NVarChar(sum(4000), collation)
        } else {
            DataType::VarChar(sum(8000), collation)
        });
    }
    if binary(a) && binary(b) {
        return Ok(DataType::VarBinary(sum(8000)));
    }
    Err(errors::incompatible(a, b, "add"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: Collation = Collation::SqlLatin1CiAs;

    fn common(a: DataType, b: DataType) -> String {
        common_type(&a, &b).unwrap().declaration()
    }

    #[test]
    fn the_higher_type_wins_and_facets_merge() {
        use DataType as D;
        assert_eq!(common(D::Int, D::BigInt), "bigint");
        assert_eq!(common(D::varchar(10, C), D::Int), "int");
        assert_eq!(common(D::varchar(10, C), D::nvarchar(5, C)), "nvarchar(10)");
        assert_eq!(
            common(D::varchar(8000, C), D::nvarchar(5, C)),
            "nvarchar(4000)"
        );
        assert_eq!(common(D::decimal(5, 2), D::Int), "decimal(12,2)");
        assert_eq!(
            common(D::decimal(38, 0), D::decimal(38, 10)),
            "decimal(38,0)"
        );
        assert_eq!(common(D::Date, D::DateTime2(3)), "datetime2(3)");
        assert_eq!(common(D::Null, D::Bit), "bit");
        assert_eq!(common(D::Char(3, C), D::NChar(5, C)), "nchar(5)");
    }

    #[test]
    fn types_that_cannot_meet_are_refused() {
        use DataType as D;
        assert_eq!(common_type(&D::Int, &D::Date).unwrap_err().number, 206);
        assert_eq!(
            common_type(&D::Int, &D::UniqueIdentifier)
                .unwrap_err()
                .number,
            206
        );
        assert_eq!(
            check_implicit(&D::DateTime, &D::Int).unwrap_err().number,
            257
        );
        assert_eq!(
            check_implicit(&D::varchar(1, C), &D::VarBinary(Length::Max))
                .unwrap_err()
                .number,
            257
        );
        assert_eq!(check_explicit(&D::Date, &D::Int).unwrap_err().number, 529);
        assert!(check_implicit(&D::Int, &D::DateTime).is_ok());
    }

    #[test]
    fn a_column_collation_wins_over_the_default() {
        let t = common_type(
            &DataType::nvarchar(5, Collation::Bin2),
            &DataType::nvarchar(9, C),
        )
        .unwrap();
        assert_eq!(t.collation(), Some(Collation::Bin2));
        assert_eq!(concat_type(&t, &t).unwrap().declaration(), "nvarchar(18)");
    }
}
