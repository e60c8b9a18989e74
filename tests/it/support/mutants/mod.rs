//! Procedures with one word taken out, to see whether a test misses it.
//!
//! With `DUROXIDE_SQL_TEST_MUTANT=fetch_work_item:86:60` every schema that a test installs has that
//! procedure without the word that stands there. The run over all words is in `tests/it/mutation`.

mod tokens;
pub mod words;

use std::fmt;
use std::path::PathBuf;

use words::{Kind, without, words};

/// Names the mutant of this process: procedure, line and column.
pub const MUTANT: &str = "DUROXIDE_SQL_TEST_MUTANT";

/// Begins the message of a test that cannot install its mutant: no text without the word is a procedure.
pub const REFUSED: &str = "the mutant is refused";

/// A procedure without one of its words.
#[derive(Clone, Debug)]
pub struct Mutant {
    pub procedure: String,
    pub line: usize,
    pub column: usize,
    pub kind: Kind,
    pub word: String,
    /// The script that installs it.
    pub text: String,
    /// The word's mark, if its text changes: of the procedure as it is.
    pub original: u64,
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.procedure, self.line, self.column)
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("migrations/procedures")
}

fn script(procedure: &str) -> String {
    let path = folder().join(format!("{procedure}.sql"));
    let text = std::fs::read_to_string(&path);
    text.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of all procedures, in order.
pub fn procedures() -> Vec<String> {
    let files = std::fs::read_dir(folder()).expect("the procedures' folder");
    let mut names: Vec<String> = files
        .map(|file| file.expect("a directory entry").path())
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into())
        .collect();
    names.sort();
    names
}

/// One mutant for each word of a procedure.
pub fn of(procedure: &str) -> Vec<Mutant> {
    let text = script(procedure);
    let original = mark(&text);
    let mutants = words(&text).into_iter().map(|word| {
        let before = &text[..word.start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Mutant {
            procedure: procedure.to_owned(),
            line: before.matches('\n').count() + 1,
            column: word.start - line_start + 1,
            kind: word.kind,
            text: without(&text, &word),
            word: word.name,
            original,
        }
    });
    mutants.collect()
}

/// A short number for a text (FNV-1a), to see whether it has changed.
fn mark(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The mutant that this process was asked to install.
pub fn wanted() -> Option<Mutant> {
    let name = std::env::var(MUTANT).ok().filter(|name| !name.is_empty())?;
    let procedure = name.split(':').next().expect("a procedure");
    if name == trap(procedure) {
        return Some(trapped(procedure));
    }
    let found = of(procedure)
        .into_iter()
        .find(|mutant| mutant.to_string() == name);
    Some(found.unwrap_or_else(|| panic!("{MUTANT}: there is no word at {name}")))
}

/// The name of the mutant that fails whenever the procedure is called: it shows which tests come there.
pub fn trap(procedure: &str) -> String {
    format!("{procedure}:trap")
}

fn trapped(procedure: &str) -> Mutant {
    let text = script(procedure);
    let original = mark(&text);
    let text = text.replacen("\nBEGIN\n", "\nBEGIN\n    THROW 51098, N'trapped', 1;\n", 1);
    Mutant {
        procedure: procedure.to_owned(),
        line: 0,
        column: 0,
        kind: Kind::Choice,
        word: "trap".to_owned(),
        text,
        original,
    }
}

/// Whether calls of these procedures may come to the procedure of the mutant; always, without one.
pub fn concerns(calls: &[&str]) -> bool {
    let Some(mutant) = wanted() else {
        return true;
    };
    let mut reached: Vec<String> = calls
        .iter()
        .filter_map(|call| call.split_whitespace().next())
        .map(|name| name.trim_matches(['[', ']']).to_owned())
        .collect();
    let mut at = 0;
    while at < reached.len() {
        let text = script(&reached[at]);
        let called = text.split("EXEC [$(schema)].").skip(1);
        for name in called.filter_map(|rest| rest.split_whitespace().next()) {
            let name = name.trim_end_matches(';').to_owned();
            if !reached.contains(&name) {
                reached.push(name);
            }
        }
        at += 1;
    }
    reached.contains(&mutant.procedure)
}
