//! A table as a queue.

use std::collections::BTreeSet;

use crate::locks::table;
use crate::support::{Session, blocked, server, until, within};

const ROWS: i32 = 2_000;
const SESSIONS: usize = 16;

/// Sixteen sessions empty a queue of 2,000 rows: each row is taken once and none is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_sessions_take_each_row_once() {
    for snapshot in [false, true] {
        let server = server(snapshot);
        let mut setup = Session::open(&server).await;
        let script = format!(
            "CREATE TABLE dbo.queue (id INT NOT NULL CONSTRAINT pk_queue PRIMARY KEY, taken_by INT NULL);
             CREATE INDEX ix_queue_free ON dbo.queue (id) WHERE taken_by IS NULL;
             WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
             INSERT INTO dbo.queue (id) SELECT i FROM n OPTION (MAXRECURSION 0);"
        );
        setup.run(&script).await.unwrap();
        let mut workers = Vec::new();
        for _ in 0..SESSIONS {
            let session = Session::open(&server).await;
            workers.push(tokio::spawn(drain(session)));
        }
        let mut taken = BTreeSet::new();
        for worker in workers {
            for id in within(worker).await.unwrap() {
                assert!(taken.insert(id), "row {id} was taken twice");
            }
        }
        assert_eq!(taken.len(), ROWS as usize, "snapshot {snapshot}");
        let left = "SELECT COUNT(*) FROM dbo.queue WHERE taken_by IS NULL";
        assert_eq!(setup.int(left).await.unwrap(), 0);
    }
}

async fn drain(mut session: Session) -> Vec<i32> {
    let take = "BEGIN TRAN;
        UPDATE TOP (1) dbo.queue WITH (READPAST, UPDLOCK, ROWLOCK) SET taken_by = @@SPID
        OUTPUT inserted.id WHERE taken_by IS NULL;
        COMMIT;";
    let free = "SELECT COUNT(*) FROM dbo.queue WITH (READCOMMITTEDLOCK) WHERE taken_by IS NULL";
    let mut mine = Vec::new();
    loop {
        let ids = session.ints(take).await.unwrap();
        // An empty answer may only mean that all rows left are in other hands.
        if ids.is_empty() && session.int(free).await.unwrap() == 0 {
            return mine;
        }
        mine.extend(ids);
    }
}

/// A hundred sessions that wait do not keep the holder's COMMIT from being served.
#[tokio::test]
async fn a_hundred_waiters_do_not_stop_the_holder() {
    let (server, mut holder) = table(false).await;
    let controls = server.controls();
    holder
        .run("BEGIN TRAN; UPDATE dbo.t SET v = 0 WHERE id = 10")
        .await
        .unwrap();
    let mut waiting = Vec::new();
    for _ in 0..100 {
        let session = Session::open(&server).await;
        waiting.push(session.spawn("UPDATE dbo.t SET v = v + 1 WHERE id = 10"));
    }
    until("a hundred wait", || controls.blocked() == 100).await;
    within(holder.run("COMMIT")).await.unwrap();
    for task in waiting {
        within(task).await.unwrap().1.unwrap();
    }
    assert_eq!(
        holder
            .int("SELECT v FROM dbo.t WHERE id = 10")
            .await
            .unwrap(),
        100
    );
}

/// sp_getapplock serialises sessions; the lock goes with the transaction.
#[tokio::test]
async fn application_locks_go_with_their_transaction() {
    let (server, mut first) = table(false).await;
    let second = Session::open(&server).await;
    let lock = "DECLARE @r INT; BEGIN TRAN;
        EXEC @r = sp_getapplock @Resource = N'install', @LockMode = 'Exclusive'; SELECT @r;";
    assert_eq!(first.int(lock).await.unwrap(), 0);
    let spid = second.spid;
    let waiting = second.spawn(lock);
    blocked(&server.controls(), spid).await;
    first.run("COMMIT").await.unwrap();
    assert_eq!(
        within(waiting).await.unwrap().1.unwrap(),
        [1],
        "granted after a wait"
    );
}
