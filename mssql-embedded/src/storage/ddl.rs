//! Changing what is stored when definitions change. The caller holds Sch-M on the table, so nobody
//! else reads or writes it, and every version at the head of a chain is committed or its own.

use std::ops::Bound;

use super::table::TableStore;
use super::txn::Undo;
use super::{Chain, IndexStore, Key, Qualifies, Row, Store, Txn, base_key, entry_key, key_text};
use crate::catalog::{ObjectId, TableDef};
use crate::error::{SqlError, SqlResult};

/// How many rows of a table are looked at before others may have the latch.
const ROWS_PER_PAGE: usize = 1000;

impl Store {
    pub fn create_table(&mut self, txn: &mut Txn, def: &TableDef) {
        self.put_table(txn, def.id, Some(TableStore::new(def)));
    }

    pub fn drop_table(&mut self, txn: &mut Txn, id: ObjectId) {
        self.put_table(txn, id, None);
    }

    /// Removes all rows and starts identity values anew. Returns how many rows there were.
    pub fn truncate(&mut self, txn: &mut Txn, def: &TableDef) -> u64 {
        let rows = self.row_count(def.id);
        self.put_table(txn, def.id, Some(TableStore::new(def)));
        rows
    }

    /// The rows after a key, in the order of the table and not all at once: what a definition makes rows or entries anew
    /// of, which has the table to itself. Each comes with its locator and as its newest version alone.
    pub fn page(&self, table: ObjectId, after: Option<&Key>) -> Vec<(Key, Chain<Row>)> {
        let Some(table) = self.tables.get(&table) else {
            return Vec::new();
        };
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let rows = table.rows.range::<Key, _>((from, Bound::Unbounded));
        rows.filter_map(|(key, chain)| {
            let row = Row::clone(chain.current()?);
            Some((Key::clone(key), chain.map_current(row)))
        })
        .take(ROWS_PER_PAGE)
        .collect()
    }

    /// Adds a nonclustered index that has been built.
    pub fn add_index(&mut self, txn: &mut Txn, table: ObjectId, index: IndexStore) {
        let Some(store) = self.tables.get_mut(&table) else {
            return;
        };
        txn.undo.push(Undo::IndexAdded {
            table,
            index: index.id,
        });
        store.indexes.push(index);
    }

    pub fn drop_index(&mut self, txn: &mut Txn, table: ObjectId, index_id: i32) {
        let Some(store) = self.tables.get_mut(&table) else {
            return;
        };
        if let Some(i) = store.indexes.iter().position(|i| i.id == index_id) {
            let index = store.indexes.remove(i);
            txn.undo.push(Undo::IndexDropped { table, index });
        }
    }

    /// Puts a table that has been rebuilt in the place of the old one.
    pub fn put_rebuilt(&mut self, txn: &mut Txn, id: ObjectId, rebuilt: Rebuilt) {
        let Some(old) = self.tables.get(&id) else {
            return;
        };
        let mut table = rebuilt.0;
        table.altered = old.altered;
        if let Some(identity) = old.identity
            && table.identity.is_some()
        {
            table.identity = Some(identity);
        }
        self.put_table(txn, id, Some(table));
    }

    fn put_table(&mut self, txn: &mut Txn, id: ObjectId, table: Option<TableStore>) {
        let previous = match table {
            Some(table) => self.tables.insert(id, table),
            None => self.tables.remove(&id),
        };
        txn.undo.push(Undo::Table {
            id,
            previous: previous.map(Box::new),
        });
    }
}

/// A table under its new definition (columns added, dropped or converted, a clustered index added or dropped) while it is
/// made of the rows of the old one, row by row. Nobody sees it before it is put in place, so others may have the latch
/// in between, and who gives it up has changed nothing.
#[derive(Debug)]
pub struct Rebuilt(TableStore);

impl Rebuilt {
    /// An empty table that gives out other row numbers than the old one did.
    pub fn begin(store: &Store, new: &TableDef) -> Self {
        let mut table = TableStore::new(new);
        table.row_number = store.tables.get(&new.id).map_or(0, |old| old.row_number);
        Self(table)
    }

    /// Adds what has become of an old row.
    ///
    /// # Errors
    ///
    /// 1505 if a row with the same key is there.
    pub fn add(&mut self, new: &TableDef, old: &Chain<Row>, row: Row) -> SqlResult<()> {
        let table = &mut self.0;
        table.row_number += 1;
        let key = base_key(new, &row, table.row_number);
        let kept = old.map_current(Row::clone(&row));
        if table.rows.insert(key, kept).is_some() {
            return Err(duplicate_while_building(new, 0, &row));
        }
        table.live_rows += 1;
        Ok(())
    }

    /// Builds the nonclustered index at a position of the definition from the rows; `ask` says at each whether to go on.
    ///
    /// # Errors
    ///
    /// Those of [`IndexStore::enter`], and what `ask` says.
    pub fn build_index(
        &mut self,
        new: &TableDef,
        position: usize,
        qualifies: Qualifies<'_>,
        ask: &mut dyn FnMut() -> SqlResult<()>,
    ) -> SqlResult<()> {
        let mut built = IndexStore::new(&new.indexes[position]);
        for (locator, chain) in &self.0.rows {
            ask()?;
            built.enter(new, position, (locator, chain), qualifies)?;
        }
        self.0.indexes.retain(|i| i.id != built.id);
        self.0.indexes.push(built);
        Ok(())
    }
}

impl IndexStore {
    /// Enters a row into an index that is being built, if it belongs there.
    ///
    /// # Errors
    ///
    /// 1505 if the index is unique and has the same key.
    pub fn enter(
        &mut self,
        def: &TableDef,
        position: usize,
        (locator, chain): (&Key, &Chain<Row>),
        qualifies: Qualifies<'_>,
    ) -> SqlResult<()> {
        let Some(row) = chain.current() else {
            return Ok(());
        };
        if def.indexes[position].filter.is_some() && !qualifies(position, row)? {
            return Ok(());
        }
        let key = entry_key(def, position, row, locator);
        let entry = chain.map_current(Key::clone(locator));
        match self.entries.insert(key, entry) {
            Some(_) => Err(duplicate_while_building(def, position, row)),
            None => Ok(()),
        }
    }
}

fn duplicate_while_building(def: &TableDef, position: usize, row: &Row) -> SqlError {
    SqlError::new(
        1505,
        format!(
            "The CREATE UNIQUE INDEX statement terminated because a duplicate key was found for the \
             object name '{}.{}' and the index name '{}'. The duplicate key value is {}.",
            def.schema,
            def.name,
            def.indexes[position].name,
            key_text(def, position, row)
        ),
    )
}
