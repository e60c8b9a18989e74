//! Real deadlocks between threads: one victim, and the other goes on.

use super::*;

/// Two sessions lock two rows in opposite order.
#[test]
fn a_lock_order_inversion_gives_one_victim_and_the_other_succeeds() {
    let table = keyed(vec![]);
    let engine = engine(&table, 2);
    let mut first = Session::new(&engine, 2);
    let mut second = Session::new(&engine, 3);
    first.set(&table, 0, 1, &[1, 111, 0]).unwrap();
    second.set(&table, 0, 2, &[2, 222, 0]).unwrap();
    std::thread::scope(|s| {
        let waiting = s.spawn(|| {
            first.set(&table, 0, 2, &[2, 112, 0]).unwrap();
            first.commit();
        });
        eventually_waits(&engine, 2);
        let error = second.set(&table, 0, 1, &[1, 221, 0]).unwrap_err();
        assert_eq!((error.number, error.severity, error.state), (1205, 13, 51));
        assert!(error.message.contains("(Process ID 3)"), "{error}");
        second.rollback();
        waiting.join().unwrap();
    });
    assert_eq!(
        second.scan(&table, 0, SHARED).unwrap(),
        [[1, 111, 0], [2, 112, 0]]
    );
}

#[test]
fn deadlock_priority_decides_who_gives_up() {
    let table = keyed(vec![]);
    let engine = engine(&table, 2);
    let mut low = Session::new(&engine, 2);
    low.priority = -5;
    let mut normal = Session::new(&engine, 3);
    low.set(&table, 0, 1, &[1, 0, 0]).unwrap();
    normal.set(&table, 0, 2, &[2, 0, 0]).unwrap();
    std::thread::scope(|s| {
        let victim = s.spawn(move || {
            let error = low.set(&table, 0, 2, &[2, 1, 0]).unwrap_err();
            assert_eq!(error.number, 1205);
        });
        eventually_waits(&engine, 2);
        let table = keyed(vec![]);
        normal.set(&table, 0, 1, &[1, 1, 0]).unwrap();
        normal.commit();
        victim.join().unwrap();
    });
    assert_no_locks(&engine);
}

/// A reader through an index locks entry, then row; a writer locks row, then entry.
#[test]
fn a_reader_through_an_index_and_a_writer_of_it_can_deadlock() {
    let table = keyed(vec![index(2, false, &[1])]);
    let engine = engine(&table, 1);
    let mut writer = Session::new(&engine, 2);
    // The row is locked exclusively; its entry follows in the next statement.
    writer.set(&table, 0, 1, &[1, 10, 5]).unwrap();
    std::thread::scope(|s| {
        let reader = s.spawn(|| {
            let mut session = Session::new(&engine, 3);
            session.seek(
                &table,
                1,
                10,
                ReadMode {
                    hold: true,
                    ..SHARED
                },
            )
        });
        eventually_waits(&engine, 3);
        writer.set(&table, 0, 1, &[1, 11, 5]).unwrap();
        writer.commit();
        let error = reader.join().unwrap().unwrap_err();
        assert_eq!(error.number, 1205, "the reader had done the least work");
    });
}

/// Many sessions in random order: every deadlock is resolved, every retry succeeds, no update is lost.
#[test]
fn retried_deadlocks_lose_nothing() {
    const SESSIONS: u32 = 6;
    const ROUNDS: i64 = 40;
    const ROWS: i64 = 4;
    let table = keyed(vec![index(2, false, &[2])]);
    let engine = engine(&table, ROWS);
    std::thread::scope(|s| {
        for owner in 10..10 + SESSIONS {
            let (engine, table) = (&engine, &table);
            s.spawn(move || {
                let mut session = Session::new(engine, owner);
                for round in 0..ROUNDS {
                    let pick = |n: i64| 1 + (i64::from(owner) * 7 + round * 3 + n * 5) % ROWS;
                    let (one, two) = (pick(0), pick(1));
                    while let Err(error) =
                        add(&mut session, table, one).and_then(|()| add(&mut session, table, two))
                    {
                        assert_eq!(error.number, 1205, "{error}");
                        session.rollback();
                    }
                    session.commit();
                }
            });
        }
    });
    let rows = Session::new(&engine, 2).scan(&table, 0, SHARED).unwrap();
    let total: i64 = rows.iter().map(|r| r[2]).sum();
    assert_eq!(total, i64::from(SESSIONS) * ROUNDS * 2);
    assert_no_locks(&engine);
}

/// UPDATE t SET w = w + 1 WHERE id = …
fn add(session: &mut Session<'_>, table: &Arc<TableDef>, id: i64) -> SqlResult<()> {
    session.run(|a| {
        let (low, high) = seek_bounds(table, 0, &[Value::Int(id)], None, None);
        let mode = ReadMode::of(ReadLock::Update);
        let mut cursor = Cursor::open(table, AccessPath::Index(0), low, high, false, mode);
        if let Some(found) = cursor.next(a)? {
            let mut row = numbers(&found.row);
            row[2] += 1;
            update(a, table, &found.locator, ints(&row), &mut all)?;
        }
        Ok(())
    })
}
