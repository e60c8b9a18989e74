//! The frame around one statement: its transaction, its atomicity, its locks.

use crate::access::lock_object;
use crate::catalog::ObjectId;
use crate::error::SqlResult;
use crate::lock::Mode;
use crate::storage::Txn;

use super::Env;

impl<'e> Env<'_, 'e> {
    /// Runs `f` as one statement. Without an open transaction it gets one of its own, committed when
    /// `f` succeeds; in an open transaction a failure takes back only what `f` wrote.
    pub fn statement<T>(&mut self, f: impl FnOnce(&mut Self) -> SqlResult<T>) -> SqlResult<T> {
        let own = self.core.trancount == 0;
        let owner = self.core.lock_owner();
        if self.core.txn.is_none() {
            self.core.txn = Some(Txn::begin(&mut self.latch, owner));
        }
        let mark = self.core.txn.as_ref().map(|t| t.mark(&self.latch));
        let local: Vec<_> = self.frame.tables.iter().map(|t| t.mark()).collect();
        let result = f(self);
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
                    Ok(_) => txn.commit(&mut self.latch),
                    Err(_) => txn.rollback(&mut self.latch),
                }
            }
            return result;
        }
        if result.is_err() {
            if let (Some(txn), Some(mark)) = (&mut self.core.txn, mark) {
                txn.rollback_to(&mut self.latch, mark, false);
            }
        }
        self.latch.locks.end_statement(owner);
        result
    }

    /// Waits until nobody is changing the definitions of these objects.
    pub fn lock_schemas(&mut self, objects: &[(ObjectId, u64)]) -> SqlResult<()> {
        for (id, _) in objects {
            lock_object(&mut self.access()?, *id, Mode::SCH_S, false)?;
        }
        Ok(())
    }
}
