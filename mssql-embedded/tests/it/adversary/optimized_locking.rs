//! Optimized locking ("Optimized locking" in Microsoft's documentation, with its examples): a transaction keeps
//! one lock on its id instead of locks on the rows it wrote; with snapshot reads a row is looked at before it is
//! locked, and once more afterwards; lock hints are honoured.

use mssql_embedded::{Encryption, Server};

use crate::support::{Session, blocked, within};

async fn server(read_committed_snapshot: bool) -> (Server, Session, Session) {
    let server = Server::builder()
        .encryption(Encryption::Off)
        .read_committed_snapshot(read_committed_snapshot)
        .optimized_locking(true)
        .start()
        .unwrap();
    let mut first = Session::open(&server).await;
    let script = "CREATE TABLE dbo.t (a INT NOT NULL CONSTRAINT pk_t PRIMARY KEY, b INT NOT NULL);
        INSERT INTO dbo.t (a, b) VALUES (1, 10), (2, 20), (3, 30);";
    first.run(script).await.unwrap();
    let second = Session::open(&server).await;
    (server, first, second)
}

const KEY_LOCKS: &str = "SELECT COUNT(*) FROM sys.dm_tran_locks
    WHERE request_session_id = @@SPID AND resource_type IN ('KEY', 'RID', 'PAGE')";
const ID_LOCKS: &str = "SELECT COUNT(*) FROM sys.dm_tran_locks
    WHERE request_session_id = @@SPID AND resource_type = 'XACT' AND request_mode = 'X'";

/// An UPDATE of all rows leaves one lock, on the transaction; with UPDLOCK before it, the row locks stay.
#[tokio::test]
async fn one_lock_stands_for_all_rows_written() {
    for snapshot in [false, true] {
        let (_server, mut first, _) = server(snapshot).await;
        first
            .run("BEGIN TRAN; UPDATE dbo.t SET b = b + 10")
            .await
            .unwrap();
        assert_eq!(first.int(KEY_LOCKS).await.unwrap(), 0);
        assert_eq!(first.int(ID_LOCKS).await.unwrap(), 1);
        first.run("ROLLBACK").await.unwrap();
        let hinted = "BEGIN TRAN; DECLARE @b INT;
            SELECT @b = b FROM dbo.t WITH (UPDLOCK) WHERE a = 1; UPDATE dbo.t SET b = 0 WHERE a = 1";
        first.run(hinted).await.unwrap();
        assert_eq!(first.int(KEY_LOCKS).await.unwrap(), 1);
        first.run("ROLLBACK").await.unwrap();
    }
}

/// With snapshot reads, an UPDATE is not held up by a row that does not qualify, as it was last committed;
/// without them it is.
#[tokio::test]
async fn rows_are_qualified_before_they_are_locked() {
    let (_server, mut first, mut second) = server(true).await;
    first
        .run("BEGIN TRAN; UPDATE dbo.t SET b = 2 WHERE a = 1")
        .await
        .unwrap();
    within(second.run("UPDATE dbo.t SET b = 3 WHERE b = 2"))
        .await
        .unwrap();
    first.run("COMMIT").await.unwrap();
    assert_eq!(
        first.int("SELECT b FROM dbo.t WHERE a = 1").await.unwrap(),
        2
    );

    let (server, mut first, second) = server(false).await;
    first
        .run("BEGIN TRAN; UPDATE dbo.t SET b = 2 WHERE a = 1")
        .await
        .unwrap();
    let spid = second.spid;
    let waiting = second.spawn("UPDATE dbo.t SET b = 3 WHERE b = 2; SELECT 1");
    blocked(&server.controls(), spid).await;
    first.run("COMMIT").await.unwrap();
    within(waiting).await.unwrap().1.unwrap();
    assert_eq!(
        first.int("SELECT b FROM dbo.t WHERE a = 1").await.unwrap(),
        3
    );
}

/// A row that qualified is waited for and then looked at again: a change is not lost, and a row that no
/// longer qualifies is left alone.
#[tokio::test]
async fn rows_are_qualified_again_after_a_wait() {
    let (server, mut first, second) = server(true).await;
    first
        .run("BEGIN TRAN; UPDATE dbo.t SET b = b + 10 WHERE a = 1; UPDATE dbo.t SET b = 99 WHERE a = 2")
        .await
        .unwrap();
    let spid = second.spid;
    let waiting = second
        .spawn("UPDATE dbo.t SET b = b + 10 WHERE a = 1 OR b = 20; SELECT CAST(@@ROWCOUNT AS INT)");
    blocked(&server.controls(), spid).await;
    first.run("COMMIT").await.unwrap();
    assert_eq!(within(waiting).await.unwrap().1.unwrap(), [1]);
    let values = first.ints("SELECT b FROM dbo.t ORDER BY a").await.unwrap();
    assert_eq!(values, [30, 99, 30]);
}

/// READPAST steps over a row that somebody has written, although no lock is left on the row; a reader that
/// locks waits for the writer.
#[tokio::test]
async fn a_written_row_is_protected_by_its_writer() {
    for snapshot in [false, true] {
        let (server, mut first, mut second) = server(snapshot).await;
        first
            .run("BEGIN TRAN; UPDATE dbo.t SET b = 0 WHERE a = 1; INSERT INTO dbo.t VALUES (4, 40); DELETE dbo.t WHERE a = 3")
            .await
            .unwrap();
        let past = "SELECT a FROM dbo.t WITH (READPAST, ROWLOCK, READCOMMITTEDLOCK) ORDER BY a";
        assert_eq!(within(second.ints(past)).await.unwrap(), [2]);
        let spid = second.spid;
        let waiting = second.spawn("SELECT b FROM dbo.t WITH (READCOMMITTEDLOCK) WHERE a = 1");
        blocked(&server.controls(), spid).await;
        // The writer itself meets no obstacle.
        within(first.run("UPDATE dbo.t SET b = 5 WHERE a = 1; COMMIT"))
            .await
            .unwrap();
        assert_eq!(within(waiting).await.unwrap().1.unwrap(), [5]);
    }
}

/// A change of INCLUDE columns alone leaves no version on the index entry that would tell of its writer, and is
/// protected all the same: a reader that the index covers does not see it before the commit.
#[tokio::test]
async fn an_included_column_is_not_read_before_its_commit() {
    let (server, mut first, second) = server(false).await;
    let script = "CREATE TABLE dbo.c (id INT NOT NULL CONSTRAINT pk_c PRIMARY KEY, k INT NOT NULL, v INT NOT NULL);
        CREATE INDEX ix_c ON dbo.c (k) INCLUDE (v);
        INSERT INTO dbo.c (id, k, v) VALUES (1, 1, 0);
        BEGIN TRAN; UPDATE dbo.c SET v = 7 WHERE id = 1";
    first.run(script).await.unwrap();
    let spid = second.spid;
    let waiting = second.spawn("SELECT v FROM dbo.c WITH (INDEX(ix_c)) WHERE k = 1");
    blocked(&server.controls(), spid).await;
    first.run("ROLLBACK").await.unwrap();
    assert_eq!(within(waiting).await.unwrap().1.unwrap(), [0]);
}
