//! How tables are reached and in which order they are joined.
//!
//! The binder hands over the table references of one query level as a tree of [`Rel`] and the search
//! conditions as [`Conjunct`]s. Inner joins are taken apart into a set that is ordered anew; outer
//! joins keep their sides. Every conjunct is evaluated as early as its slots are filled.

mod access;
mod hash;
mod join;
mod leaf;
mod needed;
mod outer;
mod predicate;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::adversary::Choices;
use crate::ast::JoinStrategy;
use crate::catalog::TableDef;
use crate::error::SqlResult;
use crate::interrupt::Asking;
use crate::plan::{Cond, Node, Purpose};

use super::hints::TableHints;

pub(super) use access::no_plan;
pub(super) use needed::prune;

/// How many sources one query may join. Each join stands on the one before it, so that this bounds the height of a plan;
/// the parser bounds what one text names, but CTEs and views may become part of the query around them.
pub(super) const SOURCES_MAX: usize = 512;

/// Slots of the level that is planned.
pub(super) type SlotSet = BTreeSet<usize>;

/// A table reference.
#[derive(Clone)]
pub(super) struct Leaf {
    pub(super) kind: LeafKind,
    /// The slots it fills, without its locator.
    pub(super) slots: Range<usize>,
}

impl Leaf {
    /// The slot of its locator, if it is the target of UPDATE or DELETE.
    pub(super) fn locator(&self) -> Option<usize> {
        match &self.kind {
            LeafKind::Table(table) => table.locator,
            LeafKind::Local { locator, .. } => *locator,
            LeafKind::Other(_) => None,
        }
    }
}

#[derive(Clone)]
pub(super) enum LeafKind {
    Table(Box<TableLeaf>),
    Local {
        variable: usize,
        table: Arc<TableDef>,
        locator: Option<usize>,
    },
    /// Anything that is read from its beginning: VALUES, OPENJSON, derived tables, system views.
    Other(Box<Node>),
}

/// A base table with what its reference says.
#[derive(Clone)]
pub(super) struct TableLeaf {
    pub(super) table: Arc<TableDef>,
    pub(super) hints: TableHints,
    pub(super) purpose: Purpose,
    pub(super) locator: Option<usize>,
    /// The filters of its indexes over this reference's slots; `Err` for one that cannot be used.
    pub(super) filters: Vec<Result<Option<Cond>, ()>>,
}

/// A tree of table references.
#[derive(Clone)]
pub(super) enum Rel {
    /// A leaf by its position.
    Leaf(usize),
    /// Inner joins in any order.
    Inner {
        members: Vec<Rel>,
        conds: Vec<Conjunct>,
    },
    /// LEFT JOIN and OUTER APPLY; RIGHT JOIN has its sides swapped.
    Left {
        left: Box<Rel>,
        right: Box<Rel>,
        on: Vec<Conjunct>,
    },
    Full {
        left: Box<Rel>,
        right: Box<Rel>,
        on: Vec<Conjunct>,
    },
    /// A list of values that a column must be in, read instead of testing each row.
    Members { node: Box<Node>, slot: usize },
}

impl Rel {
    /// The leaf that is written first.
    pub(super) fn first_leaf(&self) -> Option<usize> {
        match self {
            Self::Leaf(leaf) => Some(*leaf),
            Self::Inner { members, .. } => members.iter().find_map(Self::first_leaf),
            Self::Left { left, right, .. } | Self::Full { left, right, .. } => left
                .first_leaf()
                .into_iter()
                .chain(right.first_leaf())
                .min(),
            Self::Members { .. } => None,
        }
    }
}

/// One condition of a conjunction.
#[derive(Clone)]
pub(super) struct Conjunct {
    pub(super) cond: Cond,
    /// The same condition as a join, for `column IN (…)`.
    pub(super) as_join: Option<Box<AsJoin>>,
}

/// `column IN (list or query)` as a join with the distinct members.
#[derive(Clone)]
pub(super) struct AsJoin {
    /// Yields the members, each once, into `slot`.
    pub(super) members: Node,
    /// See `members`.
    pub(super) slot: usize,
    /// `column = slot`.
    pub(super) cond: Cond,
}

impl From<Cond> for Conjunct {
    fn from(cond: Cond) -> Self {
        Self {
            cond,
            as_join: None,
        }
    }
}

/// An ORDER BY key that an index may serve: slot and DESC.
pub(super) type Wish = (usize, bool);

pub(super) struct Request<'c> {
    pub(super) level: usize,
    pub(super) leaves: Vec<Leaf>,
    pub(super) rel: Option<Rel>,
    pub(super) filter: Vec<Conjunct>,
    /// ORDER BY, when all of it is plain slots of this level.
    pub(super) order: Vec<Wish>,
    /// Only the first rows are wanted.
    pub(super) limited: bool,
    pub(super) hints: JoinHints,
    /// Makes the choices instead of the planner, if there is an adversary.
    pub(super) choices: Option<&'c Choices>,
    /// Asks whether to stop: of many tables each one is looked at before each one is placed.
    pub(super) interrupted: Asking<'c>,
}

/// What hints say about joins.
pub(super) struct JoinHints {
    pub(super) force_order: bool,
    /// Of OPTION, for all joins.
    pub(super) strategy: JoinStrategy,
    /// Of single joins, by the first leaf of the joined side. They also keep all tables in the order in
    /// which they are written.
    pub(super) joins: Vec<(usize, JoinStrategy)>,
}

/// A planned part of the tree.
pub(super) struct Planned {
    pub(super) node: Node,
    /// At most one row.
    single: bool,
    /// The rows come as `Request::order` wants them.
    pub(super) ordered: bool,
}

/// Plans the FROM and WHERE of one query level.
pub(super) fn plan(request: Request<'_>) -> SqlResult<Planned> {
    let Request {
        level,
        leaves,
        rel,
        filter,
        order,
        limited,
        hints,
        choices,
        interrupted,
    } = request;
    let planner = Planner {
        level,
        leaves,
        order,
        limited,
        hints,
        choices,
        interrupted,
    };
    let members = rel.into_iter().collect();
    planner.members(members, filter, &SlotSet::new(), true)
}

struct Planner<'c> {
    level: usize,
    leaves: Vec<Leaf>,
    order: Vec<Wish>,
    limited: bool,
    hints: JoinHints,
    choices: Option<&'c Choices>,
    interrupted: Asking<'c>,
}

impl Planner<'_> {
    /// The slots of this level that a condition reads.
    fn reads(&self, cond: &Cond) -> SlotSet {
        let mut set = SlotSet::new();
        cond.each_slot(&mut |level, slot| {
            if level == self.level {
                set.insert(slot);
            }
        });
        set
    }

    /// The slots of this level that an operator reads before it yields its own.
    fn node_reads(&self, node: &Node) -> SlotSet {
        let mut set = SlotSet::new();
        node.each_slot(&mut |level, slot| {
            if level == self.level {
                set.insert(slot);
            }
        });
        set
    }

    /// The slots that a part of the tree fills.
    fn fills(&self, rel: &Rel) -> SlotSet {
        match rel {
            Rel::Leaf(i) => {
                let leaf = &self.leaves[*i];
                leaf.slots.clone().chain(leaf.locator()).collect()
            }
            Rel::Members { slot, .. } => SlotSet::from([*slot]),
            Rel::Inner { members, .. } => members.iter().flat_map(|m| self.fills(m)).collect(),
            Rel::Left { left, right, .. } | Rel::Full { left, right, .. } => self
                .fills(left)
                .into_iter()
                .chain(self.fills(right))
                .collect(),
        }
    }

    /// The slots that a part of the tree needs filled before it (APPLY).
    fn needs(&self, rel: &Rel) -> SlotSet {
        let mut needs = SlotSet::new();
        self.collect_needs(rel, &mut needs);
        let fills = self.fills(rel);
        needs.retain(|s| !fills.contains(s));
        needs
    }

    fn collect_needs(&self, rel: &Rel, needs: &mut SlotSet) {
        match rel {
            Rel::Leaf(i) => {
                if let LeafKind::Other(node) = &self.leaves[*i].kind {
                    needs.extend(self.node_reads(node));
                }
            }
            Rel::Members { node, slot } => {
                needs.extend(self.node_reads(node).into_iter().filter(|s| s != slot));
            }
            Rel::Inner { members, conds } => {
                members.iter().for_each(|m| self.collect_needs(m, needs));
                conds.iter().for_each(|c| needs.extend(self.reads(&c.cond)));
            }
            Rel::Left { left, right, on } | Rel::Full { left, right, on } => {
                self.collect_needs(left, needs);
                self.collect_needs(right, needs);
                on.iter().for_each(|c| needs.extend(self.reads(&c.cond)));
            }
        }
    }
}

/// The range that covers a set of slots; the slots of one FROM item are contiguous. It includes the
/// locator of a target, which an outer join without a match must not leave behind.
fn span(slots: &SlotSet) -> Range<usize> {
    match (slots.first(), slots.last()) {
        (Some(first), Some(last)) => *first..*last + 1,
        _ => 0..0,
    }
}
