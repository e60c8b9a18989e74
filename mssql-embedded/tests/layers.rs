//! Imports go downwards: read from the sources, not from good intentions.
//!
//! The engine's layers stand in the table of `ARCHITECTURE.md`, top first, and nowhere else. A module may
//! import itself and what stands below it. The other crates of the workspace have no such table; what holds
//! for them is that no modules import each other in a circle.

#[path = "layers/graph.rs"]
mod graph;
#[path = "layers/scan.rs"]
mod scan;

use std::path::{Path, PathBuf};

use graph::{Edge, circles, crate_edges, modules, upward};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The rows of the table under `## Layers`: the names in backticks of each first cell.
fn layers_in(text: &str) -> Vec<String> {
    let section = text
        .split_once("\n## Layers\n")
        .map_or("", |(_, rest)| rest.split("\n## ").next().unwrap_or(""));
    section
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name.to_owned())
        .collect()
}

fn architecture() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    std::fs::read_to_string(path).unwrap()
}

fn layers() -> Vec<String> {
    layers_in(&architecture())
}

#[test]
fn every_module_of_the_engine_has_exactly_one_layer() {
    let mut listed = layers();
    listed.sort();
    let mut present = modules(&workspace().join("mssql-embedded/src"));
    present.sort();
    assert_eq!(listed, present, "ARCHITECTURE.md and src/ differ");
}

#[test]
fn every_module_of_the_engine_imports_downwards_only() {
    let edges = crate_edges(&workspace().join("mssql-embedded/src"));
    let wrong = upward(&edges, &layers());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_crate_has_modules_that_import_each_other() {
    let crates = [
        ("src", 10),
        ("mssql-embedded/src", 10),
        ("sql-stress/src", 10),
        ("cli/src", 10),
        ("benches/support", 2),
    ];
    for (sources, least) in crates {
        let edges = crate_edges(&workspace().join(sources));
        assert!(
            edges.len() >= least,
            "{sources}: too few imports to be true"
        );
        let found = circles(&edges);
        assert!(found.is_empty(), "{sources}:\n{}", found.join("\n"));
    }
}

/// The paths in backticks that end in `.rs`, in order, each once.
fn files_in(text: &str) -> Vec<&str> {
    let mut files: Vec<&str> = Vec::new();
    for quoted in text.split('`').skip(1).step_by(2) {
        if quoted.ends_with(".rs") && !quoted.starts_with("tests/") && !files.contains(&quoted) {
            files.push(quoted);
        }
    }
    files
}

#[test]
fn the_life_of_an_rpc_names_files_that_exist_and_not_too_many() {
    let text = architecture();
    let sources = workspace().join("mssql-embedded/src");
    for file in files_in(&text) {
        assert!(sources.join(file).is_file(), "{file} does not exist");
    }
    let (_, walk) = text.split_once("\n## The life of one RPC\n").unwrap();
    let walk = files_in(walk.split("\n## ").next().unwrap());
    assert!((20..40).contains(&walk.len()), "{} files", walk.len());
}

/// The same checks on sources that break the rule.
mod checker {
    use super::*;

    const ORDER: [&str; 3] = ["session", "exec", "value"];

    fn edges(file: &str, source: &str) -> Vec<Edge> {
        let known: Vec<String> = ORDER.iter().map(|m| (*m).to_owned()).collect();
        graph::file_edges(file, source, &known, &[("Engine".into(), "session".into())])
    }

    #[track_caller]
    fn is_upward(file: &str, source: &str, line: usize) {
        let order: Vec<String> = ORDER.iter().map(|m| (*m).to_owned()).collect();
        let wrong = upward(&edges(file, source), &order);
        let expected = format!("{file}:{line}: exec imports session, which stands above it");
        assert_eq!(wrong, [expected]);
    }

    #[track_caller]
    fn is_allowed(file: &str, source: &str) {
        let order: Vec<String> = ORDER.iter().map(|m| (*m).to_owned()).collect();
        assert_eq!(upward(&edges(file, source), &order), [""; 0]);
    }

    #[test]
    fn a_use_of_a_module_above_is_found() {
        is_upward(
            "exec/env.rs",
            "use crate::value::Value;\nuse crate::session::Core;\n",
            2,
        );
        is_upward("exec.rs", "use crate::{value, session::Core};\n", 1);
        is_upward("exec/mod.rs", "use crate::{\n    session,\n};\n", 2);
    }

    #[test]
    fn a_path_in_the_code_is_found() {
        is_upward(
            "exec/env.rs",
            "fn f() {\n    crate::session::text_of(1)\n}\n",
            2,
        );
        is_upward("exec/env.rs", "fn f(core: &crate::session::Core) {}\n", 1);
    }

    #[test]
    fn climbing_out_by_super_is_found() {
        is_upward("exec/mod.rs", "use super::session::Core;\n", 1);
        is_upward(
            "exec/op/join.rs",
            "use super::super::super::session::Core;\n",
            1,
        );
        is_upward(
            "exec/env.rs",
            "mod tests {\n    use super::super::super::session::Core;\n}\n",
            2,
        );
    }

    #[test]
    fn a_name_that_the_root_passes_on_is_found() {
        is_upward("exec/env.rs", "use crate::Engine;\n", 1);
    }

    #[test]
    fn imports_downwards_and_within_a_module_are_allowed() {
        is_allowed("exec/op/join.rs", "use super::super::{Env, eval};\n");
        is_allowed(
            "exec/env.rs",
            "use crate::exec::Env;\nuse crate::value::{self, Value};\n",
        );
        is_allowed(
            "session/mod.rs",
            "use crate::exec::Env;\npub(crate) use super::value::Value;\n",
        );
        is_allowed("exec/env.rs", "mod tests {\n    use super::session;\n}\n");
    }

    #[test]
    fn comments_and_texts_import_nothing() {
        is_allowed(
            "exec/env.rs",
            "//! See [`crate::session`].\n/* crate::session::Core */\nconst A: &str = \"crate::session::Core\";\n\
             const B: &str = r#\"\"crate::session::Core\"#;\nconst C: char = '\"';\n",
        );
        is_upward(
            "exec/env.rs",
            "fn f<'a>(c: char) { c == '\"' || crate::session::x(c) }\n",
            1,
        );
    }

    #[test]
    fn a_circle_is_found() {
        let mut all = edges("exec/env.rs", "use crate::value::Value;\n");
        assert!(circles(&all).is_empty());
        all.extend(edges("value/mod.rs", "use crate::session::Core;\n"));
        assert!(circles(&all).is_empty());
        all.extend(edges("session/mod.rs", "use crate::exec::Env;\n"));
        let found = circles(&all);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("exec, session, value import each other"),
            "{found:?}"
        );
    }

    #[test]
    fn the_table_is_read_from_its_section() {
        let text = "# A\n\n| `not` | this |\n\n## Layers\n\n| Module | What |\n|---|---|\n\
                    | `tds` | the `wire` |\n| `value` | x |\n\n## Next\n\n| `nor` | this |\n";
        assert_eq!(layers_in(text), ["tds", "value"]);
    }
}
