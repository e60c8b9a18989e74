//! What is locked when several indexes are involved.

use super::*;
use crate::ast::{Condition, Expr, ExprKind, Pos};
use crate::catalog::IndexDef;
use crate::lock::Resource;

fn index_ids(locks: &[LockInfo]) -> Vec<i32> {
    let mut ids: Vec<i32> = locks
        .iter()
        .filter_map(|l| match &l.resource {
            Resource::Key { index, .. } => Some(*index),
            _ => None,
        })
        .collect();
    ids.sort_unstable();
    ids
}

#[test]
fn an_update_locks_only_the_indexes_it_changes() {
    let table = keyed(vec![index(2, false, &[1]), index(3, false, &[2])]);
    let engine = engine(&table, 3);
    let mut session = Session::new(&engine, 2);
    session.set(&table, 0, 1, &[1, 10, 5]).unwrap();
    assert_eq!(
        index_ids(&session.locks()),
        [1, 3, 3],
        "old and new entry of index 3"
    );
}

/// INCLUDE columns are read by covering queries, so changing one locks the entry.
#[test]
fn an_update_of_an_included_column_locks_the_entry() {
    let including = IndexDef {
        include: vec![2],
        ..index(2, false, &[1])
    };
    let table = keyed(vec![including]);
    let engine = engine(&table, 3);
    let mut session = Session::new(&engine, 2);
    session.set(&table, 0, 1, &[1, 10, 5]).unwrap();
    assert_eq!(index_ids(&session.locks()), [1, 2]);
}

#[test]
fn a_read_through_an_index_locks_the_entry_and_then_the_row() {
    let table = keyed(vec![index(2, false, &[1])]);
    let engine = engine(&table, 3);
    let mut session = Session::new(&engine, 2);
    session.seek(&table, 1, 20, UPDLOCK).unwrap();
    assert_eq!(index_ids(&session.locks()), [1, 2]);
    session.rollback();
    session.run(|a| {
        let (low, high) = seek_bounds(&table, 1, &[Value::Int(20)], None, None);
        let mut cursor =
            Cursor::open(&table, AccessPath::Index(1), low, high, false, UPDLOCK).covering();
        assert_eq!(numbers(&cursor.next(a).unwrap().unwrap().row)[1], 20);
    });
    assert_eq!(index_ids(&session.locks()), [2]);
}

/// A covering reader is not stopped by a change that does not concern its index.
#[test]
fn a_covering_read_passes_a_row_whose_other_columns_are_locked() {
    let table = keyed(vec![index(2, false, &[1])]);
    let engine = engine(&table, 1);
    let mut writer = Session::new(&engine, 2);
    writer.set(&table, 0, 1, &[1, 10, 5]).unwrap();
    let mut reader = Session::new(&engine, 3);
    reader.timeout = Some(Duration::ZERO);
    reader.run(|a| {
        let cursor = Cursor::open(
            &table,
            AccessPath::Index(1),
            Bound::Unbounded,
            Bound::Unbounded,
            false,
            SHARED,
        );
        assert_eq!(drain(a, cursor.covering()).unwrap().len(), 1);
    });
    assert_eq!(reader.scan(&table, 1, SHARED).unwrap_err().number, 1222);
}

/// The search keeps U on what it found until the statement ends, then X on what was changed remains.
#[test]
fn an_update_through_an_index_leaves_only_exclusive_locks() {
    let table = keyed(vec![index(2, false, &[1])]);
    let engine = engine(&table, 3);
    let mut session = Session::new(&engine, 2);
    session.set(&table, 1, 20, &[2, 20, 9]).unwrap();
    assert_eq!(session.lock_modes(), ["KEY X", "OBJECT IX"]);
}

#[test]
fn a_scan_in_index_order_follows_the_index_in_both_directions() {
    let mut descending = index(2, false, &[2, 1]);
    descending.keys[1].1 = true;
    let table = keyed(vec![descending]);
    let engine = engine(&table, 4);
    let mut session = Session::new(&engine, 2);
    session.set(&table, 0, 1, &[1, 10, 1]).unwrap();
    let ids = |rows: &[Vec<i64>]| rows.iter().map(|r| r[0]).collect::<Vec<_>>();
    assert_eq!(ids(&session.scan(&table, 1, SHARED).unwrap()), [4, 3, 2, 1]);
    let backwards = session.run(|a| {
        let (low, high) = (Bound::Unbounded, Bound::Unbounded);
        drain(
            a,
            Cursor::open(&table, AccessPath::Index(1), low, high, true, SHARED),
        )
        .unwrap()
    });
    assert_eq!(ids(&backwards), [1, 2, 3, 4]);
    let range = session.run(|a| {
        let (low, high) = seek_bounds(
            &table,
            1,
            &[Value::Int(0)],
            Some((Value::Int(20), false)),
            Some((Value::Int(40), true)),
        );
        drain(
            a,
            Cursor::open(&table, AccessPath::Index(1), low, high, false, SHARED),
        )
        .unwrap()
    });
    assert_eq!(ids(&range), [4, 3]);
}

#[test]
fn a_filtered_index_holds_only_rows_that_qualify() {
    let mut filtered = index(2, true, &[1]);
    // What the filter says is the caller's business; that there is one makes storage ask.
    let variable = Expr {
        pos: Pos::default(),
        kind: ExprKind::Variable("@even".into()),
    };
    let filter = Condition::IsNull {
        expr: variable,
        negated: false,
    };
    filtered.filter = Some((Arc::new(filter), String::new()));
    let table = keyed(vec![filtered]);
    let engine = engine(&table, 0);
    let mut session = Session::new(&engine, 2);
    let mut even = |_: usize, row: &Row| Ok(numbers(row)[2] % 2 == 0);
    session.run(|a| {
        insert(a, &table, ints(&[1, 10, 0]), &mut even).unwrap();
        insert(a, &table, ints(&[2, 10, 1]), &mut even).unwrap();
    });
    assert_eq!(session.scan(&table, 1, SHARED).unwrap(), [[1, 10, 0]]);
    let error = session.run(|a| insert(a, &table, ints(&[3, 10, 2]), &mut even).unwrap_err());
    assert_eq!(error.number, 2601);
    session.run(|a| {
        let found = find(a, &table, 0, 1).unwrap();
        update(a, &table, &found[0], ints(&[1, 10, 7]), &mut even).unwrap();
    });
    assert!(session.scan(&table, 1, SHARED).unwrap().is_empty());
    session.run(|a| insert(a, &table, ints(&[3, 10, 2]), &mut even).unwrap());
    assert_eq!(session.scan(&table, 1, SHARED).unwrap(), [[3, 10, 2]]);
}

#[test]
fn a_heap_is_read_in_the_order_of_insertion_with_row_locks() {
    let table = Arc::new({
        let mut def = heap(&["id", "v", "w"]);
        def.indexes.push(index(2, false, &[0]));
        def
    });
    let engine = engine(&table, 3);
    let mut session = Session::new(&engine, 2);
    session.set(&table, 0, 1, &[9, 10, 0]).unwrap();
    let rows = session.scan(&table, usize::MAX, SHARED).unwrap();
    assert_eq!(rows, [[9, 10, 0], [2, 20, 0], [3, 30, 0]]);
    assert_eq!(
        session.lock_modes(),
        ["KEY X", "KEY X", "OBJECT IX", "RID X"]
    );
    session.commit();
    let serial = session.scan(&table, usize::MAX, SERIAL).unwrap();
    assert_eq!(serial.len(), 3);
    assert_eq!(session.lock_modes(), ["OBJECT S"]);
}
