//! A short notation for plans: `seek queue.ix_ready(=2 <1)` has two equalities and an upper bound.

use crate::plan::{Cond, LoopKind, Node, Seek};

/// The operator tree on one line.
pub(super) fn node(n: &Node) -> String {
    match n {
        Node::Once => "once".to_owned(),
        Node::Values { .. } => "values".to_owned(),
        Node::Scan(scan) => {
            let index = scan.path.index(&scan.table);
            let index = index.map_or("heap", |i| i.name.as_str());
            let index = if index.starts_with("PK__") {
                "pk"
            } else {
                index
            };
            let back = if scan.reverse { " back" } else { "" };
            let rest = if scan.residual.is_some() {
                " where"
            } else {
                ""
            };
            format!(
                "{}{}.{index}{}{back}{rest}",
                verb(&scan.seek),
                scan.table.name,
                bounds(&scan.seek)
            )
        }
        Node::LocalScan(scan) => match &scan.seek {
            Some((_, seek)) => {
                let back = if scan.reverse { " back" } else { "" };
                format!(
                    "{} {}{}{back}",
                    verb(seek).trim_end(),
                    scan.table.name,
                    bounds(seek)
                )
            }
            None => format!("scan {}", scan.table.name),
        },
        Node::SystemView { view, .. } => view.name.to_owned(),
        Node::OpenJson { .. } => "openjson".to_owned(),
        Node::StringSplit { .. } => "string_split".to_owned(),
        Node::Derived { query, .. } => format!("derived[{}]", node(&query.root)),
        Node::Recursive {
            anchor, recursive, ..
        } => {
            let parts: Vec<String> = recursive.iter().map(|q| node(&q.root)).collect();
            format!("recursive[{}; {}]", node(&anchor.root), parts.join("; "))
        }
        Node::Working { .. } => "working".to_owned(),
        Node::Filter { input, cond: c } => format!("filter[{}]({})", cond(c), node(input)),
        Node::Loop {
            kind, left, right, ..
        } => {
            let name = if *kind == LoopKind::Left {
                "left"
            } else {
                "loop"
            };
            format!("{name}({}, {})", node(left), node(right))
        }
        Node::Hash(join) => {
            let name = if join.kind == LoopKind::Left {
                "left-hash"
            } else {
                "hash"
            };
            format!("{name}({}, {})", node(&join.left), node(&join.right))
        }
        Node::Full { left, right, .. } => format!("full({}, {})", node(left), node(right)),
        Node::Compute { input, .. } => format!("compute({})", node(input)),
        Node::Group(group) => format!("group({})", node(&group.input)),
        Node::Window { input, .. } => format!("window({})", node(input)),
        Node::Distinct { input, .. } => format!("distinct({})", node(input)),
        Node::Sort { input, .. } => format!("sort({})", node(input)),
        Node::Top { input, .. } => format!("top({})", node(input)),
        Node::Offset { input, .. } => format!("offset({})", node(input)),
        Node::Concat { inputs, .. } => {
            let parts: Vec<String> = inputs.iter().map(|q| node(&q.root)).collect();
            format!("concat[{}]", parts.join("; "))
        }
        Node::Set { left, right, .. } => {
            format!("set[{}; {}]", node(&left.root), node(&right.root))
        }
        Node::ForJson { query, .. } => format!("json[{}]", node(&query.root)),
    }
}

fn verb(seek: &Seek) -> &'static str {
    let all = seek.prefix.is_empty() && seek.low.is_none() && seek.high.is_none();
    if all { "scan " } else { "seek " }
}

fn bounds(seek: &Seek) -> String {
    let mut text = String::new();
    if !seek.prefix.is_empty() {
        text.push_str(&format!("={}", seek.prefix.len()));
    }
    if seek.low.is_some() {
        text.push('>');
    }
    if seek.high.is_some() {
        text.push('<');
    }
    if text.is_empty() {
        text
    } else {
        format!("({text})")
    }
}

pub(super) fn cond(c: &Cond) -> String {
    match c {
        Cond::Exists(query) => format!("exists {}", node(&query.root)),
        Cond::Not(inner) => format!("not {}", cond(inner)),
        Cond::Quantified { query, .. } => format!("any {}", node(&query.root)),
        Cond::And(list) => list.iter().map(cond).collect::<Vec<_>>().join(" and "),
        _ => "test".to_owned(),
    }
}
