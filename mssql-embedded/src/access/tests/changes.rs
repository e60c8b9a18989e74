//! Writing: duplicates, moves, atomicity, escalation, conflicts.

use super::*;
use crate::catalog::IndexDef;

#[test]
fn duplicate_keys_are_2627_for_a_constraint_and_2601_for_an_index() {
    let table = keyed(vec![index(2, true, &[1])]);
    let engine = engine(&table, 2);
    let mut session = Session::new(&engine, 2);
    let error = session.insert(&table, &[1, 5, 0]).unwrap_err();
    assert_eq!((error.number, error.severity, error.state), (2627, 14, 1));
    assert_eq!(
        error.message,
        "Violation of PRIMARY KEY constraint 'pk_t'. Cannot insert duplicate key in object 'dbo.t'. \
         The duplicate key value is (1)."
    );
    let error = session.insert(&table, &[5, 10, 0]).unwrap_err();
    assert_eq!((error.number, error.severity), (2601, 14));
    assert_eq!(
        error.message,
        "Cannot insert duplicate key row in object 'dbo.t' with unique index 'ix_2'. The duplicate \
         key value is (10)."
    );
    session.commit();
    assert_eq!(
        session.scan(&table, 0, SHARED).unwrap().len(),
        2,
        "nothing was left behind"
    );
    assert_eq!(engine.state.lock().store.row_count(table.id), 2);
}

/// A unique index takes one NULL only.
#[test]
fn null_equals_null_in_a_unique_index() {
    let table = keyed(vec![index(2, true, &[1])]);
    let engine = engine(&table, 0);
    let mut session = Session::new(&engine, 2);
    let row = |id| -> Row { [Value::Int(id), Value::Null, Value::Null].into() };
    session.run(|a| {
        insert(a, &table, row(1), &mut all).unwrap();
        let error = insert(a, &table, row(2), &mut all).unwrap_err();
        assert!(error.message.ends_with("(<NULL>)."), "{error}");
    });
}

#[test]
fn ignore_dup_key_leaves_the_row_out_and_its_other_entries_too() {
    let ignoring = IndexDef {
        ignore_dup_key: true,
        ..index(2, true, &[1])
    };
    let table = keyed(vec![ignoring]);
    let engine = engine(&table, 1);
    let mut session = Session::new(&engine, 2);
    assert_eq!(
        session.insert(&table, &[2, 10, 0]),
        Ok(InsertOutcome::Ignored)
    );
    assert_eq!(session.scan(&table, 0, SHARED).unwrap().len(), 1);
    assert_eq!(session.scan(&table, 1, SHARED).unwrap().len(), 1);
}

#[test]
fn an_insert_waits_for_the_unfinished_owner_of_its_key() {
    let table = keyed(vec![]);
    let engine = engine(&table, 0);
    for commit in [true, false] {
        let mut first = Session::new(&engine, 2);
        first.insert(&table, &[7, 1, 0]).unwrap();
        std::thread::scope(|s| {
            let second = s.spawn(|| {
                let mut session = Session::new(&engine, 3);
                let result = session.insert(&table, &[7, 2, 0]);
                session.commit();
                result
            });
            eventually_waits(&engine, 3);
            if commit {
                first.commit();
                assert_eq!(second.join().unwrap().unwrap_err().number, 2627);
                first.remove(&table, 0, 7).unwrap();
                first.commit();
            } else {
                first.rollback();
                assert!(second.join().unwrap().is_ok());
            }
        });
    }
    assert_no_locks(&engine);
}

#[test]
fn an_insert_over_a_row_being_deleted_waits_and_then_succeeds() {
    let table = keyed(vec![index(2, true, &[1])]);
    let engine = engine(&table, 1);
    let mut first = Session::new(&engine, 2);
    first.remove(&table, 0, 1).unwrap();
    std::thread::scope(|s| {
        let second = s.spawn(|| {
            let mut session = Session::new(&engine, 3);
            session.insert(&table, &[5, 10, 1]).unwrap();
            session.commit();
        });
        eventually_waits(&engine, 3);
        first.commit();
        second.join().unwrap();
    });
    assert_eq!(first.scan(&table, 1, SHARED).unwrap(), [[5, 10, 1]]);
}

#[test]
fn keys_may_be_exchanged_within_one_statement() {
    let table = keyed(vec![index(2, true, &[1])]);
    let engine = engine(&table, 3);
    let mut session = Session::new(&engine, 2);
    session.run(|a| {
        let mut changes = Vec::new();
        for id in 1..=3 {
            let locator = find(a, &table, 0, id).unwrap().remove(0);
            changes.push((locator, ints(&[id + 1, (4 - id) * 10, 0])));
        }
        update_all(a, &table, changes, &mut all).unwrap();
    });
    session.commit();
    let rows = [[2, 30, 0], [3, 20, 0], [4, 10, 0]];
    assert_eq!(session.scan(&table, 0, SHARED).unwrap(), rows);
    let by_v: Vec<i64> = session
        .scan(&table, 1, SHARED)
        .unwrap()
        .iter()
        .map(|r| r[1])
        .collect();
    assert_eq!(by_v, [10, 20, 30]);
}

#[test]
fn a_failed_update_changes_nothing() {
    let table = keyed(vec![index(2, true, &[1])]);
    let engine = engine(&table, 3);
    let mut session = Session::new(&engine, 2);
    assert_eq!(
        session.set(&table, 0, 1, &[3, 1, 0]).unwrap_err().number,
        2627
    );
    assert_eq!(
        session.set(&table, 0, 1, &[1, 20, 0]).unwrap_err().number,
        2601
    );
    let rows = [[1, 10, 0], [2, 20, 0], [3, 30, 0]];
    assert_eq!(session.scan(&table, 0, SHARED).unwrap(), rows);
    assert_eq!(session.scan(&table, 1, SHARED).unwrap(), rows);
}

#[test]
fn a_rollback_restores_rows_entries_and_counts() {
    let table = keyed(vec![index(2, false, &[1])]);
    let engine = engine(&table, 3);
    let mut session = Session::new(&engine, 2);
    session.set(&table, 0, 1, &[1, 99, 0]).unwrap();
    session.set(&table, 0, 2, &[8, 98, 0]).unwrap();
    session.remove(&table, 0, 3).unwrap();
    session.insert(&table, &[4, 40, 0]).unwrap();
    session.insert(&table, &[3, 5, 0]).unwrap();
    session.rollback();
    let rows = [[1, 10, 0], [2, 20, 0], [3, 30, 0]];
    assert_eq!(session.scan(&table, 0, SHARED).unwrap(), rows);
    assert_eq!(session.scan(&table, 1, SHARED).unwrap(), rows);
    assert_eq!(engine.state.lock().store.row_count(table.id), 3);
}

#[test]
fn a_savepoint_takes_back_what_came_after_it() {
    let table = keyed(vec![]);
    let engine = engine(&table, 2);
    let mut session = Session::new(&engine, 2);
    session.set(&table, 0, 1, &[1, 11, 0]).unwrap();
    let mark = session.run(|a| a.txn.mark(a.latch));
    session.set(&table, 0, 1, &[1, 12, 0]).unwrap();
    session.set(&table, 0, 2, &[2, 22, 0]).unwrap();
    session.run(|a| a.txn.rollback_to(a.latch, mark));
    assert_eq!(session.lock_modes(), ["KEY X", "OBJECT IX"]);
    session.commit();
    let rows = [[1, 11, 0], [2, 20, 0]];
    assert_eq!(session.scan(&table, 0, SHARED).unwrap(), rows);
}

#[test]
fn more_than_5000_row_locks_of_one_statement_escalate() {
    let table = keyed(vec![]);
    let engine = engine(&table, 5001);
    let mut session = Session::new(&engine, 2);
    assert_eq!(session.scan(&table, 0, UPDLOCK).unwrap().len(), 5001);
    assert_eq!(session.lock_modes(), ["OBJECT X"]);
    assert_eq!(session.stats.escalations, 1);
}

#[test]
fn five_thousand_row_locks_do_not_escalate_nor_do_two_statements() {
    let table = keyed(vec![]);
    let engine = engine(&table, 5000);
    let mut session = Session::new(&engine, 2);
    session.scan(&table, 0, UPDLOCK).unwrap();
    session.insert(&table, &[6000, 1, 0]).unwrap();
    assert_eq!(session.locks().len(), 5002);
    assert_eq!(session.stats.escalations, 0);
}

#[test]
fn lock_escalation_can_be_disabled_and_gives_way_to_others() {
    let mut def = (*keyed(vec![])).clone();
    def.lock_escalation = false;
    let table = Arc::new(def);
    let disabled = engine(&table, 5001);
    let mut session = Session::new(&disabled, 2);
    session.scan(&table, 0, UPDLOCK).unwrap();
    assert_eq!(session.locks().len(), 5002);

    let table = keyed(vec![]);
    let engine = engine(&table, 5001);
    let mut other = Session::new(&engine, 3);
    other.insert(&table, &[9000, 1, 0]).unwrap();
    let mut session = Session::new(&engine, 2);
    session.scan(&table, 0, DEQUEUE).unwrap();
    assert_eq!(
        session.locks().len(),
        5002,
        "another session is in the table"
    );
}

#[test]
fn a_lost_connection_rolls_back_and_lets_waiters_go_on() {
    let table = keyed(vec![]);
    let engine = engine(&table, 1);
    let mut first = Session::new(&engine, 2);
    first.set(&table, 0, 1, &[1, 0, 0]).unwrap();
    std::thread::scope(|s| {
        let second = s.spawn(|| Session::new(&engine, 3).scan(&table, 0, SHARED).unwrap());
        eventually_waits(&engine, 3);
        drop(first);
        assert_eq!(second.join().unwrap(), [[1, 10, 0]]);
    });
    assert_no_locks(&engine);
}

/// A hundred waiting sessions must not stop the holder.
#[test]
fn the_holder_can_commit_while_a_hundred_sessions_wait() {
    let table = keyed(vec![]);
    let engine = engine(&table, 1);
    let mut holder = Session::new(&engine, 2);
    holder.set(&table, 0, 1, &[1, 0, 0]).unwrap();
    std::thread::scope(|s| {
        for owner in 100..200 {
            let (engine, table) = (&engine, &table);
            s.spawn(move || {
                let mut session = Session::new(engine, owner);
                let v = session.run(|a| {
                    let locator = find(a, table, 0, 1)?.remove(0);
                    let mut cursor = Cursor::at(table, &locator, UPDLOCK);
                    let row = cursor.next(a)?.map(|f| numbers(&f.row)).unwrap_or_default();
                    update(a, table, &locator, ints(&[1, row[1] + 1, 0]), &mut all)
                });
                assert!(v.is_ok(), "{v:?}");
                session.commit();
            });
        }
        eventually(&engine, "all wait", |state| state.locks.waiting() == 100);
        holder.commit();
    });
    assert_eq!(holder.scan(&table, 0, SHARED).unwrap(), [[1, 100, 0]]);
}
