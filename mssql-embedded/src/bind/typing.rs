//! Types of expressions while they are bound: conversions, collations, declared types.

use crate::ast::{self, Ident, TypeName};
use crate::catalog::{dotted, line_of};
use crate::error::{SqlError, SqlResult};
use crate::plan::Scalar;
use crate::value::precedence::check_implicit;
use crate::value::{
    BareLength, CastMode, Collation, DataType, Length, TypeArg, cast, no_such_type,
};

pub(super) use crate::value::Coercibility;

#[derive(Clone, Debug)]
pub(super) struct Ex {
    pub(super) expr: Scalar,
    pub(super) ty: DataType,
    pub(super) nullable: bool,
    pub(super) coll: Coercibility,
}

impl Ex {
    /// An expression that does not insist on a collation.
    pub(super) fn new(expr: Scalar, ty: DataType, nullable: bool) -> Self {
        Self {
            expr,
            ty,
            nullable,
            coll: Coercibility::Default,
        }
    }

    /// How strongly it insists on its collation; what is not text has none.
    pub(super) fn label(&self) -> Coercibility {
        if self.ty.is_string() {
            self.coll
        } else {
            Coercibility::Default
        }
    }
}

fn integer_width(ty: &DataType) -> Option<u8> {
    match ty {
        DataType::TinyInt => Some(1),
        DataType::SmallInt => Some(2),
        DataType::Int => Some(4),
        DataType::BigInt => Some(8),
        DataType::Null
        | DataType::Bit
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
        | DataType::DateTimeOffset(_) => None,
    }
}

fn fits(from: Option<Length>, to: Option<Length>) -> bool {
    match (from, to) {
        (_, Some(Length::Max)) => true,
        (Some(Length::Limited(a)), Some(Length::Limited(b))) => a <= b,
        (Some(Length::Max) | None, Some(Length::Limited(_))) | (_, None) => false,
    }
}

/// Whether every value of `from` is, as it stands, a value of `to`, so that no cast is needed.
pub(super) fn same_representation(from: &DataType, to: &DataType) -> bool {
    if from == to {
        return true;
    }
    match (from, to) {
        (DataType::Null, _) | (DataType::Real, DataType::Float) => true,
        (
            DataType::Decimal {
                precision: p,
                scale: s,
            },
            DataType::Decimal {
                precision: q,
                scale: t,
            },
        ) => s == t && p <= q,
        (DataType::DateTime2(a), DataType::DateTime2(b))
        | (DataType::Time(a), DataType::Time(b))
        | (DataType::DateTimeOffset(a), DataType::DateTimeOffset(b)) => a <= b,
        (DataType::Char(a, _), DataType::Char(b, _))
        | (DataType::NChar(a, _), DataType::NChar(b, _)) => a == b,
        (DataType::Binary(_) | DataType::VarBinary(_), DataType::VarBinary(_)) => {
            fits(from.length(), to.length())
        }
        (_, DataType::NVarChar(..)) if from.is_string() => fits(from.length(), to.length()),
        (DataType::Char(_, a) | DataType::VarChar(_, a), DataType::VarChar(_, b)) => {
            a.is_utf8() <= b.is_utf8() && fits(from.length(), to.length())
        }
        (
            DataType::Bit
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
        ) => match (integer_width(from), integer_width(to)) {
            (Some(a), Some(b)) => a <= b,
            (None, _) | (_, None) => false,
        },
    }
}

/// Converts without asking whether it is allowed. Constants are converted here and now; one that
/// cannot be is left for the run, where its error belongs.
pub(super) fn convert(expr: Scalar, from: &DataType, to: &DataType) -> Scalar {
    if same_representation(from, to) {
        return expr;
    }
    if let Scalar::Const(value) = &expr
        && let Ok(value) = cast(value, from, to, None, CastMode::Explicit)
    {
        return Scalar::Const(value);
    }
    Scalar::Cast {
        expr: Box::new(expr),
        from: from.clone(),
        to: to.clone(),
        style: None,
        try_: false,
    }
}

/// Converts implicitly: 206 or 257 when that needs a CAST.
pub(super) fn coerce(ex: Ex, to: &DataType) -> SqlResult<Scalar> {
    check_implicit(&ex.ty, to)?;
    Ok(convert(ex.expr, &ex.ty, to))
}

/// The collation of a COLLATE clause.
///
/// # Errors
///
/// 448 for a name the engine does not know.
pub fn resolve_collation(name: &Ident, default: Collation) -> SqlResult<Collation> {
    if name.name.eq_ignore_ascii_case("database_default") {
        return Ok(default);
    }
    named_collation(&name.name).map_err(|error| error.at(name.pos.line))
}

/// How the names of SQL Server's collations begin.
const LANGUAGES: &[&str] = &[
    "ALBANIAN_",
    "ARABIC_",
    "ASSAMESE_",
    "AZERI_",
    "BASHKIR_",
    "BENGALI_",
    "BOSNIAN_",
    "BRETON_",
    "CHINESE_",
    "CORSICAN_",
    "CROATIAN_",
    "CYRILLIC_",
    "CZECH_",
    "DANISH_",
    "DARI_",
    "DIVEHI_",
    "ESTONIAN_",
    "FINNISH_",
    "FRENCH_",
    "FRISIAN_",
    "GEORGIAN_",
    "GERMAN_",
    "GREEK_",
    "HEBREW_",
    "HUNGARIAN_",
    "ICELANDIC_",
    "INDIC_",
    "JAPANESE_",
    "KAZAKH_",
    "KHMER_",
    "KOREAN_",
    "LAO_",
    "LATIN1_",
    "LATVIAN_",
    "LITHUANIAN_",
    "MACEDONIAN_",
    "MALTESE_",
    "MAORI_",
    "MAPUDUNGAN_",
    "MODERN_",
    "MOHAWK_",
    "NEPALI_",
    "NORWEGIAN_",
    "PASHTO_",
    "PERSIAN_",
    "POLISH_",
    "ROMANIAN_",
    "ROMANSH_",
    "SAMI_",
    "SERBIAN_",
    "SLOVAK_",
    "SLOVENIAN_",
    "SQL_",
    "SYRIAC_",
    "TAMAZIGHT_",
    "TATAR_",
    "THAI_",
    "TIBETAN_",
    "TRADITIONAL_",
    "TURKISH_",
    "TURKMEN_",
    "UIGHUR_",
    "UKRAINIAN_",
    "UPPER_",
    "URDU_",
    "UZBEK_",
    "VIETNAMESE_",
    "WELSH_",
    "YAKUT_",
];

/// A collation by its name.
///
/// # Errors
///
/// 448 for what cannot be a collation. SQL Server has thousands; one that is built like their names and
/// that the engine does not have is refused.
pub fn named_collation(name: &str) -> SqlResult<Collation> {
    if let Some(known) = Collation::by_name(name) {
        return Ok(known);
    }
    let upper = name.to_ascii_uppercase();
    let sorted = ["_BIN", "_CI_A", "_CS_A"]
        .iter()
        .any(|part| upper.contains(part));
    if sorted && LANGUAGES.iter().any(|known| upper.starts_with(known)) {
        return Err(SqlError::unsupported(format!("the collation {name}")));
    }
    Err(SqlError::with(
        448,
        16,
        3,
        format!("Invalid collation '{name}'."),
    ))
}

/// The type of a declaration or CAST.
///
/// # Errors
///
/// 2715 for an unknown name and the numbers of wrong sizes, as
/// [`DataType::from_name`](crate::value::DataType::from_name) gives them.
pub fn resolve_type(
    name: &TypeName,
    collation: Collation,
    bare: BareLength,
) -> SqlResult<DataType> {
    let arg = |a: &ast::TypeArg| match a {
        ast::TypeArg::Number(n) => TypeArg::Number(*n),
        ast::TypeArg::Max => TypeArg::Max,
    };
    let args: Vec<TypeArg> = name.args.iter().map(arg).collect();
    let text = match name.name.parts.as_slice() {
        [single] => &single.name,
        [schema, single] if schema.name.eq_ignore_ascii_case("sys") => &single.name,
        _ => {
            return Err(no_such_type(&dotted(&name.name), 7));
        }
    };
    DataType::from_name(text, &args, collation, bare).map_err(|e| e.at(line_of(&name.name)))
}
