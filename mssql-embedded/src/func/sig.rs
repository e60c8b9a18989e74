//! Helpers that the signatures of functions share.

use super::{Arg, Signature};
use crate::error::{SqlError, SqlResult};
use crate::value::{Collation, DataType, Length, Value, errors};

/// The collation of text that comes from no column.
pub(super) const DEFAULT: Collation = Collation::SqlLatin1CiAs;

/// Checks the number of arguments: 174 for a fixed number, 189 for a range.
pub(super) fn arity(name: &str, args: &[Arg], least: usize, most: usize) -> SqlResult<()> {
    if (least..=most).contains(&args.len()) {
        return Ok(());
    }
    if least == most {
        return Err(argument_count(name, least));
    }
    let name = name.to_ascii_lowercase();
    Err(SqlError::with(
        189,
        15,
        1,
        format!("The {name} function requires {least} to {most} arguments."),
    ))
}

/// 174: a call that has not the number of arguments which its function takes.
pub fn argument_count(name: &str, count: usize) -> SqlError {
    let name = name.to_ascii_lowercase();
    SqlError::with(
        174,
        15,
        1,
        format!("The {name} function requires {count} argument(s)."),
    )
}

/// A signature whose result may be NULL, which is the usual one.
pub(super) fn sig(ret: DataType, params: Vec<DataType>) -> SqlResult<Signature> {
    Ok(Signature {
        ret,
        params,
        nullable: true,
    })
}

pub(super) fn never_null(ret: DataType, params: Vec<DataType>) -> SqlResult<Signature> {
    Ok(Signature {
        ret,
        params,
        nullable: false,
    })
}

/// The character type an argument is read as: its own, or the one its text needs.
pub(super) fn text(arg: &Arg) -> DataType {
    match &arg.ty {
        DataType::Binary(n) => DataType::varchar(*n, DEFAULT),
        DataType::VarBinary(length) => DataType::VarChar(*length, DEFAULT),
        DataType::Char(..)
        | DataType::VarChar(..)
        | DataType::NChar(..)
        | DataType::NVarChar(..) => arg.ty.clone(),
        DataType::Null | DataType::Bit => DataType::varchar(1, DEFAULT),
        DataType::TinyInt | DataType::SmallInt | DataType::Int | DataType::BigInt => {
            DataType::varchar(20, DEFAULT)
        }
        DataType::Decimal { .. }
        | DataType::Real
        | DataType::Float
        | DataType::UniqueIdentifier
        | DataType::Date
        | DataType::Time(_)
        | DataType::SmallDateTime
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_) => DataType::varchar(48, DEFAULT),
    }
}

/// The same type with variable length.
pub(super) fn variable(ty: &DataType) -> DataType {
    match ty {
        DataType::Char(n, c) => DataType::varchar(*n, *c),
        DataType::NChar(n, c) => DataType::nvarchar(*n, *c),
        DataType::Binary(n) => DataType::VarBinary(Length::Limited(*n)),
        other @ (DataType::Null
        | DataType::Bit
        | DataType::TinyInt
        | DataType::SmallInt
        | DataType::Int
        | DataType::BigInt
        | DataType::Decimal { .. }
        | DataType::Real
        | DataType::Float
        | DataType::VarChar(..)
        | DataType::NVarChar(..)
        | DataType::VarBinary(_)
        | DataType::UniqueIdentifier
        | DataType::Date
        | DataType::Time(_)
        | DataType::SmallDateTime
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_)) => other.clone(),
    }
}

/// The widest variable-length type that holds any of the given texts: MAX when one of them is,
/// otherwise 8,000 bytes; Unicode when one of them is.
pub(super) fn widest(types: &[&DataType]) -> DataType {
    let collation = collation(types);
    let unicode = types.iter().any(|t| t.is_unicode());
    let max = types.iter().any(|t| t.is_max());
    match (unicode, max) {
        (true, true) => DataType::NVarChar(Length::Max, collation),
        (true, false) => DataType::nvarchar(4000, collation),
        (false, true) => DataType::VarChar(Length::Max, collation),
        (false, false) => DataType::varchar(8000, collation),
    }
}

/// The collation that decides among several texts: the first that is not the default.
pub(super) fn collation(types: &[&DataType]) -> Collation {
    types
        .iter()
        .filter_map(|t| t.collation())
        .find(|c| *c != DEFAULT)
        .unwrap_or(DEFAULT)
}

/// The numeric type an argument is read as: text is read as FLOAT, BIT as INT.
///
/// # Errors
///
/// 8116 for types that are not numbers.
pub(super) fn number(arg: &Arg, position: usize, function: &str) -> SqlResult<DataType> {
    match &arg.ty {
        DataType::Null | DataType::Bit | DataType::TinyInt | DataType::SmallInt | DataType::Int => {
            Ok(DataType::Int)
        }
        DataType::BigInt | DataType::Decimal { .. } => Ok(arg.ty.clone()),
        DataType::Real
        | DataType::Float
        | DataType::Char(..)
        | DataType::VarChar(..)
        | DataType::NChar(..)
        | DataType::NVarChar(..) => Ok(DataType::Float),
        DataType::Binary(_)
        | DataType::VarBinary(_)
        | DataType::UniqueIdentifier
        | DataType::Date
        | DataType::Time(_)
        | DataType::SmallDateTime
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_) => Err(errors::invalid_argument(&arg.ty, position, function)),
    }
}

/// The text of a character value; empty for anything else, which casts have ruled out.
pub(super) fn units(value: &Value) -> &[u16] {
    if let Value::Str(s) = value { s } else { &[] }
}

/// The number of an integer value; zero for anything else, which casts have ruled out.
pub(super) fn int(value: &Value) -> i64 {
    match value {
        Value::Int(n) => *n,
        Value::Bit(b) => i64::from(*b),
        Value::Null
        | Value::Decimal { .. }
        | Value::Float(_)
        | Value::Str(_)
        | Value::Bytes(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. } => 0,
    }
}

/// The number of a floating-point value; zero for anything else, which casts have ruled out.
pub(super) fn float(value: &Value) -> f64 {
    if let Value::Float(f) = value { *f } else { 0.0 }
}

pub(super) fn any_null(args: &[Value]) -> bool {
    args.iter().any(Value::is_null)
}

/// Text cut to the result type of a signature.
pub(super) fn fitted(text: Vec<u16>, ty: &DataType) -> Value {
    let Some(Length::Limited(limit)) = ty.length() else {
        return Value::Str(text.into());
    };
    let kept = crate::value::text::fitting_prefix(&text, ty, usize::from(limit));
    if kept.len() == text.len() {
        Value::Str(text.into())
    } else {
        Value::Str(kept.into())
    }
}

pub(super) fn param_collation(signature: &Signature, index: usize) -> Collation {
    signature
        .params
        .get(index)
        .and_then(DataType::collation)
        .unwrap_or(DEFAULT)
}

/// INT, or BIGINT when the text can be longer than an INT counts.
pub(super) fn count_type(text: &DataType) -> DataType {
    if text.is_max() {
        DataType::BigInt
    } else {
        DataType::Int
    }
}
