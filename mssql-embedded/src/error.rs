//! The error every layer raises: SQL Server's number, severity, state and message.

use std::fmt;

/// The result of anything that can raise a T-SQL error.
pub type SqlResult<T> = Result<T, SqlError>;

/// The number of [`SqlError::unsupported`].
const UNSUPPORTED: i32 = 40517;

/// How long a message may be.
const MESSAGE_UNITS: usize = 2048;

/// As many characters from the beginning as fit so many UTF-16 units.
fn cut(text: &str, units: usize) -> String {
    let mut left = units;
    let fits = |c: &char| {
        let fits = c.len_utf16() <= left;
        left = left.saturating_sub(c.len_utf16());
        fits
    };
    text.chars().take_while(fits).collect()
}

/// One message of the server, as it goes over the wire in an ERROR or INFO token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlError {
    /// SQL Server's message number, for example 2627.
    pub number: i32,
    /// Severity 0 to 25; 10 and below are informational, 20 and above end the connection.
    pub severity: u8,
    /// The state, which tells apart the places that raise one number.
    pub state: u8,
    /// As the client reads it, names and values filled in.
    pub message: String,
    /// Line within the batch or procedure, 1-based; 0 while unknown.
    pub line: u32,
    /// The procedure that raised it, empty for a batch.
    pub procedure: String,
    /// The error that caused this one. A client is sent both, in this order; CATCH sees only the last.
    pub cause: Option<Box<SqlError>>,
}

impl SqlError {
    /// An error of severity 16, state 1, without a position yet.
    pub fn new(number: i32, message: impl Into<String>) -> Self {
        Self::with(number, 16, 1, message)
    }

    /// For a severity or state other than 16 and 1; without a position yet. A message ends where the NVARCHAR(2048) of
    /// sys.messages does, however long the value is that it quotes.
    pub fn with(number: i32, severity: u8, state: u8, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if message.len() > MESSAGE_UNITS {
            message = cut(&message, MESSAGE_UNITS);
        }
        Self {
            number,
            severity,
            state,
            message,
            line: 0,
            procedure: String::new(),
            cause: None,
        }
    }

    /// This error as the consequence of another one.
    #[must_use]
    pub fn because(mut self, cause: Self) -> Self {
        self.cause = Some(Box::new(cause));
        self
    }

    /// This error, with its own causes, behind another one and its causes.
    #[must_use]
    pub fn after(mut self, first: Self) -> Self {
        self.cause = Some(Box::new(match self.cause.take() {
            Some(cause) => cause.after(first),
            None => first,
        }));
        self
    }

    /// The same error at a line, unless one is already known.
    #[must_use]
    pub fn at(mut self, line: u32) -> Self {
        if self.line == 0 {
            self.line = line;
        }
        self
    }

    /// 102: a text that breaks off at something which cannot stand there.
    pub fn near(what: &str) -> Self {
        Self::with(102, 15, 1, format!("Incorrect syntax near '{what}'."))
    }

    /// 217: procedures, or views, that call each other too deep.
    pub fn nested_too_deep() -> Self {
        Self::new(
            217,
            "Maximum stored procedure, function, trigger, or view nesting level exceeded (limit 32).",
        )
    }

    /// How many expressions the grouping sets of a query may name.
    pub const GROUPING_KEYS_MAX: usize = 32;

    /// 10706: grouping sets that name more.
    pub fn too_many_grouping_keys() -> Self {
        Self::with(
            10706,
            15,
            1,
            format!(
                "Too many expressions are specified in the GROUP BY clause. The maximum number is {} when \
                 grouping sets are supplied.",
                Self::GROUPING_KEYS_MAX
            ),
        )
    }

    /// A construct this engine does not implement. SQL Server has no such message; 40517 ("keyword
    /// or statement option is not supported in this version") is the nearest one it owns.
    pub fn unsupported(what: impl fmt::Display) -> Self {
        Self::new(
            UNSUPPORTED,
            format!("{what} is not supported by mssql-embedded."),
        )
    }

    /// Whether it says that the engine does not implement something.
    pub fn is_unsupported(&self) -> bool {
        self.number == UNSUPPORTED
    }

    /// Something that cannot be unless the engine itself is wrong. SQL Server reports its own
    /// broken assumptions as 8630.
    pub fn internal(what: impl fmt::Display) -> Self {
        Self::with(
            8630,
            17,
            1,
            format!(
                "Internal Query Processor Error: The query processor encountered an unexpected error \
                 during execution ({what})."
            ),
        )
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Msg {}, Level {}, State {}, Line {}: {}",
            self.number, self.severity, self.state, self.line, self.message
        )
    }
}

impl std::error::Error for SqlError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// ERROR_MESSAGE() is a text of limited length, and the value that a message quotes is not.
    #[test]
    fn a_message_has_an_end() {
        let of = |text: &str| SqlError::new(245, text).message;
        assert_eq!(of(&"x".repeat(2048)).len(), 2048);
        assert_eq!(of(&"x".repeat(5000)), "x".repeat(2048));
        // Characters of two bytes but one unit, and one of two units that would be cut in half.
        assert_eq!(of(&"é".repeat(2048)), "é".repeat(2048));
        assert_eq!(of(&format!("{}😀", "x".repeat(2047))), "x".repeat(2047));
    }
}
