//! SQL Server's messages about values, each worded in one place.

use super::DataType;
use super::number_text::format_fixed;
use crate::error::SqlError;

/// 206: two types that cannot meet.
pub(crate) fn operand_clash(from: &DataType, to: &DataType) -> SqlError {
    let (from, to) = (from.error_name(), to.error_name());
    SqlError::with(
        206,
        16,
        2,
        format!("Operand type clash: {from} is incompatible with {to}"),
    )
}

/// 257: a conversion that needs CAST or CONVERT.
pub(crate) fn implicit_refused(from: &DataType, to: &DataType) -> SqlError {
    let (from, to) = (from.error_name(), to.error_name());
    SqlError::with(
        257,
        16,
        3,
        format!(
            "Implicit conversion from data type {from} to {to} is not allowed. Use the CONVERT \
             function to run this query."
        ),
    )
}

/// 529: a conversion that does not exist.
pub(crate) fn explicit_refused(from: &DataType, to: &DataType) -> SqlError {
    let (from, to) = (from.error_name(), to.error_name());
    SqlError::with(
        529,
        16,
        2,
        format!("Explicit conversion from data type {from} to {to} is not allowed."),
    )
}

/// A conversion that SQL Server has and the engine has not.
pub(crate) fn missing_conversion(from: &DataType, to: &DataType) -> SqlError {
    let (from, to) = (from.error_name(), to.error_name());
    SqlError::unsupported(format!("conversion from {from} to {to}"))
}

/// 8115: a result that does not fit its type.
pub(crate) fn overflow(to: &DataType) -> SqlError {
    overflow_with(2, "expression", to)
}

/// 8115: a value of a named type that does not fit another. SQL Server tells numbers that become DECIMAL (8) and
/// DECIMAL that becomes VARCHAR (5) from what does not fit its own result (2).
pub(crate) fn overflow_from(from: &str, to: &DataType) -> SqlError {
    let state = if matches!(to, DataType::Decimal { .. }) {
        8
    } else if to.is_string() {
        5
    } else {
        2
    };
    overflow_with(state, from, to)
}

/// 8115: text with more digits than any DECIMAL has.
pub(crate) fn too_many_digits(from: &DataType, to: &DataType) -> SqlError {
    overflow_with(6, from.error_name(), to)
}

fn overflow_with(state: u8, from: &str, to: &DataType) -> SqlError {
    SqlError::with(
        8115,
        16,
        state,
        format!(
            "Arithmetic overflow error converting {from} to data type {}.",
            to.error_name()
        ),
    )
}

/// 220: an integer that does not fit TINYINT or SMALLINT.
pub(crate) fn small_overflow(to: &DataType, value: i64) -> SqlError {
    let state = if matches!(to, DataType::TinyInt) {
        2
    } else {
        1
    };
    SqlError::with(
        220,
        16,
        state,
        format!(
            "Arithmetic overflow error for data type {}, value = {value}.",
            to.error_name()
        ),
    )
}

/// 232: a floating-point number that does not fit.
pub(crate) fn float_overflow(to: &DataType, value: f64) -> SqlError {
    let state = match to.max_length() {
        _ if to.is_string() => 2,
        1 => 1,
        2 => 2,
        _ => 3,
    };
    SqlError::with(
        232,
        16,
        state,
        format!(
            "Arithmetic overflow error for type {}, value = {}.",
            to.error_name(),
            format_fixed(value)
        ),
    )
}

/// 245: text that is not a number of this type.
pub(crate) fn conversion_failed(from: &DataType, text: &str, to: &DataType) -> SqlError {
    let (from, to) = (from.error_name(), to.error_name());
    SqlError::with(
        245,
        16,
        1,
        format!("Conversion failed when converting the {from} value '{text}' to data type {to}."),
    )
}

/// 8114: text that is not a number of this type, without the text.
pub(crate) fn error_converting(from: &DataType, to: &DataType) -> SqlError {
    not_converted(from.error_name(), to.error_name())
}

/// 8114 with types by the names that the caller gives them.
pub(crate) fn not_converted(from: &str, to: &str) -> SqlError {
    let message = format!("Error converting data type {from} to {to}.");
    SqlError::with(8114, 16, 5, message)
}

/// 241: text that is not a date or time.
pub(crate) fn not_a_date() -> SqlError {
    SqlError::new(
        241,
        "Conversion failed when converting date and/or time from character string.",
    )
}

/// 242: a date outside the range of the target type.
pub(crate) fn date_out_of_range(from: &DataType, to: &DataType) -> SqlError {
    let (from, to) = (from.error_name(), to.error_name());
    SqlError::with(
        242,
        16,
        3,
        format!(
            "The conversion of a {from} data type to a {to} data type resulted in an out-of-range \
             value."
        ),
    )
}

/// 517: date arithmetic that leaves the range of its type.
pub(crate) fn date_overflow(ty: &DataType) -> SqlError {
    let name = ty.error_name();
    SqlError::new(
        517,
        format!("Adding a value to a '{name}' column caused an overflow."),
    )
}

/// 281: a style CONVERT does not know.
pub(crate) fn bad_style(style: i32, from: &DataType) -> SqlError {
    let from = from.error_name();
    SqlError::new(
        281,
        format!(
            "{style} is not a valid style number when converting from {from} to a character string."
        ),
    )
}

/// 155: a word that is none of those an option or function takes; the state says who reads it.
pub(crate) fn unknown_option(name: &str, of: &str, state: u8) -> SqlError {
    let message = format!("'{name}' is not a recognized {of} option.");
    SqlError::with(155, 15, state, message)
}

/// 8134: a division by zero.
pub(crate) fn divide_by_zero() -> SqlError {
    SqlError::new(8134, "Divide by zero error encountered.")
}

/// 8117: an operator or function that does not take this type.
pub(crate) fn invalid_operand(ty: &DataType, operator: &str) -> SqlError {
    let ty = ty.error_name();
    SqlError::new(
        8117,
        format!("Operand data type {ty} is invalid for {operator} operator."),
    )
}

/// 402: two types an operator does not combine.
pub(crate) fn incompatible(a: &DataType, b: &DataType, operator: &str) -> SqlError {
    let (a, b) = (a.error_name(), b.error_name());
    SqlError::new(
        402,
        format!("The data types {a} and {b} are incompatible in the {operator} operator."),
    )
}

/// 8116: an argument of the wrong type; `position` counts from 1.
pub(crate) fn invalid_argument(ty: &DataType, position: usize, function: &str) -> SqlError {
    let ty = ty.error_name();
    let function = function.to_ascii_lowercase();
    SqlError::new(
        8116,
        format!(
            "Argument data type {ty} is invalid for argument {position} of {function} function."
        ),
    )
}

/// 1060: a number of rows for TOP, OFFSET or FETCH that is none.
pub(crate) fn rows_not_an_integer() -> SqlError {
    SqlError::with(
        1060,
        15,
        1,
        "The number of rows provided for a TOP or FETCH clauses row count parameter must be an integer.",
    )
}
