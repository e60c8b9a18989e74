//! Readers that do not lock: READ_COMMITTED_SNAPSHOT and SNAPSHOT.

use super::*;
use crate::storage::CommitSeq;

fn as_of(seq: CommitSeq) -> ReadMode {
    ReadMode::of(ReadLock::Snapshot(seq))
}

fn open_snapshot(session: &mut Session<'_>) -> CommitSeq {
    session.run(|a| a.txn.open_snapshot(&mut a.latch.store))
}

#[test]
fn a_statement_snapshot_sees_the_last_commit_and_never_waits() {
    let table = keyed(vec![index(2, false, &[1])]);
    let engine = engine(&table, 3);
    let mut writer = Session::new(&engine, 2);
    writer.set(&table, 0, 1, &[1, 99, 0]).unwrap();
    writer.remove(&table, 0, 2).unwrap();
    writer.insert(&table, &[4, 40, 0]).unwrap();
    let mut reader = Session::new(&engine, 3);
    let before = open_snapshot(&mut reader);
    let old = [[1, 10, 0], [2, 20, 0], [3, 30, 0]];
    for index in [0, 1] {
        assert_eq!(reader.scan(&table, index, as_of(before)).unwrap(), old);
    }
    writer.commit();
    for index in [0, 1] {
        assert_eq!(
            reader.scan(&table, index, as_of(before)).unwrap(),
            old,
            "as it was"
        );
    }
    let after = open_snapshot(&mut reader);
    let ids: Vec<i64> = reader
        .scan(&table, 1, as_of(after))
        .unwrap()
        .iter()
        .map(|r| r[0])
        .collect();
    assert_eq!(ids, [3, 4, 1], "in the order of v");
    assert_eq!(reader.stats.lock_waits, 0);
}

#[test]
fn a_writer_sees_its_own_changes_in_its_snapshot() {
    let table = keyed(vec![]);
    let engine = engine(&table, 1);
    let mut session = Session::new(&engine, 2);
    let seq = open_snapshot(&mut session);
    session.set(&table, 0, 1, &[1, 5, 0]).unwrap();
    assert_eq!(session.scan(&table, 0, as_of(seq)).unwrap(), [[1, 5, 0]]);
}

/// Versions and ghosts must not pile up, with or without readers.
#[test]
fn versions_are_kept_only_while_a_snapshot_needs_them() {
    let table = keyed(vec![index(2, false, &[1])]);
    let engine = engine(&table, 5);
    let sizes = || {
        let state = engine.state.lock();
        let store = state.store.table(table.id).unwrap();
        let rows: usize = store.rows.values().map(|c| c.versions()).sum();
        let entries: usize = store.index(2).unwrap().values().map(|c| c.versions()).sum();
        (rows, entries, state.store.garbage_len())
    };
    let churn = |owner| {
        let mut writer = Session::new(&engine, owner);
        for round in 0..50 {
            for id in 1..=5 {
                writer.set(&table, 0, id, &[id, 1000 + round, 0]).unwrap();
            }
            writer.commit();
            writer.insert(&table, &[100 + round, 0, 0]).unwrap();
            writer.commit();
            writer.remove(&table, 0, 100 + round).unwrap();
            writer.commit();
        }
    };
    churn(2);
    assert_eq!(sizes(), (5, 5, 0), "nobody reads the past");
    let mut reader = Session::new(&engine, 3);
    let seq = open_snapshot(&mut reader);
    churn(2);
    let (rows, entries, garbage) = sizes();
    assert!(rows > 200 && entries > 200 && garbage > 0);
    assert_eq!(reader.scan(&table, 1, as_of(seq)).unwrap().len(), 5);
    reader.run(|a| a.txn.close_snapshot(&mut a.latch.store, seq));
    assert_eq!(sizes(), (5, 5, 0), "the last reader has gone");
}

#[test]
fn a_snapshot_transaction_that_changes_a_row_changed_since_gets_3960() {
    let table = keyed(vec![]);
    let engine = engine(&table, 3);
    let mut snapshot = Session::new(&engine, 2);
    snapshot.run(|a| a.txn.take_snapshot(&mut a.latch.store));
    let mut other = Session::new(&engine, 3);
    other.set(&table, 0, 1, &[1, 99, 0]).unwrap();
    other.remove(&table, 0, 2).unwrap();
    other.commit();
    snapshot.set(&table, 0, 3, &[3, 33, 0]).unwrap();
    let error = snapshot.set(&table, 0, 1, &[1, 11, 0]).unwrap_err();
    assert_eq!((error.number, error.severity), (3960, 16));
    assert!(
        error.message.contains("'dbo.t'") && error.message.contains("'db'"),
        "{error}"
    );
    assert_eq!(snapshot.remove(&table, 0, 2).unwrap_err().number, 3960);
    assert_eq!(
        snapshot.seek(&table, 0, 1, UPDLOCK).unwrap_err().number,
        3960
    );
}

/// The row in conflict is not committed yet: the snapshot transaction waits to see how it ends.
#[test]
fn a_snapshot_transaction_waits_for_a_writer_before_it_judges() {
    let table = keyed(vec![]);
    for commits in [true, false] {
        let engine = engine(&table, 1);
        let mut other = Session::new(&engine, 2);
        other.set(&table, 0, 1, &[1, 99, 0]).unwrap();
        std::thread::scope(|s| {
            let snapshot = s.spawn(|| {
                let mut session = Session::new(&engine, 3);
                session.run(|a| a.txn.take_snapshot(&mut a.latch.store));
                session.set(&table, 0, 1, &[1, 11, 0])
            });
            eventually_waits(&engine, 3);
            if commits {
                other.commit();
                assert_eq!(snapshot.join().unwrap().unwrap_err().number, 3960);
            } else {
                other.rollback();
                assert_eq!(snapshot.join().unwrap(), Ok(1));
            }
        });
    }
}

#[test]
fn a_snapshot_older_than_a_change_of_the_definition_gets_3961() {
    let table = keyed(vec![]);
    let engine = engine(&table, 1);
    let mut reader = Session::new(&engine, 2);
    let seq = open_snapshot(&mut reader);
    let mut changer = Session::new(&engine, 3);
    changer.run(|a| {
        lock_object(a, table.id, crate::lock::Mode::SCH_M, true).unwrap();
        a.latch.store.truncate(a.txn, &table);
    });
    changer.commit();
    assert_eq!(reader.scan(&table, 0, as_of(seq)).unwrap_err().number, 3961);
}
