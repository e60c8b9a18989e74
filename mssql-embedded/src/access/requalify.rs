//! The second look at a row, under its lock: with lock after qualification, and where an index entry was tested
//! before its row was looked up.

use std::ops::RangeBounds;

use super::Access;
use super::cursor::{Cursor, Locked, as_slice};
use super::tree::{Tree, row_chain};
use crate::error::SqlResult;
use crate::storage::{Key, Row, entry_key};

impl Cursor {
    /// Locks a row that qualified by its last committed version or its index entry, and looks again: `None` if it is not
    /// there any more, or not where this cursor looks.
    ///
    /// # Errors
    ///
    /// 1205, 1222, or the error of an interrupt.
    pub fn requalify(&mut self, a: &mut Access<'_, '_>, locator: &Key) -> SqlResult<Option<Row>> {
        let rows = Tree::rows(&self.table);
        loop {
            match self.lock_row(a, rows, locator, false)? {
                Locked::Not => return Ok(None),
                Locked::Later => {}
                Locked::AtOnce | Locked::AfterWait => break,
            }
        }
        let chain = row_chain(&a.latch.store, self.table.id, locator);
        let Some(row) = chain.and_then(|chain| chain.current()).cloned() else {
            self.release(a);
            return Ok(None);
        };
        let key = match self.index {
            Some(position) => entry_key(&self.table, position, &row, locator),
            None => Key::clone(locator),
        };
        // Without bounds nothing was looked at beforehand, so nothing can have moved.
        let inside = self.bounds.as_ref().is_none_or(|(low, high)| {
            let range = (as_slice(low), as_slice(high));
            RangeBounds::<[u8]>::contains::<[u8]>(&range, &key)
        });
        if !inside {
            self.release(a);
            return Ok(None);
        }
        Ok(Some(row))
    }
}
