//! The tables of the document, and that they are complete.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const DOCUMENT: &str = include_str!("../../../docs/observability.md");

/// The cells of the rows of the table whose header begins so.
pub fn table(header: &str) -> Vec<Vec<&'static str>> {
    let mut lines = DOCUMENT
        .lines()
        .skip_while(|line| !line.starts_with(header));
    assert!(lines.next().is_some(), "no table begins with {header}");
    let rows = lines.skip(1).take_while(|line| line.starts_with('|'));
    let cells = |row: &'static str| {
        let row = row.trim_start_matches('|').trim_end_matches('|');
        row.split('|').map(str::trim).collect()
    };
    rows.map(cells).collect()
}

/// The words in backticks.
pub fn quoted(cell: &str) -> BTreeSet<String> {
    let words = cell.split('`').skip(1).step_by(2);
    words.map(str::to_owned).collect()
}

/// An event as the document has it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Documented {
    pub levels: String,
    pub target: String,
    /// Fields that are always there.
    pub always: BTreeSet<String>,
    /// Fields that may be there.
    pub sometimes: BTreeSet<String>,
}

/// The main table of events, by message.
pub fn events() -> BTreeMap<&'static str, Documented> {
    let rows = table("| Level | Target | Message").into_iter().map(|row| {
        let [level, target, message, fields] = row[..] else {
            panic!("{row:?}");
        };
        let (sometimes, always) = fields
            .split(',')
            .partition::<Vec<_>, _>(|field| field.contains('('));
        let documented = Documented {
            levels: level.to_owned(),
            target: target.trim_matches('`').to_owned(),
            always: quoted(&always.concat()),
            sometimes: quoted(&sometimes.concat()),
        };
        (message, documented)
    });
    rows.collect()
}

fn sources(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else {
            found.push(std::fs::read_to_string(path).unwrap());
        }
    }
}

/// Level and message of every event in a source text.
fn sent(text: &str) -> Vec<(String, String)> {
    let calls = text.split("tracing::").skip(1).filter_map(|rest| {
        let (level, rest) = rest.split_once("!(")?;
        ["error", "warn", "info", "debug", "trace"]
            .contains(&level)
            .then(|| (level.to_uppercase(), rest))
    });
    let message = |rest: &str| {
        // The message comes last, so that its quote is the first one before a parenthesis.
        let mut quotes = rest.match_indices('"').map(|(at, _)| at);
        let closes = |at: &usize| rest[at + 1..].trim_start().starts_with(')');
        let end = quotes.find(closes).expect("a message at the end");
        let literal = &rest[..end];
        let begin = literal.rfind('"').expect("a message");
        // A message may be broken over lines.
        let lines = literal[begin + 1..end].split("\\\n").map(str::trim_start);
        lines.collect::<String>()
    };
    calls.map(|(level, rest)| (level, message(rest))).collect()
}

/// Whoever adds an event documents it, with its level.
#[test]
fn every_event_of_the_sources_is_documented() {
    let mut texts = Vec::new();
    sources(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut texts,
    );
    let mut documented: BTreeMap<String, String> = BTreeMap::new();
    for (message, event) in events() {
        documented.insert(message.to_owned(), event.levels);
    }
    for row in table("| Level | Message | Fields") {
        documented.insert(row[1].to_owned(), row[0].to_owned());
    }
    let mut seen = BTreeSet::new();
    for (level, message) in texts.iter().flat_map(|text| sent(text)) {
        let levels = documented.get(&message);
        let levels = levels.unwrap_or_else(|| panic!("not documented: {level} {message}"));
        assert!(levels.contains(&level), "{message} is sent at {level}");
        seen.insert(message);
    }
    let documented: BTreeSet<_> = documented.into_keys().collect();
    assert_eq!(seen, documented, "sent, and documented");
}

/// Every method has a span of its own name.
#[test]
fn every_method_has_its_span() {
    for text in [
        include_str!("../../../src/provider/methods.rs"),
        include_str!("../../../src/admin/mod.rs"),
    ] {
        let methods = text.split("    async fn ").skip(1);
        let mut count = 0;
        for method in methods {
            let name = method.split('(').next().unwrap();
            let span = method.split("operation!(").nth(1).unwrap_or_default();
            assert_eq!(span.split('"').nth(1), Some(name));
            count += 1;
        }
        assert!(count > 15);
    }
}
