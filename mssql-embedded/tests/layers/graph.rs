//! Which module of a crate imports which.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::scan::imports;

/// An import of one top-level module by another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: String,
    pub to: String,
    /// `file:line`.
    pub place: String,
}

/// The top-level modules of a crate.
pub fn modules(sources: &Path) -> Vec<String> {
    let mut list: Vec<String> = fs::read_dir(sources)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir() || path.extension().is_some_and(|e| e == "rs"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| !matches!(name.as_str(), "lib" | "main"))
        .collect();
    list.sort();
    list.dedup();
    list
}

/// All imports between the modules of a crate.
pub fn crate_edges(sources: &Path) -> Vec<Edge> {
    let known = modules(sources);
    let root = ["lib.rs", "main.rs", "mod.rs"].map(|name| sources.join(name));
    let root = root.iter().find(|path| path.is_file()).unwrap();
    let root = fs::read_to_string(root).unwrap();
    let passed_on = passed_on(&root, &known);
    let mut files = Vec::new();
    collect(sources, sources, &mut files);
    files
        .iter()
        .filter(|file| !matches!(file.as_str(), "lib.rs" | "main.rs" | "mod.rs"))
        .flat_map(|file| {
            let source = fs::read_to_string(sources.join(file)).unwrap();
            file_edges(file, &source, &known, &passed_on)
        })
        .collect()
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let relative = path.strip_prefix(root).unwrap();
            let parts: Vec<_> = relative.iter().map(|p| p.to_string_lossy()).collect();
            files.push(parts.join("/"));
        }
    }
    files.sort();
}

/// The names that the root passes on, each with the module it comes from. In the root the paths of `use`
/// begin with a module of its own, so they are read as if `crate::` stood before them.
fn passed_on(root: &str, known: &[String]) -> Vec<(String, String)> {
    let rooted = root.replace("use ", "use crate::");
    imports(&[], &rooted)
        .into_iter()
        .filter_map(|import| match import.path.as_slice() {
            [module, .., name] if known.contains(module) => Some((name.clone(), module.clone())),
            _ => None,
        })
        .collect()
}

/// The imports of one file, given by its path below the sources.
pub fn file_edges(
    file: &str,
    source: &str,
    known: &[String],
    passed_on: &[(String, String)],
) -> Vec<Edge> {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let mut module: Vec<String> = stem.split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|name| name == "mod") {
        module.pop();
    }
    let from = module[0].clone();
    imports(&module, source)
        .into_iter()
        .filter_map(|import| {
            let first = import.path.first()?;
            let to = if known.contains(first) {
                first.clone()
            } else {
                // What the root itself defines, macros included, lies below everything.
                let (_, module) = passed_on.iter().find(|(name, _)| name == first)?;
                module.clone()
            };
            (to != from).then(|| Edge {
                from: from.clone(),
                to,
                place: format!("{file}:{}", import.line),
            })
        })
        .collect()
}

/// The imports that do not go down in `layers`, which lists the top first.
pub fn upward(edges: &[Edge], layers: &[String]) -> Vec<String> {
    let height = |name: &str| layers.iter().position(|layer| layer == name);
    edges
        .iter()
        .filter(|edge| match (height(&edge.from), height(&edge.to)) {
            (Some(from), Some(to)) => to <= from,
            _ => true,
        })
        .map(|edge| {
            let Edge { from, to, place } = edge;
            format!("{place}: {from} imports {to}, which stands above it")
        })
        .collect()
}

/// The sets of modules that import each other, with the imports between them.
pub fn circles(edges: &[Edge]) -> Vec<String> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for edge in edges {
        next.entry(&edge.from).or_default().insert(&edge.to);
    }
    let reach: BTreeMap<&str, BTreeSet<&str>> = next
        .keys()
        .map(|from| (*from, reachable(from, &next)))
        .collect();
    let meets = |a: &str, b: &str| {
        reach.get(a).is_some_and(|r| r.contains(b)) && reach.get(b).is_some_and(|r| r.contains(a))
    };
    let mut done: BTreeSet<&str> = BTreeSet::new();
    let mut found = Vec::new();
    for from in next.keys() {
        let circle: Vec<&str> = next.keys().copied().filter(|to| meets(from, to)).collect();
        if circle.is_empty() || !done.insert(circle[0]) {
            continue;
        }
        let mut text = format!("{} import each other", circle.join(", "));
        for edge in edges {
            if circle.contains(&edge.from.as_str()) && circle.contains(&edge.to.as_str()) {
                text.push_str(&format!("\n  {}: {} → {}", edge.place, edge.from, edge.to));
            }
        }
        found.push(text);
    }
    found
}

fn reachable<'e>(from: &'e str, next: &BTreeMap<&'e str, BTreeSet<&'e str>>) -> BTreeSet<&'e str> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        for to in next.get(at).into_iter().flatten() {
            if found.insert(*to) {
                open.push(to);
            }
        }
    }
    found
}
