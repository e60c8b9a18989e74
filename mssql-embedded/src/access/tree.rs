//! Finding keys in the trees of a table, and the resources that stand for them.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::catalog::{AccessPath, IndexDef, ObjectId, TableDef};
use crate::lock::Resource;
use crate::storage::{Chain, Key, Row, Store, is_empty_range};

/// A tree of a table: the rows themselves or a nonclustered index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tree {
    pub table: ObjectId,
    /// sys.indexes.index_id: 0 a heap, 1 the clustered index, others nonclustered.
    pub id: i32,
}

impl Tree {
    /// The tree that holds the rows.
    pub fn rows(def: &TableDef) -> Self {
        let clustered = def.indexes.first().is_some_and(|index| index.clustered);
        Self {
            table: def.id,
            id: i32::from(clustered),
        }
    }

    /// The tree of an index; a clustered one is the rows.
    pub fn index(def: &TableDef, index: &IndexDef) -> Self {
        if index.clustered {
            return Self::rows(def);
        }
        Self {
            table: def.id,
            id: index.index_id,
        }
    }

    /// The tree that a path reads.
    pub fn of(def: &TableDef, path: AccessPath) -> Self {
        match path.index(def) {
            Some(index) => Self::index(def, index),
            None => Self::rows(def),
        }
    }

    pub fn is_heap(self) -> bool {
        self.id == 0
    }

    pub fn holds_rows(self) -> bool {
        self.id <= 1
    }

    /// What stands for a key in the lock table.
    pub fn resource(self, key: &Key) -> Resource {
        let key = Key::clone(key);
        if self.is_heap() {
            Resource::Row {
                table: self.table,
                key,
            }
        } else {
            Resource::Key {
                table: self.table,
                index: self.id,
                key,
            }
        }
    }

    /// What stands for the gap that ends where `from` begins: the first key there, or the end of the
    /// index. Keys that are dead, kept only for old snapshots or not yet cleaned up, do not count.
    pub fn gap_end(self, store: &Store, from: Bound<&[u8]>) -> Resource {
        let next = match self.entries(store) {
            Some(Entries::Rows(rows)) => first(rows, from, Bound::Unbounded, false, &mut 0),
            Some(Entries::Index(index)) => first(index, from, Bound::Unbounded, false, &mut 0),
            None => None,
        };
        match next {
            Some(key) => self.resource(key),
            None => self.end(),
        }
    }

    /// What stands for the gap behind the last key.
    pub fn end(self) -> Resource {
        Resource::KeyEnd {
            table: self.table,
            index: self.id,
        }
    }

    /// The first key between two bounds that is not dead, seen from the end the scan starts at. How many dead
    /// ones come before it is added to `ghosts`.
    pub fn first(
        self,
        store: &Store,
        low: Bound<&[u8]>,
        high: Bound<&[u8]>,
        reverse: bool,
        ghosts: &mut u64,
    ) -> Option<Key> {
        let key = match self.entries(store)? {
            Entries::Rows(rows) => first(rows, low, high, reverse, ghosts)?,
            Entries::Index(index) => first(index, low, high, reverse, ghosts)?,
        };
        Some(Key::clone(key))
    }

    pub fn entries(self, store: &Store) -> Option<Entries<'_>> {
        let table = store.table(self.table)?;
        if self.holds_rows() {
            Some(Entries::Rows(&table.rows))
        } else {
            table.index(self.id).map(Entries::Index)
        }
    }
}

/// The contents of a tree.
pub(super) enum Entries<'s> {
    Rows(&'s BTreeMap<Key, Chain<Row>>),
    Index(&'s BTreeMap<Key, Chain<Key>>),
}

/// The chain of a row.
pub(super) fn row_chain<'s>(
    store: &'s Store,
    table: ObjectId,
    locator: &Key,
) -> Option<&'s Chain<Row>> {
    store.table(table)?.rows.get(locator)
}

/// The chain of an index entry.
pub(super) fn entry_chain<'s>(store: &'s Store, tree: Tree, key: &Key) -> Option<&'s Chain<Key>> {
    store.table(tree.table)?.index(tree.id)?.get(key)
}

fn first<'s, T>(
    tree: &'s BTreeMap<Key, Chain<T>>,
    low: Bound<&[u8]>,
    high: Bound<&[u8]>,
    reverse: bool,
    ghosts: &mut u64,
) -> Option<&'s Key> {
    if is_empty_range(low, high) {
        return None;
    }
    let mut range = tree.range::<[u8], _>((low, high));
    let mut alive = |(_, chain): &(&Key, &Chain<T>)| {
        let dead = chain.is_dead();
        *ghosts += u64::from(dead);
        !dead
    };
    let found = if reverse {
        range.rfind(&mut alive)
    } else {
        range.find(&mut alive)
    };
    found.map(|(key, _)| key)
}
