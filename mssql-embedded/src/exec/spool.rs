//! Spools: rows that are kept when they are read, and used again.
//!
//! SQL Server may put a spool under whatever is read several times within a statement, and reads its input either as
//! rows are asked for or all at once. Whoever looks again for the same then sees what was there the first time; when
//! the search is for something else, the rows are thrown away. With an adversary it is chosen for every subquery and
//! every inner side of a loop, once per statement; without one nothing is kept.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use crate::adversary::Question;
use crate::context::Core;
use crate::fast_map::FastMap;
use crate::memory::{Charge, KeptRows};
use crate::plan::{Node, Part, Purpose, Query};
use crate::value::Value;

/// Rows that several may read at once.
pub type Shared = Arc<Vec<Vec<Value>>>;

/// How the rows of a part of the plan are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keeping {
    Not,
    /// As they are asked for; what was not read to its end is not kept.
    Lazy,
    /// All of them, before the first is handed on.
    Eager,
}

#[derive(Debug)]
struct Spool {
    keeping: Keeping,
    /// The slots that its rows depend on.
    reads: Vec<(usize, usize)>,
    kept: Option<Kept>,
}

/// Rows that a spool has.
#[derive(Debug)]
struct Kept {
    /// The values of the slots they depend on.
    key: String,
    rows: Shared,
    /// What they hold of the session's memory.
    _charge: Charge,
}

/// The spools of a statement, by the place of what they are for in the plan.
#[derive(Debug, Default)]
pub struct Spools {
    spools: FastMap<usize, Spool>,
    are_off: bool,
}

impl Spools {
    /// The statement has none: a hint says so, or rows that are read again may have changed by its own doing.
    pub fn turn_off(&mut self) {
        self.are_off = true;
        self.spools.clear();
    }

    /// Asks the spool of a subquery; `rows` are those of the open levels.
    pub fn of_query(&mut self, query: &Query, core: &Core, rows: &[Vec<Value>]) -> Asked {
        let place = std::ptr::from_ref(query).addr();
        self.ask(place, core, rows, || {
            let mut reads = Reads::default();
            query.each_part(&mut |part| reads.note(part, query.level, &(0..usize::MAX)));
            reads.slots()
        })
    }

    /// Asks the spool of the inner side of a loop, which fills `slots`.
    pub fn of_node(
        &mut self,
        node: &Node,
        slots: &Range<usize>,
        level: usize,
        core: &Core,
        rows: &[Vec<Value>],
    ) -> Asked {
        let place = std::ptr::from_ref(node).addr();
        self.ask(place, core, rows, || {
            if is_changed(node) {
                return None;
            }
            let mut reads = Reads::default();
            node.each_part(&mut |part| reads.note(part, level, slots));
            reads.slots()
        })
    }

    /// Keeps all rows that there are.
    pub fn keep(&mut self, ticket: Ticket, rows: KeptRows) -> Shared {
        let (rows, charge) = rows.into_parts();
        let rows = Arc::new(rows);
        if let Some(spool) = self.spools.get_mut(&ticket.place) {
            spool.kept = Some(Kept {
                key: ticket.key,
                rows: Arc::clone(&rows),
                _charge: charge,
            });
        }
        rows
    }

    fn ask(
        &mut self,
        place: usize,
        core: &Core,
        rows: &[Vec<Value>],
        reads: impl FnOnce() -> Option<Vec<(usize, usize)>>,
    ) -> Asked {
        let Some(choices) = &core.choices else {
            return Asked::Nothing;
        };
        if self.are_off {
            return Asked::Nothing;
        }
        let spool = self.spools.entry(place).or_insert_with(|| {
            let reads = reads();
            let keeping = match &reads {
                None => Keeping::Not,
                Some(_) => match choices.pick(Question::Spool, 4) {
                    0 => Keeping::Lazy,
                    1 => Keeping::Eager,
                    _ => Keeping::Not,
                },
            };
            Spool {
                keeping,
                reads: reads.unwrap_or_default(),
                kept: None,
            }
        });
        if spool.keeping == Keeping::Not {
            return Asked::Nothing;
        }
        let mut key = String::new();
        for (level, slot) in &spool.reads {
            // Writing to a String cannot fail.
            let _ = write!(key, "{:?};", rows[*level][*slot]);
        }
        match &spool.kept {
            Some(kept) if kept.key == key => Asked::Rows(Arc::clone(&kept.rows)),
            _ => {
                // Memory for those of another search is there again before new ones are read.
                spool.kept = None;
                Asked::Keep(Ticket {
                    place,
                    key,
                    is_eager: spool.keeping == Keeping::Eager,
                })
            }
        }
    }
}

/// What a spool says when its rows are asked for.
pub enum Asked {
    /// There is no spool.
    Nothing,
    /// They are kept.
    Rows(Shared),
    /// They are to be kept.
    Keep(Ticket),
}

/// Where rows are to be kept.
pub struct Ticket {
    place: usize,
    key: String,
    /// All of them are read before the first is handed on.
    pub is_eager: bool,
}

/// Collects what rows depend on.
#[derive(Default)]
struct Reads {
    slots: Vec<(usize, usize)>,
    /// They are other rows each time.
    vary: bool,
}

impl Reads {
    /// Notes what is read from outside of `own` slots of a level.
    fn note(&mut self, part: Part, own_level: usize, own: &Range<usize>) {
        match part {
            Part::Slot { level, slot } => {
                let is_outside = level < own_level || level == own_level && !own.contains(&slot);
                if is_outside && !self.slots.contains(&(level, slot)) {
                    self.slots.push((level, slot));
                }
            }
            Part::Given => {}
            Part::Call(function) => self.vary |= function.is_random(),
            Part::Working => self.vary = true,
        }
    }

    fn slots(self) -> Option<Vec<(usize, usize)>> {
        (!self.vary).then_some(self.slots)
    }
}

/// Whether the table that the statement changes is read here: each of its rows is locked where it is found.
fn is_changed(node: &Node) -> bool {
    match node {
        Node::Scan(scan) => scan.purpose == Purpose::Modify || scan.locator.is_some(),
        Node::LocalScan(scan) => scan.locator.is_some(),
        Node::Once
        | Node::Values { .. }
        | Node::SystemView { .. }
        | Node::OpenJson { .. }
        | Node::StringSplit { .. }
        | Node::Derived { .. }
        | Node::Recursive { .. }
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
        | Node::ForJson { .. } => node.inputs().into_iter().any(is_changed),
    }
}
