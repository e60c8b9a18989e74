//! Operators: which types they take and what type they give.

use super::precedence::{check_implicit, common_type, concat_type};
use super::{DataType, errors};
use crate::error::{SqlError, SqlResult};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`, also concatenation.
    Add,
    /// `-`.
    Sub,
    /// `*`.
    Mul,
    /// `/`.
    Div,
    /// `%`.
    Mod,
    /// `&`.
    BitAnd,
    /// `|`.
    BitOr,
    /// `^`.
    BitXor,
}

/// The word messages use for an operator.
pub(super) fn word(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "add",
        BinaryOp::Sub => "subtract",
        BinaryOp::Mul => "multiply",
        BinaryOp::Div => "divide",
        BinaryOp::Mod => "modulo",
        BinaryOp::BitAnd => "'&'",
        BinaryOp::BitOr => "'|'",
        BinaryOp::BitXor => "'^'",
    }
}

fn is_bitwise(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor)
}

/// What an operator does with two operand types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The type the left operand is converted to first.
    pub left: DataType,
    /// The type the right operand is converted to first.
    pub right: DataType,
    pub result: DataType,
}

impl Operation {
    fn same(ty: DataType) -> Self {
        Self {
            left: ty.clone(),
            right: ty.clone(),
            result: ty,
        }
    }
}

/// The type of `a op b`.
///
/// # Errors
///
/// 206, 402 or 8117 when the operator does not take these types.
#[cfg(test)]
pub fn arith_type(op: BinaryOp, a: &DataType, b: &DataType) -> SqlResult<DataType> {
    operation(op, a, b).map(|o| o.result)
}

/// The operand and result types of `a op b`.
///
/// # Errors
///
/// 206, 402 or 8117 when the operator does not take these types.
pub fn operation(op: BinaryOp, a: &DataType, b: &DataType) -> SqlResult<Operation> {
    let stringy = |t: &DataType| t.is_string() || t.is_binary();
    let null = |t: &DataType| matches!(t, DataType::Null);
    if null(a) && null(b) {
        return Ok(Operation::same(DataType::Int));
    }
    if op == BinaryOp::Add && (stringy(a) || null(a)) && (stringy(b) || null(b)) {
        let ty = concat_type(a, b)?;
        return Ok(Operation {
            left: or(a, &ty),
            right: or(b, &ty),
            result: ty,
        });
    }
    for ty in [a, b] {
        if matches!(ty, DataType::UniqueIdentifier) {
            return Err(errors::invalid_operand(ty, word(op)));
        }
    }
    if a.is_datetime() || b.is_datetime() {
        return date_operation(op, a, b);
    }
    if a.is_string() && b.is_string() {
        return Err(errors::invalid_operand(a, word(op)));
    }
    let ty = common_type(a, b)?;
    if is_bitwise(op) {
        return match ty {
            DataType::Bit
            | DataType::TinyInt
            | DataType::SmallInt
            | DataType::Int
            | DataType::BigInt => Ok(Operation::same(ty)),
            DataType::Null
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
            | DataType::DateTimeOffset(_) => Err(errors::incompatible(a, b, word(op))),
        };
    }
    match ty {
        DataType::Bit | DataType::Binary(_) | DataType::VarBinary(_) => Err(unfit(op, a, b)),
        DataType::Decimal { .. } => Ok(decimal_operation(op, a, b, &ty)),
        DataType::Float | DataType::Real if op == BinaryOp::Mod => {
            let both = |t: &DataType| matches!(t, DataType::Float | DataType::Real);
            Err(if both(a) && both(b) {
                errors::invalid_operand(a, word(op))
            } else {
                errors::incompatible(a, b, word(op))
            })
        }
        DataType::TinyInt
        | DataType::SmallInt
        | DataType::Int
        | DataType::BigInt
        | DataType::Real
        | DataType::Float => Ok(Operation::same(ty)),
        DataType::Null
        | DataType::Char(..)
        | DataType::VarChar(..)
        | DataType::NChar(..)
        | DataType::NVarChar(..)
        | DataType::UniqueIdentifier
        | DataType::Date
        | DataType::Time(_)
        | DataType::SmallDateTime
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_) => Err(errors::invalid_operand(&ty, word(op))),
    }
}

/// What an operator says of types that have no arithmetic: those it scales with, of the left one alone.
fn unfit(op: BinaryOp, a: &DataType, b: &DataType) -> SqlError {
    match op {
        BinaryOp::Mul | BinaryOp::Div => errors::invalid_operand(a, word(op)),
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mod
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor => errors::incompatible(a, b, word(op)),
    }
}

fn or(ty: &DataType, other: &DataType) -> DataType {
    if matches!(ty, DataType::Null) {
        other.clone()
    } else {
        ty.clone()
    }
}

/// DATETIME and SMALLDATETIME take numbers of days; the newer types take nothing.
fn date_operation(op: BinaryOp, a: &DataType, b: &DataType) -> SqlResult<Operation> {
    let old = DataType::is_old_date;
    for (ty, other) in [(a, b), (b, a)] {
        if ty.is_datetime() && !old(ty) {
            let same = std::mem::discriminant(ty) == std::mem::discriminant(other);
            return Err(if same {
                errors::invalid_operand(ty, word(op))
            } else if other.is_datetime() || other.is_string() {
                errors::incompatible(a, b, word(op))
            } else {
                errors::operand_clash(a, b)
            });
        }
    }
    if !matches!(op, BinaryOp::Add | BinaryOp::Sub) {
        let date = if old(a) { a } else { b };
        return Err(errors::invalid_operand(date, word(op)));
    }
    check_implicit(a, &DataType::DateTime)?;
    check_implicit(b, &DataType::DateTime)?;
    let small = [a, b].iter().all(|t| !matches!(t, DataType::DateTime));
    let result = if small {
        DataType::SmallDateTime
    } else {
        DataType::DateTime
    };
    Ok(Operation {
        left: DataType::DateTime,
        right: DataType::DateTime,
        result,
    })
}

fn decimal_operation(op: BinaryOp, a: &DataType, b: &DataType, common: &DataType) -> Operation {
    let own = |t: &DataType| {
        t.as_decimal()
            .map_or_else(|| common.clone(), |(p, s)| DataType::decimal(p, s))
    };
    let (left, right) = (own(a), own(b));
    let (p1, s1, p2, s2) = (
        i32::from(left.precision()),
        i32::from(left.scale()),
        i32::from(right.precision()),
        i32::from(right.scale()),
    );
    let whole = (p1 - s1).max(p2 - s2);
    let result = match op {
        BinaryOp::Mul => product_like(p1 + p2 + 1, s1 + s2),
        BinaryOp::Div => {
            let scale = 6.max(s1 + p2 + 1);
            product_like(p1 - s1 + s2 + scale, scale)
        }
        BinaryOp::Mod => {
            let scale = s1.max(s2);
            decimal_of((p1 - s1).min(p2 - s2) + scale, scale)
        }
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
            let scale = s1.max(s2);
            let precision = scale + whole + 1;
            let scale = if precision > 38 {
                scale.min(38 - whole.min(38))
            } else {
                scale
            };
            decimal_of(precision, scale)
        }
    };
    Operation {
        left,
        right,
        result,
    }
}

fn decimal_of(precision: i32, scale: i32) -> DataType {
    DataType::decimal(precision.clamp(1, 38) as u8, scale.clamp(0, 38) as u8)
}

/// Products and quotients beyond 38 digits keep at least six digits after the point, or all of
/// them when there were fewer.
fn product_like(precision: i32, scale: i32) -> DataType {
    if precision <= 38 {
        return decimal_of(precision, scale);
    }
    let whole = precision - scale;
    decimal_of(38, scale.min((38 - whole).max(6)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Collation;

    const C: Collation = Collation::SqlLatin1CiAs;

    fn result(op: BinaryOp, a: DataType, b: DataType) -> String {
        arith_type(op, &a, &b).unwrap().declaration()
    }

    #[test]
    fn decimal_results_follow_the_published_rules() {
        use BinaryOp as O;
        let d = DataType::decimal;
        assert_eq!(result(O::Add, d(5, 2), d(7, 4)), "decimal(8,4)");
        assert_eq!(result(O::Mul, d(5, 2), d(7, 4)), "decimal(13,6)");
        assert_eq!(result(O::Div, d(5, 2), d(7, 4)), "decimal(17,10)");
        assert_eq!(result(O::Div, d(38, 10), d(38, 10)), "decimal(38,6)");
        assert_eq!(result(O::Mul, d(38, 4), d(38, 4)), "decimal(38,6)");
        assert_eq!(result(O::Mod, d(5, 2), d(7, 4)), "decimal(7,4)");
        assert_eq!(result(O::Add, d(38, 10), d(38, 0)), "decimal(38,0)");
    }

    #[test]
    fn types_meet_as_sql_server_lets_them() {
        use BinaryOp as O;
        use DataType as D;
        assert_eq!(result(O::Add, D::TinyInt, D::TinyInt), "tinyint");
        assert_eq!(result(O::Add, D::varchar(3, C), D::Int), "int");
        assert_eq!(
            result(O::Add, D::varchar(3, C), D::nvarchar(4, C)),
            "nvarchar(7)"
        );
        assert_eq!(result(O::Sub, D::DateTime, D::Int), "datetime");
        let number = |op, a, b| arith_type(op, &a, &b).unwrap_err().number;
        assert_eq!(number(O::Sub, D::varchar(3, C), D::varchar(3, C)), 8117);
        assert_eq!(number(O::Add, D::Date, D::Int), 206);
        assert_eq!(number(O::Add, D::UniqueIdentifier, D::Int), 8117);
        assert_eq!(number(O::Mod, D::Float, D::Float), 8117);
        assert_eq!(number(O::Mod, D::Float, D::Int), 402);
        assert_eq!(number(O::Mul, D::Bit, D::Bit), 8117);
        assert_eq!(number(O::Add, D::Bit, D::Bit), 402);
    }
}
