//! The procedures spoken to in T-SQL, at the edges that the provider's own API does not reach.

mod claims;
mod cost;
mod counting;
mod deadlocks;
mod deletion;
mod fencing;
mod ghosts;
mod hazards;
mod identifiers;
mod invariants;
mod large_values;
mod moving;
mod purging;
mod release_sessions;
mod sessions;
mod transactions;
mod uncounting;
mod wait_for_work;

use std::path::Path;

use crate::support::session::Session;

/// A procedure as its file declares it.
struct Procedure {
    name: String,
    text: String,
    /// Names and types in the order of declaration.
    parameters: Vec<(String, String)>,
}

impl Procedure {
    /// A call with the given argument and a harmless value for every other parameter.
    fn call(&self, name: &str, value: &str) -> String {
        let arguments: Vec<_> = self
            .parameters
            .iter()
            .map(|(parameter, kind)| {
                let argument = match kind.as_str() {
                    _ if parameter == name => value,
                    "BIGINT" => "1",
                    "BIT" => "0",
                    "UNIQUEIDENTIFIER" => "NULL",
                    _ => "N'[]'",
                };
                format!("{parameter} = {argument}")
            })
            .collect();
        format!("EXEC [$(schema)].[{}] {};", self.name, arguments.join(", "))
    }
}

/// Every procedure that the runtime role may execute.
fn public_procedures() -> Vec<Procedure> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/procedures");
    let files = std::fs::read_dir(folder).expect("the procedures' folder");
    let mut procedures = Vec::new();
    for file in files {
        let path = file.expect("a directory entry").path();
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if name.starts_with('_') {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let body = text.find("\nAS\n").expect("a body");
        let parameters = text[..body]
            .lines()
            .filter_map(|line| {
                let mut words = line.trim().trim_end_matches(',').split_whitespace();
                let name = words.next().filter(|word| word.starts_with('@'))?;
                Some((name.to_owned(), words.next()?.to_owned()))
            })
            .collect();
        procedures.push(Procedure {
            name,
            text,
            parameters,
        });
    }
    assert!(procedures.len() > 30, "the procedures were found");
    procedures
}
