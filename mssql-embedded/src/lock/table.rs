//! The rows of the lock table: per resource, what is granted and who waits.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Condvar;

use super::{LockOwner, Mode, Resource, Strength};
use crate::catalog::ObjectId;
use crate::fast_map::{FastMap, FastSet};

/// How long a lock is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// Not at all: the request only waits until it could be granted.
    Instant,
    /// Until it is released one by one, at the latest when the statement ends.
    Brief,
    /// Until the transaction ends.
    Transaction,
    /// Until the session ends or releases it (application locks).
    Session,
}

/// Modes that can be held briefly, in the order of [`Grant::brief`].
const BRIEF: [Strength; 5] = [
    Strength::SchS,
    Strength::IS,
    Strength::IX,
    Strength::S,
    Strength::U,
];

/// The place of a mode in [`Grant::brief`]; modes without one are always kept until the end of the
/// transaction.
pub(super) fn brief_place(mode: Mode) -> Option<usize> {
    if mode.is_range() {
        return None;
    }
    BRIEF.iter().position(|s| *s == mode.strength)
}

/// What one session holds on one resource.
#[derive(Debug)]
pub(super) struct Grant {
    pub owner: LockOwner,
    /// Held by the session rather than its transaction.
    pub session: bool,
    /// Everything below combined.
    pub mode: Mode,
    /// What is kept until the end.
    pub durable: Option<Mode>,
    /// How many brief holders there are of each of [`BRIEF`]: several cursors of a statement may stand
    /// on one row.
    pub brief: [u32; BRIEF.len()],
    /// How often an application lock was acquired.
    pub count: u32,
    /// The owner's acquisition number when the lock was first taken, for savepoints.
    pub order: u64,
}

impl Grant {
    pub fn new(owner: LockOwner, session: bool, order: u64) -> Self {
        Self {
            owner,
            session,
            mode: Mode::plain(Strength::Null),
            durable: None,
            brief: [0; BRIEF.len()],
            count: 0,
            order,
        }
    }

    pub fn effective(&self) -> Mode {
        let mut mode = self.durable.unwrap_or(Mode::plain(Strength::Null));
        for (count, strength) in self.brief.iter().zip(BRIEF) {
            if *count > 0 {
                mode = mode.combine(Mode::plain(strength));
            }
        }
        mode
    }

    pub fn is_brief(&self) -> bool {
        self.brief.iter().any(|n| *n > 0)
    }

    pub fn is_empty(&self) -> bool {
        self.durable.is_none() && !self.is_brief()
    }
}

/// A session in the queue of a resource.
#[derive(Debug)]
pub(super) struct Waiter {
    pub owner: LockOwner,
    pub session: bool,
    /// What was asked for.
    pub mode: Mode,
    /// What it would hold when granted: `mode` combined with what it holds already.
    pub target: Mode,
    pub span: Span,
    /// It holds a weaker lock already, so it goes before those that hold none.
    pub conversion: bool,
}

/// A resource on which something is granted or awaited. Slots are recycled, so that their vectors
/// keep their capacity.
#[derive(Debug)]
pub(super) struct Slot {
    pub resource: Resource,
    /// Distinguishes the uses of a recycled slot.
    pub serial: u64,
    pub granted: Vec<Grant>,
    pub waiting: VecDeque<Waiter>,
}

impl Slot {
    pub fn is_empty(&self) -> bool {
        self.granted.is_empty() && self.waiting.is_empty()
    }

    pub fn grant_of(&self, owner: LockOwner, session: bool) -> Option<usize> {
        self.granted
            .iter()
            .position(|g| g.owner == owner && g.session == session)
    }

    /// What the session holds, by itself and by its transaction.
    pub fn held_by(&self, owner: LockOwner) -> Option<Mode> {
        self.granted
            .iter()
            .filter(|g| g.owner == owner)
            .map(|g| g.mode)
            .reduce(Mode::combine)
    }

    /// Whether what others hold excludes `target`.
    pub fn excluded_by_holders(&self, owner: LockOwner, target: Mode) -> bool {
        self.granted
            .iter()
            .any(|g| g.owner != owner && !g.mode.compatible(target))
    }

    /// Whether a waiter excludes `target`: a newcomer must not overtake it.
    pub fn excluded_by_waiters(&self, owner: LockOwner, target: Mode) -> bool {
        self.excluded_by_first(self.waiting.len(), owner, target)
    }

    /// Whether one of the first `ahead` waiters excludes `target`: who stands behind them must not overtake it.
    pub fn excluded_by_first(&self, ahead: usize, owner: LockOwner, target: Mode) -> bool {
        self.waiting
            .iter()
            .take(ahead)
            .any(|w| w.owner != owner && !w.target.compatible(target))
    }
}

/// What is known about one session.
#[derive(Debug, Default)]
pub(super) struct Owner {
    /// Slots in which it holds something.
    pub held: FastSet<u32>,
    /// Slots in which it holds something briefly.
    pub brief: Vec<u32>,
    pub tables: FastMap<ObjectId, TableUse>,
    /// Whether some table has counted row locks in this statement.
    pub counted: bool,
    pub wait: Option<Wait>,
    /// How many locks it has taken in this transaction.
    pub acquisitions: u64,
    /// Signalled with the latch held, when the wait was granted or refused.
    pub signal: Arc<Condvar>,
}

/// What one session does with one table.
#[derive(Debug)]
pub(super) struct TableUse {
    /// The lock on the table itself.
    pub mode: Mode,
    /// Row locks that stay, by index: locks on one index do not count for another.
    counts: Vec<RowLocks>,
}

/// The row locks of the current statement on one index of a table.
#[derive(Debug)]
struct RowLocks {
    index: i32,
    taken: u32,
    /// When to try escalation.
    threshold: u32,
}

/// Row locks of one statement on one index beyond which escalation is tried.
const ESCALATION_THRESHOLD: u32 = 5001;
/// How many row locks later a failed escalation is tried again.
const ESCALATION_RETRY: u32 = 1250;

impl Default for TableUse {
    fn default() -> Self {
        Self {
            mode: Mode::plain(Strength::Null),
            counts: Vec::new(),
        }
    }
}

impl TableUse {
    /// Counts a row lock; true when escalation should be tried.
    pub fn count(&mut self, index: i32) -> bool {
        let i = self
            .counts
            .iter()
            .position(|c| c.index == index)
            .unwrap_or_else(|| {
                self.counts.push(RowLocks {
                    index,
                    taken: 0,
                    threshold: ESCALATION_THRESHOLD,
                });
                self.counts.len() - 1
            });
        let locks = &mut self.counts[i];
        locks.taken += 1;
        locks.taken >= locks.threshold
    }

    /// A counted row lock was given back.
    pub fn uncount(&mut self, index: i32) {
        if let Some(locks) = self.counts.iter_mut().find(|c| c.index == index) {
            locks.taken = locks.taken.saturating_sub(1);
        }
    }

    /// Escalation failed: it is tried again some locks later.
    pub fn postpone(&mut self) {
        for locks in &mut self.counts {
            if locks.taken >= locks.threshold {
                locks.threshold = locks.taken + ESCALATION_RETRY;
            }
        }
    }

    /// A new statement counts from zero.
    pub fn reset(&mut self) {
        self.counts.clear();
    }
}

/// What a session waits for.
#[derive(Debug)]
pub(super) struct Wait {
    pub slot: u32,
    pub verdict: Verdict,
    /// SET DEADLOCK_PRIORITY.
    pub priority: i32,
    /// How much would be undone.
    pub cost: u64,
    /// When it began, by the engine's clock.
    pub since: Duration,
}

/// Where a wait stands.
#[derive(Clone, Debug)]
pub enum Verdict {
    Waiting,
    /// The lock is held now.
    Granted(Grip),
    /// Chosen as the victim of a deadlock; the transaction must be rolled back.
    Victim,
}

impl Grip {
    /// Whether it protects the gap before a key.
    pub fn is_range(&self) -> bool {
        self.mode.is_range()
    }

    /// Whether it is kept until the transaction ends.
    pub fn is_durable(&self) -> bool {
        self.span == Span::Transaction
    }
}

/// A lock as its taker remembers it, to give it back before its time.
#[derive(Clone, Debug)]
pub struct Grip {
    pub(super) slot: u32,
    pub(super) serial: u64,
    pub(super) mode: Mode,
    pub(super) span: Span,
    /// What was durable before this request, and what since.
    pub(super) durable_before: Option<Mode>,
    pub(super) durable_after: Option<Mode>,
    /// The statement has taken so many row locks on the table that a table lock should be tried.
    pub escalation_due: bool,
}
