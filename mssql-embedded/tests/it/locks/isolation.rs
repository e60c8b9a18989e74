//! What the isolation levels promise.

use crate::locks::table;
use crate::support::{Session, blocked, number, within};

/// HOLDLOCK locks the range it read, up to the next key: nothing appears in it before the commit.
#[tokio::test]
async fn holdlock_keeps_phantoms_out() {
    for snapshot in [false, true] {
        let (server, mut reader) = table(snapshot).await;
        let count = "SELECT COUNT(*) FROM dbo.t WITH (HOLDLOCK) WHERE id BETWEEN 15 AND 35";
        let begin = format!("BEGIN TRAN; {count};");
        assert_eq!(reader.int(&begin).await.unwrap(), 2);
        let mut elsewhere = Session::open(&server).await;
        within(elsewhere.run("INSERT INTO dbo.t VALUES (45, 0)"))
            .await
            .unwrap();
        let phantom = Session::open(&server).await;
        let spid = phantom.spid;
        let waiting = phantom.spawn("INSERT INTO dbo.t VALUES (25, 0)");
        blocked(&server.controls(), spid).await;
        assert_eq!(reader.int(count).await.unwrap(), 2, "snapshot {snapshot}");
        reader.run("COMMIT").await.unwrap();
        within(waiting).await.unwrap().1.unwrap();
        assert_eq!(reader.int(count).await.unwrap(), 3);
    }
}

/// HOLDLOCK on a key that does not exist keeps others from inserting it: the upsert idiom.
#[tokio::test]
async fn holdlock_on_a_missing_key_holds_its_gap() {
    for snapshot in [false, true] {
        let (server, mut first) = table(snapshot).await;
        let look = "SELECT COUNT(*) FROM dbo.t WITH (UPDLOCK, HOLDLOCK) WHERE id = 25";
        first.int(&format!("BEGIN TRAN; {look};")).await.unwrap();
        let second = Session::open(&server).await;
        let spid = second.spid;
        let waiting = second.spawn(look);
        blocked(&server.controls(), spid).await;
        first
            .run("INSERT INTO dbo.t VALUES (25, 1); COMMIT;")
            .await
            .unwrap();
        assert_eq!(within(waiting).await.unwrap().1.unwrap(), [1]);
    }
}

/// REPEATABLE READ keeps a row as it was read, but lets new ones in.
#[tokio::test]
async fn repeatable_read_keeps_rows_but_not_phantoms() {
    let (server, mut reader) = table(false).await;
    let count = "SELECT COUNT(*) FROM dbo.t WHERE id < 35";
    let begin = format!("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; BEGIN TRAN; {count};");
    assert_eq!(reader.int(&begin).await.unwrap(), 3);
    let mut inserter = Session::open(&server).await;
    within(inserter.run("INSERT INTO dbo.t VALUES (25, 0)"))
        .await
        .unwrap();
    let spid = inserter.spid;
    let waiting = inserter.spawn("UPDATE dbo.t SET v = 1 WHERE id = 20");
    blocked(&server.controls(), spid).await;
    assert_eq!(reader.int(count).await.unwrap(), 4);
    reader.run("COMMIT").await.unwrap();
    within(waiting).await.unwrap().1.unwrap();
}

/// A SNAPSHOT transaction sees the database as it was, and may not overwrite what changed since.
#[tokio::test]
async fn snapshot_transaction_reads_the_past_and_loses_to_a_newer_write() {
    let (server, mut writer) = table(false).await;
    let mut reader = Session::open(&server).await;
    let read = "SELECT v FROM dbo.t WHERE id = 10";
    let begin = format!("SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRAN; {read};");
    assert_eq!(reader.int(&begin).await.unwrap(), 0);
    writer
        .run("UPDATE dbo.t SET v = 5 WHERE id = 10")
        .await
        .unwrap();
    assert_eq!(within(reader.int(read)).await.unwrap(), 0);
    let conflict = within(reader.run("UPDATE dbo.t SET v = 6 WHERE id = 10")).await;
    assert_eq!(number(conflict), 3960);
    assert_eq!(reader.int("SELECT @@TRANCOUNT").await.unwrap(), 0);
    assert_eq!(reader.int(read).await.unwrap(), 5);
}

/// Under READ_COMMITTED_SNAPSHOT a long scan sees one moment, although others write while it runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_scan_sees_one_moment() {
    let server = crate::support::server(true);
    let mut reader = Session::open(&server).await;
    let fill =
        "CREATE TABLE dbo.wide (id INT NOT NULL CONSTRAINT pk_wide PRIMARY KEY, v INT NOT NULL);
        WITH n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 19999)
        INSERT INTO dbo.wide SELECT i, 1 FROM n OPTION (MAXRECURSION 0);";
    reader.run(fill).await.unwrap();
    let mut writer = Session::open(&server).await;
    let moving = tokio::spawn(async move {
        // Each statement moves one unit between the two ends of the table.
        for step in 0..400 {
            let (from, to) = if step % 2 == 0 {
                (0, 19_999)
            } else {
                (19_999, 0)
            };
            let text = format!(
                "UPDATE dbo.wide SET v = v + IIF(id = {to}, 1, -1) WHERE id IN ({from}, {to})"
            );
            writer.run(&text).await.unwrap();
        }
    });
    while !moving.is_finished() {
        let sum = reader.int("SELECT SUM(v) FROM dbo.wide").await.unwrap();
        assert_eq!(sum, 20_000);
    }
    within(moving).await.unwrap();
}

/// A database must allow SNAPSHOT transactions.
#[tokio::test]
async fn snapshot_isolation_must_be_allowed() {
    let (server, mut session) = table(false).await;
    let read = "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SELECT COUNT(*) FROM dbo.t";
    assert_eq!(session.int(read).await.unwrap(), 5);
    server
        .controls()
        .set_allow_snapshot_isolation("master", false)
        .unwrap();
    assert_eq!(number(session.run(read).await), 3952);
}

/// A transaction that began under another level cannot read under SNAPSHOT (3951), and "doing so causes the
/// transaction to abort"; one that began under SNAPSHOT may leave it and come back.
#[tokio::test]
async fn snapshot_needs_a_transaction_that_began_so() {
    let (_server, mut session) = table(false).await;
    let allow = "ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION ON";
    session.run(allow).await.unwrap();
    let switch = "BEGIN TRAN; SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SELECT @@TRANCOUNT;";
    assert_eq!(session.int(switch).await.unwrap(), 1, "SET itself succeeds");
    assert_eq!(number(session.run("SELECT id FROM dbo.t").await), 3951);
    assert_eq!(session.int("SELECT @@TRANCOUNT").await.unwrap(), 0);
    let there_and_back = "BEGIN TRAN;
        SELECT COUNT(*) FROM dbo.t;
        SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
        SET TRANSACTION ISOLATION LEVEL SNAPSHOT;
        SELECT id FROM dbo.t WHERE id = 10;
        COMMIT;";
    session.run(there_and_back).await.unwrap();
}
