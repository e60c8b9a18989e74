//! Cutting, stalling and killing connections.

use mssql_embedded::Trigger;

use super::{BALANCES, MOVE, ledger};
use crate::support::{Session, is_broken, until, within};

/// Before the statement, at the request and before COMMIT nothing has happened; after COMMIT and
/// before the response everything has. The client cannot tell which.
#[tokio::test]
async fn a_cut_leaves_all_or_nothing() {
    let statement = Trigger::statement()
        .of("move_one")
        .containing("SET v = v + 1");
    for (trigger, balances) in [
        (Trigger::request().of("move_one"), [100, 100]),
        (statement, [100, 100]),
        (Trigger::commit().of("move_one"), [100, 100]),
        (Trigger::committed().of("move_one"), [99, 101]),
        (Trigger::response().of("move_one"), [99, 101]),
    ] {
        let (server, mut session) = ledger().await;
        let mut other = Session::open(&server).await;
        let shown = format!("{trigger:?}");
        let rule = server.controls().cut(trigger);
        assert!(is_broken(within(session.run(MOVE)).await), "{shown}");
        assert_eq!(rule.fired(), 1, "{shown}");
        let after = within(other.ints(BALANCES)).await.unwrap();
        assert_eq!(after, balances, "{shown}");
    }
}

/// The transaction requests of a driver have the same moments as COMMIT in T-SQL, and the Nth call of
/// a procedure can be chosen.
#[tokio::test]
async fn the_nth_request_of_a_procedure_is_cut() {
    let (server, mut session) = ledger().await;
    server
        .controls()
        .cut(Trigger::request().of("peek").after(2));
    for _ in 0..2 {
        session.run("EXEC dbo.peek @id = 1").await.unwrap();
        session.run(MOVE).await.unwrap();
    }
    assert!(is_broken(session.run("EXEC dbo.peek @id = 1").await));
}

/// A stalled response: the work is done, the client hears of it when it is let go.
#[tokio::test]
async fn a_stalled_response_arrives_when_released() {
    let (server, session) = ledger().await;
    let mut other = Session::open(&server).await;
    let stall = server.controls().pause(Trigger::response().of("move_one"));
    let waiting = session.spawn(MOVE);
    within(stall.paused()).await;
    assert_eq!(other.ints(BALANCES).await.unwrap(), [99, 101]);
    assert!(!waiting.is_finished());
    stall.release();
    within(waiting).await.unwrap().1.unwrap();
}

/// A client that gives up on a stalled server does not leave its session behind.
#[tokio::test]
async fn a_stalled_session_ends_with_its_client() {
    let (server, session) = ledger().await;
    let controls = server.controls();
    let spid = session.spid;
    let stall = controls.pause(Trigger::statement().of("move_one").containing("COMMIT"));
    let waiting = session.spawn(MOVE);
    assert_eq!(within(stall.paused()).await, spid);
    waiting.abort();
    until("the session is gone", || {
        !controls.sessions().contains(&spid)
    })
    .await;
    let mut other = Session::open(&server).await;
    assert_eq!(within(other.ints(BALANCES)).await.unwrap(), [100, 100]);
}

/// kill ends an idle session and a paused one; both are rolled back.
#[tokio::test]
async fn kill_ends_idle_and_busy_sessions() {
    let (server, mut idle) = ledger().await;
    let controls = server.controls();
    idle.run("BEGIN TRAN; UPDATE dbo.ledger SET v = 0 WHERE id = 1")
        .await
        .unwrap();
    let busy = Session::open(&server).await;
    let (first, second) = (idle.spid, busy.spid);
    let pause = controls.pause(Trigger::statement().containing("WHERE id = 2"));
    let waiting = busy.spawn("UPDATE dbo.ledger SET v = 0 WHERE id = 2");
    within(pause.paused()).await;
    for spid in [first, second] {
        assert!(controls.kill(spid));
        until("the session is gone", || {
            !controls.sessions().contains(&spid)
        })
        .await;
        assert!(!controls.kill(spid), "there is none any more");
    }
    assert!(is_broken(within(waiting).await.unwrap().1));
    assert!(is_broken(idle.run("SELECT 1").await));
    let mut other = Session::open(&server).await;
    assert_eq!(within(other.ints(BALANCES)).await.unwrap(), [100, 100]);
}
