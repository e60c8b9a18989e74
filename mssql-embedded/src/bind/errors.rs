//! SQL Server's messages about names and clauses, each worded in one place.

use crate::ast::{ObjectName, Pos};
use crate::error::SqlError;

/// The name as it was written, without delimiters.
pub(super) fn dotted(name: &ObjectName) -> String {
    let parts: Vec<&str> = name.parts.iter().map(|p| p.name.as_str()).collect();
    parts.join(".")
}

/// The line that an error about the name is reported for.
pub(super) fn line(name: &ObjectName) -> u32 {
    name.parts.first().map_or(0, |p| p.pos.line)
}

pub(super) fn invalid_column(name: &str, pos: Pos) -> SqlError {
    SqlError::new(207, format!("Invalid column name '{name}'.")).at(pos.line)
}

/// 208; its state tells temporary tables from others.
pub(super) fn invalid_object(name: &ObjectName) -> SqlError {
    let last = name.parts.last().map_or("", |p| p.name.as_str());
    let state = u8::from(!crate::catalog::is_temporary(last));
    let message = format!("Invalid object name '{}'.", dotted(name));
    SqlError::with(208, 16, state, message).at(line(name))
}

pub(super) fn ambiguous(name: &str, pos: Pos) -> SqlError {
    SqlError::new(209, format!("Ambiguous column name '{name}'.")).at(pos.line)
}

pub(super) fn unbound(name: &ObjectName) -> SqlError {
    let text = dotted(name);
    SqlError::new(
        4104,
        format!("The multi-part identifier \"{text}\" could not be bound."),
    )
    .at(line(name))
}

/// 1023: something else where a date part stands.
pub(super) fn no_date_part(function: &str) -> SqlError {
    let function = function.to_ascii_lowercase();
    SqlError::with(
        1023,
        15,
        1,
        format!("Invalid parameter 1 specified for {function}."),
    )
}

/// 243 in the place of 2715: CAST and CONVERT know system types only.
pub(super) fn undefined_in_cast(error: SqlError, name: &ObjectName) -> SqlError {
    if error.number != 2715 {
        return error;
    }
    let message = format!("Type {} is not a defined system type.", dotted(name));
    SqlError::new(243, message).at(error.line)
}

pub(super) fn argument_count(name: &str, count: usize) -> SqlError {
    let name = name.to_ascii_lowercase();
    SqlError::with(
        174,
        15,
        1,
        format!("The {name} function requires {count} argument(s)."),
    )
}

pub(super) fn same_alias(alias: &str) -> SqlError {
    SqlError::with(
        1011,
        16,
        1,
        format!("The correlation name '{alias}' is specified multiple times in a FROM clause."),
    )
}

pub(super) fn same_exposed(a: &str, b: &str) -> SqlError {
    SqlError::with(
        1013,
        16,
        1,
        format!(
            "The objects \"{a}\" and \"{b}\" in the FROM clause have the same exposed names. Use \
             correlation names to distinguish them."
        ),
    )
}

pub(super) fn duplicate_assignment(column: &str) -> SqlError {
    SqlError::new(
        264,
        format!(
            "The column name '{column}' is specified more than once in the SET clause or column \
             list of an INSERT. A column cannot be assigned more than one value in the same clause. \
             Modify the clause to make sure that a column is updated only once. If this statement \
             updates or inserts columns into a view, column aliasing can conceal the duplication in \
             your code."
        ),
    )
}

pub(super) fn not_writable(column: &str) -> SqlError {
    SqlError::new(
        271,
        format!(
            "The column \"{column}\" cannot be modified because it is either a computed column or is \
             the result of a UNION operator."
        ),
    )
}

/// 1750, the consequence of what makes a constraint impossible.
pub fn not_created(cause: SqlError) -> SqlError {
    SqlError::with(
        1750,
        16,
        0,
        "Could not create constraint or index. See previous errors.",
    )
    .because(cause)
}
