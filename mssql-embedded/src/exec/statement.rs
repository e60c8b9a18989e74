//! The frame around one statement: its transaction, its atomicity, its locks.

use crate::access::lock_object;
use crate::catalog::{ObjectId, TableDef, is_temporary};
use crate::context::read_only;
use crate::error::{SqlError, SqlResult};
use crate::lock::Mode;
use crate::plan::Bound;
use crate::storage::{CommitSeq, Txn};

use super::{Env, permission};

/// Where a statement began: what its failure goes back to.
pub struct Opened {
    /// It has no transaction around it.
    own: bool,
    written: usize,
    /// The marks of the table variables.
    local: Vec<usize>,
}

impl Env<'_, '_> {
    /// Begins a statement. Without an open transaction it gets one of its own with its first access to a table.
    pub fn open_statement(&self) -> Opened {
        Opened {
            own: self.core.trancount == 0,
            written: self.core.txn.as_ref().map_or(0, Txn::undo_len),
            local: self.frame.tables.iter().map(|t| t.mark()).collect(),
        }
    }

    /// Sees to it that a plan may run: what it was bound against is unchanged, nobody changes it while the
    /// statement has its schema locks, and the user may do what it does. False when it must be bound anew.
    pub fn admit(&mut self, bound: &Bound) -> SqlResult<bool> {
        if !self.is_current(bound) {
            return Ok(false);
        }
        self.lock_schemas(&bound.depends)?;
        // Waiting for another session's DDL may have outdated the plan.
        if !self.is_current(bound) {
            return Ok(false);
        }
        permission::check(&bound.requires, self)?;
        if !bound.may_spool {
            self.spools.turn_off();
        }
        Ok(true)
    }

    /// A statement that depends on nothing need not look at the catalogue.
    fn is_current(&self, bound: &Bound) -> bool {
        bound.depends.is_empty() || self.core.against(&self.latch.catalog).is_current(bound)
    }

    /// Whether an object is still defined as it was when it had this version.
    pub fn is_version(&self, object: ObjectId, version: u64) -> bool {
        let against = self.core.against(&self.latch.catalog);
        against.is_version(object, version)
    }

    /// Ends a statement: its own transaction is committed when it succeeded; in an open one a failure takes back
    /// only what the statement wrote.
    pub fn close_statement<T>(&mut self, opened: Opened, result: SqlResult<T>) -> SqlResult<T> {
        let Opened {
            own,
            written,
            local,
        } = opened;
        let owner = self.core.lock_owner();
        // What is left of them is in variables, which pay for it.
        self.large = None;
        let result = result.and_then(|value| self.settle_memory().map(|()| value));
        if result.is_err() {
            for (table, mark) in self.frame.tables.iter_mut().zip(local) {
                table.rollback_to(mark);
            }
        }
        for table in &mut self.frame.tables {
            table.end_statement();
        }
        if own {
            if let Some(txn) = self.core.txn.take() {
                match &result {
                    Ok(_) => {
                        let engine = std::sync::Arc::clone(&self.core.engine);
                        engine.commit(&mut self.latch, txn, &self.core.database, false);
                    }
                    Err(_) => txn.rollback(&mut self.latch),
                }
            }
            return result;
        }
        if let Some(txn) = &mut self.core.txn {
            if result.is_err() && txn.undo_len() > written {
                txn.undo_to(&mut self.latch, written);
            }
            if let Some(snapshot) = self.snapshot.take() {
                txn.close_snapshot(&mut self.latch.store, snapshot);
            }
        }
        if self.latch.is_taken() {
            self.latch.locks.end_statement(owner);
        }
        result
    }

    /// Counts what the variables hold now.
    fn settle_memory(&mut self) -> SqlResult<()> {
        let bytes = self.frame.held_bytes();
        match &mut self.frame.memory {
            None if bytes == 0 => Ok(()),
            Some(charge) => charge.set(bytes),
            none => none.insert(self.core.memory.charge()).set(bytes),
        }
    }

    /// Whether rows of a stored table may be changed.
    ///
    /// # Errors
    ///
    /// 3906 when its database is read-only.
    pub fn check_writable(&self, table: &TableDef) -> SqlResult<()> {
        let home = self.core.home_of(&self.latch.catalog, table);
        match home.filter(|home| home.read_only && !is_temporary(&table.name)) {
            Some(home) => Err(read_only(&home.name)),
            None => Ok(()),
        }
    }

    /// What the statement sees under READ_COMMITTED_SNAPSHOT: everything committed when it first
    /// read. The snapshot stays open until the statement ends, because a scan lets others have the
    /// latch and what they overwrite must stay readable.
    pub fn statement_snapshot(&mut self) -> SqlResult<CommitSeq> {
        if let Some(open) = self.snapshot {
            return Ok(open);
        }
        let access = self.access()?;
        let snapshot = access.txn.open_snapshot(&mut access.latch.store);
        self.snapshot = Some(snapshot);
        Ok(snapshot)
    }

    /// What a SNAPSHOT transaction sees: everything committed when it first read.
    ///
    /// # Errors
    ///
    /// 3952 when the table's database does not allow such transactions, 3951 when this one began under
    /// another isolation level.
    pub fn transaction_snapshot(&mut self, table: &TableDef) -> SqlResult<CommitSeq> {
        let database = self.core.home_of(&self.latch.catalog, table);
        if let Some(database) = database.filter(|d| !d.allow_snapshot_isolation) {
            return Err(SqlError::new(
                3952,
                format!(
                    "Snapshot isolation transaction failed accessing database '{}' because snapshot isolation is not allowed in this database. Use ALTER DATABASE to allow snapshot isolation.",
                    database.name
                ),
            ));
        }
        if self.core.trancount > 0 && !self.core.began_in_snapshot {
            let database = database.map_or("", |d| &d.name);
            return Err(SqlError::new(
                3951,
                format!(
                    "Transaction failed in database '{database}' because the statement was run under snapshot isolation but the transaction did not start in snapshot isolation. You cannot change the isolation level of the transaction to snapshot after the transaction has started unless the transaction was originally started under snapshot isolation level."
                ),
            ));
        }
        let access = self.access()?;
        Ok(access.txn.take_snapshot(&mut access.latch.store))
    }

    /// Waits until nobody is changing the definitions of these objects.
    pub fn lock_schemas(&mut self, objects: &[(ObjectId, u64)]) -> SqlResult<()> {
        for (id, _) in objects {
            lock_object(&mut self.access()?, *id, Mode::SCH_S, false)?;
        }
        Ok(())
    }
}
