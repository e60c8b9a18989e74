//! What SQL Server says of calls that do not fit their procedure.

use crate::error::SqlError;

/// 8146. A text that sp_executesql runs has no name, and a state of its own.
pub fn no_parameters(procedure: &str, state: u8) -> SqlError {
    let text = format!("Procedure {procedure} has no parameters and arguments were supplied.");
    SqlError::with(8146, 16, state, text)
}

/// 8162: OUTPUT for a parameter that is none.
pub fn not_output(parameter: &str) -> SqlError {
    let text = format!(
        "The formal parameter \"{parameter}\" was not declared as an OUTPUT parameter, but the actual parameter passed in requested output."
    );
    SqlError::with(8162, 16, 2, text)
}

/// 8144. A text that sp_executesql runs has no name, and SQL Server leaves a gap where it would stand.
pub fn too_many_arguments(procedure: &str) -> SqlError {
    let text = format!("Procedure or function {procedure} has too many arguments specified.");
    SqlError::with(8144, 16, 2, text)
}

/// 8145: an argument for a parameter that is not there.
pub fn no_such_parameter(parameter: &str, procedure: &str, state: u8) -> SqlError {
    let text = format!("{parameter} is not a parameter for procedure {procedure}.");
    SqlError::with(8145, 16, state, text)
}

/// 201: a parameter without a default that got nothing.
pub fn not_supplied(procedure: &str, parameter: &str, state: u8) -> SqlError {
    let text = format!(
        "Procedure or function '{procedure}' expects parameter '{parameter}', which was not supplied."
    );
    SqlError::with(201, 16, state, text)
}

/// 2812: a procedure that is not there.
pub fn unknown_procedure(name: &str) -> SqlError {
    SqlError::with(
        2812,
        16,
        62,
        format!("Could not find stored procedure '{name}'."),
    )
}
