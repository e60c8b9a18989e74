//! Statements that SQL Server has and the engine has not, refused by name.

use super::cursor::Parser;
use crate::error::SqlError;
use crate::refused::{Kind, refusal};

impl Parser<'_> {
    /// The error for a reserved word that begins no statement of ours.
    pub fn refuse_statement(&self, word: &str) -> SqlError {
        self.refusal_of(word).unwrap_or_else(|| self.fail())
    }

    /// Statements that begin with unreserved words are known by their first two.
    pub fn refuse_word_statement(&self) -> Option<SqlError> {
        let (first, second) = (self.upper(), self.upper_at(1));
        match (first.as_str(), second.as_str()) {
            ("DISABLE" | "ENABLE", "TRIGGER")
            | ("MOVE" | "GET", "CONVERSATION")
            | ("SEND", "ON")
            | ("RECEIVE", "TOP") => self.refusal_of(&first),
            _ => None,
        }
    }

    /// The refusal of a statement by its first word or its first two.
    fn refusal_of(&self, word: &str) -> Option<SqlError> {
        let two = || refusal(Kind::Statement, &format!("{word} {}", self.upper_at(1)));
        let refused = refusal(Kind::Statement, word).or_else(two)?;
        Some(refused.at(self.line()))
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParseOptions, parse_batch};
    use crate::refused::{Kind, names};

    /// No statement of the register is parsed after all, also not in the body of a procedure.
    #[test]
    fn refused_statements_are_refused_by_name() {
        for name in names(Kind::Statement) {
            let rest = match name {
                "SEND" => " ON CONVERSATION @h",
                "RECEIVE" => " TOP (1) * FROM q",
                _ => " x",
            };
            for before in ["", "CREATE PROCEDURE p AS "] {
                let text = format!("{before}{name}{rest}");
                let error = parse_batch(&text, ParseOptions::default()).unwrap_err();
                assert_eq!(error.number, 40517, "{text}: {}", error.message);
            }
        }
    }
}
