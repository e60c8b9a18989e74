//! Reading without row locks: whatever is there, or what a snapshot sees.

use super::super::tree::{Entries, row_chain};
use super::super::{Access, ReadLock};
use super::{Cursor, Progress, as_slice};
use crate::error::SqlResult;
use crate::storage::{CommitSeq, Found, Key, Row, is_empty_range};

impl Cursor {
    /// Whether the cursor reads without row locks, and from which snapshot. In a SNAPSHOT transaction
    /// the search for rows to change does, too; the change itself then detects conflicts.
    pub(super) fn unlocked(&self, a: &Access<'_, '_>) -> Option<Option<CommitSeq>> {
        match self.mode.lock {
            ReadLock::None => Some(None),
            ReadLock::Snapshot(seq) => Some(Some(seq)),
            ReadLock::Update if self.mode.qualify_first => Some(Some(CommitSeq::MAX)),
            ReadLock::Update if !self.mode.hold => a.txn.snapshot.map(Some),
            ReadLock::Shared | ReadLock::Update | ReadLock::Exclusive => None,
        }
    }

    pub(super) fn next_unlocked(
        &mut self,
        a: &mut Access<'_, '_>,
        snapshot: Option<CommitSeq>,
    ) -> SqlResult<Option<Found>> {
        while self.state == Progress::Reading {
            a.give_way()?;
            let Some((key, found)) = self.step_unlocked(a, snapshot) else {
                self.state = Progress::Finished;
                break;
            };
            self.pass(&key);
            if found.is_none() && self.is_ghost(a, &key) {
                a.stats.ghosts_read += 1;
                continue;
            }
            a.stats.rows_read += 1;
            if let Some((row, locator)) = found {
                return Ok(Some(Found { row, locator }));
            }
        }
        Ok(None)
    }

    /// The next key, and the row if it can be seen.
    pub(super) fn step_unlocked(
        &self,
        a: &Access<'_, '_>,
        snapshot: Option<CommitSeq>,
    ) -> Option<(Key, Option<(Row, Key)>)> {
        let store = &a.latch.store;
        let bounds = (as_slice(&self.low), as_slice(&self.high));
        if is_empty_range(bounds.0, bounds.1) {
            return None;
        }
        let txn = a.txn.id;
        match self.tree.entries(store)? {
            Entries::Rows(rows) => {
                let mut range = rows.range::<[u8], _>(bounds);
                let (key, chain) = if self.reverse {
                    range.next_back()?
                } else {
                    range.next()?
                };
                let row = match snapshot {
                    Some(seq) => chain.visible(seq, txn),
                    None => chain.current(),
                };
                Some((
                    Key::clone(key),
                    row.map(|r| (Row::clone(r), Key::clone(key))),
                ))
            }
            Entries::Index(index) => {
                let mut range = index.range::<[u8], _>(bounds);
                let (key, chain) = if self.reverse {
                    range.next_back()?
                } else {
                    range.next()?
                };
                let locator = match snapshot {
                    Some(seq) => chain.visible(seq, txn),
                    None => chain.current(),
                };
                let found = locator.and_then(|locator| {
                    let chain = row_chain(store, self.table.id, locator)?;
                    let row = match snapshot {
                        Some(seq) => chain.visible(seq, txn),
                        None => chain.current(),
                    };
                    row.map(|r| (Row::clone(r), Key::clone(locator)))
                });
                Some((Key::clone(key), found))
            }
        }
    }
}
