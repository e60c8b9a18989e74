//! Deadlocks and lock timeouts.

use std::time::Duration;

use crate::locks::table;
use crate::support::{Session, blocked, number, until, within};

/// Two sessions that lock two rows in opposite order: one is the victim, the other gets through.
#[tokio::test]
async fn a_lock_order_inversion_has_one_victim() {
    for snapshot in [false, true] {
        let (server, mut first) = table(snapshot).await;
        let mut second = Session::open(&server).await;
        first
            .run("BEGIN TRAN; UPDATE dbo.t SET v = 1 WHERE id = 10")
            .await
            .unwrap();
        second
            .run("BEGIN TRAN; UPDATE dbo.t SET v = 2 WHERE id = 20")
            .await
            .unwrap();
        let spid = first.spid;
        let first = first.spawn("UPDATE dbo.t SET v = 1 WHERE id = 20; COMMIT;");
        blocked(&server.controls(), spid).await;
        let second = second.spawn("UPDATE dbo.t SET v = 2 WHERE id = 10; COMMIT;");
        let (mut first, first_answer) = within(first).await.unwrap();
        let (mut second, second_answer) = within(second).await.unwrap();
        let winner = match (first_answer, second_answer) {
            (Ok(_), lost) => {
                assert_eq!(number(lost), 1205);
                assert_eq!(second.int("SELECT @@TRANCOUNT").await.unwrap(), 0);
                1
            }
            (lost, Ok(_)) => {
                assert_eq!(number(lost), 1205);
                assert_eq!(first.int("SELECT @@TRANCOUNT").await.unwrap(), 0);
                2
            }
            both => panic!("both failed: {both:?}"),
        };
        let values = second
            .ints("SELECT v FROM dbo.t WHERE id <= 20")
            .await
            .unwrap();
        assert_eq!(values, [winner, winner], "snapshot {snapshot}");
        let told = server.controls().deadlocks();
        let [told] = told.as_slice() else {
            panic!("one deadlock: {told:?}");
        };
        let loser = if winner == 1 { second.spid } else { spid };
        assert!(
            told.starts_with(&format!("session {loser} gave up\n")),
            "{told}"
        );
        for party in [spid, second.spid] {
            let (holds, waits) = (
                format!("session {party} holds X on KEY t (index 1)"),
                format!("session {party} WAITS FOR"),
            );
            assert!(told.contains(&holds) && told.contains(&waits), "{told}");
        }
    }
}

/// DEADLOCK_PRIORITY chooses the victim.
#[tokio::test]
async fn the_lower_deadlock_priority_is_the_victim() {
    let (server, mut high) = table(false).await;
    let mut low = Session::open(&server).await;
    low.run("SET DEADLOCK_PRIORITY LOW; BEGIN TRAN; UPDATE dbo.t SET v = 2 WHERE id = 20")
        .await
        .unwrap();
    high.run("BEGIN TRAN; UPDATE dbo.t SET v = 1 WHERE id = 10")
        .await
        .unwrap();
    let spid = low.spid;
    let low = low.spawn("UPDATE dbo.t SET v = 2 WHERE id = 10");
    blocked(&server.controls(), spid).await;
    within(high.run("UPDATE dbo.t SET v = 1 WHERE id = 20; COMMIT;"))
        .await
        .unwrap();
    assert_eq!(number(within(low).await.unwrap().1), 1205);
}

/// The victim's CATCH block finds a doomed transaction, rolls back, and the next try succeeds.
#[tokio::test]
async fn the_victim_can_catch_and_try_again() {
    let (server, mut other) = table(false).await;
    let mut victim = Session::open(&server).await;
    victim
        .run("SET DEADLOCK_PRIORITY LOW; BEGIN TRAN; UPDATE dbo.t SET v = 2 WHERE id = 20")
        .await
        .unwrap();
    other
        .run("BEGIN TRAN; UPDATE dbo.t SET v = 1 WHERE id = 10")
        .await
        .unwrap();
    let spid = victim.spid;
    let caught = victim.spawn(
        "BEGIN TRY UPDATE dbo.t SET v = 2 WHERE id = 10; END TRY
         BEGIN CATCH
             SELECT ERROR_NUMBER(); SELECT CAST(XACT_STATE() AS INT);
             ROLLBACK;
         END CATCH;
         UPDATE dbo.t SET v = 3 WHERE id = 30;",
    );
    blocked(&server.controls(), spid).await;
    within(other.run("UPDATE dbo.t SET v = 1 WHERE id = 20; COMMIT;"))
        .await
        .unwrap();
    assert_eq!(within(caught).await.unwrap().1.unwrap(), [1205, -1]);
    let values = other
        .ints("SELECT v FROM dbo.t WHERE id <= 30")
        .await
        .unwrap();
    assert_eq!(values, [1, 1, 3]);
}

/// LOCK_TIMEOUT follows the engine's clock; the statement fails with 1222 and the transaction stays.
#[tokio::test]
async fn lock_timeout_ends_the_wait_with_1222() {
    for snapshot in [false, true] {
        let (server, mut holder) = table(snapshot).await;
        let controls = server.controls();
        holder
            .run("BEGIN TRAN; UPDATE dbo.t SET v = 1 WHERE id = 10")
            .await
            .unwrap();
        let mut waiter = Session::open(&server).await;
        waiter
            .run("SET LOCK_TIMEOUT 60000; BEGIN TRAN")
            .await
            .unwrap();
        let spid = waiter.spid;
        let waiting = waiter.spawn("UPDATE dbo.t SET v = 2 WHERE id = 10");
        blocked(&controls, spid).await;
        controls.advance(Duration::from_secs(59));
        assert!(controls.is_blocked(spid), "a second is left");
        controls.advance(Duration::from_secs(1));
        let (mut waiter, answer) = within(waiting).await.unwrap();
        assert_eq!(number(answer), 1222);
        assert_eq!(waiter.int("SELECT @@TRANCOUNT").await.unwrap(), 1);
        let at_once = "SET LOCK_TIMEOUT 0; UPDATE dbo.t SET v = 2 WHERE id = 10";
        assert_eq!(number(within(waiter.run(at_once)).await), 1222);
    }
}

/// A session with more than one lock to wait for is found blocked by each in turn.
#[tokio::test]
async fn a_chain_of_waiters_resolves_in_order() {
    let (server, mut holder) = table(false).await;
    let controls = server.controls();
    holder
        .run("BEGIN TRAN; UPDATE dbo.t SET v = 1 WHERE id = 10")
        .await
        .unwrap();
    let mut waiting = Vec::new();
    for n in 2..=6 {
        let session = Session::open(&server).await;
        let spid = session.spid;
        let update = format!("UPDATE dbo.t SET v = v * 10 + {n} WHERE id = 10");
        waiting.push(session.spawn(update));
        blocked(&controls, spid).await;
    }
    holder.run("COMMIT").await.unwrap();
    for task in waiting {
        within(task).await.unwrap().1.unwrap();
    }
    let v = holder
        .int("SELECT v FROM dbo.t WHERE id = 10")
        .await
        .unwrap();
    assert_eq!(v, 123_456, "first come, first served");
    until("nobody waits", || controls.blocked() == 0).await;
}
