//! Which columns of each scan anything reads.

use crate::plan::{Node, Query};

/// Sets `needed` of every scan of this query and whether it is correlated; queries inside it have
/// been done before. `also` are slots read by expressions outside of the query.
pub(in crate::bind) fn prune(query: &mut Query, also: &[usize]) {
    let level = query.level;
    let mut used = vec![false; query.width];
    let mut correlated = false;
    query.each_slot(&mut |l, slot| {
        if l == level {
            if let Some(used) = used.get_mut(slot) {
                *used = true;
            }
        } else if l < level {
            correlated = true;
        }
    });
    for slot in also {
        if let Some(used) = used.get_mut(*slot) {
            *used = true;
        }
    }
    query.correlated = correlated || reads_working(&query.root);
    prune_node(&mut query.root, &used);
}

fn prune_node(node: &mut Node, used: &[bool]) {
    if let Node::Scan(scan) = node {
        let count = scan.table.columns.len();
        scan.needed = if scan.locator.is_some() {
            (0..count).collect()
        } else {
            (0..count)
                .filter(|i| used.get(scan.base + i).copied().unwrap_or(false))
                .collect()
        };
    }
    for input in node.inputs_mut() {
        prune_node(input, used);
    }
}

/// Whether it reads the working table of a recursive query around it, which changes from step to
/// step.
fn reads_working(node: &Node) -> bool {
    match node {
        Node::Working { .. } => true,
        Node::Derived { query, .. } | Node::ForJson { query, .. } => reads_working(&query.root),
        Node::Concat { inputs, .. } => inputs.iter().any(|q| reads_working(&q.root)),
        Node::Set { left, right, .. } => reads_working(&left.root) || reads_working(&right.root),
        other @ (Node::Once
        | Node::Values { .. }
        | Node::Scan(_)
        | Node::LocalScan(_)
        | Node::SystemView { .. }
        | Node::OpenJson { .. }
        | Node::StringSplit { .. }
        | Node::Recursive { .. }
        | Node::Filter { .. }
        | Node::Loop { .. }
        | Node::Hash(_)
        | Node::Full { .. }
        | Node::Compute { .. }
        | Node::Group(_)
        | Node::Window { .. }
        | Node::Distinct { .. }
        | Node::Sort { .. }
        | Node::Top { .. }
        | Node::Offset { .. }) => other.inputs().into_iter().any(reads_working),
    }
}
