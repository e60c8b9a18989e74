//! What SQL Server says of calls that do not fit their procedure.

use crate::error::SqlError;

/// 8146. A text that sp_executesql runs has no name, and a state of its own.
pub fn no_parameters(procedure: &str, state: u8) -> SqlError {
    let text = format!("Procedure {procedure} has no parameters and arguments were supplied.");
    SqlError::with(8146, 16, state, text)
}

/// 8162.
pub fn not_output(parameter: &str) -> SqlError {
    let text = format!(
        "The formal parameter \"{parameter}\" was not declared as an OUTPUT parameter, but the actual parameter passed in requested output."
    );
    SqlError::with(8162, 16, 2, text)
}

/// 2812.
pub fn unknown_procedure(name: &str) -> SqlError {
    SqlError::with(
        2812,
        16,
        62,
        format!("Could not find stored procedure '{name}'."),
    )
}
