//! The lock manager by itself.

use super::*;

const TABLE: i32 = 7;

fn key(n: u8) -> Resource {
    Resource::Key {
        table: TABLE,
        index: 1,
        key: vec![n].into(),
    }
}

fn ask_for(
    locks: &mut LockManager,
    owner: LockOwner,
    resource: &Resource,
    mode: Mode,
    span: Span,
) -> Reply {
    locks.request(&Request {
        owner,
        resource,
        mode,
        span,
        wait: Some(WaitCost::default()),
    })
}

fn ask(locks: &mut LockManager, owner: LockOwner, n: u8, mode: Mode) -> Reply {
    ask_for(locks, owner, &key(n), mode, Span::Transaction)
}

#[track_caller]
fn granted(reply: Reply) -> Grip {
    match reply {
        Reply::Granted(grip) => grip,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn queued(reply: Reply) {
    assert!(matches!(reply, Reply::Queued), "{reply:?}");
}

#[track_caller]
fn got_it(locks: &mut LockManager, owner: LockOwner) -> Grip {
    match locks.poll(owner) {
        Verdict::Granted(grip) => grip,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_released_lock_is_handed_to_the_first_waiter() {
    let mut locks = LockManager::default();
    granted(ask(&mut locks, 1, 1, Mode::X));
    queued(ask(&mut locks, 2, 1, Mode::X));
    queued(ask(&mut locks, 3, 1, Mode::X));
    locks.end_transaction(1);
    got_it(&mut locks, 2);
    assert!(matches!(locks.poll(3), Verdict::Waiting));
    queued(ask(&mut locks, 4, 1, Mode::S));
    locks.end_transaction(2);
    got_it(&mut locks, 3);
    assert!(locks.is_waiting(4));
}

/// A stream of readers must not starve a writer.
#[test]
fn a_new_request_does_not_overtake_a_waiter_it_is_incompatible_with() {
    let mut locks = LockManager::default();
    granted(ask(&mut locks, 1, 1, Mode::S));
    queued(ask(&mut locks, 2, 1, Mode::X));
    queued(ask(&mut locks, 3, 1, Mode::S));
    locks.end_transaction(1);
    got_it(&mut locks, 2);
    assert!(locks.is_waiting(3));
    locks.end_transaction(2);
    got_it(&mut locks, 3);
}

#[test]
fn a_conversion_goes_before_waiters() {
    let mut locks = LockManager::default();
    granted(ask(&mut locks, 1, 1, Mode::S));
    granted(ask(&mut locks, 2, 1, Mode::S));
    queued(ask(&mut locks, 3, 1, Mode::X));
    queued(ask(&mut locks, 1, 1, Mode::X));
    assert_eq!(
        locks.list().last().map(|l| l.status),
        Some(LockStatus::Wait)
    );
    locks.end_transaction(2);
    got_it(&mut locks, 1);
    assert!(locks.is_waiting(3));
}

#[test]
fn two_conversions_of_one_lock_deadlock_and_the_closer_gives_up() {
    let mut locks = LockManager::default();
    granted(ask(&mut locks, 1, 1, Mode::S));
    granted(ask(&mut locks, 2, 1, Mode::S));
    queued(ask(&mut locks, 1, 1, Mode::X));
    assert!(matches!(ask(&mut locks, 2, 1, Mode::X), Reply::Deadlock));
    locks.end_transaction(2);
    got_it(&mut locks, 1);
}

/// Update locks exist so that two read-then-write sessions queue instead of deadlocking.
#[test]
fn update_locks_queue_instead_of_deadlocking() {
    let mut locks = LockManager::default();
    granted(ask(&mut locks, 1, 1, Mode::U));
    queued(ask(&mut locks, 2, 1, Mode::U));
    granted(ask(&mut locks, 1, 1, Mode::X));
    locks.end_transaction(1);
    got_it(&mut locks, 2);
}

fn two_key_deadlock(first: WaitCost, second: WaitCost) -> (LockManager, Reply) {
    let mut locks = LockManager::default();
    granted(ask(&mut locks, 1, 1, Mode::X));
    granted(ask(&mut locks, 2, 2, Mode::X));
    let mut wait = |owner, n, cost| {
        locks.request(&Request {
            owner,
            resource: &key(n),
            mode: Mode::X,
            span: Span::Transaction,
            wait: Some(cost),
        })
    };
    queued(wait(1, 2, first));
    let reply = wait(2, 1, second);
    (locks, reply)
}

#[test]
fn the_lowest_deadlock_priority_gives_up_first() {
    let low = WaitCost {
        priority: -5,
        undo: 1000,
    };
    let normal = WaitCost {
        priority: 0,
        undo: 1,
    };
    let (mut locks, reply) = two_key_deadlock(low, normal);
    queued(reply);
    assert!(matches!(locks.poll(1), Verdict::Victim));
    locks.end_transaction(1);
    got_it(&mut locks, 2);
    assert!(matches!(two_key_deadlock(normal, low).1, Reply::Deadlock));
}

#[test]
fn among_equal_priorities_the_cheapest_gives_up() {
    let cheap = WaitCost {
        priority: 0,
        undo: 1,
    };
    let dear = WaitCost {
        priority: 0,
        undo: 9,
    };
    let (mut locks, reply) = two_key_deadlock(cheap, dear);
    queued(reply);
    assert!(matches!(locks.poll(1), Verdict::Victim));
    assert!(matches!(two_key_deadlock(dear, cheap).1, Reply::Deadlock));
}

#[test]
fn a_cycle_of_three_is_found() {
    let mut locks = LockManager::default();
    for owner in 1..=3 {
        granted(ask(&mut locks, owner, owner as u8, Mode::X));
    }
    queued(ask(&mut locks, 1, 2, Mode::X));
    queued(ask(&mut locks, 2, 3, Mode::X));
    assert_eq!(locks.blockers(1), [2]);
    assert!(matches!(ask(&mut locks, 3, 1, Mode::X), Reply::Deadlock));
}

/// A session can be stuck behind a waiter, not only behind a holder.
#[test]
fn a_cycle_through_the_queue_is_found() {
    let mut locks = LockManager::default();
    granted(ask(&mut locks, 1, 1, Mode::S));
    granted(ask(&mut locks, 3, 2, Mode::X));
    queued(ask(&mut locks, 2, 1, Mode::X));
    queued(ask(&mut locks, 3, 1, Mode::S));
    assert!(matches!(ask(&mut locks, 1, 2, Mode::S), Reply::Deadlock));
}

#[test]
fn brief_locks_of_two_cursors_are_counted_and_leave_durable_ones() {
    let mut locks = LockManager::default();
    let first = granted(ask_for(&mut locks, 1, &key(1), Mode::U, Span::Brief));
    let second = granted(ask_for(&mut locks, 1, &key(1), Mode::U, Span::Brief));
    granted(ask(&mut locks, 1, 1, Mode::S));
    locks.release(1, &first);
    assert_eq!(locks.held(1, &key(1)), Some(Mode::U));
    locks.release(1, &second);
    assert_eq!(locks.held(1, &key(1)), Some(Mode::S));
    locks.end_transaction(1);
    assert!(locks.list().is_empty());
}

#[test]
fn undoing_a_durable_request_restores_what_was_held() {
    let mut locks = LockManager::default();
    granted(ask(&mut locks, 1, 1, Mode::S));
    let update = granted(ask(&mut locks, 1, 1, Mode::U));
    locks.release(1, &update);
    assert_eq!(locks.held(1, &key(1)), Some(Mode::S));
    let update = granted(ask(&mut locks, 1, 1, Mode::U));
    granted(ask(&mut locks, 1, 1, Mode::X));
    locks.release(1, &update);
    assert_eq!(locks.held(1, &key(1)), Some(Mode::X), "converted since");
}

/// A grip must not touch the next user of a recycled slot.
#[test]
fn a_stale_grip_releases_nothing() {
    let mut locks = LockManager::default();
    let old = granted(ask_for(&mut locks, 1, &key(1), Mode::S, Span::Brief));
    locks.end_statement(1);
    granted(ask_for(&mut locks, 1, &key(2), Mode::S, Span::Brief));
    locks.release(1, &old);
    assert_eq!(locks.held(1, &key(2)), Some(Mode::S));
}

#[test]
fn a_range_lock_stops_inserts_and_an_insert_test_leaves_nothing() {
    let mut locks = LockManager::default();
    assert!(!locks.has_range_locks());
    granted(ask(&mut locks, 1, 9, Mode::RANGE_S_S));
    assert!(locks.has_range_locks());
    queued(ask_for(
        &mut locks,
        2,
        &key(9),
        Mode::RANGE_I_N,
        Span::Instant,
    ));
    granted(ask(&mut locks, 3, 9, Mode::S));
    locks.end_transaction(1);
    got_it(&mut locks, 2);
    assert_eq!(locks.held(2, &key(9)), None);
    assert!(!locks.has_range_locks());
}

#[test]
fn a_timed_out_waiter_lets_the_next_one_pass() {
    let mut locks = LockManager::default();
    granted(ask(&mut locks, 1, 1, Mode::S));
    queued(ask(&mut locks, 2, 1, Mode::X));
    queued(ask(&mut locks, 3, 1, Mode::S));
    locks.cancel(2);
    got_it(&mut locks, 3);
}

#[test]
fn more_than_5000_row_locks_become_a_table_lock() {
    let mut locks = LockManager::default();
    let table = Resource::Object(TABLE);
    granted(ask_for(&mut locks, 1, &table, Mode::IX, Span::Transaction));
    let row = |n: u32| Resource::Key {
        table: TABLE,
        index: 1,
        key: n.to_be_bytes().to_vec().into(),
    };
    for n in 0..5000 {
        let grip = granted(ask_for(&mut locks, 1, &row(n), Mode::X, Span::Transaction));
        assert!(!grip.escalation_due);
    }
    let last = granted(ask_for(
        &mut locks,
        1,
        &row(5000),
        Mode::X,
        Span::Transaction,
    ));
    assert!(last.escalation_due);
    // Another session is in the table, so the exchange must wait for a better moment.
    granted(ask_for(&mut locks, 2, &table, Mode::IS, Span::Transaction));
    assert!(!locks.escalate(1, TABLE));
    for n in 5001..6250 {
        let grip = granted(ask_for(&mut locks, 1, &row(n), Mode::X, Span::Transaction));
        assert!(!grip.escalation_due);
    }
    let later = granted(ask_for(
        &mut locks,
        1,
        &row(6250),
        Mode::X,
        Span::Transaction,
    ));
    assert!(later.escalation_due);
    locks.end_transaction(2);
    assert!(locks.escalate(1, TABLE));
    let held = locks.held_by(1);
    assert_eq!(held.len(), 1);
    assert_eq!((&held[0].resource, held[0].mode), (&table, Mode::X));
    assert!(matches!(ask(&mut locks, 1, 1, Mode::X), Reply::Free));
    locks.release_since(1, 0);
    assert_eq!(
        locks.held(1, &table),
        Some(Mode::X),
        "a savepoint rollback keeps it"
    );
}

/// Row locks are counted by index, so a change of 3,000 rows and one index stays below the threshold.
#[test]
fn locks_on_different_indexes_are_not_added_up() {
    let mut locks = LockManager::default();
    for n in 0_u32..3000 {
        for index in [1, 2] {
            let key = n.to_be_bytes().to_vec().into();
            let resource = Resource::Key {
                table: TABLE,
                index,
                key,
            };
            let grip = granted(ask_for(
                &mut locks,
                1,
                &resource,
                Mode::X,
                Span::Transaction,
            ));
            assert!(!grip.escalation_due);
        }
    }
}

/// Locks released one by one do not count: a READ COMMITTED scan never escalates.
#[test]
fn brief_and_rejected_locks_do_not_count_towards_escalation() {
    let mut locks = LockManager::default();
    for _ in 0..6000 {
        let brief = granted(ask_for(&mut locks, 1, &key(1), Mode::S, Span::Brief));
        locks.release(1, &brief);
        let rejected = granted(ask(&mut locks, 1, 2, Mode::U));
        assert!(!rejected.escalation_due);
        locks.release(1, &rejected);
    }
}

#[test]
fn a_savepoint_rollback_releases_later_locks_but_not_conversions() {
    let mut locks = LockManager::default();
    granted(ask(&mut locks, 1, 1, Mode::S));
    let mark = locks.acquisitions(1);
    granted(ask(&mut locks, 1, 1, Mode::X));
    granted(ask(&mut locks, 1, 2, Mode::X));
    locks.release_since(1, mark);
    assert_eq!(locks.held(1, &key(1)), Some(Mode::X));
    assert_eq!(locks.held(1, &key(2)), None);
}

#[test]
fn application_locks_are_counted_and_sessions_keep_theirs() {
    let mut locks = LockManager::default();
    let name = Resource::Application {
        database: 1,
        principal: 0,
        name: "m".encode_utf16().collect(),
    };
    granted(ask_for(&mut locks, 1, &name, Mode::X, Span::Session));
    granted(ask_for(&mut locks, 1, &name, Mode::X, Span::Session));
    granted(ask_for(&mut locks, 1, &name, Mode::S, Span::Transaction));
    locks.end_transaction(1);
    assert_eq!(locks.held_application(1, &name, true), Some(Mode::X));
    assert_eq!(locks.held_application(1, &name, false), None);
    assert!(locks.release_application(1, &name, true));
    queued(ask_for(&mut locks, 2, &name, Mode::S, Span::Transaction));
    assert!(locks.release_application(1, &name, true));
    got_it(&mut locks, 2);
    assert!(!locks.release_application(1, &name, true));
}

#[test]
fn ending_a_session_frees_everything_it_held_or_awaited() {
    let mut locks = LockManager::default();
    granted(ask(&mut locks, 1, 1, Mode::X));
    queued(ask(&mut locks, 2, 1, Mode::X));
    locks.end_session(2);
    locks.end_session(1);
    assert!(locks.list().is_empty());
    assert_eq!(locks.waiting(), 0);
}
