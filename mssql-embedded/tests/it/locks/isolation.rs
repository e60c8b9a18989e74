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
