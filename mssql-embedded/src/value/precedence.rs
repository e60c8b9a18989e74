//! Which type an expression has when two types meet, and which conversions are allowed.

use super::{Collation, DataType, Length, errors};
use crate::error::SqlResult;

/// The kinds of types that SQL Server's conversion table tells apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Exact,
    Float,
    Text,
    Binary,
    Guid,
    OldDate,
    Date,
    Time,
    NewDate,
}

fn kind(ty: &DataType) -> Kind {
    match ty {
        DataType::Real | DataType::Float => Kind::Float,
        DataType::Char(..)
        | DataType::VarChar(..)
        | DataType::NChar(..)
        | DataType::NVarChar(..) => Kind::Text,
        DataType::Binary(_) | DataType::VarBinary(_) => Kind::Binary,
        DataType::UniqueIdentifier => Kind::Guid,
        DataType::DateTime | DataType::SmallDateTime => Kind::OldDate,
        DataType::Date => Kind::Date,
        DataType::Time(_) => Kind::Time,
        DataType::DateTime2(_) | DataType::DateTimeOffset(_) => Kind::NewDate,
        _ => Kind::Exact,
    }
}

/// Whether CAST and CONVERT exist between two types (529 otherwise).
pub fn explicit_allowed(from: &DataType, to: &DataType) -> bool {
    if matches!(from, DataType::Null) {
        return true;
    }
    let to = kind(to);
    match kind(from) {
        Kind::Text | Kind::OldDate => from_is_text(from) || to != Kind::Guid,
        Kind::Binary => to != Kind::Float,
        Kind::Exact | Kind::Float => {
            matches!(
                to,
                Kind::Exact | Kind::Float | Kind::Text | Kind::Binary | Kind::OldDate
            )
        }
        Kind::Guid => matches!(to, Kind::Guid | Kind::Text | Kind::Binary),
        Kind::Date => {
            matches!(
                to,
                Kind::Date | Kind::Text | Kind::Binary | Kind::OldDate | Kind::NewDate
            )
        }
        Kind::Time => {
            matches!(
                to,
                Kind::Time | Kind::Text | Kind::Binary | Kind::OldDate | Kind::NewDate
            )
        }
        Kind::NewDate => !matches!(to, Kind::Exact | Kind::Float | Kind::Guid),
    }
}

fn from_is_text(ty: &DataType) -> bool {
    kind(ty) == Kind::Text
}

/// Whether a conversion happens without CAST.
pub fn implicit_allowed(from: &DataType, to: &DataType) -> bool {
    if matches!(from, DataType::Null) {
        return true;
    }
    let (f, t) = (kind(from), kind(to));
    let dated = |k| matches!(k, Kind::OldDate | Kind::Date | Kind::Time | Kind::NewDate);
    let needs_cast = match (f, t) {
        (Kind::Text, Kind::Binary) => true,
        (Kind::OldDate, Kind::Exact | Kind::Float) => true,
        (f, Kind::Binary) => dated(f),
        (Kind::Binary, Kind::Date | Kind::Time | Kind::NewDate) => true,
        _ => false,
    };
    explicit_allowed(from, to) && !needs_cast
}

/// Fails as SQL Server does when a value of `from` is used where `to` is needed.
///
/// # Errors
///
/// 206 when no conversion exists, 257 when it needs CAST.
pub fn check_implicit(from: &DataType, to: &DataType) -> SqlResult<()> {
    if implicit_allowed(from, to) {
        Ok(())
    } else if explicit_allowed(from, to) {
        Err(errors::implicit_refused(from, to))
    } else {
        Err(errors::operand_clash(from, to))
    }
}

/// Fails as CAST does when there is no conversion.
///
/// # Errors
///
/// 529.
pub fn check_explicit(from: &DataType, to: &DataType) -> SqlResult<()> {
    if explicit_allowed(from, to) {
        Ok(())
    } else {
        Err(errors::explicit_refused(from, to))
    }
}

/// SQL Server's data type precedence; the higher wins.
fn rank(ty: &DataType) -> u8 {
    match ty {
        DataType::DateTimeOffset(_) => 30,
        DataType::DateTime2(_) => 29,
        DataType::DateTime => 28,
        DataType::SmallDateTime => 27,
        DataType::Date => 26,
        DataType::Time(_) => 25,
        DataType::Float => 24,
        DataType::Real => 23,
        DataType::Decimal { .. } => 22,
        DataType::BigInt => 21,
        DataType::Int => 20,
        DataType::SmallInt => 19,
        DataType::TinyInt => 18,
        DataType::Bit => 17,
        DataType::UniqueIdentifier => 16,
        DataType::NVarChar(..) => 15,
        DataType::NChar(..) => 14,
        DataType::VarChar(..) => 13,
        DataType::Char(..) => 12,
        DataType::VarBinary(_) => 11,
        DataType::Binary(_) => 10,
        DataType::Null => 0,
    }
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
    let (high, low) = if rank(a) >= rank(b) { (a, b) } else { (b, a) };
    check_implicit(low, high)?;
    Ok(match (high, low) {
        (DataType::Decimal { .. }, _) => match (high.as_decimal(), low.as_decimal()) {
            (Some((p1, s1)), Some((p2, s2))) => {
                let scale = s1.max(s2);
                limited_decimal(scale, (p1 - s1).max(p2 - s2))
            }
            _ => high.clone(),
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
        _ => high.clone(),
    })
}

/// The digits of fractional seconds needed to hold another date type too.
fn fraction(scale: u8, other: &DataType) -> u8 {
    match other {
        DataType::Time(n) | DataType::DateTime2(n) | DataType::DateTimeOffset(n) => scale.max(*n),
        DataType::DateTime => scale.max(3),
        _ => scale,
    }
}

fn longer(a: Option<Length>, b: Option<Length>) -> Length {
    match (a, b) {
        (Some(Length::Limited(x)), Some(Length::Limited(y))) => Length::Limited(x.max(y)),
        (Some(Length::Limited(x)), None) | (None, Some(Length::Limited(x))) => Length::Limited(x),
        _ => Length::Max,
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
        length if unicode => DataType::NVarChar(length, collation),
        length => DataType::VarChar(length, collation),
    }
}

fn common_binary(a: &DataType, b: &DataType) -> DataType {
    match (a, b) {
        (DataType::Binary(x), DataType::Binary(y)) => DataType::Binary(*x.max(y)),
        _ => DataType::VarBinary(longer(a.length(), b.length())),
    }
}

fn text_with_binary(text: &DataType, other: &DataType) -> DataType {
    match (text, other.length()) {
        (DataType::VarChar(n, c), Some(m)) => DataType::VarChar(longer(Some(*n), Some(m)), *c),
        (DataType::NVarChar(n, c), Some(Length::Max)) => {
            DataType::NVarChar(longer(Some(*n), Some(Length::Max)), *c)
        }
        _ => text.clone(),
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
        _ => Length::Max,
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
        assert!(implicit_allowed(&D::Int, &D::DateTime));
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
