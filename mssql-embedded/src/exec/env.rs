//! What a running statement can see and change.

use crate::access::{Access, Latch};
use crate::context::{Core, Frame};
use crate::error::{SqlError, SqlResult};
use crate::hooks::Stats;
use crate::interrupt::{Interrupt, stop_if};
use crate::memory::{Charge, LargeValues};
use crate::storage::CommitSeq;
use crate::value::{ColumnMeta, Value};

use super::Spools;
use super::spool::Shared;

/// Takes rows of a result with their columns; false when nobody wants them any more.
pub type SendRows<'a> = dyn FnMut(&[ColumnMeta], &[Vec<Value>]) -> bool + 'a;

/// The environment of a running statement.
pub struct Env<'a, 'e> {
    /// The latched state of the engine.
    pub latch: Latch<'e>,
    pub core: &'a mut Core,
    pub frame: &'a mut Frame,
    /// Row buffers by query level.
    pub rows: Vec<Vec<Value>>,
    /// Working tables of recursive CTEs, innermost last.
    pub working: Vec<(usize, Shared)>,
    /// Asks the client side whether to stop.
    pub interrupted: &'a mut dyn FnMut() -> Option<Interrupt>,
    /// Sends rows of the statement's result ahead of its end; false when the client is gone. The latch
    /// must not be held, because the client may be slow.
    pub send: &'a mut SendRows<'a>,
    pub stats: Stats,
    /// Days since 0001-01-01 and 100 ns since midnight, UTC; read once, so a statement sees one time.
    pub now: (i32, i64),
    /// What the statement's readers under READ_COMMITTED_SNAPSHOT see, once one of them has begun.
    pub snapshot: Option<CommitSeq>,
    /// Rows that are kept for another look, with an adversary.
    pub spools: Spools,
    /// What the statement keeps until it ends, of the session's memory.
    pub kept: Option<Charge>,
    /// The large values that it has made, once there is one.
    pub large: Option<LargeValues>,
}

impl<'e> Env<'_, 'e> {
    /// The means to read and write rows under locks.
    ///
    /// The interpreter opens a transaction (explicit or for this statement alone) before any
    /// statement that touches tables.
    pub fn access(&mut self) -> SqlResult<Access<'_, 'e>> {
        let owner = self.core.lock_owner();
        let lock_timeout = self.core.settings.lock_timeout();
        let deadlock_priority = self.core.settings.deadlock_priority;
        if self.core.txn.is_none() {
            self.core.txn = Some(self.latch.begin(owner));
        }
        let Some(txn) = &mut self.core.txn else {
            return Err(SqlError::internal("an access without a transaction"));
        };
        Ok(Access {
            latch: &mut self.latch,
            txn,
            owner,
            lock_timeout,
            deadlock_priority,
            interrupted: self.interrupted,
            stats: &mut self.stats,
            choices: self.core.choices.as_ref(),
            optimized: self.core.engine.optimized_locking,
            writing: Vec::new(),
        })
    }

    /// Asked for every row that an operator hands on, since any loop over rows can last: now and then
    /// lets others have the latch and asks whether to go on.
    pub fn tick(&mut self) -> SqlResult<()> {
        tick(&mut self.latch, self.interrupted)
    }

    /// Lets others have the latch and asks whether to go on.
    pub fn pause(&mut self) -> SqlResult<()> {
        self.latch.bump();
        stop_if((self.interrupted)())
    }

    /// Notes that the statement keeps so many bytes more until it ends.
    ///
    /// # Errors
    ///
    /// 701 when the session may not.
    pub fn keep(&mut self, bytes: usize) -> SqlResult<()> {
        let memory = &self.core.memory;
        self.kept.get_or_insert_with(|| memory.charge()).add(bytes)
    }

    /// How many rows SET ROWCOUNT lets a statement return or change.
    pub fn row_limit(&self) -> Option<usize> {
        let limit = self.core.settings.rowcount_limit?;
        usize::try_from(limit.get()).ok()
    }

    pub fn slot(&self, level: usize, slot: usize) -> &Value {
        &self.rows[level][slot]
    }

    pub fn set_slot(&mut self, level: usize, slot: usize, value: Value) {
        self.rows[level][slot] = value;
    }
}

/// What [`Env::tick`] does, for who has lent the rest of the environment away.
pub(super) fn tick(
    latch: &mut Latch<'_>,
    interrupted: &mut dyn FnMut() -> Option<Interrupt>,
) -> SqlResult<()> {
    if latch.give_way() {
        stop_if(interrupted())?;
    }
    Ok(())
}
