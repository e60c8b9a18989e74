//! The operator that reads one table reference.

use crate::catalog::AccessPath;
use crate::error::SqlResult;
use crate::plan::{Cond, LocalScan, Node, Scan};

use super::access::Path;
use super::join::{conjunction, filter, split_queries};
use super::{LeafKind, Planned, Planner, SlotSet, TableLeaf};

impl Planner<'_> {
    /// Reads a leaf under these conditions; `before` are the slots filled by then.
    pub(super) fn leaf(
        &self,
        position: usize,
        conds: Vec<Cond>,
        before: &SlotSet,
        may_order: bool,
    ) -> SqlResult<Planned> {
        let leaf = &self.leaves[position];
        let refs: Vec<&Cond> = conds.iter().collect();
        let mut subqueries = Vec::new();
        let (node, single, ordered) = match &leaf.kind {
            LeafKind::Table(table) => {
                let path = self.table_path(table, &leaf.slots, &refs, before, may_order)?;
                let (single, ordered) = (path.rank.single, path.rank.ordered);
                let (conds, above) = remaining(conds, &path.answered);
                subqueries = above;
                (scan(table, leaf.slots.start, conds, path), single, ordered)
            }
            LeafKind::Local {
                variable,
                table,
                locator,
            } => {
                let path = self.local_path(table, &leaf.slots, &refs, before, may_order);
                let rank = path.as_ref().map(|p| p.rank).unwrap_or_default();
                let answered = path.as_ref().map_or(&[][..], |p| p.answered.as_slice());
                let (conds, above) = remaining(conds, answered);
                subqueries = above;
                let scan = LocalScan {
                    variable: *variable,
                    table: table.clone(),
                    reverse: path.as_ref().is_some_and(|p| p.reverse),
                    seek: path.and_then(|p| match p.access {
                        AccessPath::Index(position) => Some((position, p.seek)),
                        AccessPath::Heap => None,
                    }),
                    base: leaf.slots.start,
                    residual: conjunction(conds),
                    locator: *locator,
                };
                (Node::LocalScan(Box::new(scan)), rank.single, rank.ordered)
            }
            LeafKind::Other(node) => (filter((**node).clone(), conds), false, false),
        };
        Ok(Planned {
            node: filter(node, subqueries),
            single,
            ordered,
        })
    }
}

fn scan(leaf: &TableLeaf, base: usize, conds: Vec<Cond>, path: Path) -> Node {
    Node::Scan(Box::new(Scan {
        table: leaf.table.clone(),
        path: path.access,
        reverse: path.reverse,
        base,
        needed: Vec::new(),
        hints: leaf.hints.lock,
        purpose: leaf.purpose,
        locator: leaf.locator,
        residual: conjunction(conds),
        seek: path.seek,
        qualify_first: false,
    }))
}

/// What the seek leaves to be checked: on each row, and, with subqueries, above the scan.
fn remaining(conds: Vec<Cond>, answered: &[usize]) -> (Vec<Cond>, Vec<Cond>) {
    let rest = conds
        .into_iter()
        .enumerate()
        .filter(|(i, _)| !answered.contains(i));
    split_queries(rest.map(|(_, c)| c).collect())
}
