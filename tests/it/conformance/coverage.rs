//! No function of duroxide's suite is forgotten, also not when duroxide is upgraded.

use super::{COVERED, COVERED_BY_HAND, SHORT_POLLING};

/// The suite grows with duroxide; a function that is not covered here fails this test.
#[test]
fn every_validation_function_of_duroxide_is_covered() {
    let mut missing = upstream();
    assert!(
        missing.len() >= 233,
        "only {} validation functions found",
        missing.len()
    );
    missing.retain(|name| {
        ![COVERED, COVERED_BY_HAND, SHORT_POLLING]
            .iter()
            .any(|list| list.contains(&name.as_str()))
    });
    assert!(missing.is_empty(), "not covered: {missing:#?}");
}

/// The public functions in the source of the duroxide that this build uses, as `module::name`.
fn upstream() -> Vec<String> {
    let folder = duroxide_source().join("src/provider_validation");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("duroxide's validation folder") {
        let path = entry.expect("a folder entry").path();
        let module = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .expect("a name")
            .to_owned();
        if module == "mod" {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source file");
        let functions = text
            .lines()
            .filter_map(|line| line.strip_prefix("pub async fn "));
        names.extend(functions.filter_map(|rest| {
            let name = rest.split(['(', '<']).next()?;
            // Helpers that run a whole module take no part.
            (!name.starts_with("run_")).then(|| format!("{module}::{name}"))
        }));
    }
    names
}

/// Where cargo keeps the source of duroxide, by cargo's own word.
fn duroxide_source() -> std::path::PathBuf {
    let output = std::process::Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version=1",
            "--offline",
            "--filter-platform",
            &host(),
        ])
        .arg("--manifest-path")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo metadata runs");
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata answers with JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let duroxide = packages
        .iter()
        .find(|package| package["name"] == "duroxide");
    let manifest = duroxide.expect("duroxide is a dependency")["manifest_path"].as_str();
    let manifest = std::path::Path::new(manifest.expect("a path"));
    manifest.parent().expect("a folder").to_owned()
}

/// The platform of the tests; without it cargo wants the packages of all platforms.
fn host() -> String {
    let output = std::process::Command::new("rustc")
        .arg("-vV")
        .output()
        .expect("rustc runs");
    let text = String::from_utf8(output.stdout).expect("rustc answers with text");
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("rustc names its host").to_owned()
}
