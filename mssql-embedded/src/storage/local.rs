//! The storage of a table variable: constraints and indexes, but no locks and no transaction.
//!
//! ROLLBACK does not undo what was written to a table variable; the failure of a statement does, for
//! which the statement takes a mark and goes back to it. Its definition has no filtered indexes: the
//! binder refuses them.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use super::identity::take_identity;
use super::{
    Bounds, Found, Identity, InsertOutcome, Key, Row, base_key, duplicate_error, entry_key,
    is_empty_range,
};
use crate::catalog::{AccessPath, TableDef};
use crate::error::{SqlError, SqlResult};
use crate::memory::heap_bytes;

/// A table variable.
#[derive(Debug)]
pub struct LocalTable {
    def: Arc<TableDef>,
    rows: BTreeMap<Key, Row>,
    /// Entries by position in the definition; the place of a clustered index stays empty.
    indexes: Vec<BTreeMap<Key, Key>>,
    row_number: u64,
    identity: Option<Identity>,
    log: Vec<Change>,
    /// What the rows hold in memory.
    bytes: usize,
}

/// How to take a change back: what was there before.
#[derive(Debug)]
enum Change {
    Row(Key, Option<Row>),
    Entry(usize, Key, Option<Key>),
}

impl LocalTable {
    pub fn new(def: &Arc<TableDef>) -> Self {
        Self {
            def: Arc::clone(def),
            rows: BTreeMap::new(),
            indexes: def.indexes.iter().map(|_| BTreeMap::new()).collect(),
            row_number: 0,
            identity: def
                .columns
                .iter()
                .find_map(|c| c.identity)
                .map(|(seed, increment)| Identity::new(seed, increment)),
            log: Vec::new(),
            bytes: 0,
        }
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The next value of its identity column.
    ///
    /// # Errors
    ///
    /// 8115 when it does not fit the column's type.
    pub fn next_identity(&mut self) -> SqlResult<i64> {
        take_identity(&self.def, self.identity.as_mut())
    }

    /// How many changes are noted; `rollback_to` returns here.
    pub fn mark(&self) -> usize {
        self.log.len()
    }

    /// Undoes everything since the mark.
    pub fn rollback_to(&mut self, mark: usize) {
        while self.log.len() > mark {
            match self.log.pop() {
                Some(Change::Row(key, before)) => {
                    self.bytes += before.as_ref().map_or(0, size);
                    let after = match before {
                        Some(row) => self.rows.insert(key, row),
                        None => self.rows.remove(&key),
                    };
                    self.bytes -= after.as_ref().map_or(0, size);
                }
                Some(Change::Entry(index, key, before)) => {
                    put(&mut self.indexes[index], key, before);
                }
                None => break,
            }
        }
    }

    /// Forgets how to undo: the statement succeeded.
    pub fn end_statement(&mut self) {
        self.log.clear();
    }

    /// Inserts a row.
    ///
    /// # Errors
    ///
    /// 2627 or 2601 for a duplicate key; nothing is changed then.
    pub fn insert(&mut self, row: Row) -> SqlResult<InsertOutcome> {
        let mark = self.mark();
        match self.try_insert(row) {
            Ok(locator) => Ok(InsertOutcome::Inserted(locator)),
            Err((index, error)) => {
                self.rollback_to(mark);
                if self.def.indexes[index].ignore_dup_key {
                    Ok(InsertOutcome::Ignored)
                } else {
                    Err(error)
                }
            }
        }
    }

    /// Replaces rows as one statement does: a key that one row gives up may be taken by another.
    /// Returns where they are now. `ask` is called for every row and says whether to go on.
    ///
    /// # Errors
    ///
    /// 2627 or 2601 for a duplicate key, and what `ask` says; nothing is changed then.
    pub fn update_all(
        &mut self,
        changes: Vec<(Key, Row)>,
        ask: &mut dyn FnMut() -> SqlResult<()>,
    ) -> SqlResult<Vec<Key>> {
        let mark = self.mark();
        let result = self.try_update(changes, ask);
        if result.is_err() {
            self.rollback_to(mark);
        }
        result
    }

    /// Deletes a row, if it is there.
    pub fn delete(&mut self, locator: &Key) {
        let Some(row) = self.rows.get(locator).cloned() else {
            return;
        };
        for index in 0..self.indexes.len() {
            if !self.def.indexes[index].clustered {
                let key = entry_key(&self.def, index, &row, locator);
                self.set_entry(index, key, None);
            }
        }
        self.set_row(Key::clone(locator), None);
    }

    #[cfg(test)]
    pub fn clear(&mut self) {
        for key in self.rows.keys().cloned().collect::<Vec<_>>() {
            self.set_row(key, None);
        }
        for index in 0..self.indexes.len() {
            for key in self.indexes[index].keys().cloned().collect::<Vec<_>>() {
                self.set_entry(index, key, None);
            }
        }
    }

    fn try_insert(&mut self, row: Row) -> Result<Key, (usize, SqlError)> {
        self.row_number += 1;
        let locator = base_key(&self.def, &row, self.row_number);
        if self.rows.contains_key(&locator) {
            return Err((0, duplicate_error(&self.def, 0, &row)));
        }
        self.set_row(Key::clone(&locator), Some(Row::clone(&row)));
        for index in 0..self.indexes.len() {
            if self.def.indexes[index].clustered {
                continue;
            }
            let key = entry_key(&self.def, index, &row, &locator);
            if self.indexes[index].contains_key(&key) {
                return Err((index, duplicate_error(&self.def, index, &row)));
            }
            self.set_entry(index, key, Some(Key::clone(&locator)));
        }
        Ok(locator)
    }

    fn try_update(
        &mut self,
        changes: Vec<(Key, Row)>,
        ask: &mut dyn FnMut() -> SqlResult<()>,
    ) -> SqlResult<Vec<Key>> {
        for (locator, _) in &changes {
            ask()?;
            self.delete(locator);
        }
        let mut locators = Vec::with_capacity(changes.len());
        for (_, row) in changes {
            ask()?;
            locators.push(self.try_insert(row).map_err(|(_, error)| error)?);
        }
        Ok(locators)
    }

    /// What the rows hold in memory.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn set_row(&mut self, key: Key, row: Option<Row>) {
        self.bytes += row.as_ref().map_or(0, size);
        let before = match row {
            Some(row) => self.rows.insert(Key::clone(&key), row),
            None => self.rows.remove(&key),
        };
        self.bytes -= before.as_ref().map_or(0, size);
        self.log.push(Change::Row(key, before));
    }

    fn set_entry(&mut self, index: usize, key: Key, locator: Option<Key>) {
        let before = match locator {
            Some(locator) => self.indexes[index].insert(Key::clone(&key), locator),
            None => self.indexes[index].remove(&key),
        };
        self.log.push(Change::Entry(index, key, before));
    }
}

/// What a row holds in memory.
fn size(row: &Row) -> usize {
    std::mem::size_of_val(&row[..]) + row.iter().map(heap_bytes).sum::<usize>()
}

fn put<T>(tree: &mut BTreeMap<Key, T>, key: Key, value: Option<T>) {
    match value {
        Some(value) => {
            tree.insert(key, value);
        }
        None => {
            tree.remove(&key);
        }
    }
}

/// A position in a table variable. It remembers keys, so the table may change between two calls.
#[derive(Debug)]
pub struct LocalCursor {
    /// The index, or the rows themselves.
    path: AccessPath,
    bounds: Bounds,
    reverse: bool,
}

impl LocalCursor {
    /// A cursor over all rows, in the order of their locators.
    #[cfg(test)]
    pub fn all() -> Self {
        Self::open(
            AccessPath::Heap,
            (Bound::Unbounded, Bound::Unbounded),
            false,
        )
    }

    /// A cursor over the keys between two bounds of the index at a position of the definition.
    #[cfg(test)]
    pub fn seek(index: usize, low: Bound<Vec<u8>>, high: Bound<Vec<u8>>) -> Self {
        Self::open(AccessPath::Index(index), (low, high), false)
    }

    /// A cursor in either direction.
    pub fn open(path: AccessPath, bounds: Bounds, reverse: bool) -> Self {
        Self {
            path,
            bounds,
            reverse,
        }
    }

    pub fn next(&mut self, table: &LocalTable) -> Option<Found> {
        let (key, locator) = match self.path {
            AccessPath::Index(index) if !table.def.indexes[index].clustered => {
                step(&table.indexes[index], &self.bounds, self.reverse)?
            }
            AccessPath::Index(_) | AccessPath::Heap => {
                let (key, _) = step(&table.rows, &self.bounds, self.reverse)?;
                (key, key)
            }
        };
        let passed = Bound::Excluded(key.to_vec());
        let locator = Key::clone(locator);
        if self.reverse {
            self.bounds.1 = passed;
        } else {
            self.bounds.0 = passed;
        }
        let row = Row::clone(table.rows.get(&locator)?);
        Some(Found { row, locator })
    }
}

fn step<'t, T>(
    tree: &'t BTreeMap<Key, T>,
    bounds: &Bounds,
    reverse: bool,
) -> Option<(&'t Key, &'t T)> {
    let low = bounds.0.as_ref().map(Vec::as_slice);
    let high = bounds.1.as_ref().map(Vec::as_slice);
    if is_empty_range(low, high) {
        return None;
    }
    let mut range = tree.range::<[u8], _>((low, high));
    if reverse {
        range.next_back()
    } else {
        range.next()
    }
}
