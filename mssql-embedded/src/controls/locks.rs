//! Looking at the lock manager.

use super::Controls;
use crate::access::Latch;
use crate::lock::{LockInfo, LockOwner};

impl Controls {
    /// Every lock held or awaited, as sys.dm_tran_locks shows them, but without being a session
    /// itself.
    pub fn locks(&self) -> Vec<LockInfo> {
        Latch::new(&self.engine).locks.list()
    }

    /// Whether a session waits for a lock right now.
    pub fn is_blocked(&self, spid: u16) -> bool {
        Latch::new(&self.engine)
            .locks
            .is_waiting(LockOwner::from(spid))
    }

    /// How many sessions wait for a lock right now.
    pub fn blocked(&self) -> usize {
        Latch::new(&self.engine).locks.waiting()
    }
}
