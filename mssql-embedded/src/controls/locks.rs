//! Looking at the lock manager.

use std::fmt::Write as _;

use super::Controls;
use crate::catalog::Catalog;
use crate::lock::{Deadlock, LockInfo, LockOwner, LockStatus};

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

    /// The latest deadlocks, the newest last: who gave up, what everybody held and what each waited for. Trace flag
    /// 1222 writes as much to a server's log.
    pub fn deadlocks(&self) -> Vec<String> {
        let catalog = self.engine.catalog();
        let state = self.engine.latch();
        let told = state.locks.deadlocks().map(|met| tell(met, &catalog));
        told.collect()
    }
}

fn tell(met: &Deadlock, catalog: &Catalog) -> String {
    let mut text = format!("session {} gave up", met.victim);
    for lock in &met.locks {
        let does = match lock.status {
            LockStatus::Grant => "holds",
            LockStatus::Wait | LockStatus::Convert => "WAITS FOR",
        };
        let (mode, resource) = (lock.mode, &lock.resource);
        let object = resource.object().and_then(|id| {
            let mut databases = catalog.databases.values();
            databases.find_map(|database| database.objects.get(&id))
        });
        let name = object.map_or("", |object| object.name());
        let index = resource.place().map_or(0, |(_, index)| index);
        let kind = resource.kind();
        let _ = write!(
            text,
            "\n  session {} {does} {mode} on {kind} {name} (index {index}) {resource}",
            lock.owner
        );
    }
    text
}
