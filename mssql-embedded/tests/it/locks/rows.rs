//! Row locks and the hints that ask for them.

use crate::locks::table;
use crate::support::{Session, blocked, within};

const HOLD_TWO: &str = "BEGIN TRAN; UPDATE dbo.t SET v = 1 WHERE id IN (20, 40);";

/// READPAST returns every row but the locked ones, for readers that lock and for those that dequeue.
#[tokio::test]
async fn readpast_skips_exactly_the_locked_rows() {
    for snapshot in [false, true] {
        let (server, mut holder) = table(snapshot).await;
        let mut reader = Session::open(&server).await;
        holder.run(HOLD_TWO).await.unwrap();
        for hints in ["READCOMMITTEDLOCK, READPAST", "UPDLOCK, READPAST, ROWLOCK"] {
            let query = format!("SELECT id FROM dbo.t WITH ({hints}) ORDER BY id");
            let seen = within(reader.ints(&query)).await.unwrap();
            assert_eq!(seen, [10, 30, 50], "{hints}, snapshot {snapshot}");
        }
        holder.run("ROLLBACK").await.unwrap();
        let all = "SELECT id FROM dbo.t WITH (UPDLOCK, READPAST) ORDER BY id";
        assert_eq!(reader.ints(all).await.unwrap(), [10, 20, 30, 40, 50]);
    }
}

/// DELETE TOP with READPAST takes the first row that is free.
#[tokio::test]
async fn readpast_delete_takes_the_next_free_row() {
    for snapshot in [false, true] {
        let (server, mut holder) = table(snapshot).await;
        let mut second = Session::open(&server).await;
        let take = "DELETE TOP (1) FROM dbo.t WITH (READPAST, ROWLOCK) OUTPUT deleted.id;";
        let first = holder.int(&format!("BEGIN TRAN; {take}")).await.unwrap();
        assert_eq!(first, 10);
        assert_eq!(within(second.int(take)).await.unwrap(), 20);
        holder.run("ROLLBACK").await.unwrap();
        assert_eq!(within(second.int(take)).await.unwrap(), 10);
    }
}

/// Of two sessions that want to change what they read, the second waits; a plain reader does not.
#[tokio::test]
async fn updlock_blocks_a_second_updlock_but_no_reader() {
    for snapshot in [false, true] {
        let (server, mut holder) = table(snapshot).await;
        let controls = server.controls();
        let read = "SELECT v FROM dbo.t WITH (UPDLOCK) WHERE id = 30";
        holder.int(&format!("BEGIN TRAN; {read};")).await.unwrap();
        let mut plain = Session::open(&server).await;
        let seen = within(plain.int("SELECT v FROM dbo.t WHERE id = 30")).await;
        assert_eq!(seen.unwrap(), 0, "snapshot {snapshot}");
        let second = Session::open(&server).await;
        let spid = second.spid;
        let waiting = second.spawn(read);
        blocked(&controls, spid).await;
        holder
            .run("UPDATE dbo.t SET v = 7 WHERE id = 30; COMMIT;")
            .await
            .unwrap();
        let (_, answer) = within(waiting).await.unwrap();
        assert_eq!(answer.unwrap(), [7], "the waiter sees what was committed");
    }
}

/// Whether a reader waits for a writer is what READ_COMMITTED_SNAPSHOT decides.
#[tokio::test]
async fn a_reader_waits_for_a_writer_only_without_snapshot() {
    let read = "SELECT v FROM dbo.t WHERE id = 20";
    let (server, mut writer) = table(true).await;
    let mut reader = Session::open(&server).await;
    writer.run(HOLD_TWO).await.unwrap();
    assert_eq!(
        within(reader.int(read)).await.unwrap(),
        0,
        "the old version"
    );
    let locking = reader.spid;
    let waiting = reader.spawn("SELECT v FROM dbo.t WITH (READCOMMITTEDLOCK) WHERE id = 20");
    blocked(&server.controls(), locking).await;
    writer.run("COMMIT").await.unwrap();
    assert_eq!(within(waiting).await.unwrap().1.unwrap(), [1]);

    let (server, mut writer) = table(false).await;
    let reader = Session::open(&server).await;
    writer.run(HOLD_TWO).await.unwrap();
    let spid = reader.spid;
    let waiting = reader.spawn(read);
    blocked(&server.controls(), spid).await;
    writer.run("COMMIT").await.unwrap();
    assert_eq!(within(waiting).await.unwrap().1.unwrap(), [1]);
}

/// NOLOCK sees what is not committed.
#[tokio::test]
async fn nolock_reads_what_is_not_committed() {
    for snapshot in [false, true] {
        let (server, mut writer) = table(snapshot).await;
        let mut reader = Session::open(&server).await;
        writer.run(HOLD_TWO).await.unwrap();
        let dirty = reader.int("SELECT v FROM dbo.t WITH (NOLOCK) WHERE id = 20");
        assert_eq!(within(dirty).await.unwrap(), 1);
        writer.run("ROLLBACK").await.unwrap();
    }
}

/// Writers of different rows do not meet.
#[tokio::test]
async fn writers_of_different_rows_do_not_wait() {
    for snapshot in [false, true] {
        let (server, mut first) = table(snapshot).await;
        let mut second = Session::open(&server).await;
        first
            .run("BEGIN TRAN; UPDATE dbo.t SET v = 1 WHERE id = 10")
            .await
            .unwrap();
        let update = "BEGIN TRAN; UPDATE dbo.t SET v = 2 WHERE id = 20; DELETE dbo.t WHERE id = 50;
            INSERT INTO dbo.t VALUES (60, 2); COMMIT;";
        within(second.run(update)).await.unwrap();
        first.run("COMMIT").await.unwrap();
        let values = second
            .ints("SELECT v FROM dbo.t ORDER BY id")
            .await
            .unwrap();
        assert_eq!(values, [1, 2, 0, 0, 2]);
    }
}
