//! Lock escalation: many row locks of one statement become one table lock.

use mssql_embedded::Controls;
use mssql_embedded::{LockOwner, Resource};

use crate::support::{Session, blocked, server, within};

fn held(controls: &Controls, spid: u16) -> (usize, Vec<String>) {
    let locks = controls.locks();
    let mine = locks.iter().filter(|l| l.owner == LockOwner::from(spid));
    let (rows, tables): (Vec<_>, Vec<_>) = mine.partition(|l| l.resource.row_of().is_some());
    let is_object = |r: &Resource| matches!(r, Resource::Object(_));
    let tables = tables.iter().filter(|l| is_object(&l.resource));
    (rows.len(), tables.map(|l| l.mode.to_string()).collect())
}

async fn big_table(snapshot: bool) -> (mssql_embedded::Server, Session) {
    let server = server(snapshot);
    let mut session = Session::open(&server).await;
    session
        .run(
            "CREATE TABLE dbo.big (id INT NOT NULL CONSTRAINT pk_big PRIMARY KEY, v INT NOT NULL);
             WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
             INSERT INTO dbo.big (id, v) SELECT i, 0 FROM n OPTION (MAXRECURSION 0);",
        )
        .await
        .unwrap();
    (server, session)
}

/// 5,001 row locks are exchanged for a table lock, which keeps writers of other rows out.
#[tokio::test]
async fn five_thousand_and_one_row_locks_escalate() {
    for snapshot in [false, true] {
        let (server, mut session) = big_table(snapshot).await;
        let controls = server.controls();
        let before = controls.counters();
        let update = "BEGIN TRAN; UPDATE dbo.big SET v = 1 WHERE id <= 5001;";
        session.run(update).await.unwrap();
        let stats = controls.counters().since(&before).total().stats;
        assert_eq!(stats.escalations, 1);
        let (rows, tables) = held(&controls, session.spid);
        assert_eq!((rows, tables), (0, vec!["X".to_owned()]));
        let other = Session::open(&server).await;
        let spid = other.spid;
        let waiting = other.spawn("UPDATE dbo.big SET v = 2 WHERE id = 6000");
        blocked(&controls, spid).await;
        session.run("COMMIT").await.unwrap();
        within(waiting).await.unwrap().1.unwrap();
    }
}

/// Fewer row locks stay row locks, and so do those of several statements.
#[tokio::test]
async fn fewer_row_locks_do_not_escalate() {
    let (server, mut session) = big_table(false).await;
    let controls = server.controls();
    session
        .run("BEGIN TRAN; UPDATE dbo.big SET v = 1 WHERE id <= 2900; UPDATE dbo.big SET v = 1 WHERE id BETWEEN 2901 AND 5800;")
        .await
        .unwrap();
    let (rows, tables) = held(&controls, session.spid);
    assert_eq!((rows, tables), (5800, vec!["IX".to_owned()]));
    let mut other = Session::open(&server).await;
    within(other.run("UPDATE dbo.big SET v = 2 WHERE id = 6000"))
        .await
        .unwrap();
}

/// A table that forbids escalation keeps its row locks.
#[tokio::test]
async fn lock_escalation_can_be_disabled() {
    let (server, mut session) = big_table(false).await;
    session
        .run("ALTER TABLE dbo.big SET (LOCK_ESCALATION = DISABLE)")
        .await
        .unwrap();
    session
        .run("BEGIN TRAN; UPDATE dbo.big SET v = 1")
        .await
        .unwrap();
    let (rows, _) = held(&server.controls(), session.spid);
    assert_eq!(rows, 6000);
}
