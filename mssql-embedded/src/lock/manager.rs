//! Granting, queueing and releasing locks.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Condvar;

use super::table::{Grant, Grip, Owner, Slot, Span, Verdict, Wait, Waiter, brief_place};
use super::{Deadlock, LockOwner, Mode, Resource};
use crate::adversary::Turns;
use crate::fast_map::FastMap;

/// Beyond this many recycled slots the memory is given back when nothing is locked any more.
const SLOTS_KEPT: usize = 1 << 16;

#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// Waits and deadlocks are between owners.
    pub owner: LockOwner,
    pub resource: &'r Resource,
    pub mode: Mode,
    pub span: Span,
    /// What the deadlock detector shall know if the request must wait; `None` refuses to wait.
    pub wait: Option<WaitCost>,
}

/// How dear a waiting session is to the deadlock detector.
#[derive(Clone, Copy, Debug, Default)]
pub struct WaitCost {
    /// SET DEADLOCK_PRIORITY: the lowest is sacrificed first.
    pub priority: i32,
    /// How much a rollback would undo: among equals the cheapest is sacrificed.
    pub undo: u64,
}

#[derive(Clone, Debug)]
pub enum Reply {
    /// The lock is held.
    Granted(Grip),
    /// Nothing was recorded: a lock on the whole table makes it unnecessary, or the request was only
    /// a test.
    Free,
    /// It is not available, and the request did not want to wait.
    Refused,
    /// The session is in the queue; ask [`LockManager::poll`].
    Queued,
    /// Waiting would close a cycle of waits, and this session is the one to give up.
    Deadlock,
}

#[derive(Debug, Default)]
pub struct LockManager {
    pub(super) by_resource: FastMap<Resource, u32>,
    pub(super) slots: Vec<Slot>,
    free: Vec<u32>,
    pub(super) owners: FastMap<LockOwner, Owner>,
    serial: u64,
    /// How many grants protect a gap. While there is none, inserts need not look for one.
    range_grants: usize,
    /// Who is told of waits that are over, with an adversary.
    turns: Option<Arc<Turns>>,
    pub(super) deadlocks: VecDeque<Deadlock>,
}

impl LockManager {
    /// Tells these of every wait that is over.
    pub fn tell(&mut self, turns: &Arc<Turns>) {
        self.turns = Some(Arc::clone(turns));
    }

    /// Wakes a session whose wait is over.
    fn wake(&self, owner: LockOwner) {
        if let Some(state) = self.owners.get(&owner) {
            state.signal.notify_one();
        }
        if let Some(turns) = &self.turns {
            turns.decided(owner);
        }
    }

    /// Asks for a lock. The answer is final unless it is [`Reply::Queued`].
    pub fn request(&mut self, request: &Request<'_>) -> Reply {
        let Request {
            owner,
            resource,
            mode,
            span,
            wait,
        } = *request;
        if self.table_lock_covers(owner, resource, mode) {
            return Reply::Free;
        }
        let Some(&at) = self.by_resource.get(resource) else {
            if span == Span::Instant {
                return Reply::Free;
            }
            let at = self.new_slot(resource.clone());
            return Reply::Granted(self.record(at, owner, mode, span));
        };
        let slot = &self.slots[at as usize];
        let held = slot.held_by(owner);
        // Whoever holds something here goes before those who hold nothing, also for a mere test.
        let conversion = held.is_some();
        let target = match held {
            Some(held) if span != Span::Instant => held.combine(mode),
            _ => mode,
        };
        let granted = (conversion && held == Some(target))
            || !(slot.excluded_by_holders(owner, target)
                || !conversion && slot.excluded_by_waiters(owner, target));
        if granted {
            if span == Span::Instant {
                return Reply::Free;
            }
            return Reply::Granted(self.record(at, owner, mode, span));
        }
        let Some(cost) = wait else {
            return Reply::Refused;
        };
        self.enqueue(
            at,
            Waiter {
                owner,
                session: span == Span::Session,
                mode,
                target,
                span,
                conversion,
            },
            cost,
        )
    }

    /// Where the session's wait stands. A final verdict ends the wait.
    pub fn poll(&mut self, owner: LockOwner) -> Verdict {
        let state = self.owners.entry(owner).or_default();
        match &state.wait {
            None => Verdict::Victim,
            Some(Wait {
                verdict: Verdict::Waiting,
                ..
            }) => Verdict::Waiting,
            Some(_) => state.wait.take().map_or(Verdict::Victim, |w| w.verdict),
        }
    }

    /// Leaves the queue: the wait timed out or was interrupted.
    pub fn cancel(&mut self, owner: LockOwner) {
        let Some(wait) = self.owners.get_mut(&owner).and_then(|o| o.wait.take()) else {
            return;
        };
        self.leave_queue(owner, wait.slot);
    }

    /// What wakes the session's thread when its wait ends.
    pub fn signal(&mut self, owner: LockOwner) -> Arc<Condvar> {
        Arc::clone(&self.owners.entry(owner).or_default().signal)
    }

    /// Whether any gap is protected at all.
    pub fn has_range_locks(&self) -> bool {
        self.range_grants > 0
    }

    /// What the session holds on a resource, by itself and by its transaction.
    pub fn held(&self, owner: LockOwner, resource: &Resource) -> Option<Mode> {
        let at = self.by_resource.get(resource)?;
        self.slots[*at as usize].held_by(owner)
    }

    /// What the session (or its transaction) holds on an application resource.
    pub fn held_application(
        &self,
        owner: LockOwner,
        resource: &Resource,
        session: bool,
    ) -> Option<Mode> {
        let slot = &self.slots[*self.by_resource.get(resource)? as usize];
        Some(slot.granted[slot.grant_of(owner, session)?].mode)
    }

    /// Whether a request would be granted at once.
    pub fn available(&self, owner: LockOwner, resource: &Resource, mode: Mode) -> bool {
        let Some(&at) = self.by_resource.get(resource) else {
            return true;
        };
        let slot = &self.slots[at as usize];
        let held = slot.held_by(owner);
        let target = held.map_or(mode, |held| held.combine(mode));
        !slot.excluded_by_holders(owner, target)
            && (held.is_some() || !slot.excluded_by_waiters(owner, target))
    }

    fn table_lock_covers(&self, owner: LockOwner, resource: &Resource, mode: Mode) -> bool {
        resource.row_of().is_some_and(|table| {
            self.owners
                .get(&owner)
                .and_then(|o| o.tables.get(&table))
                .is_some_and(|usage| usage.mode.table_covers_row(mode))
        })
    }

    fn new_slot(&mut self, resource: Resource) -> u32 {
        self.serial += 1;
        let at = if let Some(at) = self.free.pop() {
            let slot = &mut self.slots[at as usize];
            slot.resource = resource.clone();
            slot.serial = self.serial;
            at
        } else {
            self.slots.push(Slot {
                resource: resource.clone(),
                serial: self.serial,
                granted: Vec::with_capacity(1),
                waiting: Default::default(),
            });
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        };
        self.by_resource.insert(resource, at);
        at
    }

    /// Writes a granted request down.
    fn record(&mut self, at: u32, owner: LockOwner, mode: Mode, span: Span) -> Grip {
        let state = self.owners.entry(owner).or_default();
        state.acquisitions += 1;
        let slot = &mut self.slots[at as usize];
        let session = span == Span::Session;
        let g = slot.grant_of(owner, session).unwrap_or_else(|| {
            slot.granted
                .push(Grant::new(owner, session, state.acquisitions));
            state.held.insert(at);
            slot.granted.len() - 1
        });
        let grant = &mut slot.granted[g];
        let durable_before = grant.durable;
        let mut escalation_due = false;
        let place = brief_place(mode).filter(|_| span == Span::Brief);
        if let Some(place) = place {
            if !grant.is_brief() {
                state.brief.push(at);
            }
            // A table is locked for the whole statement, however many cursors ask for it.
            let once = matches!(slot.resource, Resource::Object(_));
            grant.brief[place] = if once { 1 } else { grant.brief[place] + 1 };
        } else {
            grant.durable = Some(grant.durable.map_or(mode, |held| held.combine(mode)));
            grant.count += 1;
            if durable_before.is_none()
                && let Some((table, index)) = slot.resource.place()
            {
                state.counted = true;
                escalation_due = state.tables.entry(table).or_default().count(index);
            }
        }
        let grip = Grip {
            slot: at,
            serial: slot.serial,
            mode,
            span: if place.is_some() || session {
                span
            } else {
                Span::Transaction
            },
            durable_before,
            durable_after: grant.durable,
            escalation_due,
        };
        let mode = grant.effective();
        self.set_mode(at, g, mode);
        grip
    }

    pub(super) fn set_mode(&mut self, at: u32, g: usize, mode: Mode) {
        let slot = &mut self.slots[at as usize];
        let grant = &mut slot.granted[g];
        self.range_grants -= usize::from(grant.mode.is_range());
        self.range_grants += usize::from(mode.is_range());
        grant.mode = mode;
        if let Resource::Object(table) = slot.resource
            && let Some(state) = self.owners.get_mut(&grant.owner)
        {
            state.tables.entry(table).or_default().mode = mode;
        }
    }

    fn enqueue(&mut self, at: u32, waiter: Waiter, cost: WaitCost) -> Reply {
        let owner = waiter.owner;
        let slot = &mut self.slots[at as usize];
        let place = if waiter.conversion {
            slot.waiting.iter().take_while(|w| w.conversion).count()
        } else {
            slot.waiting.len()
        };
        slot.waiting.insert(place, waiter);
        self.owners.entry(owner).or_default().wait = Some(Wait {
            slot: at,
            verdict: Verdict::Waiting,
            priority: cost.priority,
            cost: cost.undo,
            since: Duration::ZERO,
        });
        while let Some(victim) = self.deadlock_victim(owner) {
            let Some(wait) = self.owners.get_mut(&victim).and_then(|o| o.wait.take()) else {
                break;
            };
            if victim != owner
                && let Some(state) = self.owners.get_mut(&victim)
            {
                state.wait = Some(Wait {
                    verdict: Verdict::Victim,
                    ..wait
                });
                self.wake(victim);
            }
            self.leave_queue(victim, wait.slot);
            if victim == owner {
                return Reply::Deadlock;
            }
        }
        Reply::Queued
    }

    pub(super) fn leave_queue(&mut self, owner: LockOwner, at: u32) {
        self.slots[at as usize].waiting.retain(|w| w.owner != owner);
        self.serve_queue(at);
    }

    /// Grants every waiter that nothing excludes any more, in order; frees the slot when nobody is
    /// left.
    pub(super) fn serve_queue(&mut self, at: u32) {
        let mut i = 0;
        while let Some(waiter) = self.slots[at as usize].waiting.get(i) {
            let slot = &self.slots[at as usize];
            let excluded = slot.excluded_by_holders(waiter.owner, waiter.target)
                || !waiter.conversion && slot.excluded_by_first(i, waiter.owner, waiter.target);
            if excluded {
                i += 1;
                continue;
            }
            let Some(waiter) = self.slots[at as usize].waiting.remove(i) else {
                break;
            };
            let grip = if waiter.span == Span::Instant {
                Grip {
                    slot: at,
                    serial: 0,
                    mode: waiter.mode,
                    span: Span::Instant,
                    durable_before: None,
                    durable_after: None,
                    escalation_due: false,
                }
            } else {
                self.record(at, waiter.owner, waiter.mode, waiter.span)
            };
            if let Some(state) = self.owners.get_mut(&waiter.owner)
                && let Some(wait) = &mut state.wait
            {
                wait.verdict = Verdict::Granted(grip);
            }
            self.wake(waiter.owner);
        }
        let slot = &mut self.slots[at as usize];
        if slot.is_empty() && slot.serial != 0 {
            self.by_resource.remove(&slot.resource);
            slot.serial = 0;
            self.free.push(at);
            if self.by_resource.is_empty() && self.slots.len() > SLOTS_KEPT {
                self.slots = Vec::new();
                self.free = Vec::new();
            }
        }
    }
}
