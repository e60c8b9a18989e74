//! Counting what procedures cost.

use super::{MOVE, ledger};
use crate::support::{Session, blocked, within};

/// Calls, rows and locks are counted under the procedure the client called.
#[tokio::test]
async fn a_call_is_counted_under_its_procedure() {
    let (server, mut session) = ledger().await;
    let controls = server.controls();
    let before = controls.counters();
    for _ in 0..3 {
        session.run(MOVE).await.unwrap();
    }
    let spent = controls.counters().since(&before);
    assert_eq!(spent.procedures.len(), 1, "{spent}");
    let moves = spent.of("move_one");
    assert_eq!(moves, spent.of("dbo.move_one"));
    assert_eq!(moves.calls, 3);
    assert_eq!(moves.stats.rows_read, 6);
    assert_eq!(moves.stats.rows_written, 6);
    assert_eq!(moves.stats.lock_waits, 0);
    assert!(moves.stats.locks_taken >= 6);
    assert!(moves.server_time.as_nanos() > 0);
    let text_bytes = 2 * MOVE.len() as u64;
    assert!(moves.traffic.received >= 3 * text_bytes, "{spent}");
    assert!(moves.traffic.sent >= 3 * 13, "{spent}");
    assert_eq!(spent.total(), moves);
}

/// A wait for a lock shows up where it happened.
#[tokio::test]
async fn lock_waits_are_counted() {
    let (server, mut holder) = ledger().await;
    let controls = server.controls();
    let waiter = Session::open(&server).await;
    holder
        .run("BEGIN TRAN; UPDATE dbo.ledger SET v = 1 WHERE id = 1")
        .await
        .unwrap();
    let before = controls.counters();
    let spid = waiter.spid;
    let waiting = waiter.spawn(MOVE);
    blocked(&controls, spid).await;
    holder.run("COMMIT").await.unwrap();
    within(waiting).await.unwrap().1.unwrap();
    let spent = controls.counters().since(&before);
    assert_eq!(spent.of("move_one").stats.lock_waits, 1);
    assert_eq!(spent.of("batch").stats.lock_waits, 0);
}

/// A long answer is counted in full, and the size of a request with it.
#[tokio::test]
async fn traffic_counts_long_answers() {
    let (server, mut session) = ledger().await;
    let controls = server.controls();
    let before = controls.counters();
    let rows = session
        .rows("SELECT REPLICATE(CAST(N'x' AS NVARCHAR(MAX)), 300000)")
        .await;
    assert_eq!(rows.unwrap().len(), 1);
    let batch = controls.counters().since(&before).of("batch");
    assert!(
        (600_000..601_000).contains(&batch.traffic.sent),
        "{batch:?}"
    );
}

/// Statement by statement: a seek reads one row, whatever the size of the table; a scan reads all.
#[tokio::test]
async fn watched_statements_tell_seeks_from_scans() {
    let (server, mut session) = ledger().await;
    let controls = server.controls();
    for size in [100, 10_000] {
        let fill = format!(
            "DELETE FROM dbo.ledger;
             WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < {size})
             INSERT INTO dbo.ledger SELECT i, i FROM n OPTION (MAXRECURSION 0);"
        );
        session.run(&fill).await.unwrap();
        controls.watch_statements(true);
        controls.reset_counters();
        session
            .run("EXEC dbo.peek @id = 42; SELECT COUNT(*) FROM dbo.ledger WHERE v = 42")
            .await
            .unwrap();
        controls.watch_statements(false);
        let counted = controls.counters();
        let seek = counted.statement("SELECT v FROM dbo.ledger WHERE id = @id");
        assert_eq!((seek.executions, seek.stats.rows_read), (1, 1), "{size}");
        let scan = counted.statement("SELECT COUNT(*)");
        assert_eq!((scan.executions, scan.stats.rows_read), (1, size), "{size}");
    }
    controls.reset_counters();
    session.run("SELECT 1").await.unwrap();
    assert!(
        controls.counters().statements.is_empty(),
        "not watched any more"
    );
}
