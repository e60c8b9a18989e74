//! Queues on a table: UPDLOCK, READPAST.

use super::*;

/// DELETE TOP (1) … WITH (UPDLOCK, READPAST) ORDER BY the index.
fn dequeue(session: &mut Session<'_>, table: &Arc<TableDef>, index: usize) -> Option<i64> {
    session.run(|a| {
        let (low, high) = (Bound::Unbounded, Bound::Unbounded);
        let mut cursor = Cursor::open(table, AccessPath::Index(index), low, high, false, DEQUEUE);
        let found = cursor.next(a).unwrap()?;
        delete(a, table, &found.locator, &mut all).unwrap();
        Some(numbers(&found.row)[0])
    })
}

#[test]
fn sixteen_sessions_take_each_of_2000_rows_once() {
    let table = keyed(vec![index(2, false, &[2, 1])]);
    let engine = engine(&table, 2000);
    let taken = parking_lot::Mutex::new(Vec::new());
    std::thread::scope(|s| {
        for owner in 10..26 {
            let (engine, table, taken) = (&engine, &table, &taken);
            s.spawn(move || {
                let mut session = Session::new(engine, owner);
                // A session that finds only locked rows must ask again: they may come back.
                while engine.state.lock().store.row_count(table.id) > 0 {
                    let Some(id) = dequeue(&mut session, table, 1) else {
                        session.commit();
                        continue;
                    };
                    if id % 7 == 0 && session.stats.rows_written.is_multiple_of(2) {
                        session.rollback();
                    } else {
                        session.commit();
                        taken.lock().push(id);
                    }
                }
            });
        }
    });
    let mut taken = taken.into_inner();
    taken.sort_unstable();
    assert_eq!(taken, (1..=2000).collect::<Vec<_>>());
    assert_no_locks(&engine);
}

#[test]
fn a_dequeue_reads_a_constant_number_of_rows() {
    let table = keyed(vec![index(2, false, &[2, 1])]);
    let engine = engine(&table, 3000);
    let mut session = Session::new(&engine, 2);
    for expected in 1..=1000 {
        let before = session.stats;
        assert_eq!(dequeue(&mut session, &table, 1), Some(expected));
        session.commit();
        assert_eq!(
            session.stats.rows_read - before.rows_read,
            1,
            "no ghosts in the way"
        );
    }
}
