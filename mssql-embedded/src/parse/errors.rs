//! SQL Server's syntax errors, one function each, so that number, severity, state and text stand in
//! one place. Some the binder raises as well, where it takes more than the text to see them; it does not
//! know the line, and says 0.

use crate::error::SqlError;
use crate::value;

fn syntax(number: i32, state: u8, line: u32, message: String) -> SqlError {
    SqlError::with(number, 15, state, message).at(line)
}

pub(super) fn near(text: &str, line: u32) -> SqlError {
    SqlError::near(text).at(line)
}

pub(super) fn no_delay(text: &str, line: u32) -> SqlError {
    let message = format!("Incorrect time syntax in time string '{text}' used with WAITFOR.");
    syntax(148, 1, line, message)
}

pub(super) fn no_frame(start: &str, end: &str, line: u32) -> SqlError {
    let message = format!(
        "'BETWEEN {start} AND {end}' is not a valid window frame and cannot be used with the OVER clause."
    );
    SqlError::new(4193, message).at(line)
}

pub(super) fn output_of_constant(line: u32) -> SqlError {
    let message = "Cannot use the OUTPUT option when passing a constant to a stored procedure.";
    syntax(179, 1, line, message.to_owned())
}

/// A SET option that takes a number and nothing else, as a variable.
pub(super) fn option_without_number(option: &str, line: u32) -> SqlError {
    syntax(102, 3, line, format!("Incorrect syntax near '{option}'."))
}

pub(super) fn near_keyword(text: &str, line: u32) -> SqlError {
    let message = format!("Incorrect syntax near the keyword '{text}'.");
    syntax(156, 1, line, message)
}

pub(super) fn too_long(start: &str, max: usize, line: u32) -> SqlError {
    let shown: String = start.chars().take(max).collect();
    let message =
        format!("The identifier that starts with '{shown}' is too long. Maximum length is {max}.");
    syntax(103, 4, line, message)
}

pub(super) fn unclosed_quote(text: &str, line: u32) -> SqlError {
    let message = format!("Unclosed quotation mark after the character string '{text}'.");
    syntax(105, 1, line, message)
}

pub(super) fn unclosed_comment(line: u32) -> SqlError {
    syntax(113, 1, line, "Missing end comment mark '*/'.".into())
}

/// The state tells a name in the text from that of a column to be made.
pub(crate) fn empty_name(state: u8, line: u32) -> SqlError {
    let message = "An object or column name is missing or empty. For SELECT INTO statements, verify \
                   each column has a name. For other statements, look for empty alias names. Aliases \
                   defined as \"\" or [] are not allowed. Change the alias to a valid name.";
    syntax(1038, state, line, message.into())
}

pub(super) fn too_deep(line: u32) -> SqlError {
    let message = "Some part of your SQL statement is nested too deeply. Rewrite the query or break \
                   it up into smaller queries.";
    syntax(191, 1, line, message.into())
}

/// The keyword is shown in small letters however it is written.
pub(crate) fn with_needs_semicolon(line: u32) -> SqlError {
    let message = "Incorrect syntax near the keyword 'with'. If this statement is a common table expression, \
                   an xmlnamespaces clause or a change tracking context clause, the previous statement must \
                   be terminated with a semicolon.";
    syntax(319, 1, line, message.into())
}

pub(super) fn cte_needs_semicolon(text: &str, line: u32) -> SqlError {
    let message = format!(
        "Incorrect syntax near '{text}'. If this is intended to be a common table expression, you \
         need to explicitly terminate the previous statement with a semi-colon."
    );
    syntax(336, 1, line, message)
}

pub(super) fn index_hint_of_target(line: u32) -> SqlError {
    let message = "Index hints are only allowed in a FROM or OPTION clause.";
    syntax(1069, 1, line, message.into())
}

pub(super) fn forceseek_of_target(line: u32) -> SqlError {
    let message = "The FORCESEEK hint is not allowed for target tables of INSERT, UPDATE, or DELETE \
                   statements.";
    syntax(10724, 1, line, message.into())
}

pub(super) fn forcescan_of_target(line: u32) -> SqlError {
    let message = "The FORCESCAN hint is not allowed for target tables of INSERT, UPDATE, or DELETE \
                   statements.";
    syntax(10745, 1, line, message.into())
}

pub(super) fn readpast_of_insert(line: u32) -> SqlError {
    let message = "The READPAST lock hint is only allowed on target tables of UPDATE and DELETE and on \
                   tables specified in an explicit FROM clause.";
    syntax(4102, 1, line, message.into())
}

pub(super) fn not_boolean(near: &str, line: u32) -> SqlError {
    let message = format!(
        "An expression of non-boolean type specified in a context where a condition is expected, \
         near '{near}'."
    );
    syntax(4145, 1, line, message)
}

pub(super) fn not_first_in_batch(what: &str, line: u32) -> SqlError {
    let message = format!("'{what}' must be the first statement in a query batch.");
    syntax(111, 1, line, message)
}

pub(super) fn jump_into_try(line: u32) -> SqlError {
    let message = "GOTO cannot be used to jump into a TRY or CATCH scope.";
    syntax(1026, 1, line, message.into())
}

pub(super) fn use_in_procedure(line: u32) -> SqlError {
    let message = "a USE database statement is not allowed in a procedure, function or trigger.";
    syntax(154, 1, line, message.into())
}

pub(super) fn outside_loop(what: &str, line: u32) -> SqlError {
    let number = if what == "BREAK" { 135 } else { 136 };
    let message = format!("Cannot use a {what} statement outside the scope of a WHILE statement.");
    syntax(number, 1, line, message)
}

pub(super) fn label_missing(name: &str, line: u32) -> SqlError {
    let message = format!(
        "A GOTO statement references the label '{name}' but the label has not been declared."
    );
    syntax(133, 1, line, message)
}

pub(super) fn label_twice(name: &str, line: u32) -> SqlError {
    let message = format!(
        "The label '{name}' has already been declared. Label names must be unique within a query \
         batch or stored procedure."
    );
    syntax(132, 1, line, message)
}

pub(super) fn return_value_in_batch(line: u32) -> SqlError {
    let message = "A RETURN statement with a return value cannot be used in this context.";
    syntax(178, 1, line, message.into())
}

pub(super) fn rethrow_outside_catch(line: u32) -> SqlError {
    let message = "To rethrow an error, a THROW statement must be used inside a CATCH block. Insert \
                   the THROW statement inside a CATCH block, or add error parameters to the THROW \
                   statement.";
    syntax(10704, 1, line, message.into())
}

pub(crate) fn assignment_with_data(line: u32) -> SqlError {
    let message = "A SELECT statement that assigns a value to a variable must not be combined with \
                   data-retrieval operations.";
    syntax(141, 1, line, message.into())
}

pub(crate) fn order_by_in_subquery(line: u32) -> SqlError {
    let message = "The ORDER BY clause is invalid in views, inline functions, derived tables, \
                   subqueries, and common table expressions, unless TOP, OFFSET or FOR XML is also \
                   specified.";
    syntax(1033, 1, line, message.into())
}

pub(super) fn top_with_offset(line: u32) -> SqlError {
    let message = "A TOP can not be used in the same query or sub-query as a OFFSET.";
    syntax(10741, 2, line, message.into())
}

pub(crate) fn ties_without_order(line: u32) -> SqlError {
    let message =
        "The TOP N WITH TIES clause is not allowed without a corresponding ORDER BY clause.";
    syntax(1062, 1, line, message.into())
}

pub(super) fn fetch_without_offset(line: u32) -> SqlError {
    let message = "Invalid usage of the option NEXT in the FETCH statement.";
    syntax(153, 2, line, message.into())
}

pub(super) fn more_columns_than_values(line: u32) -> SqlError {
    let message = "There are more columns in the INSERT statement than values specified in the VALUES \
                   clause. The number of values in the VALUES clause must match the number of columns \
                   specified in the INSERT statement.";
    syntax(109, 1, line, message.into())
}

pub(super) fn fewer_columns_than_values(line: u32) -> SqlError {
    let message = "There are fewer columns in the INSERT statement than values specified in the \
                   VALUES clause. The number of values in the VALUES clause must match the number of \
                   columns specified in the INSERT statement.";
    syntax(110, 1, line, message.into())
}

pub(super) fn too_many_rows(line: u32) -> SqlError {
    let message = "The number of row value expressions in the INSERT statement exceeds the maximum \
                   allowed number of 1000 row values.";
    syntax(10738, 1, line, message.into())
}

pub(super) fn ragged_rows(line: u32) -> SqlError {
    let message =
        "The number of columns for each row in a table value constructor must be the same.";
    SqlError::with(10709, 16, 1, message).at(line)
}

pub(super) fn too_many_prefixes(name: &str, line: u32) -> SqlError {
    let message = format!(
        "The object name '{name}' contains more than the maximum number of prefixes. The maximum is 3."
    );
    syntax(117, 1, line, message)
}

pub(crate) fn subquery_not_allowed(line: u32) -> SqlError {
    let message =
        "Subqueries are not allowed in this context. Only scalar expressions are allowed.";
    syntax(1046, 1, line, message.into())
}

pub(super) fn unknown_set_option(name: &str, line: u32) -> SqlError {
    let message = format!("'{name}' is not a recognized SET option.");
    syntax(195, 5, line, message)
}

pub(super) fn unknown_option(name: &str, of: &str, line: u32) -> SqlError {
    value::errors::unknown_option(name, of, 2).at(line)
}

pub(super) fn unknown_hint(name: &str, line: u32) -> SqlError {
    let message = format!(
        "\"{name}\" is not a recognized table hints option. If it is intended as a parameter to a \
         table-valued function or to the CHANGETABLE function, ensure that your database \
         compatibility mode is set to 90."
    );
    syntax(321, 1, line, message)
}

pub(super) fn unknown_object_type(name: &str, line: u32) -> SqlError {
    let message =
        format!("Unknown object type '{name}' used in a CREATE, DROP, or ALTER statement.");
    syntax(343, 1, line, message)
}

pub(super) fn expected(near: &str, wanted: &str, line: u32) -> SqlError {
    let message = format!("Incorrect syntax near '{near}', expected '{wanted}'.");
    syntax(1035, 10, line, message)
}

pub(super) fn too_much_recursion(limit: u32, line: u32) -> SqlError {
    let message = format!(
        "The value {limit} specified for the MAXRECURSION option exceeds the allowed maximum of \
         32767."
    );
    syntax(310, 1, line, message)
}

pub(super) fn too_many_parameters(what: &str, max: usize, line: u32) -> SqlError {
    let message = format!(
        "There are too many parameters in this {what} PROCEDURE statement. The maximum number is {max}."
    );
    syntax(180, 1, line, message)
}

pub(super) fn too_many_sets(line: u32) -> SqlError {
    let message = "Too many grouping sets. The maximum number is 4096.";
    syntax(10703, 1, line, message.to_owned())
}
