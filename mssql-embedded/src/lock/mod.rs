//! The lock manager: who holds what, who waits for whom, and who must give up.
//!
//! It knows nothing of rows or transactions and never blocks: a request that cannot be granted is
//! queued, and the session's thread waits on the condition variable of [`LockManager::signal`] until
//! [`LockManager::poll`] gives a verdict. A lock is handed over at the moment it is released, so
//! nobody can snatch it from the one who is next.

mod deadlock;
mod manager;
mod mode;
mod release;
mod report;
mod resource;
mod table;
#[cfg(test)]
mod tests;
mod view;

pub use manager::{LockManager, Reply, Request, WaitCost};
pub use mode::{Mode, Strength};
pub use report::{Deadlock, LockInfo, LockStatus, LockWait};
pub use resource::{Key, LockOwner, Resource};
pub use table::{Grip, Span, Verdict};
