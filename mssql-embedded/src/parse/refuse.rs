//! What SQL Server has and the engine has not, refused by name wherever the grammar comes upon it.

use super::cursor::Parser;
use super::token::Tok;
use crate::error::SqlError;
use crate::refused::{Kind, refusal};

impl Parser<'_> {
    /// The refusal of the word at the current place, if it is in the register as such a thing.
    pub fn refused_here(&self, kind: Kind) -> Option<SqlError> {
        let refused = refusal(kind, &self.upper())?;
        Some(refused.at(self.line()))
    }

    /// The same of a word that a parenthesis follows; without one it is a name like any other.
    pub fn refused_call(&self, kind: Kind) -> Option<SqlError> {
        let is_call = self.peek_at(1).kind == Tok::LParen;
        is_call.then(|| self.refused_here(kind)).flatten()
    }

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
    pub fn refusal_of(&self, word: &str) -> Option<SqlError> {
        let two = || refusal(Kind::Statement, &format!("{word} {}", self.upper_at(1)));
        let refused = refusal(Kind::Statement, word).or_else(two)?;
        Some(refused.at(self.line()))
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParseOptions, parse_batch};
    use crate::refused::{Kind, names, refusal};

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
                let expected = refusal(Kind::Statement, name).unwrap().message;
                assert_eq!(error.message, expected, "{text}");
            }
        }
    }

    /// Wherever the grammar comes upon a word of the register, it gives the register's refusal.
    #[test]
    fn the_parser_refuses_what_the_register_names_with_its_reason() {
        let texts: [(Kind, &[&str]); 6] = [
            (
                Kind::RowSet,
                &["SELECT 1 FROM {} (a, b) AS x", "DELETE {} (a, b)"],
            ),
            (
                Kind::SourceClause,
                &["SELECT 1 FROM t {} (x)", "SELECT 1 FROM t AS u {} (x)"],
            ),
            (
                Kind::Predicate,
                &["IF {} (a) SELECT 1", "SELECT 1 FROM t WHERE NOT {} (a, b)"],
            ),
            (
                Kind::ColumnProperty,
                &[
                    "CREATE TABLE t (a INT {})",
                    "ALTER TABLE t ADD a INT NULL {}",
                ],
            ),
            (
                Kind::Index,
                &[
                    "CREATE TABLE t (a INT, INDEX i NONCLUSTERED {} (a))",
                    "CREATE TABLE t (a INT INDEX i {})",
                ],
            ),
            (Kind::Function, &["SELECT {} (a)", "IF {} (a) = 1 SELECT 1"]),
        ];
        for (kind, texts) in texts {
            for name in names(kind).filter(|name| !name.starts_with("@@")) {
                for text in texts {
                    let text = text.replace("{}", name);
                    let expected = refusal(kind, name).unwrap().message;
                    match parse_batch(&text, ParseOptions::default()) {
                        Err(error) => assert_eq!(error.message, expected, "{text}"),
                        Ok(_) => panic!("{text} is accepted"),
                    }
                }
            }
        }
    }
}
