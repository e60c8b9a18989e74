//! Inner joins: in which order, and by loop or hash.

use std::cmp::Reverse;

use crate::adversary::Question;
use crate::ast::JoinStrategy;
use crate::error::SqlResult;
use crate::interrupt::stop_if;
use crate::plan::{Cond, LoopKind, Node};

use super::{Conjunct, LeafKind, Planned, Planner, Rel, SOURCES_MAX, SlotSet, span};

/// How early a member should be placed; the smaller the earlier.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// At most one row.
    Single,
    /// Yields the wanted order, of which only the first rows are needed.
    FirstRows,
    /// Few rows: table variables, lists, JSON.
    Small,
    /// A seek by equality; the more columns, the earlier.
    Seek(Reverse<usize>),
    /// A seek by a range.
    Range,
    /// What is no single table: its rows are made first.
    Tree,
    /// A table that is read from one end to the other.
    Full,
}

impl Planner<'_> {
    /// Plans a set of members that are joined by `conds`. `available` are slots already filled by
    /// operators to the left.
    pub(super) fn members(
        &self,
        members: Vec<Rel>,
        conds: Vec<Conjunct>,
        available: &SlotSet,
        may_order: bool,
    ) -> SqlResult<Planned> {
        let (mut pending, mut conds) = (Vec::new(), conds);
        for member in members {
            flatten(member, &mut pending, &mut conds);
        }
        let mut conds = self.choose_joins(&mut pending, conds, available)?;
        let mut filled = available.clone();
        let mut placed: Option<Planned> = None;
        let now = self.take_ready(&mut conds, &filled);
        if !now.is_empty() || pending.is_empty() {
            placed = Some(Planned {
                node: filter(Node::Once, now),
                single: true,
                ordered: false,
            });
        }
        while !pending.is_empty() {
            let next = self.pick(&pending, &conds, &filled, may_order, placed.as_ref())?;
            let member = pending.remove(next);
            filled.extend(self.fills(&member));
            let ready = self.take_ready(&mut conds, &filled);
            placed = Some(self.place(placed, member, ready, available, &filled, may_order)?);
        }
        Ok(placed.unwrap_or(Planned {
            node: Node::Once,
            single: true,
            ordered: false,
        }))
    }

    /// Decides which `column IN (…)` conditions become joins: those that give an index to seek in
    /// where there would be none.
    fn choose_joins(
        &self,
        pending: &mut Vec<Rel>,
        conds: Vec<Conjunct>,
        available: &SlotSet,
    ) -> SqlResult<Vec<Cond>> {
        let plain: Vec<Cond> = conds.iter().map(|c| c.cond.clone()).collect();
        let mut chosen = Vec::new();
        for (i, conjunct) in conds.into_iter().enumerate() {
            match conjunct.as_join {
                Some(join)
                    if pending.len() < SOURCES_MAX
                        && self
                            .join_helps(pending, &plain, i, &join.cond, join.slot, available)? =>
                {
                    pending.push(Rel::Members {
                        node: Box::new(join.members),
                        slot: join.slot,
                    });
                    chosen.push(join.cond);
                }
                _ => chosen.push(conjunct.cond),
            }
        }
        Ok(chosen)
    }

    fn join_helps(
        &self,
        pending: &[Rel],
        conds: &[Cond],
        replaced: usize,
        join: &Cond,
        slot: usize,
        available: &SlotSet,
    ) -> SqlResult<bool> {
        let reads = self.reads(join);
        for member in pending {
            let Rel::Leaf(i) = member else { continue };
            let leaf = &self.leaves[*i];
            if !leaf.slots.clone().any(|s| reads.contains(&s)) {
                continue;
            }
            let LeafKind::Table(table) = &leaf.kind else {
                return Ok(false);
            };
            let before: Vec<&Cond> = conds.iter().collect();
            let mut after = before.clone();
            after[replaced] = join;
            let mut with = available.clone();
            with.insert(slot);
            // A hint may leave no path at all without the join (FORCESEEK, 8622).
            let before =
                without_path(self.table_path(table, &leaf.slots, &before, available, true))?;
            let after = without_path(self.table_path(table, &leaf.slots, &after, &with, false))?;
            let seeks = after.is_some_and(|p| p.rank.equal > 0);
            return Ok(seeks && before.is_none_or(|p| p.rank.equal == 0 && !p.rank.first_rows));
        }
        Ok(false)
    }

    /// Takes out the conditions whose slots are all filled.
    fn take_ready(&self, conds: &mut Vec<Cond>, filled: &SlotSet) -> Vec<Cond> {
        let (ready, later) = std::mem::take(conds)
            .into_iter()
            .partition(|c| self.reads(c).is_subset(filled));
        *conds = later;
        ready
    }

    /// The position of the member to place next.
    fn pick(
        &self,
        pending: &[Rel],
        conds: &[Cond],
        filled: &SlotSet,
        may_order: bool,
        placed: Option<&Planned>,
    ) -> SqlResult<usize> {
        let ordered = self.hints.force_order || !self.hints.joins.is_empty();
        if ordered || pending.len() == 1 {
            return Ok(0);
        }
        let may_order = may_order && placed.is_none_or(|p| p.single);
        let mut best: Option<(Class, usize)> = None;
        let mut possible = 0;
        for (i, member) in pending.iter().enumerate() {
            stop_if((self.interrupted)())?;
            if !self.needs(member).is_subset(filled) {
                continue;
            }
            if let Some(choices) = self.choices {
                if self.must_wait(member, conds, filled) {
                    continue;
                }
                // The n-th that could be next takes the place with a chance of one in n.
                possible += 1;
                if choices.chance(Question::JoinOrder, possible) {
                    best = Some((Class::Full, i));
                }
                continue;
            }
            let class = self.class(member, conds, filled, may_order)?;
            if best.is_none_or(|(b, _)| class < b) {
                best = Some((class, i));
            }
        }
        Ok(best.map_or(0, |(_, i)| i))
    }

    fn class(
        &self,
        member: &Rel,
        conds: &[Cond],
        filled: &SlotSet,
        may_order: bool,
    ) -> SqlResult<Class> {
        let Rel::Leaf(i) = member else {
            let small = matches!(member, Rel::Members { .. });
            return Ok(if small { Class::Small } else { Class::Tree });
        };
        let leaf = &self.leaves[*i];
        let conds: Vec<&Cond> = conds.iter().collect();
        Ok(match &leaf.kind {
            LeafKind::Table(table) => {
                // A hint that only holds once other tables are placed must not fail here.
                let Ok(path) = self.table_path(table, &leaf.slots, &conds, filled, may_order)
                else {
                    return Ok(Class::Full);
                };
                match path.rank {
                    r if r.single => Class::Single,
                    r if self.limited && r.ordered => Class::FirstRows,
                    r if r.equal > 0 => Class::Seek(Reverse(r.equal)),
                    r if r.bounds > 0 => Class::Range,
                    _ => Class::Full,
                }
            }
            LeafKind::Local { table, .. } => {
                let path = self.local_path(table, &leaf.slots, &conds, filled, false);
                if path.is_some_and(|p| p.rank.single) {
                    Class::Single
                } else {
                    Class::Small
                }
            }
            LeafKind::Other(node) => match **node {
                Node::Derived { .. } | Node::Recursive { .. } | Node::SystemView { .. } => {
                    Class::Tree
                }
                Node::Once
                | Node::Values { .. }
                | Node::Scan(_)
                | Node::LocalScan(_)
                | Node::OpenJson { .. }
                | Node::StringSplit { .. }
                | Node::Working { .. }
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
                | Node::Offset { .. }
                | Node::Concat { .. }
                | Node::Set { .. }
                | Node::ForJson { .. } => Class::Small,
            },
        })
    }

    /// Joins a member to what is placed; `ready` are the conditions that it makes computable.
    fn place(
        &self,
        placed: Option<Planned>,
        member: Rel,
        ready: Vec<Cond>,
        outer: &SlotSet,
        filled: &SlotSet,
        may_order: bool,
    ) -> SqlResult<Planned> {
        let own = self.fills(&member);
        let before: SlotSet = filled.difference(&own).copied().collect();
        let Some(left) = placed else {
            return self.member(member, ready, &before, may_order);
        };
        if self.can_hash(&member, &ready, left.single, &before, outer)? {
            let (conds, subqueries) = split_queries(ready);
            let node = self.hash_join(LoopKind::Inner, left.node, member, conds, outer)?;
            let ordered = left.ordered;
            return Ok(Planned {
                node: filter(node, subqueries),
                single: false,
                ordered,
            });
        }
        let right = self.member(member, ready, &before, may_order && left.single)?;
        Ok(Planned {
            single: left.single && right.single,
            ordered: left.ordered || left.single && right.ordered,
            node: Node::Loop {
                kind: LoopKind::Inner,
                left: Box::new(left.node),
                right: Box::new(right.node),
                on: None,
                right_slots: span(&own),
            },
        })
    }

    /// How a member may be joined: by the hint of its join, or that of the query.
    pub(super) fn strategy(&self, member: &Rel) -> JoinStrategy {
        let leaf = member.first_leaf();
        let own = (self.hints.joins.iter()).find(|(joined, _)| Some(*joined) == leaf);
        own.map_or(self.hints.strategy, |(_, strategy)| *strategy)
    }

    /// Whether FORCESEEK asks for a member's keys to come from others that are not yet placed.
    fn must_wait(&self, member: &Rel, conds: &[Cond], filled: &SlotSet) -> bool {
        let Rel::Leaf(i) = member else { return false };
        let leaf = &self.leaves[*i];
        let conds: Vec<&Cond> = conds.iter().collect();
        match &leaf.kind {
            LeafKind::Table(table) if table.hints.force_seek => {
                (self.table_path(table, &leaf.slots, &conds, filled, false)).is_err()
            }
            LeafKind::Table(_) | LeafKind::Local { .. } | LeafKind::Other(_) => false,
        }
    }

    /// Whether FORCESEEK forbids to read the leaf as a whole.
    pub(super) fn must_seek(&self, leaf: usize) -> bool {
        match &self.leaves[leaf].kind {
            LeafKind::Table(table) => table.hints.force_seek,
            LeafKind::Local { .. } | LeafKind::Other(_) => false,
        }
    }

    /// Plans one member with the conditions that become computable with it.
    pub(super) fn member(
        &self,
        member: Rel,
        conds: Vec<Cond>,
        before: &SlotSet,
        may_order: bool,
    ) -> SqlResult<Planned> {
        match member {
            Rel::Leaf(i) => self.leaf(i, conds, before, may_order),
            Rel::Members { node, .. } => Ok(Planned {
                node: filter(*node, conds),
                single: false,
                ordered: false,
            }),
            Rel::Left { left, right, on } => {
                self.left_join(*left, *right, on, conds, before, may_order)
            }
            Rel::Full { left, right, on } => self.full_join(*left, *right, on, conds, before),
            inner @ Rel::Inner { .. } => {
                let conds = conds.into_iter().map(Conjunct::from).collect();
                self.members(vec![inner], conds, before, may_order)
            }
        }
    }
}

/// Takes inner joins apart.
fn flatten(rel: Rel, members: &mut Vec<Rel>, conds: &mut Vec<Conjunct>) {
    match rel {
        Rel::Inner {
            members: more,
            conds: on,
        } => {
            conds.extend(on);
            more.into_iter().for_each(|m| flatten(m, members, conds));
        }
        other @ (Rel::Leaf(_) | Rel::Left { .. } | Rel::Full { .. } | Rel::Members { .. }) => {
            members.push(other)
        }
    }
}

/// Conditions with subqueries are evaluated above a scan: its rows keep their locks meanwhile, as
/// under the semi-joins of SQL Server.
pub(super) fn split_queries(conds: Vec<Cond>) -> (Vec<Cond>, Vec<Cond>) {
    conds.into_iter().partition(|c| !c.has_query())
}

pub(super) fn conjunction(mut conds: Vec<Cond>) -> Option<Cond> {
    match conds.len() {
        0 => None,
        1 => conds.pop(),
        _ => Some(Cond::And(conds)),
    }
}

/// The rows of `node` that satisfy all conditions.
pub(super) fn filter(node: Node, conds: Vec<Cond>) -> Node {
    match conjunction(conds) {
        Some(cond) => Node::Filter {
            input: Box::new(node),
            cond,
        },
        None => node,
    }
}

/// A path, or `None` where the hints of the table forbid every one of them.
fn without_path<T>(path: SqlResult<T>) -> SqlResult<Option<T>> {
    match path {
        Ok(path) => Ok(Some(path)),
        Err(error) if error.number == 8622 => Ok(None),
        Err(error) => Err(error),
    }
}
