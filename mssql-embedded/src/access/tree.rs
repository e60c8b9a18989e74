//! Finding keys in the trees of a table, and the resources that stand for them.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::Access;
use crate::catalog::{AccessPath, IndexDef, ObjectId, TableDef};
use crate::error::SqlResult;
use crate::interrupt::{Interrupt, stop_if};
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
    pub fn gap_end(self, a: &mut Access<'_, '_>, from: Bound<&[u8]>) -> SqlResult<Resource> {
        let range = (from, Bound::Unbounded);
        let next = self.first(&a.latch.store, range, false, &mut 0, a.interrupted)?;
        Ok(match next {
            Some(key) => self.resource(&key),
            None => self.end(),
        })
    }

    /// What stands for the gap behind the last key.
    pub fn end(self) -> Resource {
        Resource::KeyEnd {
            table: self.table,
            index: self.id,
        }
    }

    /// The first key between two bounds that is not dead, seen from the end the scan starts at. How many dead
    /// ones come before it is added to `ghosts`. Now and then it is asked whether to go on; the latch stays, because
    /// who protects a gap must know that nothing has come into it on the way.
    pub fn first(
        self,
        store: &Store,
        range: Range<'_>,
        reverse: bool,
        ghosts: &mut u64,
        interrupted: &mut dyn FnMut() -> Option<Interrupt>,
    ) -> SqlResult<Option<Key>> {
        let mut passed = 0;
        let found = match self.entries(store) {
            Some(Entries::Rows(rows)) => first(rows, range, reverse, &mut passed, interrupted)?,
            Some(Entries::Index(index)) => first(index, range, reverse, &mut passed, interrupted)?,
            None => None,
        };
        *ghosts += passed;
        Ok(found.map(Key::clone))
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

/// Two bounds on keys.
type Range<'k> = (Bound<&'k [u8]>, Bound<&'k [u8]>);

/// After so many dead keys it is asked whether to go on.
const GHOSTS_PER_QUESTION: u64 = 1000;

/// The contents of a tree.
pub(super) enum Entries<'s> {
    Rows(&'s BTreeMap<Key, Chain<Row>>),
    Index(&'s BTreeMap<Key, Chain<Key>>),
}

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
    (low, high): Range<'_>,
    reverse: bool,
    passed: &mut u64,
    interrupted: &mut dyn FnMut() -> Option<Interrupt>,
) -> SqlResult<Option<&'s Key>> {
    if is_empty_range(low, high) {
        return Ok(None);
    }
    let mut range = tree.range::<[u8], _>((low, high));
    loop {
        let next = if reverse {
            range.next_back()
        } else {
            range.next()
        };
        let Some((key, chain)) = next else {
            return Ok(None);
        };
        if !chain.is_dead() {
            return Ok(Some(key));
        }
        *passed += 1;
        if passed.is_multiple_of(GHOSTS_PER_QUESTION) {
            stop_if(interrupted())?;
        }
    }
}
