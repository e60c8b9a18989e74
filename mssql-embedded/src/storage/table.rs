//! The rows and index entries of one table.

use std::collections::BTreeMap;

use super::ghosts::Keep;
use super::{Chain, CommitSeq, Identity, Key, Row, TxnId};
use crate::catalog::{IndexDef, TableDef};

/// The index_id of the tree that holds the rows is 1 with a clustered index and 0 without one; both
/// name the same tree here.
pub(crate) const CLUSTERED: i32 = 1;

#[derive(Debug)]
pub struct TableStore {
    /// The rows by locator.
    pub(crate) rows: BTreeMap<Key, Chain<Row>>,
    /// The nonclustered indexes.
    pub(crate) indexes: Vec<IndexStore>,
    /// The last row number given out.
    pub(super) row_number: u64,
    pub(super) identity: Option<Identity>,
    /// Without a clustered index: its rows leave no ghosts.
    heap: bool,
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

impl IndexStore {
    pub fn new(index: &IndexDef) -> Self {
        Self {
            id: index.index_id,
            entries: BTreeMap::new(),
        }
    }
}

impl TableStore {
    pub(super) fn new(def: &TableDef) -> Self {
        let indexes = def
            .indexes
            .iter()
            .filter(|index| !index.clustered)
            .map(IndexStore::new);
        Self {
            rows: BTreeMap::new(),
            indexes: indexes.collect(),
            row_number: 0,
            identity: def
                .columns
                .iter()
                .find_map(|c| c.identity)
                .map(|(seed, increment)| Identity::new(seed, increment)),
            heap: !def.indexes.first().is_some_and(|index| index.clustered),
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

    /// Stamps one row or entry, then forgets what nobody can see any more. True if a ghost is left.
    pub(super) fn commit(
        &mut self,
        tree: i32,
        key: &Key,
        stamp: (TxnId, CommitSeq),
        keep: Keep,
    ) -> bool {
        self.settle(tree, key, Some(stamp), keep)
    }

    /// Forgets versions of one row or entry that nobody can see any more. True if a ghost is left.
    pub(super) fn prune(&mut self, tree: i32, key: &Key, keep: Keep) -> bool {
        self.settle(tree, key, None, keep)
    }

    fn settle(
        &mut self,
        tree: i32,
        key: &Key,
        stamp: Option<(TxnId, CommitSeq)>,
        keep: Keep,
    ) -> bool {
        if tree > CLUSTERED {
            return (self.index_mut(tree)).is_some_and(|entries| settle(entries, key, stamp, keep));
        }
        let ghosts = keep.ghosts && !self.heap;
        settle(&mut self.rows, key, stamp, Keep { ghosts, ..keep })
    }

    /// Whether an unfinished transaction has written a row or entry.
    pub(super) fn is_being_written(&self, tree: i32, key: &Key) -> bool {
        if tree > CLUSTERED {
            let chain = self.index(tree).and_then(|entries| entries.get(key));
            return chain.is_some_and(|chain| chain.writer().is_some());
        }
        (self.rows.get(key)).is_some_and(|chain| chain.writer().is_some())
    }

    /// How many entries are deleted and still there.
    pub(super) fn ghosts(&self) -> usize {
        let rows = self.rows.values().filter(|chain| chain.is_dead()).count();
        let entries = self.indexes.iter().flat_map(|index| index.entries.values());
        rows + entries.filter(|chain| chain.is_dead()).count()
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

/// Stamps what a transaction wrote, if it commits, and forgets what nobody can see. True if the key stays as a ghost.
fn settle<T>(
    tree: &mut BTreeMap<Key, Chain<T>>,
    key: &Key,
    stamp: Option<(TxnId, CommitSeq)>,
    keep: Keep,
) -> bool {
    let Some(chain) = tree.get_mut(key) else {
        return false;
    };
    if let Some((txn, seq)) = stamp {
        chain.commit(txn, seq);
    }
    if !chain.prune(keep.horizon) {
        return false;
    }
    if !keep.ghosts {
        tree.remove(key);
    }
    keep.ghosts
}
