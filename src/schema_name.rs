//! The schema's name: the only text of ours that is ever spliced into SQL.

use std::fmt;

/// Longest identifier SQL Server accepts, in UTF-16 code units.
const UNITS_MAX: usize = 128;

/// Schemas that belong to the server; nothing of ours may be created in them.
const RESERVED: [&str; 3] = ["sys", "information_schema", "guest"];

/// A schema name that SQL Server accepts as a delimited identifier.
///
/// Spaces, quotes, brackets and reserved words are all legal. Everything that reaches the
/// server goes through [`SchemaName::quoted`] or [`SchemaName::literal`], so no name can
/// change the meaning of a statement.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct SchemaName(String);

/// Why a text cannot be the name of a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaNameError {
    /// The name has no characters.
    #[error("schema name is empty; choose a name such as duroxide")]
    Empty,
    /// The name is longer than an identifier may be.
    #[error("schema name has {units} UTF-16 units, SQL Server allows {UNITS_MAX}; shorten it")]
    TooLong {
        /// Length of the refused name in UTF-16 code units.
        units: usize,
    },
    /// The name holds a character that no identifier of ours may hold.
    #[error("schema name {name:?} contains a control character; remove it")]
    ControlCharacter {
        /// The refused name.
        name: String,
    },
    /// SQL Server ignores trailing spaces when it compares names.
    #[error(
        "schema name {name:?} ends in a space, which SQL Server ignores when it compares names; \
         remove the space"
    )]
    TrailingSpace {
        /// The refused name.
        name: String,
    },
    /// The schema belongs to the server.
    #[error("schema name {name:?} is reserved by SQL Server; choose another")]
    Reserved {
        /// The refused name.
        name: String,
    },
}

impl SchemaName {
    /// Checks a name before anything is sent to a server.
    ///
    /// # Errors
    ///
    /// Says which rule the name breaks and what to do about it.
    pub fn new(name: impl Into<String>) -> Result<Self, SchemaNameError> {
        let name = name.into();
        if name.is_empty() {
            return Err(SchemaNameError::Empty);
        }
        let units = name.encode_utf16().count();
        if units > UNITS_MAX {
            return Err(SchemaNameError::TooLong { units });
        }
        if name.chars().any(char::is_control) {
            return Err(SchemaNameError::ControlCharacter { name });
        }
        if name.ends_with(' ') {
            return Err(SchemaNameError::TrailingSpace { name });
        }
        let lower = name.to_lowercase();
        if RESERVED.contains(&lower.as_str()) || lower.starts_with("db_") {
            return Err(SchemaNameError::Reserved { name });
        }
        Ok(Self(name))
    }

    /// The name as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as a delimited identifier: `[orders]`, with `]` doubled.
    #[must_use]
    pub fn quoted(&self) -> String {
        format!("[{}]", self.0.replace(']', "]]"))
    }

    /// The name as the inside of a string literal, with `'` doubled.
    #[must_use]
    pub fn literal(&self) -> String {
        self.0.replace('\'', "''")
    }
}

impl fmt::Debug for SchemaName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.quoted())
    }
}

impl fmt::Display for SchemaName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.quoted())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_legal_kind_of_name_is_accepted() {
        let longest = "x".repeat(128);
        for name in [
            "duroxide",
            "a b",
            "a]b",
            "it's",
            "select",
            " lead",
            "日本",
            longest.as_str(),
        ] {
            assert!(SchemaName::new(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn illegal_names_are_refused_by_rule() {
        use SchemaNameError::*;
        assert_eq!(SchemaName::new("").unwrap_err(), Empty);
        assert_eq!(
            SchemaName::new("x".repeat(129)).unwrap_err(),
            TooLong { units: 129 }
        );
        // An emoji is two UTF-16 units, so 65 of them do not fit.
        assert_eq!(
            SchemaName::new("😀".repeat(65)).unwrap_err(),
            TooLong { units: 130 }
        );
        assert!(matches!(
            SchemaName::new("a\0b"),
            Err(ControlCharacter { .. })
        ));
        assert!(matches!(SchemaName::new("a "), Err(TrailingSpace { .. })));
        for name in ["sys", "SYS", "Information_Schema", "guest", "db_owner"] {
            assert!(
                matches!(SchemaName::new(name), Err(Reserved { .. })),
                "{name}"
            );
        }
    }

    #[test]
    fn quoting_doubles_what_would_end_the_name() {
        let name = SchemaName::new("a]b'c").unwrap();
        assert_eq!(name.quoted(), "[a]]b'c]");
        assert_eq!(name.literal(), "a]b''c");
    }
}
