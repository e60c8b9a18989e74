//! Reading and writing rows under the lock protocol.

use std::ops::{Bound, Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::MutexGuard;

use crate::catalog::TableDef;
use crate::engine::{Engine, State};
use crate::error::{SqlError, SqlResult};
use crate::lock::LockOwner;
use crate::session::Interrupt;
use crate::storage::{CommitSeq, Key, Row, Txn};
pub use crate::storage::{InsertOutcome, Qualifies};

/// The latch: exclusive access to the engine's state, given up while waiting for a lock.
pub struct Latch<'e> {
    engine: &'e Engine,
    guard: MutexGuard<'e, State>,
}

impl<'e> Latch<'e> {
    /// Takes the latch.
    pub fn new(engine: &'e Engine) -> Self {
        Self {
            engine,
            guard: engine.state.lock(),
        }
    }

    /// The engine behind it.
    pub fn engine(&self) -> &'e Engine {
        self.engine
    }
}

impl Deref for Latch<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.guard
    }
}

impl DerefMut for Latch<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.guard
    }
}

/// Counters of one statement or procedure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Rows and index entries looked at.
    pub rows_read: u64,
    /// Rows inserted, updated and deleted.
    pub rows_written: u64,
    /// Locks acquired.
    pub locks_taken: u64,
    /// Lock requests that had to wait.
    pub lock_waits: u64,
    /// Row locks exchanged for a table lock.
    pub escalations: u64,
}

/// What an operation on rows needs: the latch, the transaction and how to wait.
pub struct Access<'a, 'e> {
    /// The latch.
    pub latch: &'a mut Latch<'e>,
    /// The transaction.
    pub txn: &'a mut Txn,
    /// The session.
    pub owner: LockOwner,
    /// SET LOCK_TIMEOUT; `None` waits for ever.
    pub lock_timeout: Option<Duration>,
    /// SET DEADLOCK_PRIORITY, -10 to 10.
    pub deadlock_priority: i32,
    /// Asked about every 20 ms while waiting and every 1,000 rows; must not touch the latch.
    pub interrupted: &'a mut dyn FnMut() -> Option<Interrupt>,
    /// Counters.
    pub stats: &'a mut Stats,
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

/// How a cursor reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadMode {
    /// Version and lock.
    pub lock: ReadLock,
    /// Locks stay until the end of the transaction.
    pub hold: bool,
    /// Key-range locks: SERIALIZABLE and HOLDLOCK. Implies `hold`.
    pub range: bool,
    /// Skip rows that are locked.
    pub readpast: bool,
    /// Fail with 1222 rather than wait.
    pub nowait: bool,
    /// Lock the table instead of rows (TABLOCK, TABLOCKX with `Exclusive`).
    pub table: bool,
}

/// A row a cursor came to.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its columns.
    pub row: Row,
    /// Where it is, for [`update`] and [`delete`].
    pub locator: Key,
}

/// A position in an index of a table. It remembers keys, never references, so the latch may be
/// given up between two calls.
#[derive(Debug)]
pub struct Cursor {}

impl Cursor {
    /// A cursor over the keys between two bounds. `index` is a position in `table.indexes`;
    /// `usize::MAX` reads the rows of a heap.
    pub fn open(
        _table: &Arc<TableDef>,
        _index: usize,
        _low: Bound<Vec<u8>>,
        _high: Bound<Vec<u8>>,
        _reverse: bool,
        _mode: ReadMode,
    ) -> Self {
        Self {}
    }

    /// A cursor on the one row at `locator`.
    pub fn at(_table: &Arc<TableDef>, _locator: &Key, _mode: ReadMode) -> Self {
        Self {}
    }

    /// The query needs only key and INCLUDE columns of a nonclustered index: the row itself is not
    /// locked.
    #[must_use]
    pub fn covering(self) -> Self {
        self
    }

    /// The next row.
    pub fn next(&mut self, _a: &mut Access<'_, '_>) -> SqlResult<Option<Found>> {
        Err(SqlError::unsupported("reading"))
    }

    /// The row did not qualify: its locks are released unless they must be kept.
    pub fn reject(&mut self, _a: &mut Access<'_, '_>) {}

    /// Ends the scan early, releasing what the current row took.
    pub fn close(&mut self, _a: &mut Access<'_, '_>) {}
}

/// Inserts a row.
pub fn insert(
    _a: &mut Access<'_, '_>,
    _table: &Arc<TableDef>,
    _row: Row,
    _qualifies: Qualifies<'_>,
) -> SqlResult<InsertOutcome> {
    Err(SqlError::unsupported("writing"))
}

/// Replaces a row; returns where it is now.
pub fn update(
    _a: &mut Access<'_, '_>,
    _table: &Arc<TableDef>,
    _locator: &Key,
    _new: Row,
    _qualifies: Qualifies<'_>,
) -> SqlResult<Key> {
    Err(SqlError::unsupported("writing"))
}

/// Replaces several rows as one statement does: a key that one row gives up may be taken by another.
pub fn update_all(
    _a: &mut Access<'_, '_>,
    _table: &Arc<TableDef>,
    _changes: Vec<(Key, Row)>,
    _qualifies: Qualifies<'_>,
) -> SqlResult<Vec<Key>> {
    Err(SqlError::unsupported("writing"))
}

/// Deletes a row.
pub fn delete(
    _a: &mut Access<'_, '_>,
    _table: &Arc<TableDef>,
    _locator: &Key,
    _qualifies: Qualifies<'_>,
) -> SqlResult<()> {
    Err(SqlError::unsupported("writing"))
}
