//! All tables, the order of commits, and the snapshots that are still read.

use std::collections::{BTreeMap, VecDeque};

use super::ghosts::{Ghosts, Place};
use super::identity::take_identity;
use super::table::CLUSTERED;
use super::txn::Undo;
use super::{Chain, CommitSeq, Identity, Key, Row, TableStore, Txn, TxnId};
use crate::catalog::{ObjectId, TableDef};
use crate::error::SqlResult;
use crate::fast_map::FastMap;

/// All rows of the engine.
#[derive(Debug, Default)]
pub struct Store {
    pub(super) tables: FastMap<ObjectId, TableStore>,
    commit_seq: CommitSeq,
    last_txn: TxnId,
    /// Open snapshots and how many readers each has.
    snapshots: BTreeMap<CommitSeq, u32>,
    /// Superseded versions that an open snapshot may still read, in the order of the commits that
    /// superseded them.
    garbage: VecDeque<Garbage>,
    /// While commits are not hardened: the last one that is. Held open like a snapshot.
    pub(super) hardened: Option<CommitSeq>,
    /// Deleted entries that are still in their index.
    pub(super) ghosts: Ghosts,
}

#[derive(Debug)]
struct Garbage {
    seq: CommitSeq,
    at: Place,
}

impl Store {
    pub(crate) fn table(&self, id: ObjectId) -> Option<&TableStore> {
        self.tables.get(&id)
    }

    /// How many rows the table has, counting uncommitted changes.
    pub fn row_count(&self, table: ObjectId) -> u64 {
        self.tables.get(&table).map_or(0, |t| t.live_rows)
    }

    pub fn identity(&self, table: ObjectId) -> Option<&Identity> {
        self.tables.get(&table)?.identity.as_ref()
    }

    /// The next value of a table's identity column. It is used up even if the transaction is rolled back.
    ///
    /// # Errors
    ///
    /// 8115 when it does not fit the column's type.
    pub fn next_identity(&mut self, def: &TableDef) -> SqlResult<i64> {
        take_identity(def, self.identity_mut(def.id))
    }

    /// Notes an explicit identity value (IDENTITY_INSERT).
    pub fn raise_identity(&mut self, def: &TableDef, value: i64) {
        if let Some(identity) = self.identity_mut(def.id) {
            identity.note(value);
        }
    }

    /// The identity counter of a table, to take a value or reseed it. What is done to it is not undone
    /// by a rollback.
    pub fn identity_mut(&mut self, table: ObjectId) -> Option<&mut Identity> {
        self.tables.get_mut(&table)?.identity.as_mut()
    }

    /// How many versions are kept beyond the newest of each row, as far as a commit has left them.
    #[cfg(test)]
    pub fn garbage_len(&self) -> usize {
        self.garbage.len()
    }

    /// A number for a new row of a heap, or of a clustered index that is not unique.
    pub(crate) fn next_row_number(&mut self, table: ObjectId) -> u64 {
        self.tables.get_mut(&table).map_or(0, |t| {
            t.row_number += 1;
            t.row_number
        })
    }

    /// Writes a version of a row; `None` deletes it.
    pub(crate) fn write_row(
        &mut self,
        txn: &mut Txn,
        table: ObjectId,
        key: &Key,
        value: Option<Row>,
    ) {
        let Some(store) = self.tables.get_mut(&table) else {
            return;
        };
        let after = value.is_some();
        let before = match store.rows.get_mut(key) {
            Some(chain) => {
                let before = chain.current().is_some();
                chain.push(value, txn.id);
                before
            }
            None => {
                store
                    .rows
                    .insert(Key::clone(key), Chain::new(value, txn.id));
                false
            }
        };
        store.count(before, after);
        txn.undo.push(Undo::Write {
            table,
            tree: CLUSTERED,
            key: Key::clone(key),
        });
    }

    /// Writes a version of an index entry; `None` deletes it.
    pub(crate) fn write_entry(
        &mut self,
        txn: &mut Txn,
        (table, index): (ObjectId, i32),
        key: &Key,
        locator: Option<Key>,
    ) {
        let Some(entries) = self
            .tables
            .get_mut(&table)
            .and_then(|store| store.index_mut(index))
        else {
            return;
        };
        match entries.get_mut(key) {
            Some(chain) => chain.push(locator, txn.id),
            None => {
                entries.insert(Key::clone(key), Chain::new(locator, txn.id));
            }
        }
        txn.undo.push(Undo::Write {
            table,
            tree: index,
            key: Key::clone(key),
        });
    }

    pub(super) fn next_txn(&mut self) -> TxnId {
        self.last_txn += 1;
        self.last_txn
    }

    /// Opens a snapshot of everything committed so far.
    pub(super) fn open_snapshot(&mut self) -> CommitSeq {
        *self.snapshots.entry(self.commit_seq).or_default() += 1;
        self.commit_seq
    }

    /// Closes a snapshot and forgets the versions that only it could see.
    pub(super) fn close_snapshot(&mut self, seq: CommitSeq) {
        if let Some(readers) = self.snapshots.get_mut(&seq) {
            *readers -= 1;
            if *readers == 0 {
                self.snapshots.remove(&seq);
            }
        }
        self.collect();
    }

    pub(super) fn next_commit(&mut self) -> CommitSeq {
        self.commit_seq += 1;
        self.commit_seq
    }

    /// The oldest snapshot that anybody reads or can still open.
    pub(super) fn horizon(&self) -> CommitSeq {
        self.snapshots
            .keys()
            .next()
            .copied()
            .unwrap_or(self.commit_seq)
    }

    /// Stamps one write of a committing transaction.
    pub(super) fn commit_write(&mut self, at: Place, stamp: (TxnId, CommitSeq)) {
        let keep = self.keep();
        let Some(store) = self.tables.get_mut(&at.0) else {
            return;
        };
        let ghost = store.commit(at.1, &at.2, stamp, keep);
        let seq = stamp.1;
        if keep.horizon < seq {
            self.garbage.push_back(Garbage { seq, at });
        } else if ghost {
            self.ghosts.add(at);
        }
    }

    fn collect(&mut self) {
        let keep = self.keep();
        let is_old = |garbage: &Garbage| garbage.seq <= keep.horizon;
        while self.garbage.front().is_some_and(is_old)
            && let Some(garbage) = self.garbage.pop_front()
        {
            let (table, tree, key) = &garbage.at;
            let store = self.tables.get_mut(table);
            if store.is_some_and(|store| store.prune(*tree, key, keep)) {
                self.ghosts.add(garbage.at);
            }
        }
    }
}
