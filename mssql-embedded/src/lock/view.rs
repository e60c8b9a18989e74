//! Looking at the lock table from outside: sys.dm_tran_locks, and tests.

use std::time::Duration;

use super::table::Verdict;
use super::{LockInfo, LockManager, LockOwner, LockStatus, LockWait};

impl LockManager {
    /// Notes when the wait of a session began.
    pub fn waiting_since(&mut self, owner: LockOwner, since: Duration) {
        if let Some(wait) = self.owners.get_mut(&owner).and_then(|o| o.wait.as_mut()) {
            wait.since = since;
        }
    }

    /// What a session waits for, if it does.
    pub fn wait_of(&self, owner: LockOwner) -> Option<LockWait> {
        let blocker = *self.blockers(owner).first()?;
        let wait = self.owners.get(&owner)?.wait.as_ref()?;
        let slot = &self.slots[wait.slot as usize];
        let waiter = slot.waiting.iter().find(|w| w.owner == owner)?;
        Some(LockWait {
            mode: waiter.mode,
            resource: slot.resource.clone(),
            blocker,
            since: wait.since,
        })
    }

    /// Every lock held or awaited.
    pub fn list(&self) -> Vec<LockInfo> {
        let mut list = Vec::new();
        for slot in self.slots.iter().filter(|s| s.serial != 0) {
            list.extend(slot.granted.iter().map(|g| LockInfo {
                owner: g.owner,
                resource: slot.resource.clone(),
                mode: g.mode,
                status: LockStatus::Grant,
                session: g.session,
            }));
            list.extend(slot.waiting.iter().map(|w| LockInfo {
                owner: w.owner,
                resource: slot.resource.clone(),
                mode: w.target,
                status: if w.conversion {
                    LockStatus::Convert
                } else {
                    LockStatus::Wait
                },
                session: w.session,
            }));
        }
        list
    }

    /// The locks one session holds.
    #[cfg(test)]
    pub fn held_by(&self, owner: LockOwner) -> Vec<LockInfo> {
        let mut list = self.list();
        list.retain(|l| l.owner == owner && l.status == LockStatus::Grant);
        list
    }

    pub fn is_waiting(&self, owner: LockOwner) -> bool {
        self.owners
            .get(&owner)
            .and_then(|o| o.wait.as_ref())
            .is_some_and(|w| matches!(w.verdict, Verdict::Waiting))
    }

    /// How many sessions are waiting for a lock.
    pub fn waiting(&self) -> usize {
        self.owners
            .keys()
            .filter(|owner| self.is_waiting(**owner))
            .count()
    }
}
