//! Literals: their values and types.

use crate::ast::Literal;
use crate::error::{SqlError, SqlResult};
use crate::plan::Scalar;
use crate::refused::{Kind, refused};
use crate::value::{Collation, DataType, Length, Value, decimal, text};

use super::typing::Ex;

/// Binds a literal; texts take the database's collation.
pub(super) fn bind_literal(literal: &Literal, collation: Collation) -> SqlResult<Ex> {
    let (value, ty) = match literal {
        Literal::Null => return Ok(Ex::new(Scalar::Const(Value::Null), DataType::Null, true)),
        Literal::Integer(digits) => integer(digits)?,
        Literal::Decimal(digits) => exact(digits)?,
        Literal::Float(digits) => {
            let number: f64 = digits.parse().map_err(|_| SqlError::near(digits))?;
            if !number.is_finite() {
                return Err(SqlError::with(
                    168,
                    15,
                    1,
                    format!(
                        "The floating point value '{digits}' is out of the range of computer \
                         representation (8 bytes)."
                    ),
                ));
            }
            (Value::Float(number), DataType::Float)
        }
        Literal::String(s) => varchar(s, collation),
        Literal::NString(s) => nvarchar(s, collation),
        Literal::Binary(bytes) => {
            let length = limited(bytes.len(), 8000);
            (
                Value::Bytes(bytes.as_slice().into()),
                DataType::VarBinary(length),
            )
        }
        Literal::Money(_) => return Err(refused(Kind::Type, "money")),
    };
    Ok(Ex::new(Scalar::Const(value), ty, false))
}

fn limited(len: usize, most: usize) -> Length {
    if len > most {
        Length::Max
    } else {
        Length::Limited(len.max(1) as u16)
    }
}

fn varchar(s: &str, collation: Collation) -> (Value, DataType) {
    let units = text::to_varchar(&text::from_str(s), collation);
    let bytes = text::varchar_bytes(&units, collation).len();
    (
        Value::Str(units),
        DataType::VarChar(limited(bytes, 8000), collation),
    )
}

fn nvarchar(s: &str, collation: Collation) -> (Value, DataType) {
    let units = text::from_str(s);
    let length = limited(units.len(), 4000);
    (Value::Str(units), DataType::NVarChar(length, collation))
}

/// INT when it fits, otherwise NUMERIC with as many digits as are written.
fn integer(digits: &str) -> SqlResult<(Value, DataType)> {
    match digits.parse::<i32>() {
        Ok(n) => Ok((Value::Int(i64::from(n)), DataType::Int)),
        Err(_) => exact(digits),
    }
}

fn exact(digits: &str) -> SqlResult<(Value, DataType)> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let whole = whole.trim_start_matches('0');
    let precision = (whole.len() + fraction.len()).max(1);
    if precision > usize::from(decimal::MAX_PRECISION) {
        return Err(SqlError::with(
            1007,
            15,
            1,
            format!(
                "The number '{digits}' is out of the range for numeric representation (maximum \
                 precision 38)."
            ),
        ));
    }
    let scale = fraction.len() as u8;
    let units = format!("{whole}{fraction}");
    let units: i128 = if units.is_empty() {
        0
    } else {
        units.parse().map_err(|_| SqlError::near(digits))?
    };
    Ok((
        Value::Decimal { units, scale },
        DataType::decimal(precision as u8, scale),
    ))
}
