//! Storage by itself: definitions, keys, table variables, rollback of everything.

use std::ops::Bound;
use std::sync::Arc;

use super::State;
use super::fixtures::{heap, index, ints, keyed, primary_key};
use super::*;
use crate::catalog::{AccessPath, TableDef};
use crate::error::SqlError;
use crate::value::{DataType, Length};

fn all(_: usize, _: &Row) -> SqlResult<bool> {
    Ok(true)
}

/// A state that holds the table with the given rows, and an open transaction.
fn filled(table: &Arc<TableDef>, rows: &[&[i64]]) -> (State, Txn) {
    let mut state = State::default();
    let mut txn = Txn::begin(&mut state, 1);
    state.store.create_table(&mut txn, table);
    for row in rows {
        put(&mut state, &mut txn, table, row);
    }
    txn.commit(&mut state);
    let txn = Txn::begin(&mut state, 1);
    (state, txn)
}

fn put(state: &mut State, txn: &mut Txn, table: &TableDef, row: &[i64]) {
    let row = ints(row);
    let number = state.store.next_row_number(table.id);
    let locator = base_key(table, &row, number);
    state
        .store
        .write_row(txn, table.id, &locator, Some(Row::clone(&row)));
    for (position, index) in table.indexes.iter().enumerate() {
        if !index.clustered {
            let key = entry_key(table, position, &row, &locator);
            let tree = (table.id, index.index_id);
            state
                .store
                .write_entry(txn, tree, &key, Some(Key::clone(&locator)));
        }
    }
}

fn first_column(state: &State, table: i32) -> Vec<Value> {
    let store = state.store.table(table).unwrap();
    let rows = store.rows.values().filter_map(|c| c.current());
    rows.map(|r| r[0].clone()).collect()
}

/// The index at a position of a definition, over the rows there are.
fn index_over(state: &State, table: &TableDef, position: usize) -> SqlResult<IndexStore> {
    let mut built = IndexStore::new(&table.indexes[position]);
    for (locator, chain) in state.store.page(table.id, None) {
        built.enter(table, position, (&locator, &chain), &mut all)?;
    }
    Ok(built)
}

/// The table with its rows converted for a new definition.
fn rebuilt(
    state: &State,
    new: &TableDef,
    convert: &mut dyn FnMut(&Row) -> SqlResult<Row>,
) -> SqlResult<Rebuilt> {
    let mut rebuilt = Rebuilt::begin(&state.store, new);
    for (_, chain) in state.store.page(new.id, None) {
        rebuilt.add(new, &chain, convert(chain.current().unwrap())?)?;
    }
    for (position, index) in new.indexes.iter().enumerate() {
        if !index.clustered {
            rebuilt.build_index(new, position, &mut all, &mut || Ok(()))?;
        }
    }
    Ok(rebuilt)
}

#[test]
fn adding_an_index_builds_it_and_a_rollback_removes_it() {
    let before = keyed(vec![]);
    let after = keyed(vec![index(2, true, &[1])]);
    let (mut state, mut txn) = filled(&before, &[&[1, 5, 0], &[2, 4, 0]]);
    let built = index_over(&state, &after, 1).unwrap();
    state.store.add_index(&mut txn, 100, built);
    assert_eq!(state.store.table(100).unwrap().index(2).unwrap().len(), 2);
    txn.rollback(&mut state);
    assert!(state.store.table(100).unwrap().index(2).is_none());
}

#[test]
fn a_unique_index_over_duplicates_is_1505() {
    let before = keyed(vec![]);
    let after = keyed(vec![index(2, true, &[1])]);
    let (state, _txn) = filled(&before, &[&[1, 5, 0], &[2, 5, 0]]);
    let error = index_over(&state, &after, 1).unwrap_err();
    assert_eq!((error.number, error.severity), (1505, 16));
    assert_eq!(
        error.message,
        "The CREATE UNIQUE INDEX statement terminated because a duplicate key was found for the \
         object name 'dbo.t' and the index name 'ix_2'. The duplicate key value is (5)."
    );
}

#[test]
fn dropping_and_truncating_are_undone_with_the_transaction() {
    let table = keyed(vec![index(2, false, &[1])]);
    let (mut state, mut txn) = filled(&table, &[&[1, 5, 0], &[2, 4, 0]]);
    assert_eq!(state.store.truncate(&mut txn, &table), 2);
    put(&mut state, &mut txn, &table, &[9, 9, 9]);
    state.store.drop_index(&mut txn, 100, 2);
    state.store.drop_table(&mut txn, 100);
    assert!(state.store.table(100).is_none());
    txn.rollback(&mut state);
    assert_eq!(state.store.row_count(100), 2);
    assert_eq!(state.store.table(100).unwrap().index(2).unwrap().len(), 2);
}

/// Rows written before a rebuild in the same transaction must still be committed by it, although their
/// keys have changed.
#[test]
fn a_rebuild_rewrites_rows_and_commits_what_came_before_it() {
    let mut old = heap(&["id", "v", "w"]);
    old.indexes.push(index(2, false, &[1]));
    let (mut state, mut txn) = filled(&Arc::new(old.clone()), &[&[2, 1, 0]]);
    put(&mut state, &mut txn, &old, &[1, 2, 0]);
    let mut new = old.clone();
    new.indexes.insert(0, primary_key());
    let mut convert =
        |row: &Row| -> SqlResult<Row> { Ok(row.iter().cloned().chain([Value::Null]).collect()) };
    let rebuilt = rebuilt(&state, &new, &mut convert).unwrap();
    state.store.put_rebuilt(&mut txn, 100, rebuilt);
    let order = [Value::Int(1), Value::Int(2)];
    assert_eq!(first_column(&state, 100), order);
    txn.commit(&mut state);
    let store = state.store.table(100).unwrap();
    assert!(store.rows.values().all(|c| c.writer().is_none()));
    assert!(
        store
            .index(2)
            .unwrap()
            .values()
            .all(|c| c.writer().is_none())
    );
    assert!(store.rows.values().all(|c| c.current().unwrap().len() == 4));
}

#[test]
fn a_rebuild_that_fails_changes_nothing() {
    let table = keyed(vec![]);
    let (mut state, txn) = filled(&table, &[&[1, 5, 0], &[2, 5, 0]]);
    let mut fail = |_: &Row| Err(SqlError::new(8152, "no"));
    assert!(rebuilt(&state, &table, &mut fail).is_err());
    let mut same_key = |_: &Row| Ok(ints(&[7, 7, 7]));
    let error = rebuilt(&state, &table, &mut same_key).unwrap_err();
    assert_eq!(error.number, 1505);
    txn.rollback(&mut state);
    assert_eq!(first_column(&state, 100), [Value::Int(1), Value::Int(2)]);
}

#[test]
fn catalogue_hooks_run_backwards_with_the_data() {
    let table = keyed(vec![]);
    let (mut state, mut txn) = filled(&table, &[]);
    txn.on_rollback(|state| state.catalog_mut().next_object_id *= 2);
    txn.on_rollback(|state| state.catalog_mut().next_object_id = 21);
    let mark = txn.mark(&state);
    txn.on_rollback(|state| state.catalog_mut().next_object_id = 1000);
    txn.rollback_to(&mut state, mark);
    assert_eq!(state.catalog.next_object_id, 1000);
    txn.rollback(&mut state);
    assert_eq!(state.catalog.next_object_id, 42);
}

#[test]
fn identity_values_are_not_given_back_by_a_rollback() {
    let mut def = heap(&["id"]);
    def.columns[0].identity = Some((1, 1));
    let table = Arc::new(def);
    let (mut state, txn) = filled(&table, &[]);
    assert_eq!(state.store.next_identity(&table).unwrap(), 1);
    txn.rollback(&mut state);
    assert_eq!(state.store.next_identity(&table).unwrap(), 2);
    state.store.raise_identity(&table, i64::from(i32::MAX));
    let error = state.store.next_identity(&table).unwrap_err();
    assert_eq!((error.number, error.severity), (8115, 16));
}

#[test]
fn seek_bounds_leave_nulls_out_of_ranges_and_in_of_prefixes() {
    let mut def = heap(&["a", "b"]);
    def.indexes.push(index(2, false, &[0, 1]));
    let mut descending = index(3, false, &[0, 1]);
    descending.keys[1].1 = true;
    def.indexes.push(descending);
    let rows: Vec<Row> = [Value::Null, Value::Int(1), Value::Int(2), Value::Int(3)]
        .into_iter()
        .map(|b| [Value::Int(7), b].into())
        .collect();
    let inside = |index: usize, low: Option<(i64, bool)>, high: Option<(i64, bool)>| {
        let value =
            |bound: Option<(i64, bool)>| bound.map(|(n, inclusive)| (Value::Int(n), inclusive));
        let (low, high) = seek_bounds(&def, index, &[Value::Int(7)], value(low), value(high));
        rows.iter()
            .filter(|row| {
                let mut key = encode_index_key(&def, index, row);
                key.push(0x55);
                let above = match &low {
                    Bound::Included(l) => key >= *l,
                    Bound::Excluded(l) => key > *l,
                    Bound::Unbounded => true,
                };
                let below = match &high {
                    Bound::Included(h) => key <= *h,
                    Bound::Excluded(h) => key < *h,
                    Bound::Unbounded => true,
                };
                above && below
            })
            .map(|row| if let Value::Int(n) = row[1] { n } else { 0 })
            .collect::<Vec<_>>()
    };
    for index in [0, 1] {
        assert_eq!(inside(index, None, None), [0, 1, 2, 3]);
        assert_eq!(inside(index, Some((2, true)), None), [2, 3]);
        assert_eq!(inside(index, Some((2, false)), None), [3]);
        assert_eq!(inside(index, None, Some((2, true))), [1, 2]);
        assert_eq!(inside(index, None, Some((2, false))), [1]);
        assert_eq!(inside(index, Some((1, false)), Some((3, false))), [2]);
    }
}

#[test]
fn key_values_are_shown_as_in_sql_servers_messages() {
    let mut def = heap(&["a", "b", "c"]);
    def.columns[1].ty = DataType::UniqueIdentifier;
    def.columns[2].ty = DataType::VarBinary(Length::Max);
    def.indexes.push(index(2, true, &[0, 1, 2]));
    let row: Row = [
        Value::Null,
        Value::Guid([0xAB; 16]),
        Value::Bytes([1, 0xFE].into()),
    ]
    .into();
    assert_eq!(
        key_text(&def, 0, &row),
        "(<NULL>, abababab-abab-abab-abab-abababababab, 0x01fe)"
    );
}

#[test]
fn a_table_variable_enforces_keys_and_undoes_a_failed_statement_only() {
    let table = keyed(vec![index(2, true, &[1])]);
    let mut local = LocalTable::new(&table);
    local.insert(ints(&[2, 20, 0])).unwrap();
    local.insert(ints(&[1, 10, 0])).unwrap();
    local.end_statement();
    let mark = local.mark();
    local.insert(ints(&[3, 30, 0])).unwrap();
    assert_eq!(local.insert(ints(&[4, 10, 0])).unwrap_err().number, 2601);
    assert_eq!(local.insert(ints(&[1, 11, 0])).unwrap_err().number, 2627);
    local.rollback_to(mark);
    assert_eq!(local.len(), 2);
    let mut ids = Vec::new();
    let mut cursor = LocalCursor::all();
    while let Some(found) = cursor.next(&local) {
        ids.push(found.row[0].clone());
    }
    assert_eq!(ids, [Value::Int(1), Value::Int(2)]);
}

#[test]
fn a_table_variable_can_be_sought_updated_and_emptied() {
    let table = keyed(vec![index(2, false, &[1])]);
    let mut local = LocalTable::new(&table);
    for id in 1..=4 {
        local.insert(ints(&[id, id % 2, 0])).unwrap();
    }
    let (low, high) = seek_bounds(&table, 1, &[Value::Int(1)], None, None);
    let mut cursor = LocalCursor::seek(1, low, high);
    let mut changes = Vec::new();
    while let Some(found) = cursor.next(&local) {
        let Value::Int(id) = found.row[0] else {
            panic!()
        };
        changes.push((found.locator, ints(&[4 - id, 5, 0])));
    }
    assert_eq!(changes.len(), 2);
    assert_eq!(
        local.update_all(changes, &mut || Ok(())).unwrap().len(),
        2,
        "1 and 3 change places"
    );
    let mut cursor = LocalCursor::open(
        AccessPath::Index(1),
        (Bound::Unbounded, Bound::Unbounded),
        true,
    );
    let first = cursor.next(&local).unwrap();
    assert_eq!(first.row, ints(&[3, 5, 0]));
    local.delete(&first.locator);
    assert_eq!(local.len(), 3);
    local.clear();
    assert!(local.is_empty() && LocalCursor::all().next(&local).is_none());
}
