//! Transactions: what they must undo, what they can see, how they end.

use std::fmt;

use super::State;
use super::table::CLUSTERED;
use super::{CommitSeq, IndexStore, Key, Store, TableStore, TxnId};
use crate::catalog::ObjectId;
use crate::lock::{LockOwner, Resource};

/// A transaction. It must be ended by [`Txn::commit`] or [`Txn::rollback`].
#[derive(Debug)]
pub struct Txn {
    pub id: TxnId,
    /// The session it belongs to.
    pub owner: LockOwner,
    /// SNAPSHOT isolation: what it sees. Set by [`Txn::take_snapshot`].
    pub snapshot: Option<CommitSeq>,
    /// Snapshots it holds open, its own and those of running statements.
    open_snapshots: Vec<CommitSeq>,
    pub(super) undo: Vec<Undo>,
    /// Keys that a partial rollback left as deletions, because the gap before them is locked.
    buried: Vec<(ObjectId, i32, Key)>,
}

/// How to take one change back. Changes are undone newest first.
pub enum Undo {
    /// Remove the newest version of a row (`tree` 0 or 1) or index entry (`tree` is the index_id, as everywhere below).
    Write {
        table: ObjectId,
        tree: i32,
        /// The locator or entry key.
        key: Key,
    },
    /// Put a table's storage back as it was, or away if there was none.
    Table {
        id: ObjectId,
        previous: Option<Box<TableStore>>,
    },
    /// Remove an index that was added.
    IndexAdded { table: ObjectId, index: i32 },
    /// Put an index back that was dropped.
    IndexDropped { table: ObjectId, index: IndexStore },
    /// Anything else: changes of the catalogue.
    Hook(Box<dyn FnOnce(&mut State) + Send>),
}

impl fmt::Debug for Undo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write { table, tree, .. } => write!(f, "Write({table}, {tree})"),
            Self::Table { id, .. } => write!(f, "Table({id})"),
            Self::IndexAdded { table, index } => write!(f, "IndexAdded({table}, {index})"),
            Self::IndexDropped { table, index } => {
                write!(f, "IndexDropped({table}, {})", index.id)
            }
            Self::Hook(_) => f.write_str("Hook"),
        }
    }
}

/// A point to roll back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    undo: usize,
    locks: u64,
}

impl Txn {
    pub fn begin(state: &mut State, owner: LockOwner) -> Self {
        Self {
            id: state.store.next_txn(),
            owner,
            snapshot: None,
            open_snapshots: Vec::new(),
            undo: Vec::new(),
            buried: Vec::new(),
        }
    }

    /// What it has changed, in order: tables by id, and `None` for definitions.
    pub fn changed(&self) -> impl Iterator<Item = Option<ObjectId>> {
        self.undo.iter().map(|undo| match undo {
            Undo::Write { table, .. }
            | Undo::IndexAdded { table, .. }
            | Undo::IndexDropped { table, .. } => Some(*table),
            Undo::Table { id, .. } => Some(*id),
            Undo::Hook(_) => None,
        })
    }

    /// In noted changes: where a failed statement is taken back to, and what a deadlock's victim
    /// would lose.
    pub fn undo_len(&self) -> usize {
        self.undo.len()
    }

    /// Notes how to take a change of the catalogue back.
    pub fn on_rollback(&mut self, hook: impl FnOnce(&mut State) + Send + 'static) {
        self.undo.push(Undo::Hook(Box::new(hook)));
    }

    /// The snapshot of a SNAPSHOT transaction, taken at its first access to data.
    pub fn take_snapshot(&mut self, store: &mut Store) -> CommitSeq {
        match self.snapshot {
            Some(seq) => seq,
            None => {
                let seq = self.open_snapshot(store);
                self.snapshot = Some(seq);
                seq
            }
        }
    }

    /// Opens a snapshot for one statement (READ_COMMITTED_SNAPSHOT). Versions it can see are kept until
    /// it is closed, or the transaction ends.
    pub fn open_snapshot(&mut self, store: &mut Store) -> CommitSeq {
        let seq = store.open_snapshot();
        self.open_snapshots.push(seq);
        seq
    }

    /// Closes the snapshot of a statement.
    pub fn close_snapshot(&mut self, store: &mut Store, seq: CommitSeq) {
        if let Some(i) = self.open_snapshots.iter().rposition(|s| *s == seq) {
            self.open_snapshots.swap_remove(i);
            store.close_snapshot(seq);
        }
    }

    /// The present point, for a savepoint.
    pub fn mark(&self, state: &State) -> Mark {
        Mark {
            undo: self.undo.len(),
            locks: state.locks.acquisitions(self.owner),
        }
    }

    /// Undoes everything since the mark and gives up the locks taken since.
    pub fn rollback_to(&mut self, state: &mut State, mark: Mark) {
        self.undo_to(state, mark.undo);
        state.locks.release_since(self.owner, mark.locks);
    }

    /// Takes back the changes of a failed statement, of which [`Self::undo_len`] told the number before it
    /// began. Its locks stay.
    pub fn undo_to(&mut self, state: &mut State, length: usize) {
        while self.undo.len() > length {
            let Some(undo) = self.undo.pop() else { break };
            self.undo_one(state, undo, true);
        }
    }

    /// Undoes everything and releases all locks of the transaction.
    pub fn rollback(mut self, state: &mut State) {
        while let Some(undo) = self.undo.pop() {
            self.undo_one(state, undo, false);
        }
        for (table, tree, key) in std::mem::take(&mut self.buried) {
            if let Some(store) = state.store.tables.get_mut(&table) {
                store.pop(tree, &key, None);
            }
        }
        self.end(state);
    }

    /// Makes everything visible to others at once and releases all locks of the transaction.
    pub fn commit(mut self, state: &mut State) {
        if !self.undo.is_empty() {
            let seq = state.store.next_commit();
            let stamp = (self.id, seq);
            for undo in std::mem::take(&mut self.undo) {
                match undo {
                    Undo::Write { table, tree, key } => {
                        state.store.commit_write((table, tree, key), stamp);
                    }
                    Undo::Table { id, .. }
                    | Undo::IndexAdded { table: id, .. }
                    | Undo::IndexDropped { table: id, .. } => {
                        if let Some(table) = state.store.tables.get_mut(&id) {
                            table.commit_all(self.id, seq);
                            table.altered = seq;
                        }
                    }
                    Undo::Hook(_) => {}
                }
            }
            for buried in std::mem::take(&mut self.buried) {
                state.store.commit_write(buried, stamp);
            }
        }
        for (table, tree, key) in std::mem::take(&mut self.buried) {
            if let Some(store) = state.store.tables.get_mut(&table) {
                store.pop(tree, &key, None);
            }
        }
        self.end(state);
    }

    fn end(mut self, state: &mut State) {
        for seq in std::mem::take(&mut self.open_snapshots) {
            state.store.close_snapshot(seq);
        }
        state.locks.end_transaction(self.owner);
    }

    fn undo_one(&mut self, state: &mut State, undo: Undo, partial: bool) {
        match undo {
            Undo::Write { table, tree, key } => {
                let bury = partial && self.locks_gap(state, table, tree, &key);
                if let Some(store) = state.store.tables.get_mut(&table)
                    && store.pop(tree, &key, bury.then_some(self.id))
                {
                    self.buried.push((table, tree, key));
                }
            }
            Undo::Table { id, previous } => match previous {
                Some(previous) => {
                    state.store.tables.insert(id, *previous);
                }
                None => {
                    state.store.tables.remove(&id);
                }
            },
            Undo::IndexAdded { table, index } => {
                if let Some(store) = state.store.tables.get_mut(&table) {
                    store.indexes.retain(|i| i.id != index);
                }
            }
            Undo::IndexDropped { table, index } => {
                if let Some(store) = state.store.tables.get_mut(&table) {
                    store.indexes.push(index);
                }
            }
            Undo::Hook(hook) => hook(state),
        }
    }

    /// Whether the transaction protects the gap before a key, so that the key must not vanish before
    /// the transaction ends.
    fn locks_gap(&self, state: &State, table: ObjectId, tree: i32, key: &Key) -> bool {
        state.locks.has_range_locks() && {
            // A heap has no gaps, so the tree of rows can only be the clustered index here.
            let resource = Resource::Key {
                table,
                index: tree.max(CLUSTERED),
                key: Key::clone(key),
            };
            state
                .locks
                .held(self.owner, &resource)
                .is_some_and(|mode| mode.is_range())
        }
    }
}
