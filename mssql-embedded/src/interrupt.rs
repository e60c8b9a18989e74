//! Why a running request stops before its end, and the error that says so on its way up.

use crate::error::{SqlError, SqlResult};

/// The number of the error that carries an interrupt up through the interpreter. It never reaches a
/// client, and TRY…CATCH must not see it.
const INTERRUPTED: i32 = -1;

/// Why a running request shall stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// The client sent an attention: stop, and the wire side acknowledges with DONE_ATTN.
    Attention,
    /// The client hung up, or the server stops, or a test cut the connection.
    Disconnected,
}

/// The question whether to stop, as those can ask it who share what they work with.
pub type Asking<'a> = &'a dyn Fn() -> Option<Interrupt>;

/// The answer where nobody can interrupt, because what is done is no longer than its text.
pub fn never() -> Option<Interrupt> {
    None
}

/// An answer to the question whether to stop, as an error if it is yes.
///
/// # Errors
///
/// That of [`interrupt_error`].
pub fn stop_if(answer: Option<Interrupt>) -> SqlResult<()> {
    match answer {
        Some(interrupt) => Err(interrupt_error(interrupt)),
        None => Ok(()),
    }
}

/// The error that ends a request because its client sent an attention or is gone.
pub fn interrupt_error(interrupt: Interrupt) -> SqlError {
    let message = match interrupt {
        Interrupt::Attention => "the request was cancelled by its client",
        Interrupt::Disconnected => "the client is gone",
    };
    SqlError::with(INTERRUPTED, 20, 0, message)
}

pub fn is_interrupt(error: &SqlError) -> bool {
    error.number == INTERRUPTED
}
