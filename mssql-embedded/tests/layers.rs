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

use graph::{Crate, Edge, circles, upward};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

const ENGINE: &str = "mssql-embedded/src";

fn engine() -> Crate {
    Crate::read(&workspace().join(ENGINE))
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
    let present = engine().modules(&[]);
    assert_eq!(listed, present, "ARCHITECTURE.md and src/ differ");
}

#[test]
fn every_module_of_the_engine_imports_downwards_only() {
    let edges = engine().edges(&[]);
    let wrong = upward(&edges, &layers());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The crates of the workspace, tests that have several modules included, each with a number of imports that it
/// surely has.
const CRATES: [(&str, usize); 8] = [
    ("src", 10),
    (ENGINE, 10),
    ("sql-stress/src", 10),
    ("cli/src", 10),
    ("benches/support", 2),
    ("tests/it", 10),
    ("mssql-embedded/tests/it", 10),
    ("mssql-embedded/tests/case_runner", 2),
];

/// Neither in the crate's own folder nor in one below; what is below in the engine has a test of its own.
#[test]
fn no_crate_has_modules_that_import_each_other() {
    let mut below = 0;
    for (sources, least) in CRATES {
        let read = Crate::read(&workspace().join(sources));
        let edges = read.edges(&[]);
        assert!(
            edges.len() >= least,
            "{sources}: too few imports to be true"
        );
        for folder in read.folders() {
            if sources == ENGINE && !folder.is_empty() {
                continue;
            }
            below += usize::from(!folder.is_empty());
            let found = circles(&read.edges(&folder));
            assert!(
                found.is_empty(),
                "{sources} {}:\n{found:#?}",
                folder.join("::")
            );
        }
    }
    assert!(below > 10, "too few folders to be true: {below}");
}

/// An import that this test cannot follow is an error, lest it be the way around it.
#[test]
fn no_import_hides_from_this_test() {
    for (sources, _) in CRATES {
        let wrong = Crate::read(&workspace().join(sources)).wrong();
        assert!(wrong.is_empty(), "{sources}:\n{}", wrong.join("\n"));
    }
}

/// Modules below the top that may import each other, because what they hold does: the folder, the modules, why.
const RECURSIVE: [(&str, &[&str], &str); 6] = [
    (
        "ast",
        &["expr", "query"],
        "expressions contain queries, and queries expressions",
    ),
    (
        "ast",
        &["ddl", "dml", "stmt"],
        "procedures contain statements, and INSERT an EXEC",
    ),
    (
        "plan",
        &["node", "scalar"],
        "expressions contain queries, and queries expressions",
    ),
    (
        "exec",
        &["op", "query_run"],
        "operators run the queries of derived tables and set operators",
    ),
    (
        "storage",
        &["ghosts", "state", "store", "table", "txn"],
        "a transaction undoes in the store what the store has noted in it, and ghosts are both of a table and of a commit",
    ),
    (
        "value",
        &["data_type", "facts", "type_name"],
        "a type names its facts, and the table of facts the types",
    ),
];

#[test]
fn no_modules_within_a_module_import_each_other_but_those_that_have_to() {
    let engine = engine();
    let folders = engine.folders();
    assert!(folders.len() > 20, "too few folders to be true");
    let mut met = vec![false; RECURSIVE.len()];
    for folder in folders {
        for circle in circles(&engine.edges(&folder)) {
            let name = folder.join("::");
            let known = RECURSIVE
                .iter()
                .position(|(at, modules, _)| *at == name && circle.modules == *modules);
            match known {
                Some(position) => met[position] = true,
                None => panic!("{name}: {}", circle.text),
            }
        }
    }
    let gone: Vec<_> = RECURSIVE.iter().zip(met).filter(|(_, met)| !met).collect();
    assert!(gone.is_empty(), "no circles any more: {gone:?}");
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
    assert!((20..38).contains(&walk.len()), "{} files", walk.len());
}

/// The same checks on sources that break the rule.
mod checker {
    use super::*;

    const ORDER: [&str; 3] = ["session", "exec", "value"];

    const ROOT: &str =
        "mod exec;\nmod session;\nmod value;\npub use session::{Engine, Core as C};\n";

    /// A crate with these files, and one for each module that they do not have.
    fn with(files: &[(&'static str, &'static str)]) -> Crate {
        let mut all = vec![
            ("lib.rs", ROOT),
            ("session/none.rs", ""),
            ("exec/none.rs", ""),
            ("value/none.rs", ""),
        ];
        all.extend(files);
        Crate::of(all.into_iter())
    }

    fn edges(file: &'static str, source: &'static str) -> Vec<Edge> {
        with(&[(file, source)]).edges(&[])
    }

    #[track_caller]
    fn is_wrong(file: &'static str, source: &'static str, expected: &str) {
        assert_eq!(with(&[(file, source)]).wrong(), [expected]);
    }

    #[track_caller]
    fn is_upward(file: &'static str, source: &'static str, line: usize) {
        let order: Vec<String> = ORDER.iter().map(|m| (*m).to_owned()).collect();
        let wrong = upward(&edges(file, source), &order);
        let expected = format!("{file}:{line}: exec imports session, which stands above it");
        assert_eq!(wrong, [expected]);
    }

    #[track_caller]
    fn is_allowed(file: &'static str, source: &'static str) {
        let order: Vec<String> = ORDER.iter().map(|m| (*m).to_owned()).collect();
        assert_eq!(with(&[(file, source)]).wrong(), [""; 0]);
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
        is_upward("exec/env.rs", "use crate::C;\n", 1);
    }

    #[test]
    fn all_that_the_root_has_cannot_be_imported() {
        is_wrong(
            "exec.rs",
            "use crate::*;\n",
            "exec.rs:1: imports all that the root has",
        );
        is_wrong(
            "exec.rs",
            "use super::*;\n",
            "exec.rs:1: imports all that the root has",
        );
        is_wrong(
            "exec/env.rs",
            "use crate::{*};\n",
            "exec/env.rs:1: imports all that the root has",
        );
        is_allowed("exec.rs", "mod tests {\n    use super::*;\n}\n");
    }

    #[test]
    fn the_root_has_no_other_name() {
        let renamed = "exec/env.rs:1: gives a module above another name";
        is_wrong(
            "exec/env.rs",
            "use crate as root;\nfn f() { root::session::x() }\n",
            renamed,
        );
        is_wrong("exec/env.rs", "use crate::{self as root};\n", renamed);
        is_wrong("exec/env.rs", "use super::super as root;\n", renamed);
    }

    #[test]
    fn a_name_of_unknown_origin_is_found() {
        is_wrong(
            "exec/env.rs",
            "use crate::Other;\n",
            "exec/env.rs:1: imports Other, of unknown origin",
        );
    }

    #[test]
    fn a_file_by_path_is_the_module_that_takes_it() {
        is_wrong(
            "exec/env.rs",
            "#[path = \"../session/core.rs\"]\nmod core;\n",
            "exec/env.rs:2: takes a file from another folder by #[path]",
        );
        let beside = with(&[
            ("value.rs", "#[path = \"hidden.rs\"]\nmod inner;\n"),
            ("hidden.rs", "use super::super::session::Core;\n"),
        ]);
        let order: Vec<String> = ORDER.iter().map(|m| (*m).to_owned()).collect();
        assert_eq!(
            upward(&beside.edges(&[]), &order),
            ["hidden.rs:1: value imports session, which stands above it"]
        );
    }

    #[test]
    fn a_circle_within_a_module_is_found() {
        let inner = with(&[
            (
                "exec/mod.rs",
                "mod env;\nmod op;\nmod run;\npub use env::Env;\npub use run::*;\n",
            ),
            ("exec/env.rs", "use super::op::Op;\n"),
            ("exec/op/scan.rs", "use crate::exec::run;\n"),
            ("exec/run.rs", "pub fn go(env: &super::Env) {}\n"),
        ]);
        assert!(circles(&inner.edges(&[])).is_empty());
        let found = circles(&inner.edges(&["exec".to_owned()]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].modules, ["env", "op", "run"]);
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
            found[0]
                .text
                .starts_with("exec, session, value import each other"),
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
