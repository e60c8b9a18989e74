//! Ghosts. A deleted index entry is marked and stays until a background task removes it, some time after the
//! commit and not while a snapshot needs it ("Ghost cleanup process guide",
//! docs/relational-databases/ghost-record-cleanup-process-guide.md). Scans and seeks come past it meanwhile. For the
//! locks it is as good as gone: a new row of the same key takes its place once the deletion is committed, and
//! key-range locks keep such a row out as they keep any other ("Transaction locking and row versioning
//! guide", key-range locking).

use std::time::Duration;

use mssql_embedded::{Encryption, GhostCleanup, Server};

use crate::support::{Session, blocked, number, within};

/// A queue: a clustered key, and an index by which the oldest visible item is found.
const QUEUE: &str = "CREATE TABLE dbo.q (
        id INT NOT NULL IDENTITY CONSTRAINT pk_q PRIMARY KEY CLUSTERED,
        visible_at INT NOT NULL,
        INDEX ix_q_visible (visible_at));";

/// Adds an item and takes the oldest one, `@claims` times.
const CLAIMS: &str = "SET NOCOUNT ON;
    DECLARE @n INT = 0, @id INT;
    WHILE @n < @claims
    BEGIN
        INSERT INTO dbo.q (visible_at) VALUES (@from + @n);
        WITH oldest AS (
            SELECT TOP (1) id FROM dbo.q WITH (INDEX(ix_q_visible), FORCESEEK, ROWLOCK, READPAST, UPDLOCK)
            WHERE visible_at >= 0 ORDER BY visible_at)
        DELETE FROM oldest;
        SET @n += 1;
    END";

fn server(cleanup: GhostCleanup) -> Server {
    let builder = Server::builder().encryption(Encryption::Off);
    builder.ghost_cleanup(cleanup).start().unwrap()
}

/// Rows and ghosts visited by so many claims.
async fn visited(server: &Server, session: &mut Session, from: u64, claims: u64) -> (u64, u64) {
    let controls = server.controls();
    let before = controls.counters();
    let batch = CLAIMS.replace("@claims", &claims.to_string());
    let batch = batch.replace("@from", &from.to_string());
    within(session.run(&batch)).await.unwrap();
    let stats = controls.counters().since(&before).total().stats;
    (stats.rows_read, stats.ghosts_read)
}

/// Without a clean-up each claim comes past all that were claimed before it, with one it does not; the rows
/// visited are the same.
#[tokio::test]
async fn a_queue_without_cleanup_grows_in_front() {
    let kept = server(GhostCleanup::Never);
    let mut session = Session::open(&kept).await;
    session.run(QUEUE).await.unwrap();
    let (rows, first) = visited(&kept, &mut session, 0, 1000).await;
    let (_, second) = visited(&kept, &mut session, 1000, 1000).await;
    // The n-th claim passes n - 1 ghosts: 499,500 for the first thousand, a million more for the second.
    assert_eq!((first, second), (499_500, 1_499_500));
    assert_eq!(kept.controls().ghosts(), 2 * 2000);
    kept.controls().clean_up_ghosts();
    assert_eq!(kept.controls().ghosts(), 0);
    let (_, after) = visited(&kept, &mut session, 2000, 10).await;
    assert_eq!(after, 45);

    let cleaned = server(GhostCleanup::AtOnce);
    let mut session = Session::open(&cleaned).await;
    session.run(QUEUE).await.unwrap();
    for n in 0..5 {
        assert_eq!(
            visited(&cleaned, &mut session, 1000 * n, 1000).await,
            (rows, 0)
        );
    }
    assert_eq!(cleaned.controls().ghosts(), 0);
}

/// The background works every five seconds of the engine's clock, and not without end.
#[tokio::test]
async fn the_background_cleans_up_as_time_passes() {
    let server = server(GhostCleanup::Never);
    let controls = server.controls();
    let mut session = Session::open(&server).await;
    session.run(QUEUE).await.unwrap();
    visited(&server, &mut session, 0, 1250).await;
    assert_eq!(controls.ghosts(), 2500);
    controls.set_ghost_cleanup(GhostCleanup::Background);
    // A run touches at most ten pages.
    for left in [1500, 500, 0] {
        controls.advance(Duration::from_secs(5));
        session.run("SELECT 1").await.unwrap();
        assert_eq!(controls.ghosts(), left);
    }
}

/// An index entry that moves leaves a ghost, a changed row does not, and neither does a row of a heap.
#[tokio::test]
async fn only_entries_of_indexes_leave_ghosts() {
    let server = server(GhostCleanup::Never);
    let controls = server.controls();
    let mut session = Session::open(&server).await;
    session
        .run(
            "CREATE TABLE dbo.h (k INT NOT NULL, v INT NOT NULL, INDEX ix_h (k));
             INSERT INTO dbo.h (k, v) VALUES (1, 1), (2, 2);",
        )
        .await
        .unwrap();
    let steps = [
        ("UPDATE dbo.h SET v = 7 WHERE k = 1", 0),
        ("UPDATE dbo.h SET k = 3 WHERE k = 1", 1),
        // The entry comes back to where its ghost is.
        ("UPDATE dbo.h SET k = 1 WHERE k = 3", 1),
        ("DELETE FROM dbo.h", 3),
        (
            "BEGIN TRAN; INSERT INTO dbo.h (k, v) VALUES (1, 1); ROLLBACK",
            3,
        ),
    ];
    for (step, ghosts) in steps {
        session.run(step).await.unwrap();
        assert_eq!(controls.ghosts(), ghosts, "{step}");
    }
    assert_eq!(session.ints("SELECT k FROM dbo.h").await.unwrap(), []);
}

/// A row of a ghost's key can be inserted once the deletion is committed, and waits for it before.
#[tokio::test]
async fn a_ghost_gives_way_to_a_new_row() {
    let server = server(GhostCleanup::Never);
    let controls = server.controls();
    let (mut first, mut second) = (Session::open(&server).await, Session::open(&server).await);
    first
        .run(
            "CREATE TABLE dbo.u (id INT NOT NULL PRIMARY KEY, k INT NOT NULL UNIQUE);
              INSERT INTO dbo.u (id, k) VALUES (1, 10), (2, 20)",
        )
        .await
        .unwrap();
    let insert = "INSERT INTO dbo.u (id, k) VALUES (1, 10); SELECT @@ROWCOUNT";
    for end in ["COMMIT", "ROLLBACK"] {
        first
            .run("BEGIN TRAN; DELETE FROM dbo.u WHERE id = 1")
            .await
            .unwrap();
        let spid = second.spid;
        let waiting = second.spawn(insert);
        blocked(&controls, spid).await;
        first.run(end).await.unwrap();
        let (back, answer) = within(waiting).await.unwrap();
        second = back;
        match end {
            "COMMIT" => assert_eq!(answer.unwrap(), [1]),
            _ => assert_eq!(number(answer), 2627),
        }
    }
    // A ghost that a transaction has brought back and rolled back is a ghost again, for the clean-up too.
    first.run("DELETE FROM dbo.u").await.unwrap();
    second.run(&format!("BEGIN TRAN; {insert}")).await.unwrap();
    controls.clean_up_ghosts();
    second.run("ROLLBACK").await.unwrap();
    assert_eq!(first.ints("SELECT id FROM dbo.u").await.unwrap(), []);
    controls.clean_up_ghosts();
    assert_eq!(controls.ghosts(), 0);
}

/// Who has read a range under SERIALIZABLE keeps new rows out of it, also where ghosts are, and whether they
/// are cleaned up meanwhile or not.
#[tokio::test]
async fn a_range_lock_covers_ghosts() {
    for cleaned in [false, true] {
        let server = server(GhostCleanup::Never);
        let controls = server.controls();
        let (mut reader, writer) = (Session::open(&server).await, Session::open(&server).await);
        reader
            .run(
                "CREATE TABLE dbo.r (id INT NOT NULL PRIMARY KEY);
                  INSERT INTO dbo.r (id) VALUES (10), (20), (30);
                  DELETE FROM dbo.r WHERE id = 20",
            )
            .await
            .unwrap();
        let read = "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; BEGIN TRAN;
            SELECT COUNT(*) FROM dbo.r WHERE id BETWEEN 11 AND 25";
        assert_eq!(reader.int(read).await.unwrap(), 0);
        if cleaned {
            controls.clean_up_ghosts();
        }
        let spid = writer.spid;
        let waiting = writer.spawn("INSERT INTO dbo.r (id) VALUES (20)");
        blocked(&controls, spid).await;
        assert_eq!(
            reader
                .int("SELECT COUNT(*) FROM dbo.r WHERE id BETWEEN 11 AND 25")
                .await
                .unwrap(),
            0
        );
        reader.run("COMMIT").await.unwrap();
        within(waiting).await.unwrap().1.unwrap();
    }
}

/// What a snapshot still reads is not cleaned up before it ends.
#[tokio::test]
async fn a_snapshot_keeps_its_rows() {
    let server = server(GhostCleanup::Never);
    let controls = server.controls();
    let (mut reader, mut writer) = (Session::open(&server).await, Session::open(&server).await);
    writer
        .run("CREATE TABLE dbo.s (id INT NOT NULL PRIMARY KEY); INSERT INTO dbo.s (id) VALUES (1), (2)")
        .await
        .unwrap();
    let read = "SELECT id FROM dbo.s ORDER BY id";
    reader
        .run(&format!(
            "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRAN; {read}"
        ))
        .await
        .unwrap();
    writer.run("DELETE FROM dbo.s WHERE id = 1").await.unwrap();
    controls.clean_up_ghosts();
    assert_eq!(reader.ints(read).await.unwrap(), [1, 2]);
    assert_eq!(controls.ghosts(), 1);
    reader.run("COMMIT").await.unwrap();
    controls.clean_up_ghosts();
    assert_eq!(controls.ghosts(), 0);
    assert_eq!(reader.ints(read).await.unwrap(), [2]);
}

/// An adversary cleans up when it likes: ghosts gather, and go.
#[tokio::test]
async fn an_adversary_cleans_up_at_any_time() {
    let server = super::adversary(31).start().unwrap();
    let controls = server.controls();
    let mut session = Session::open(&server).await;
    session.run(QUEUE).await.unwrap();
    let (mut fell, mut rose, mut last) = (false, false, 0);
    for n in 0..200 {
        visited(&server, &mut session, n, 1).await;
        let ghosts = controls.ghosts();
        fell |= ghosts < last;
        rose |= ghosts > last;
        last = ghosts;
    }
    assert!(rose && fell);
}
