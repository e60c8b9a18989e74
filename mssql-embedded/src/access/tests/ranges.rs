//! Key-range locks: SERIALIZABLE and HOLDLOCK keep phantoms out.

use super::*;

fn between(
    session: &mut Session<'_>,
    table: &Arc<TableDef>,
    low: i64,
    high: i64,
    reverse: bool,
) -> Vec<i64> {
    session.run(|a| {
        let (low, high) = seek_bounds(
            table,
            0,
            &[],
            Some((Value::Int(low), true)),
            Some((Value::Int(high), true)),
        );
        let rows = drain(
            a,
            Cursor::open(table, AccessPath::Index(0), low, high, reverse, SERIAL),
        )
        .unwrap();
        rows.iter().map(|r| r[0]).collect()
    })
}

/// A session that does not wait for locks.
fn impatient(engine: &Engine, owner: LockOwner) -> Session<'_> {
    let mut session = Session::new(engine, owner);
    session.timeout = Some(Duration::ZERO);
    session
}

/// Rows 10, 20, … 50.
fn tens() -> (Arc<TableDef>, Engine) {
    let table = keyed(vec![]);
    let engine = engine(&table, 0);
    let mut session = Session::new(&engine, 1);
    for n in 1..=5 {
        session.insert(&table, &[n * 10, 0, 0]).unwrap();
    }
    session.commit();
    drop(session);
    (table, engine)
}

#[test]
fn a_serializable_scan_keeps_phantoms_out_of_its_range_only() {
    for reverse in [false, true] {
        let (table, engine) = tens();
        let mut reader = Session::new(&engine, 2);
        let mut expected = vec![20, 30];
        if reverse {
            expected.reverse();
        }
        assert_eq!(between(&mut reader, &table, 15, 35, reverse), expected);
        let mut writer = impatient(&engine, 3);
        // The gap before a key is locked with it, so 11 to 39 are out of reach, and 40 is locked itself.
        for inside in [11, 15, 25, 35, 39] {
            let error = writer.insert(&table, &[inside, 0, 0]).unwrap_err();
            assert_eq!(error.number, 1222, "{inside}");
        }
        for outside in [5, 45, 60] {
            writer.insert(&table, &[outside, 0, 0]).unwrap();
        }
        assert_eq!(
            writer.set(&table, 0, 20, &[20, 1, 0]).unwrap_err().number,
            1222
        );
        assert_eq!(writer.seek(&table, 0, 20, SHARED).unwrap().len(), 1);
        reader.commit();
        writer.insert(&table, &[25, 0, 0]).unwrap();
    }
}

#[test]
fn a_serializable_scan_to_the_end_locks_the_end_of_the_index() {
    let (table, engine) = tens();
    let mut reader = Session::new(&engine, 2);
    assert_eq!(between(&mut reader, &table, 45, 1000, false), [50]);
    let mut writer = impatient(&engine, 3);
    assert!(writer.insert(&table, &[2000, 0, 0]).is_err());
    assert!(writer.insert(&table, &[35, 0, 0]).is_ok());
}

/// Finding the row by its whole unique key locks the row alone; not finding it locks the gap.
#[test]
fn an_equality_seek_locks_the_row_or_the_gap_where_it_would_be() {
    let (table, engine) = tens();
    let mut reader = Session::new(&engine, 2);
    assert_eq!(reader.seek(&table, 0, 30, SERIAL).unwrap().len(), 1);
    assert_eq!(reader.lock_modes(), ["KEY S", "OBJECT IS"]);
    let mut writer = impatient(&engine, 3);
    writer.insert(&table, &[25, 0, 0]).unwrap();
    writer.rollback();
    reader.commit();
    assert!(reader.seek(&table, 0, 33, SERIAL).unwrap().is_empty());
    assert_eq!(reader.lock_modes(), ["KEY RangeS-S", "OBJECT IS"]);
    for n in [31, 33, 39] {
        assert!(writer.insert(&table, &[n, 0, 0]).is_err());
    }
    assert!(writer.insert(&table, &[29, 0, 0]).is_ok());
}

/// The upsert idiom: two sessions that look for the same missing key with UPDLOCK, HOLDLOCK queue.
#[test]
fn updlock_holdlock_on_a_missing_key_admits_one_session() {
    let (table, engine) = tens();
    let upsert = ReadMode {
        range: true,
        ..UPDLOCK
    };
    let mut first = Session::new(&engine, 2);
    assert!(first.seek(&table, 0, 33, upsert).unwrap().is_empty());
    assert_eq!(first.lock_modes(), ["KEY RangeS-U", "OBJECT IX"]);
    std::thread::scope(|s| {
        let second = s.spawn(|| {
            let mut session = Session::new(&engine, 3);
            session.seek(&table, 0, 33, upsert).unwrap()
        });
        eventually_waits(&engine, 3);
        first.insert(&table, &[33, 1, 0]).unwrap();
        first.commit();
        assert_eq!(
            second.join().unwrap(),
            [[33, 1, 0]],
            "it sees the row instead of a gap"
        );
    });
}

/// A key inserted into one's own range divides it; the lower half must stay protected.
#[test]
fn an_insert_into_ones_own_range_keeps_both_halves_protected() {
    let (table, engine) = tens();
    let mut owner = Session::new(&engine, 2);
    between(&mut owner, &table, 21, 29, false);
    owner.insert(&table, &[25, 0, 0]).unwrap();
    let mut writer = impatient(&engine, 3);
    for n in [22, 27] {
        assert!(writer.insert(&table, &[n, 0, 0]).is_err(), "{n}");
    }
}

/// A partial rollback must not take a key away that marks the end of a locked gap.
#[test]
fn a_savepoint_rollback_leaves_the_range_protected() {
    let (table, engine) = tens();
    let mut owner = Session::new(&engine, 2);
    let mark = owner.run(|a| a.txn.undo_len());
    owner.insert(&table, &[25, 0, 0]).unwrap();
    between(&mut owner, &table, 21, 25, false);
    owner.run(|a| a.txn.undo_to(a.latch, mark));
    let mut writer = impatient(&engine, 3);
    assert!(writer.insert(&table, &[23, 0, 0]).is_err());
    assert_eq!(between(&mut owner, &table, 21, 29, false), [] as [i64; 0]);
    owner.commit();
    assert!(writer.insert(&table, &[23, 0, 0]).is_ok());
    assert_eq!(engine.state.lock().store.row_count(table.id), 6);
}

#[test]
fn a_range_scan_that_waited_sees_keys_that_appeared_meanwhile() {
    let (table, engine) = tens();
    let mut writer = Session::new(&engine, 2);
    writer.insert(&table, &[25, 0, 0]).unwrap();
    std::thread::scope(|s| {
        let reader = s.spawn(|| between(&mut Session::new(&engine, 3), &table, 15, 35, false));
        eventually_waits(&engine, 3);
        writer.insert(&table, &[22, 0, 0]).unwrap();
        writer.commit();
        assert_eq!(reader.join().unwrap(), [20, 22, 25, 30]);
    });
}

#[test]
fn an_insert_that_waited_for_a_range_goes_on_when_it_is_released() {
    let (table, engine) = tens();
    let mut reader = Session::new(&engine, 2);
    between(&mut reader, &table, 21, 29, false);
    std::thread::scope(|s| {
        let writer = s.spawn(|| {
            let mut session = Session::new(&engine, 3);
            session.insert(&table, &[25, 0, 0]).unwrap();
            session.commit();
        });
        eventually_waits(&engine, 3);
        assert_eq!(between(&mut reader, &table, 21, 29, false), [] as [i64; 0]);
        reader.commit();
        writer.join().unwrap();
    });
    assert_no_locks(&engine);
}
