//! Finding a cycle of waits and choosing who gives up.

use super::table::{Verdict, Wait};
use super::{Deadlock, LockManager, LockOwner, LockStatus, Resource};
use crate::fast_map::FastSet;

/// How many deadlocks are remembered, the latest.
const REMEMBERED: usize = 8;

impl LockManager {
    /// The latest deadlocks, the newest last.
    pub fn deadlocks(&self) -> impl Iterator<Item = &Deadlock> {
        self.deadlocks.iter()
    }

    /// The session to sacrifice if `requester`, which has just begun to wait, closed a cycle.
    ///
    /// Every cycle goes through the newest waiter: all edges that its request adds start or end at it.
    /// The lowest priority loses, then the cheapest to undo, then the one that closed the cycle.
    pub(super) fn deadlock_victim(&mut self, requester: LockOwner) -> Option<LockOwner> {
        let mut cycle = vec![requester];
        let mut visited = FastSet::default();
        if !self.reaches(requester, requester, &mut visited, &mut cycle) {
            return None;
        }
        let victim = cycle.iter().copied().min_by_key(|owner| {
            let (priority, cost) = self
                .pending(*owner)
                .map_or((i32::MAX, u64::MAX), |w| (w.priority, w.cost));
            (priority, cost, *owner != requester)
        })?;
        let mut locks = self.list();
        locks.retain(|lock| cycle.contains(&lock.owner));
        let awaited = locks.iter().filter(|l| l.status != LockStatus::Grant);
        let awaited: Vec<Resource> = awaited.map(|l| l.resource.clone()).collect();
        locks.retain(|lock| awaited.contains(&lock.resource));
        if self.deadlocks.len() == REMEMBERED {
            self.deadlocks.pop_front();
        }
        self.deadlocks.push_back(Deadlock { victim, locks });
        Some(victim)
    }

    /// The sessions that a waiting session waits for, directly.
    pub fn blockers(&self, owner: LockOwner) -> Vec<LockOwner> {
        let Some(wait) = self.pending(owner) else {
            return Vec::new();
        };
        let slot = &self.slots[wait.slot as usize];
        let Some(place) = slot.waiting.iter().position(|w| w.owner == owner) else {
            return Vec::new();
        };
        let waiter = &slot.waiting[place];
        let holders = slot
            .granted
            .iter()
            .filter(|g| g.owner != owner && !g.mode.compatible(waiter.target))
            .map(|g| g.owner);
        let ahead = if waiter.conversion { 0 } else { place };
        let queue = slot
            .waiting
            .iter()
            .take(ahead)
            .filter(|w| w.owner != owner && !w.target.compatible(waiter.target))
            .map(|w| w.owner);
        let mut blockers: Vec<LockOwner> = holders.chain(queue).collect();
        blockers.dedup();
        blockers
    }

    fn pending(&self, owner: LockOwner) -> Option<&Wait> {
        let wait = self.owners.get(&owner)?.wait.as_ref()?;
        matches!(wait.verdict, Verdict::Waiting).then_some(wait)
    }

    /// Extends `path` until it comes back to `goal`.
    fn reaches(
        &self,
        from: LockOwner,
        goal: LockOwner,
        visited: &mut FastSet<LockOwner>,
        path: &mut Vec<LockOwner>,
    ) -> bool {
        for blocker in self.blockers(from) {
            if blocker == goal {
                return true;
            }
            if visited.insert(blocker) {
                path.push(blocker);
                if self.reaches(blocker, goal, visited, path) {
                    return true;
                }
                path.pop();
            }
        }
        false
    }
}
