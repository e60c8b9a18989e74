//! Which module of a crate imports which.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::scan::{Import, Scan, scan};

/// An import of one module by another that stands in the same folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: String,
    pub to: String,
    /// `file:line`.
    pub place: String,
}

struct Source {
    file: String,
    module: Vec<String>,
    scan: Scan,
}

/// The sources of a crate.
pub struct Crate {
    sources: Vec<Source>,
}

/// What an imported name stands for, seen from a folder of modules.
enum Meaning {
    Module(String),
    /// An item of the folder's own file, which counts as below its modules.
    Own,
    Unknown,
}

impl Crate {
    pub fn read(folder: &Path) -> Self {
        let mut files = Vec::new();
        collect(folder, folder, &mut files);
        let texts: Vec<String> = files
            .iter()
            .map(|file| fs::read_to_string(folder.join(file)).unwrap())
            .collect();
        Self::of(
            files
                .iter()
                .map(String::as_str)
                .zip(texts.iter().map(String::as_str)),
        )
    }

    /// A crate of these files, each with its path below the sources.
    pub fn of<'s>(files: impl Iterator<Item = (&'s str, &'s str)> + Clone) -> Self {
        // A file that stands beside its parent by `#[path]` is the parent's module, not what its name says.
        let attached: BTreeMap<String, Vec<String>> = files
            .clone()
            .flat_map(|(file, text)| {
                let module = module_of(file);
                let folder = file
                    .rsplit_once('/')
                    .map(|(folder, _)| format!("{folder}/"));
                let folder = folder.unwrap_or_default();
                let list = scan(&module, text).attached.into_iter();
                list.map(move |a| {
                    let module = module.iter().cloned().chain([a.name]).collect();
                    (format!("{folder}{}", a.file), module)
                })
                .collect::<Vec<_>>()
            })
            .collect();
        let sources = files
            .map(|(file, text)| {
                let module = attached
                    .get(file)
                    .cloned()
                    .unwrap_or_else(|| module_of(file));
                Source {
                    file: file.to_owned(),
                    scan: scan(&module, text),
                    module,
                }
            })
            .collect();
        Self { sources }
    }

    /// The modules of a folder that is given by its own module; the crate's for none.
    pub fn modules(&self, folder: &[String]) -> Vec<String> {
        let list: BTreeSet<&String> = self
            .sources
            .iter()
            .filter(|s| s.module.starts_with(folder))
            .filter_map(|s| s.module.get(folder.len()))
            .collect();
        list.into_iter().cloned().collect()
    }

    /// Every folder that has modules, the crate's first.
    pub fn folders(&self) -> Vec<Vec<String>> {
        let list: BTreeSet<&[String]> = self
            .sources
            .iter()
            .flat_map(|s| (0..s.module.len()).map(|n| &s.module[..n]))
            .collect();
        list.into_iter().map(<[String]>::to_vec).collect()
    }

    /// What hides imports from this test.
    pub fn wrong(&self) -> Vec<String> {
        let mut list = Vec::new();
        for source in &self.sources {
            let mut add = |line, what: &str| list.push(format!("{}:{line}: {what}", source.file));
            for (line, what) in &source.scan.wrong {
                add(*line, what);
            }
            for attached in &source.scan.attached {
                if attached.file.contains('/') {
                    add(attached.line, "takes a file from another folder by #[path]");
                }
            }
            if source.module.is_empty() {
                continue;
            }
            for import in &source.scan.imports {
                match import.path.as_slice() {
                    [] => add(import.line, "gives a module above another name"),
                    [glob] if glob == "*" => add(import.line, "imports all that the root has"),
                    [name, ..] => {
                        if matches!(self.meaning(&[], name), Meaning::Unknown) {
                            add(import.line, &format!("imports {name}, of unknown origin"));
                        }
                    }
                }
            }
        }
        list
    }

    /// The imports between the modules of a folder.
    pub fn edges(&self, folder: &[String]) -> Vec<Edge> {
        let inside = |source: &&Source| {
            source.module.starts_with(folder) && source.module.len() > folder.len()
        };
        let mut list = Vec::new();
        for source in self.sources.iter().filter(inside) {
            let from = &source.module[folder.len()];
            for import in source.scan.imports.iter() {
                let Some(name) = import.path.get(folder.len()) else {
                    continue;
                };
                if !import.path.starts_with(folder) {
                    continue;
                }
                if let Meaning::Module(to) = self.meaning(folder, name)
                    && to != *from
                {
                    list.push(Edge {
                        from: from.clone(),
                        to,
                        place: format!("{}:{}", source.file, import.line),
                    });
                }
            }
        }
        list
    }

    fn meaning(&self, folder: &[String], name: &str) -> Meaning {
        let is_module = |name: &str| {
            let mut all = self.sources.iter();
            all.any(|s| {
                s.module.starts_with(folder)
                    && s.module.get(folder.len()).is_some_and(|m| m == name)
            })
        };
        if is_module(name) {
            return Meaning::Module(name.to_owned());
        }
        let Some(own) = self.sources.iter().find(|s| s.module == folder) else {
            return Meaning::Unknown;
        };
        let defines = |module: &str| {
            let mut path = folder.to_vec();
            path.push(module.to_owned());
            let mut all = self.sources.iter().filter(|s| s.module.starts_with(&path));
            all.any(|s| s.scan.defines.iter().any(|d| d == name))
        };
        let passes_on = |import: &Import| {
            let module = import.path.get(folder.len())?;
            let from_here = import.path.starts_with(folder) && is_module(module);
            let glob = import.path.last().is_some_and(|last| last == "*");
            let named = import.name == name || (glob && defines(module));
            (from_here && named).then(|| module.clone())
        };
        if let Some(module) = own.scan.imports.iter().find_map(passes_on) {
            return Meaning::Module(module);
        }
        if own.scan.defines.iter().any(|d| d == name) {
            return Meaning::Own;
        }
        Meaning::Unknown
    }
}

/// The module that a file is by its name.
fn module_of(file: &str) -> Vec<String> {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let mut module: Vec<String> = stem.split('/').map(str::to_owned).collect();
    let is_root = module.len() == 1 && matches!(stem, "lib" | "main");
    if is_root || module.last().is_some_and(|name| name == "mod") {
        module.pop();
    }
    module
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

/// Modules that import each other.
#[derive(Debug)]
pub struct Circle {
    pub modules: Vec<String>,
    /// The imports between them.
    pub text: String,
}

/// The sets of modules that import each other.
pub fn circles(edges: &[Edge]) -> Vec<Circle> {
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
        let modules = circle.into_iter().map(str::to_owned).collect();
        found.push(Circle { modules, text });
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
