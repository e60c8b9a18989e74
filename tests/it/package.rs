//! What is published stands by itself.

use std::path::Path;

/// The package's files, as the manifest lists them.
fn included() -> Vec<String> {
    let manifest = include_str!("../../Cargo.toml");
    let list = manifest.split("include = [").nth(1).expect("a list");
    let list = list.split(']').next().expect("its end");
    let quoted = list.split('"').skip(1).step_by(2);
    quoted
        .map(|path| path.trim_start_matches('/').to_owned())
        .collect()
}

/// Files that a document links to, relative to its folder.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1);
    let targets = targets.filter_map(|rest| rest.split([')', '#']).next());
    targets
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .collect()
}

/// Whoever reads a document in the package can follow its links there.
#[test]
fn documents_link_to_files_of_the_package_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let included = included();
    let mut documents = vec!["README.md".to_owned(), "ARCHITECTURE.md".to_owned()];
    for entry in std::fs::read_dir(root.join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        documents.push(format!("docs/{name}"));
    }
    let mut count = 0;
    for document in &documents {
        let text = std::fs::read_to_string(root.join(document)).unwrap();
        let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
        for link in links(&text) {
            let path = match link.strip_prefix("../") {
                Some(above) => above.to_owned(),
                None if folder.is_empty() => link.to_owned(),
                None => format!("{folder}/{link}"),
            };
            assert!(root.join(&path).exists(), "{document} links to {path}");
            let is_packed =
                |entry: &String| path == *entry || path.starts_with(&format!("{entry}/"));
            assert!(
                included.iter().any(is_packed),
                "{document} links to {path}, which is not in the package"
            );
            count += 1;
        }
    }
    assert!(count > 10);
}
