//! The frame around one statement: its transaction, its atomicity, its locks.

use crate::access::lock_object;
use crate::catalog::{ObjectId, TableDef, is_temporary};
use crate::context::read_only;
use crate::error::{SqlError, SqlResult};
use crate::lock::Mode;
use crate::storage::{CommitSeq, Txn};

use super::Env;

impl<'e> Env<'_, 'e> {
    /// Runs `f` as one statement. Without an open transaction it gets one of its own with its first
    /// access to a table, committed when `f` succeeds; in an open transaction a failure takes back only
    /// what `f` wrote.
    pub fn statement<T>(&mut self, f: impl FnOnce(&mut Self) -> SqlResult<T>) -> SqlResult<T> {
        let own = self.core.trancount == 0;
        let owner = self.core.lock_owner();
        let written = self.core.txn.as_ref().map_or(0, Txn::undo_len);
        let local: Vec<_> = self.frame.tables.iter().map(|t| t.mark()).collect();
        let result = f(self).and_then(|value| self.settle_memory().map(|()| value));
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
    /// 3952 when the table's database does not allow such transactions.
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
