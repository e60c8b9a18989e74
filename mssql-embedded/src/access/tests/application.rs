//! sp_getapplock between sessions.

use super::*;
use crate::lock::Mode;

fn named(name: &[u16], session: bool) -> AppResource<'_> {
    AppResource {
        database: 5,
        principal: 0,
        name,
        session,
    }
}

fn get(
    session: &mut Session<'_>,
    lock: &AppResource<'_>,
    mode: Mode,
    timeout: Option<Duration>,
) -> i32 {
    session.run(|a| app_lock(a, lock, mode, timeout).unwrap())
}

#[test]
fn an_application_lock_is_granted_awaited_or_timed_out() {
    let engine = Engine::default();
    let name: Vec<u16> = "migrate".encode_utf16().collect();
    let lock = named(&name, false);
    let mut first = Session::new(&engine, 2);
    assert_eq!(get(&mut first, &lock, Mode::X, None), 0);
    assert_eq!(
        app_lock_mode(&engine.state.lock().locks, 2, &lock),
        "Exclusive"
    );
    let mut second = Session::new(&engine, 3);
    assert_eq!(get(&mut second, &lock, Mode::S, Some(Duration::ZERO)), -1);
    assert!(!app_lock_test(
        &engine.state.lock().locks,
        3,
        &lock,
        Mode::S
    ));
    std::thread::scope(|s| {
        let waiting = s.spawn(|| get(&mut second, &lock, Mode::S, None));
        eventually_waits(&engine, 3);
        first.commit();
        assert_eq!(waiting.join().unwrap(), 1);
    });
}

/// -3 tells of a deadlock without ending the transaction.
#[test]
fn a_deadlock_of_application_locks_is_minus_3() {
    let engine = Engine::default();
    let (a, b): (Vec<u16>, Vec<u16>) = (vec![97], vec![98]);
    let mut first = Session::new(&engine, 2);
    let mut second = Session::new(&engine, 3);
    assert_eq!(get(&mut first, &named(&a, false), Mode::X, None), 0);
    assert_eq!(get(&mut second, &named(&b, false), Mode::X, None), 0);
    std::thread::scope(|s| {
        let waiting = s.spawn(|| get(&mut first, &named(&b, false), Mode::X, None));
        eventually_waits(&engine, 2);
        assert_eq!(get(&mut second, &named(&a, false), Mode::X, None), -3);
        assert_eq!(second.lock_modes(), ["APPLICATION X"]);
        second.commit();
        assert_eq!(waiting.join().unwrap(), 1);
    });
}

#[test]
fn a_session_lock_outlives_the_transaction_and_must_be_released_by_name() {
    let engine = Engine::default();
    let name: Vec<u16> = "Lock".encode_utf16().collect();
    let lock = named(&name, true);
    let mut session = Session::new(&engine, 2);
    assert_eq!(get(&mut session, &lock, Mode::X, None), 0);
    session.commit();
    assert_eq!(session.lock_modes(), ["APPLICATION X"]);
    let lower: Vec<u16> = "lock".encode_utf16().collect();
    let error = app_unlock(&mut engine.state.lock(), 2, &named(&lower, true)).unwrap_err();
    assert_eq!(error.number, 1223, "names are compared unit by unit");
    app_unlock(&mut engine.state.lock(), 2, &lock).unwrap();
    assert_eq!(
        app_lock_mode(&engine.state.lock().locks, 2, &lock),
        "NoLock"
    );
    assert_no_locks(&engine);
}

#[test]
fn lock_modes_are_known_by_name() {
    assert_eq!(app_mode("exclusive"), Some(Mode::X));
    assert_eq!(app_mode("IntentShared"), Some(Mode::IS));
    assert_eq!(app_mode("Sch-M"), None);
}
