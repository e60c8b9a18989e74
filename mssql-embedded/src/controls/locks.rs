//! Looking at the lock manager.

use super::Controls;
use crate::lock::{LockInfo, LockOwner};

impl Controls {
    /// Every lock held or awaited, as sys.dm_tran_locks shows them, but without being a session
    /// itself.
    pub fn locks(&self) -> Vec<LockInfo> {
        self.engine.latch().locks.list()
    }

    /// Whether a session waits for a lock right now.
    pub fn is_blocked(&self, spid: u16) -> bool {
        self.engine.latch().locks.is_waiting(LockOwner::from(spid))
    }

    /// How many sessions wait for a lock right now.
    pub fn blocked(&self) -> usize {
        self.engine.latch().locks.waiting()
    }
}
