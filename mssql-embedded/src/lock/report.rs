//! What is told of locks, waits and deadlocks.

use std::time::Duration;

use super::{LockOwner, Mode, Resource};

/// request_status of sys.dm_tran_locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockStatus {
    /// Held.
    Grant,
    /// Waiting without holding anything on the resource.
    Wait,
    /// Waiting for a stronger mode than the one held.
    Convert,
}

/// One row of sys.dm_tran_locks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockInfo {
    /// @@SPID of the session that has or awaits it.
    pub owner: LockOwner,
    /// The type and description in sys.dm_tran_locks are made from it.
    pub resource: Resource,
    /// The mode held or asked for.
    pub mode: Mode,
    /// Whether `mode` is held or, with [`LockStatus::Wait`] and [`LockStatus::Convert`], only asked
    /// for.
    pub status: LockStatus,
    /// Owned by the session rather than its transaction.
    pub session: bool,
}

/// What a session waits for.
#[derive(Clone, Debug)]
pub struct LockWait {
    /// The mode asked for.
    pub mode: Mode,
    pub resource: Resource,
    /// A session that is in the way.
    pub blocker: LockOwner,
    /// When the wait began, by the engine's clock.
    pub since: Duration,
}

/// Some who waited for each other.
#[derive(Clone, Debug)]
pub struct Deadlock {
    /// Who had to give up.
    pub victim: LockOwner,
    /// What they waited for, and who had it.
    pub locks: Vec<LockInfo>,
}
