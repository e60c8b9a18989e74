//! Changing what is stored when definitions change. The caller holds Sch-M on the table, so nobody
//! else reads or writes it, and every version at the head of a chain is committed or its own.

use std::collections::BTreeMap;

use super::table::TableStore;
use super::txn::Undo;
use super::{Chain, IndexStore, Key, Qualifies, Row, Store, Txn, base_key, entry_key, key_text};
use crate::catalog::{ObjectId, TableDef};
use crate::error::{SqlError, SqlResult};

impl Store {
    /// Makes room for a new table.
    pub fn create_table(&mut self, txn: &mut Txn, def: &TableDef) {
        self.put_table(txn, def.id, Some(TableStore::new(def)));
    }

    /// Removes a table.
    pub fn drop_table(&mut self, txn: &mut Txn, id: ObjectId) {
        self.put_table(txn, id, None);
    }

    /// Removes all rows and starts identity values anew. Returns how many rows there were.
    pub fn truncate(&mut self, txn: &mut Txn, def: &TableDef) -> u64 {
        let rows = self.row_count(def.id);
        self.put_table(txn, def.id, Some(TableStore::new(def)));
        rows
    }

    /// Builds the nonclustered index at `position` of the new definition from the rows there are.
    ///
    /// # Errors
    ///
    /// 1505 if the index is unique and two rows have the same key.
    pub fn add_index(
        &mut self,
        txn: &mut Txn,
        def: &TableDef,
        position: usize,
        qualifies: Qualifies<'_>,
    ) -> SqlResult<()> {
        let Some(table) = self.tables.get_mut(&def.id) else {
            return Ok(());
        };
        let index = build_index(def, position, &table.rows, qualifies)?;
        txn.undo.push(Undo::IndexAdded {
            table: def.id,
            index: index.id,
        });
        table.indexes.push(index);
        Ok(())
    }

    /// Removes a nonclustered index.
    pub fn drop_index(&mut self, txn: &mut Txn, table: ObjectId, index_id: i32) {
        let Some(store) = self.tables.get_mut(&table) else {
            return;
        };
        if let Some(i) = store.indexes.iter().position(|i| i.id == index_id) {
            let index = store.indexes.remove(i);
            txn.undo.push(Undo::IndexDropped { table, index });
        }
    }

    /// Rewrites a table for a new definition: columns added, dropped or converted (`convert` makes the
    /// new row of an old one), a clustered index added or dropped.
    ///
    /// # Errors
    ///
    /// Whatever `convert` raises, and 1505 for duplicate keys; the table is then unchanged.
    pub fn rebuild(
        &mut self,
        txn: &mut Txn,
        new: &TableDef,
        convert: &mut dyn FnMut(&Row) -> SqlResult<Row>,
        qualifies: Qualifies<'_>,
    ) -> SqlResult<()> {
        let Some(old) = self.tables.get(&new.id) else {
            return Ok(());
        };
        let mut table = TableStore::new(new);
        table.row_number = old.row_number;
        table.altered = old.altered;
        if let Some(identity) = old.identity
            && table.identity.is_some()
        {
            table.identity = Some(identity);
        }
        for chain in old.rows.values() {
            let Some(row) = chain.current() else { continue };
            let row = convert(row)?;
            table.row_number += 1;
            let key = base_key(new, &row, table.row_number);
            let kept = chain.map_current(Row::clone(&row));
            if table.rows.insert(key, kept).is_some() {
                return Err(duplicate_while_building(new, 0, &row));
            }
            table.live_rows += 1;
        }
        for (position, index) in new.indexes.iter().enumerate() {
            if !index.clustered {
                let built = build_index(new, position, &table.rows, qualifies)?;
                table.indexes.retain(|i| i.id != built.id);
                table.indexes.push(built);
            }
        }
        self.put_table(txn, new.id, Some(table));
        Ok(())
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

fn build_index(
    def: &TableDef,
    position: usize,
    rows: &BTreeMap<Key, Chain<Row>>,
    qualifies: Qualifies<'_>,
) -> SqlResult<IndexStore> {
    let index = &def.indexes[position];
    let mut entries = BTreeMap::new();
    for (locator, chain) in rows {
        let Some(row) = chain.current() else { continue };
        if index.filter.is_some() && !qualifies(position, row)? {
            continue;
        }
        let key = entry_key(def, position, row, locator);
        if entries
            .insert(key, chain.map_current(Key::clone(locator)))
            .is_some()
        {
            return Err(duplicate_while_building(def, position, row));
        }
    }
    Ok(IndexStore {
        id: index.index_id,
        entries,
    })
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
