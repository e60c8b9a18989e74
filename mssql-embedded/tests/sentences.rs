//! What clients are told is worded in one place: no sentence of the engine stands in its sources twice.
//!
//! A sentence that is raised from several places has a function of its own. Where it stood twice, the two have
//! differed in what they call a type, or in the state.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Shorter texts are names and parts of sentences.
const WORDS_MIN: usize = 5;

/// The register of what is refused, whose names are repeated where they are looked up.
const REGISTER: &str = "refused";

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The files below a folder, without those that hold nothing but tests.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if name == "tests" || name.ends_with("_tests") || name.starts_with("test") {
            continue;
        }
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The texts of a source, up to its tests, each with the line that it begins on. Values that are filled in are all the
/// same; reasons of lints and what is quoted in comments are nobody's to read.
fn texts(source: &str) -> Vec<(usize, String)> {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let line = code[..code.len() - rest.len() + at].matches('\n').count() + 1;
        let before = &rest[..at];
        let tail = &rest[at..];
        rest = if tail.starts_with("//") {
            tail.split_once('\n').map_or("", |(_, next)| next)
        } else if let Some(next) = tail.strip_prefix("'\"'") {
            next
        } else if let Some(body) = tail.strip_prefix('"') {
            let (text, next) = text(body);
            if !before.trim_end().ends_with("reason =") {
                found.push((line, text));
            }
            next
        } else {
            &tail[1..]
        };
    }
    found
}

/// A text from behind its opening quote, and what comes behind the closing one.
fn text(body: &str) -> (String, &str) {
    let (mut text, mut depth) = (String::new(), 0);
    let mut chars = body.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (text, &body[at + 1..]),
            '\\' => {
                if let Some((_, '\n')) = chars.next() {
                    let indent = |c: char| c.is_whitespace();
                    let next = chars.as_str().trim_start_matches(indent);
                    let skipped = chars.as_str()[..chars.as_str().len() - next.len()].chars();
                    chars.by_ref().take(skipped.count()).for_each(drop);
                }
            }
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                text.push_str("{}");
            }
            _ if depth == 0 => text.push(c),
            _ => {}
        }
    }
    (text, "")
}

/// Every sentence with the places where it stands.
fn sentences() -> BTreeMap<String, Vec<String>> {
    let mut paths = Vec::new();
    files(&sources(), &mut paths);
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in paths {
        let source = std::fs::read_to_string(&path).unwrap();
        let short = path.strip_prefix(sources()).unwrap().display().to_string();
        for (line, text) in texts(&source) {
            if text.split_whitespace().filter(|w| *w != "{}").count() >= WORDS_MIN {
                found
                    .entry(text)
                    .or_default()
                    .push(format!("{short}:{line}"));
            }
        }
    }
    found
}

#[test]
fn no_sentence_stands_twice() {
    let found = sentences();
    assert!(found.len() > 500, "too few to be true: {}", found.len());
    let twice: Vec<_> = found
        .iter()
        .filter(|(_, places)| places.len() > 1 && !places.iter().any(|p| p.starts_with(REGISTER)))
        .collect();
    assert!(twice.is_empty(), "{twice:#?}");
}

/// The reader of sources sees a sentence over two lines, and not what is in comments, reasons and tests.
#[test]
fn texts_are_read_from_the_code() {
    let source = "/// Says \"no\".\n#[allow(x, reason = \"why\")]\nfn f(c: char) {\n    g('\"', \"one \\\n       {two} \\\"three\");\n}\n\
                  #[cfg(test)]\nmod tests {\n    const A: &str = \"b\";\n}\n";
    assert_eq!(texts(source), [(4, "one {} three".to_owned())]);
}
