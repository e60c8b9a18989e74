//! The register of what SQL Server has and the engine refuses by name, so that an absence is not taken for a misspelling.
//!
//! Whatever is named here is refused when it is parsed or bound, and therefore also in the text of a procedure that is being
//! created. System procedures are refused when they are called, because that is when SQL Server looks for a procedure:
//! one that calls a procedure that does not exist is created all the same, with no more than a message (2007), and only
//! the call fails (2812). See "Deferred name resolution and compilation", learn.microsoft.com, ms190686, and
//! CREATE PROCEDURE. Refusing them earlier would refuse scripts that never come to the call.
//!
//! What depends on how a thing is used (an option of CREATE INDEX, a value of SET, a form of ALTER TABLE) is refused where
//! it is read; what only a value tells (a property that a variable names), when that is known. The
//! README lists this register, and a test compares the two.

mod clauses;
mod functions;
mod procedures;
mod syntax;
mod views;
mod wire;
mod words;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::error::SqlError;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A statement, by its first words.
    Statement,
    /// A table source with a grammar of its own.
    RowSet,
    /// What may follow a table source.
    SourceClause,
    /// A clause or another form with a fixed name.
    Clause,
    /// What OPTION takes, by its first words.
    QueryHint,
    /// A condition that looks like a call.
    Predicate,
    ColumnProperty,
    /// A kind of index.
    Index,
    SetOption,
    TableHint,
    /// A data type, in lower case.
    Type,
    /// A function or an `@@` name.
    Function,
    /// A word that this function takes, such as a property.
    Word(&'static str),
    /// A system view or a table function of the system: lower case, with its schema.
    View,
    /// A system procedure, in lower case.
    Procedure,
    /// What a client asks for or sends beside the text of a batch.
    Client,
}

impl Kind {
    /// How a message speaks of a name of this kind.
    fn phrase(self, name: &str) -> String {
        match self {
            Self::Statement
            | Self::RowSet
            | Self::SourceClause
            | Self::Clause
            | Self::Predicate
            | Self::Client => name.to_owned(),
            Self::QueryHint => format!("the query hint {name}"),
            Self::ColumnProperty => format!("the column property {name}"),
            Self::Index => format!("a {name} index"),
            Self::SetOption => format!("SET {name}"),
            Self::TableHint => format!("the table hint {name}"),
            Self::Type => format!("data type {name}"),
            Self::Function => format!("function {name}"),
            Self::Word(function) => format!("{function} with {name}"),
            Self::View => format!("the system view {name}"),
            Self::Procedure => format!("the system procedure {name}"),
        }
    }

    /// The heading of the kind in the README.
    #[cfg(test)]
    fn heading(self) -> &'static str {
        match self {
            Self::Statement => "Statements",
            Self::RowSet => "Row sets",
            Self::SourceClause => "After a table",
            Self::Clause => "Clauses",
            Self::QueryHint => "Query hints",
            Self::Predicate => "Conditions",
            Self::ColumnProperty => "Column properties",
            Self::Index => "Indexes",
            Self::SetOption => "SET",
            Self::TableHint => "Table hints",
            Self::Type => "Types",
            Self::Function => "Functions",
            Self::Word(function) => function,
            Self::View => "System views",
            Self::Procedure => "System procedures",
            Self::Client => "From clients",
        }
    }
}

/// Names that are refused for one reason.
#[derive(Debug)]
pub struct Group {
    pub kind: Kind,
    /// What they need that the engine has not.
    pub why: &'static str,
    /// The names, as the sources of the engine spell them.
    pub names: &'static [&'static str],
}

/// The whole register.
pub fn groups() -> impl Iterator<Item = &'static Group> {
    [
        syntax::GROUPS,
        clauses::GROUPS,
        functions::GROUPS,
        words::GROUPS,
        views::GROUPS,
        procedures::GROUPS,
        wire::GROUPS,
    ]
    .into_iter()
    .flatten()
}

/// The names of a kind in upper case, each with its group and as that spells it.
type Names = HashMap<String, (&'static Group, &'static str)>;

/// The register by kind: the parser asks at every call of a function and behind every table.
static BY_KIND: LazyLock<HashMap<Kind, Names>> = LazyLock::new(|| {
    let mut kinds: HashMap<Kind, Names> = HashMap::new();
    for group in groups() {
        let names = group.names.iter();
        let entries = names.map(|name| (name.to_ascii_uppercase(), (group, *name)));
        kinds.entry(group.kind).or_default().extend(entries);
    }
    kinds
});

/// The refusal of a name, in upper or lower case, if it is in the register.
pub fn refusal(kind: Kind, name: &str) -> Option<SqlError> {
    let (group, name) = BY_KIND.get(&kind)?.get(&name.to_ascii_uppercase())?;
    let mut error = SqlError::unsupported(kind.phrase(name));
    error.message.pop();
    error.message += &format!(" ({}).", group.why);
    Some(error)
}

/// The refusal of a name that is in the register.
pub fn refused(kind: Kind, name: &str) -> SqlError {
    let missing = || SqlError::internal(format!("{name} is not in the register"));
    refusal(kind, name).unwrap_or_else(missing)
}

/// All names of a kind, for tests that none of them exists after all.
#[cfg(test)]
pub fn names(kind: Kind) -> impl Iterator<Item = &'static str> {
    let groups = groups().filter(move |g| g.kind == kind);
    groups.flat_map(|g| g.names.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Nothing is refused twice, also not as two kinds of thing. Words are those of their function.
    #[test]
    fn names_are_unique() {
        let mut seen = HashSet::new();
        for group in groups() {
            let function = match group.kind {
                Kind::Word(function) => Some(function),
                Kind::Statement
                | Kind::RowSet
                | Kind::SourceClause
                | Kind::Clause
                | Kind::QueryHint
                | Kind::Predicate
                | Kind::ColumnProperty
                | Kind::Index
                | Kind::SetOption
                | Kind::TableHint
                | Kind::Type
                | Kind::Function
                | Kind::View
                | Kind::Procedure
                | Kind::Client => None,
            };
            for name in group.names {
                assert!(seen.insert((function, name)), "{name} twice");
            }
        }
    }

    /// The README's table of refusals is this register.
    #[test]
    fn the_readme_lists_the_register() {
        let readme = include_str!("../../README.md");
        let (_, table) = readme
            .split_once("| Refused | because of | names |")
            .unwrap();
        let (table, _) = table.split_once("\n\n").unwrap();
        let listed: Vec<&str> = table.lines().skip(2).collect();
        let expected: Vec<String> = groups()
            .map(|g| {
                format!(
                    "| {} | {} | {} |",
                    g.kind.heading(),
                    g.why,
                    g.names.join(", ")
                )
            })
            .collect();
        assert_eq!(
            listed,
            expected,
            "the README should have:\n{}",
            expected.join("\n")
        );
    }

    #[test]
    fn a_refusal_names_the_thing_and_the_reason() {
        let error = refusal(Kind::Function, "SQL_VARIANT_PROPERTY").unwrap();
        assert_eq!(error.number, 40517);
        assert_eq!(
            error.message,
            "function SQL_VARIANT_PROPERTY is not supported by mssql-embedded (values of type sql_variant)."
        );
        assert!(refusal(Kind::Function, "NOSUCH").is_none());
    }
}
