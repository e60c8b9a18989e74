//! Reading and writing rows under the lock protocol.
//!
//! This is where a session meets the others: every function here takes locks before it looks at or
//! changes a row, gives the latch up while it waits, and looks again afterwards.

mod acquire;
mod app_lock;
mod cursor;
mod errors;
mod latch;
mod log_bytes;
mod requalify;
#[cfg(test)]
mod tests;
mod tree;
mod write;

use std::time::Duration;

pub use acquire::{await_object, lock_object};
pub use app_lock::{AppResource, app_lock, app_lock_mode, app_lock_test, app_mode, app_unlock};
pub use cursor::Cursor;
pub use latch::Latch;
#[cfg(test)]
pub use write::update;
pub use write::{delete, insert, update_all};

use crate::adversary::{Choices, Grain};
use crate::hooks::Stats;
use crate::interrupt::Interrupt;
use crate::lock::{Grip, LockOwner};
use crate::storage::{CommitSeq, Txn};
#[cfg(test)]
pub use crate::storage::{InsertOutcome, seek_bounds};

/// What an operation on rows needs: the latch, the transaction and how to wait.
pub struct Access<'a, 'e> {
    pub latch: &'a mut Latch<'e>,
    /// What a failure undoes; locks on rows and tables that outlive the statement end with it.
    pub txn: &'a mut Txn,
    /// Who holds the locks: deadlocks are found between owners, not transactions.
    pub owner: LockOwner,
    /// SET LOCK_TIMEOUT; `None` waits for ever.
    pub lock_timeout: Option<Duration>,
    /// SET DEADLOCK_PRIORITY, -10 to 10.
    pub deadlock_priority: i32,
    /// Asked about every 20 ms while waiting and every 1,000 rows, with the latch held: it must not take
    /// it.
    pub interrupted: &'a mut dyn FnMut() -> Option<Interrupt>,
    /// Added to the request's counters when the statement ends.
    pub stats: &'a mut Stats,
    /// What the adversary decides for the statement, if there is one.
    pub choices: Option<&'a Choices>,
    /// Optimized locking: a row that has been written is protected by its writer's transaction id.
    pub optimized: bool,
    /// Locks on rows that are being written, given back once they are (optimized locking).
    pub writing: Vec<Grip>,
}

/// Which version a cursor reads and which lock it takes for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadLock {
    /// The newest version, committed or not (NOLOCK).
    None,
    /// The version of a snapshot; no row locks.
    Snapshot(CommitSeq),
    /// S.
    Shared,
    /// U.
    Update,
    /// X.
    Exclusive,
}

/// What isolation level and hints make of reading one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadMode {
    pub lock: ReadLock,
    /// Locks stay until the end of the transaction: REPEATABLE READ and up, UPDLOCK, XLOCK. X locks always
    /// do. Without it, S locks are released row by row, unless `keep` says otherwise, and U locks when the statement
    /// ends.
    pub hold: bool,
    /// Key-range locks: SERIALIZABLE and HOLDLOCK. Implies `hold`.
    pub range: bool,
    /// S locks stay until the statement ends, because its rows are pointed to and not copied.
    pub keep: bool,
    /// Skip rows that are locked. A wait for the table still happens.
    pub readpast: bool,
    /// Fail with 1222 rather than wait.
    pub nowait: bool,
    /// Lock the table instead of rows: TABLOCK, and with `Update` or `Exclusive` TABLOCKX. Pages are locked
    /// only because an adversary wants it.
    pub grain: Grain,
    /// Look whether the last committed version of a row qualifies before it is locked (optimized locking with
    /// snapshot reads).
    pub qualify_first: bool,
}

impl ReadMode {
    /// A mode that takes the given lock and no more.
    #[cfg(test)]
    pub fn of(lock: ReadLock) -> Self {
        Self {
            lock,
            hold: false,
            range: false,
            keep: false,
            readpast: false,
            nowait: false,
            grain: Grain::Row,
            qualify_first: false,
        }
    }
}
