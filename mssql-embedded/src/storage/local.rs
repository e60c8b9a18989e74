//! The storage of a table variable: constraints and indexes, but no locks and no transaction.
//!
//! ROLLBACK does not undo what was written to a table variable; the failure of a statement does, for
//! which the statement takes a mark and goes back to it.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use super::{
    Bounds, Identity, InsertOutcome, Key, Qualifies, Row, base_key, duplicate_error, entry_key,
    is_empty_range,
};
use crate::catalog::TableDef;
use crate::error::{SqlError, SqlResult};

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
}

/// How to take a change back: what was there before.
#[derive(Debug)]
enum Change {
    Row(Key, Option<Row>),
    Entry(usize, Key, Option<Key>),
}

impl LocalTable {
    /// An empty table variable.
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
        }
    }

    /// Its definition.
    pub fn def(&self) -> &Arc<TableDef> {
        &self.def
    }

    /// How many rows it has.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Its identity counter.
    pub fn identity_mut(&mut self) -> Option<&mut Identity> {
        self.identity.as_mut()
    }

    /// The row at a locator.
    pub fn get(&self, locator: &Key) -> Option<&Row> {
        self.rows.get(locator)
    }

    /// The present point.
    pub fn mark(&self) -> usize {
        self.log.len()
    }

    /// Undoes everything since the mark.
    pub fn rollback_to(&mut self, mark: usize) {
        while self.log.len() > mark {
            match self.log.pop() {
                Some(Change::Row(key, before)) => put(&mut self.rows, key, before),
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
    pub fn insert(&mut self, row: Row, qualifies: Qualifies<'_>) -> SqlResult<InsertOutcome> {
        let mark = self.mark();
        match self.try_insert(row, qualifies) {
            Ok(locator) => Ok(InsertOutcome::Inserted(locator)),
            Err(Failure::Duplicate { ignore: true, .. }) => {
                self.rollback_to(mark);
                Ok(InsertOutcome::DuplicateIgnored)
            }
            Err(Failure::Duplicate { error, .. } | Failure::Other(error)) => {
                self.rollback_to(mark);
                Err(error)
            }
        }
    }

    /// Replaces rows as one statement does: a key that one row gives up may be taken by another.
    /// Returns where they are now.
    ///
    /// # Errors
    ///
    /// 2627 or 2601 for a duplicate key; nothing is changed then.
    pub fn update_all(
        &mut self,
        changes: Vec<(Key, Row)>,
        qualifies: Qualifies<'_>,
    ) -> SqlResult<Vec<Key>> {
        let mark = self.mark();
        let result = self.try_update(changes, qualifies);
        if result.is_err() {
            self.rollback_to(mark);
        }
        result
    }

    /// Deletes a row, if it is there.
    ///
    /// # Errors
    ///
    /// Only what `qualifies` raises.
    pub fn delete(&mut self, locator: &Key, qualifies: Qualifies<'_>) -> SqlResult<()> {
        let Some(row) = self.rows.get(locator).cloned() else {
            return Ok(());
        };
        for index in 0..self.indexes.len() {
            if self.belongs(index, &row, qualifies)? {
                let key = entry_key(&self.def, index, &row, locator);
                self.set_entry(index, key, None);
            }
        }
        self.set_row(Key::clone(locator), None);
        Ok(())
    }

    /// Removes all rows.
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

    fn try_insert(&mut self, row: Row, qualifies: Qualifies<'_>) -> Result<Key, Failure> {
        self.row_number += 1;
        let locator = base_key(&self.def, &row, self.row_number);
        if self.rows.contains_key(&locator) {
            return Err(self.duplicate(0, &row));
        }
        self.set_row(Key::clone(&locator), Some(Row::clone(&row)));
        for index in 0..self.indexes.len() {
            if !self.belongs(index, &row, qualifies)? {
                continue;
            }
            let key = entry_key(&self.def, index, &row, &locator);
            if self.indexes[index].contains_key(&key) {
                return Err(self.duplicate(index, &row));
            }
            self.set_entry(index, key, Some(Key::clone(&locator)));
        }
        Ok(locator)
    }

    fn try_update(
        &mut self,
        changes: Vec<(Key, Row)>,
        qualifies: Qualifies<'_>,
    ) -> SqlResult<Vec<Key>> {
        for (locator, _) in &changes {
            self.delete(locator, qualifies)?;
        }
        let mut locators = Vec::with_capacity(changes.len());
        for (_, row) in changes {
            match self.try_insert(row, qualifies) {
                Ok(locator) => locators.push(locator),
                Err(Failure::Duplicate { error, .. } | Failure::Other(error)) => return Err(error),
            }
        }
        Ok(locators)
    }

    fn belongs(&self, index: usize, row: &Row, qualifies: Qualifies<'_>) -> SqlResult<bool> {
        let def = &self.def.indexes[index];
        if def.clustered {
            return Ok(false);
        }
        match def.filter {
            Some(_) => qualifies(index, row),
            None => Ok(true),
        }
    }

    fn duplicate(&self, index: usize, row: &Row) -> Failure {
        Failure::Duplicate {
            ignore: self.def.indexes[index].ignore_dup_key,
            error: duplicate_error(&self.def, index, row),
        }
    }

    fn set_row(&mut self, key: Key, row: Option<Row>) {
        let before = match row {
            Some(row) => self.rows.insert(Key::clone(&key), row),
            None => self.rows.remove(&key),
        };
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

enum Failure {
    Duplicate { ignore: bool, error: SqlError },
    Other(SqlError),
}

impl From<SqlError> for Failure {
    fn from(error: SqlError) -> Self {
        Self::Other(error)
    }
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
    /// Position of a nonclustered index; `None` reads the rows themselves.
    index: Option<usize>,
    bounds: Bounds,
    reverse: bool,
}

impl LocalCursor {
    /// A cursor over the keys between two bounds. `index` is a position in the definition's indexes;
    /// `usize::MAX` reads the rows of a heap.
    pub fn open(table: &LocalTable, index: usize, bounds: Bounds, reverse: bool) -> Self {
        Self {
            index: table
                .def
                .indexes
                .get(index)
                .filter(|def| !def.clustered)
                .map(|_| index),
            bounds,
            reverse,
        }
    }

    /// The next row and its locator.
    pub fn next(&mut self, table: &LocalTable) -> Option<(Row, Key)> {
        let (key, locator) = match self.index {
            None => {
                let (key, _) = step(&table.rows, &self.bounds, self.reverse)?;
                (Key::clone(key), Key::clone(key))
            }
            Some(index) => {
                let (key, locator) = step(&table.indexes[index], &self.bounds, self.reverse)?;
                (Key::clone(key), Key::clone(locator))
            }
        };
        let passed = Bound::Excluded(key.to_vec());
        if self.reverse {
            self.bounds.1 = passed;
        } else {
            self.bounds.0 = passed;
        }
        Some((table.rows.get(&locator)?.clone(), locator))
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
