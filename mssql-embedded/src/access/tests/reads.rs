//! READ COMMITTED and REPEATABLE READ with locks, and the hints that change them.

use super::*;

#[test]
fn read_committed_releases_each_row_and_ends_without_locks() {
    let table = keyed(vec![]);
    let engine = engine(&table, 3);
    let mut reader = Session::new(&engine, 2);
    reader.run(|a| {
        let mut cursor = Cursor::open(
            &table,
            AccessPath::Index(0),
            Bound::Unbounded,
            Bound::Unbounded,
            false,
            SHARED,
        );
        for _ in 0..3 {
            assert!(cursor.next(a).unwrap().is_some());
            let held = a.latch.locks.held_by(2);
            assert_eq!(held.len(), 2, "the table and the present row: {held:?}");
        }
        assert!(cursor.next(a).unwrap().is_none());
    });
    assert_eq!(reader.lock_modes(), [] as [&str; 0]);
    assert_eq!(reader.stats.rows_read, 3);
}

#[test]
fn repeatable_read_keeps_what_it_read_but_not_what_it_rejected() {
    let table = keyed(vec![]);
    let engine = engine(&table, 3);
    let mut reader = Session::new(&engine, 2);
    let mode = ReadMode {
        hold: true,
        ..SHARED
    };
    reader.run(|a| {
        let mut cursor = Cursor::open(
            &table,
            AccessPath::Index(0),
            Bound::Unbounded,
            Bound::Unbounded,
            false,
            mode,
        );
        while let Some(found) = cursor.next(a).unwrap() {
            if numbers(&found.row)[0] != 2 {
                cursor.reject(a);
            }
        }
    });
    assert_eq!(reader.lock_modes(), ["KEY S", "OBJECT IS"]);
}

#[test]
fn a_reader_waits_for_a_writer_and_then_sees_what_it_committed() {
    let table = keyed(vec![]);
    let engine = engine(&table, 3);
    let mut writer = Session::new(&engine, 2);
    writer.set(&table, 0, 2, &[2, 99, 0]).unwrap();
    std::thread::scope(|s| {
        let reader = s.spawn(|| Session::new(&engine, 3).scan(&table, 0, SHARED).unwrap());
        eventually_waits(&engine, 3);
        writer.commit();
        let rows = reader.join().unwrap();
        assert_eq!(rows, [[1, 10, 0], [2, 99, 0], [3, 30, 0]]);
    });
    assert_no_locks(&engine);
}

/// After the wait the row must be looked at again: it may be gone, or never have been.
#[test]
fn a_reader_that_waited_for_a_delete_or_an_insert_looks_again() {
    let table = keyed(vec![]);
    let engine = engine(&table, 3);
    let mut writer = Session::new(&engine, 2);
    writer.remove(&table, 0, 1).unwrap();
    writer.insert(&table, &[4, 40, 0]).unwrap();
    std::thread::scope(|s| {
        let reader = s.spawn(|| Session::new(&engine, 3).scan(&table, 0, SHARED).unwrap());
        eventually_waits(&engine, 3);
        writer.commit();
        assert_eq!(reader.join().unwrap().len(), 3);
    });
    let mut writer = Session::new(&engine, 2);
    writer.remove(&table, 0, 2).unwrap();
    writer.insert(&table, &[9, 90, 0]).unwrap();
    std::thread::scope(|s| {
        let reader = s.spawn(|| Session::new(&engine, 3).scan(&table, 0, SHARED).unwrap());
        eventually_waits(&engine, 3);
        writer.rollback();
        assert_eq!(reader.join().unwrap(), [[2, 20, 0], [3, 30, 0], [4, 40, 0]]);
    });
}

#[test]
fn readpast_skips_exactly_the_locked_rows_and_never_ones_own() {
    let table = keyed(vec![]);
    let engine = engine(&table, 5);
    let mut first = Session::new(&engine, 2);
    first.set(&table, 0, 2, &[2, 0, 0]).unwrap();
    first.remove(&table, 0, 4).unwrap();
    first.insert(&table, &[6, 60, 0]).unwrap();
    let mut second = Session::new(&engine, 3);
    let ids = |rows: Vec<Vec<i64>>| rows.iter().map(|r| r[0]).collect::<Vec<_>>();
    assert_eq!(ids(second.scan(&table, 0, DEQUEUE).unwrap()), [1, 3, 5]);
    assert_eq!(second.stats.lock_waits, 0);
    assert_eq!(ids(first.scan(&table, 0, DEQUEUE).unwrap()), [2, 6]);
}

#[test]
fn readpast_still_waits_for_the_table() {
    let table = keyed(vec![]);
    let engine = engine(&table, 2);
    let mut first = Session::new(&engine, 2);
    let table_lock = ReadMode {
        grain: Grain::Table,
        hold: true,
        ..plain(ReadLock::Exclusive)
    };
    first.scan(&table, 0, table_lock).unwrap();
    assert_eq!(first.lock_modes(), ["OBJECT X"]);
    std::thread::scope(|s| {
        let second = s.spawn(|| {
            Session::new(&engine, 3)
                .scan(&table, 0, DEQUEUE)
                .unwrap()
                .len()
        });
        eventually_waits(&engine, 3);
        first.commit();
        assert_eq!(second.join().unwrap(), 2);
    });
}

#[test]
fn updlock_blocks_updlock_but_not_a_shared_reader() {
    let table = keyed(vec![]);
    let engine = engine(&table, 2);
    let mut first = Session::new(&engine, 2);
    first.seek(&table, 0, 1, UPDLOCK).unwrap();
    assert_eq!(first.lock_modes(), ["KEY U", "OBJECT IX"]);
    let mut second = Session::new(&engine, 3);
    assert_eq!(second.seek(&table, 0, 1, SHARED).unwrap().len(), 1);
    let nowait = ReadMode {
        nowait: true,
        ..UPDLOCK
    };
    let error = second.seek(&table, 0, 1, nowait).unwrap_err();
    assert_eq!((error.number, error.severity, error.state), (1222, 16, 51));
}

#[test]
fn lock_timeout_is_1222_and_follows_the_engines_clock() {
    let table = keyed(vec![]);
    let engine = engine(&table, 1);
    let mut first = Session::new(&engine, 2);
    first.seek(&table, 0, 1, UPDLOCK).unwrap();
    let mut impatient = Session::new(&engine, 3);
    impatient.timeout = Some(Duration::ZERO);
    assert_eq!(
        impatient.set(&table, 0, 1, &[1, 0, 0]).unwrap_err().number,
        1222
    );
    std::thread::scope(|s| {
        let second = s.spawn(|| {
            let mut session = Session::new(&engine, 4);
            session.timeout = Some(Duration::from_secs(3600));
            session.set(&table, 0, 1, &[1, 0, 0]).unwrap_err()
        });
        eventually_waits(&engine, 4);
        engine.clock.advance(Duration::from_secs(3601));
        assert_eq!(second.join().unwrap().number, 1222);
    });
    assert_eq!(first.lock_modes(), ["KEY U", "OBJECT IX"]);
}

#[test]
fn an_interrupt_ends_a_wait() {
    let table = keyed(vec![]);
    let engine = engine(&table, 1);
    let mut first = Session::new(&engine, 2);
    first.seek(&table, 0, 1, UPDLOCK).unwrap();
    let mut second = Session::new(&engine, 3);
    second.interrupt = Some(Interrupt::Attention);
    let error = second.set(&table, 0, 1, &[1, 0, 0]).unwrap_err();
    assert!(crate::interrupt::is_interrupt(&error), "{error}");
    assert!(!engine.state.lock().locks.is_waiting(3));
}

#[test]
fn dirty_reads_take_no_row_locks_and_see_uncommitted_rows() {
    let table = keyed(vec![]);
    let engine = engine(&table, 2);
    let mut writer = Session::new(&engine, 2);
    writer.set(&table, 0, 1, &[1, 77, 0]).unwrap();
    writer.remove(&table, 0, 2).unwrap();
    let mut reader = Session::new(&engine, 3);
    assert_eq!(reader.scan(&table, 0, DIRTY).unwrap(), [[1, 77, 0]]);
    assert_eq!(reader.stats.locks_taken, 1, "Sch-S on the table");
}

/// A thousand rows apart, another session gets its turn even while a long scan runs.
#[test]
fn a_long_scan_gives_way() {
    let table = keyed(vec![]);
    let engine = engine(&table, 2500);
    let mut reader = Session::new(&engine, 2);
    let turns = std::cell::Cell::new(0);
    reader.run(|a| {
        let mut count = || {
            turns.set(turns.get() + 1);
            None
        };
        let mut a = Access {
            latch: &mut *a.latch,
            txn: &mut *a.txn,
            owner: a.owner,
            lock_timeout: None,
            deadlock_priority: 0,
            interrupted: &mut count,
            stats: &mut *a.stats,
            choices: None,
            optimized: false,
            writing: Vec::new(),
        };
        let (low, high) = (Bound::Unbounded, Bound::Unbounded);
        let rows = drain(
            &mut a,
            Cursor::open(&table, AccessPath::Index(0), low, high, false, SHARED),
        )
        .unwrap();
        assert_eq!(rows.len(), 2500);
    });
    assert_eq!(turns.get(), 2);
}

#[test]
fn a_seek_reads_the_same_number_of_rows_however_large_the_table_is() {
    let counts: Vec<Stats> = [10, 5000]
        .into_iter()
        .map(|rows| {
            let table = keyed(vec![index(2, false, &[1])]);
            let engine = engine(&table, rows);
            let mut session = Session::new(&engine, 2);
            assert_eq!(session.seek(&table, 0, 7, SHARED).unwrap().len(), 1);
            assert_eq!(session.seek(&table, 1, 70, SHARED).unwrap().len(), 1);
            session.stats
        })
        .collect();
    assert_eq!(counts[0], counts[1]);
    assert_eq!(counts[0].rows_read, 2);
}
