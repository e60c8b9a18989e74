//! What is left of a session that ends in mid-transaction.

use crate::locks::table;
use crate::support::{Session, blocked, is_broken, until, within};

const CHANGE: &str = "BEGIN TRAN; UPDATE dbo.t SET v = 9; INSERT INTO dbo.t VALUES (60, 9);
    DELETE FROM dbo.t WHERE id = 10;";
const SUM: &str = "SELECT COUNT(*) + SUM(v) FROM dbo.t WITH (READCOMMITTEDLOCK)";

/// A client that vanishes leaves nothing behind: no change and no lock.
#[tokio::test]
async fn a_dropped_connection_rolls_back() {
    for snapshot in [false, true] {
        let (server, mut client) = table(snapshot).await;
        client.run(CHANGE).await.unwrap();
        let reader = Session::open(&server).await;
        let spid = reader.spid;
        let waiting = reader.spawn(SUM);
        blocked(&server.controls(), spid).await;
        drop(client);
        assert_eq!(
            within(waiting).await.unwrap().1.unwrap(),
            [5],
            "snapshot {snapshot}"
        );
    }
}

/// So does one that vanishes while it waits for a lock.
#[tokio::test]
async fn a_waiter_that_vanishes_leaves_the_queue() {
    let (server, mut holder) = table(false).await;
    let controls = server.controls();
    holder
        .run("BEGIN TRAN; UPDATE dbo.t SET v = 1 WHERE id = 10")
        .await
        .unwrap();
    let mut waiter = Session::open(&server).await;
    waiter
        .run("BEGIN TRAN; UPDATE dbo.t SET v = 2 WHERE id = 20")
        .await
        .unwrap();
    let spid = waiter.spid;
    let waiting = waiter.spawn("UPDATE dbo.t SET v = 2 WHERE id = 10");
    blocked(&controls, spid).await;
    waiting.abort();
    until("the session is gone", || {
        !controls.sessions().contains(&spid)
    })
    .await;
    assert_eq!(controls.blocked(), 0);
    within(holder.run("UPDATE dbo.t SET v = 1 WHERE id = 20; COMMIT;"))
        .await
        .unwrap();
}

/// KILL ends another session, idle or waiting, and rolls it back.
#[tokio::test]
async fn kill_rolls_the_session_back() {
    let (server, mut victim) = table(false).await;
    let controls = server.controls();
    let mut killer = Session::open(&server).await;
    victim.run(CHANGE).await.unwrap();
    killer.run(&format!("KILL {}", victim.spid)).await.unwrap();
    assert_eq!(within(killer.int(SUM)).await.unwrap(), 5);
    assert!(is_broken(victim.run("SELECT 1").await));
    until("the session is gone", || {
        !controls.sessions().contains(&victim.spid)
    })
    .await;
}
