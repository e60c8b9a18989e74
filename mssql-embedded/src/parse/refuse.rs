//! Statements that SQL Server has and the engine has not, refused by name.

use super::cursor::Parser;
use crate::error::SqlError;

/// Reserved words that begin a statement the engine does not implement.
const RESERVED: &[(&str, &str)] = &[
    ("MERGE", "MERGE"),
    ("OPEN", "OPEN (cursors and keys)"),
    ("CLOSE", "CLOSE (cursors and keys)"),
    ("FETCH", "FETCH (cursors)"),
    ("DEALLOCATE", "DEALLOCATE (cursors)"),
    ("BACKUP", "BACKUP"),
    ("RESTORE", "RESTORE"),
    ("BULK", "BULK INSERT"),
    ("DBCC", "DBCC"),
    ("UPDATE", "UPDATE STATISTICS"),
    ("RECONFIGURE", "RECONFIGURE"),
    ("SHUTDOWN", "SHUTDOWN"),
    ("SETUSER", "SETUSER"),
    ("READTEXT", "READTEXT"),
    ("WRITETEXT", "WRITETEXT"),
    ("UPDATETEXT", "UPDATETEXT"),
    ("LINENO", "LINENO"),
    ("DUMP", "DUMP"),
    ("LOAD", "LOAD"),
];

impl Parser<'_> {
    /// The error for a reserved word that begins no statement of ours.
    pub fn refuse_statement(&self, word: &str) -> SqlError {
        match RESERVED.iter().find(|(known, _)| *known == word) {
            Some((_, what)) => self.unsupported(what),
            None => self.fail(),
        }
    }

    /// Statements that begin with unreserved words are known by their first two.
    pub fn refuse_word_statement(&self) -> Option<SqlError> {
        let (first, second) = (self.upper(), self.upper_at(1));
        let what = match (first.as_str(), second.as_str()) {
            ("DISABLE" | "ENABLE", "TRIGGER") => format!("{first} TRIGGER"),
            ("SEND", "ON") => "SEND (Service Broker)".to_owned(),
            ("RECEIVE", "TOP") => "RECEIVE (Service Broker)".to_owned(),
            ("MOVE" | "GET", "CONVERSATION") => {
                format!("{first} CONVERSATION (Service Broker)")
            }
            _ => return None,
        };
        Some(self.unsupported(&what))
    }
}
