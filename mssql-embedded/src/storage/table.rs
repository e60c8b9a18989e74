//! The rows and index entries of one table.

use std::collections::BTreeMap;

use super::{Chain, CommitSeq, Identity, Key, Row, TxnId};
use crate::catalog::TableDef;

/// The index_id of the tree that holds the rows is 1 with a clustered index and 0 without one; both
/// name the same tree here.
pub(crate) const CLUSTERED: i32 = 1;

/// The storage of one table.
#[derive(Debug)]
pub struct TableStore {
    /// The rows by locator.
    pub(crate) rows: BTreeMap<Key, Chain<Row>>,
    /// The nonclustered indexes.
    pub(crate) indexes: Vec<IndexStore>,
    /// The last row number given out.
    pub(super) row_number: u64,
    /// The counter of the identity column.
    pub(super) identity: Option<Identity>,
    /// Rows whose newest version is not a deletion.
    pub(super) live_rows: u64,
    /// The commit that last changed the definition; older snapshots cannot read the table any more.
    pub(crate) altered: CommitSeq,
}

/// The entries of one nonclustered index: key to locator.
#[derive(Debug)]
pub struct IndexStore {
    /// sys.indexes.index_id.
    pub(crate) id: i32,
    pub(crate) entries: BTreeMap<Key, Chain<Key>>,
}

impl TableStore {
    pub(super) fn new(def: &TableDef) -> Self {
        let indexes = def
            .indexes
            .iter()
            .filter(|index| !index.clustered)
            .map(|index| IndexStore {
                id: index.index_id,
                entries: BTreeMap::new(),
            });
        Self {
            rows: BTreeMap::new(),
            indexes: indexes.collect(),
            row_number: 0,
            identity: def
                .columns
                .iter()
                .find_map(|c| c.identity)
                .map(|(seed, increment)| Identity::new(seed, increment)),
            live_rows: 0,
            altered: 0,
        }
    }

    /// The entries of a nonclustered index.
    pub(crate) fn index(&self, id: i32) -> Option<&BTreeMap<Key, Chain<Key>>> {
        self.indexes
            .iter()
            .find(|index| index.id == id)
            .map(|index| &index.entries)
    }

    pub(super) fn index_mut(&mut self, id: i32) -> Option<&mut BTreeMap<Key, Chain<Key>>> {
        self.indexes
            .iter_mut()
            .find(|index| index.id == id)
            .map(|index| &mut index.entries)
    }

    /// Takes the newest version of a row or entry back. With `bury`, a key that would vanish stays as
    /// a deletion; true if that happened.
    pub(super) fn pop(&mut self, tree: i32, key: &Key, bury: Option<TxnId>) -> bool {
        if tree > CLUSTERED {
            return self
                .index_mut(tree)
                .is_some_and(|entries| pop(entries, key, bury));
        }
        let before = self.rows.get(key).is_some_and(|c| c.current().is_some());
        let buried = pop(&mut self.rows, key, bury);
        let after = self.rows.get(key).is_some_and(|c| c.current().is_some());
        self.count(before, after);
        buried
    }

    pub(super) fn count(&mut self, before: bool, after: bool) {
        match (before, after) {
            (false, true) => self.live_rows += 1,
            (true, false) => self.live_rows = self.live_rows.saturating_sub(1),
            _ => {}
        }
    }

    /// Stamps one row or entry, then forgets what nobody can see any more.
    pub(super) fn commit(
        &mut self,
        tree: i32,
        key: &Key,
        stamp: (TxnId, CommitSeq),
        horizon: CommitSeq,
    ) {
        if tree > CLUSTERED {
            if let Some(entries) = self.index_mut(tree) {
                commit(entries, key, stamp, horizon);
            }
        } else {
            commit(&mut self.rows, key, stamp, horizon);
        }
    }

    /// Forgets versions of one row or entry that nobody can see any more.
    pub(super) fn prune(&mut self, tree: i32, key: &Key, horizon: CommitSeq) {
        if tree > CLUSTERED {
            if let Some(entries) = self.index_mut(tree) {
                prune(entries, key, horizon);
            }
        } else {
            prune(&mut self.rows, key, horizon);
        }
    }

    /// Stamps everything the transaction wrote: after the table was rebuilt, single changes can no
    /// longer be found by their keys.
    pub(super) fn commit_all(&mut self, txn: TxnId, seq: CommitSeq) {
        self.rows.values_mut().for_each(|c| c.commit(txn, seq));
        for index in &mut self.indexes {
            index.entries.values_mut().for_each(|c| c.commit(txn, seq));
        }
    }
}

fn pop<T>(tree: &mut BTreeMap<Key, Chain<T>>, key: &Key, bury: Option<TxnId>) -> bool {
    let Some(chain) = tree.get_mut(key) else {
        return false;
    };
    if chain.pop() {
        return false;
    }
    match bury {
        Some(txn) => {
            chain.bury(txn);
            true
        }
        None => {
            tree.remove(key);
            false
        }
    }
}

fn commit<T>(
    tree: &mut BTreeMap<Key, Chain<T>>,
    key: &Key,
    (txn, seq): (TxnId, CommitSeq),
    horizon: CommitSeq,
) {
    if let Some(chain) = tree.get_mut(key) {
        chain.commit(txn, seq);
        if chain.prune(horizon) {
            tree.remove(key);
        }
    }
}

fn prune<T>(tree: &mut BTreeMap<Key, Chain<T>>, key: &Key, horizon: CommitSeq) {
    if let Some(chain) = tree.get_mut(key)
        && chain.prune(horizon)
    {
        tree.remove(key);
    }
}
