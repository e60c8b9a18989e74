//! SQL Server's messages about names and clauses, each worded in one place.

use crate::ast::{ObjectName, Pos};
use crate::catalog::{dotted, line_of};
use crate::error::SqlError;

pub(super) fn invalid_column(name: &str, pos: Pos) -> SqlError {
    SqlError::new(207, format!("Invalid column name '{name}'.")).at(pos.line)
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
    .at(line_of(name))
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

/// 144: what GROUP BY does not take.
pub(super) fn not_in_group_by() -> SqlError {
    SqlError::with(
        144,
        15,
        1,
        "Cannot use an aggregate or a subquery in an expression used for the group by list of a \
         GROUP BY clause.",
    )
}

/// 205: queries that are combined have as many columns each.
pub(super) fn unequal_columns() -> SqlError {
    SqlError::new(
        205,
        "All queries combined using a UNION, INTERSECT or EXCEPT operator must have an equal number of \
         expressions in their target lists.",
    )
}

/// 1934: what a filtered index does not bear with QUOTED_IDENTIFIER OFF.
pub fn wrong_settings(verb: &str) -> SqlError {
    SqlError::new(
        1934,
        format!(
            "{verb} failed because the following SET options have incorrect settings: \
             'QUOTED_IDENTIFIER'. Verify that SET options are correct for use with indexed views \
             and/or indexes on computed columns and/or filtered indexes and/or query notifications \
             and/or XML data type methods and/or spatial index operations."
        ),
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
