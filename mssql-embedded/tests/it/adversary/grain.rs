//! Lock grain. SQL Server locks rows, pages or the table as it finds best ("Transaction locking and row versioning
//! guide", dynamic locking) and exchanges many locks for one on the table when it has taken about 5,000 of
//! them or memory is short ("Resolve blocking problems caused by lock escalation"). ROWLOCK,
//! ALLOW_PAGE_LOCKS = OFF and LOCK_ESCALATION = DISABLE bind it. READPAST steps over rows, not over pages
//! ("Table hints").

use crate::adversary::{adversary, answers, table};
use crate::support::{Session, blocked, within};

/// What an UPDATE of one row locks exclusively.
fn locked_by(update: &str) -> String {
    format!(
        "BEGIN TRAN; {update};
         SELECT DISTINCT CAST(resource_type AS NVARCHAR(60)) FROM sys.dm_tran_locks
         WHERE request_session_id = @@SPID AND request_mode = 'X' ORDER BY 1;
         ROLLBACK;"
    )
}

/// Without ROWLOCK a write may lock a page or the table; with it, rows.
#[tokio::test]
async fn rowlock_binds_the_grain() {
    let server = adversary(21).start().unwrap();
    let mut session = table(&server).await;
    session
        .run("ALTER TABLE dbo.t SET (LOCK_ESCALATION = DISABLE)")
        .await
        .unwrap();
    let free = locked_by("UPDATE dbo.t SET v = 1 WHERE id = 7");
    let grains = answers(&mut session, &free).await;
    for grain in ["KEY", "PAGE", "OBJECT"] {
        assert!(
            grains.iter().any(|g| g.contains(grain)),
            "{grain}: {grains:?}"
        );
    }
    for update in [
        "UPDATE dbo.t WITH (ROWLOCK) SET v = 1 WHERE id = 7",
        "UPDATE x SET v = 1 FROM dbo.t AS x WITH (ROWLOCK) INNER JOIN dbo.t AS y ON y.v = x.v WHERE x.id = 7",
        "UPDATE x SET v = 1 FROM dbo.t AS x WITH (ROWLOCK) WHERE x.id = 7 AND x.v IN (SELECT y.v FROM dbo.t AS y)",
    ] {
        let grains = answers(&mut session, &locked_by(update)).await;
        assert_eq!(grains.iter().collect::<Vec<_>>(), ["KEY"], "{update}");
    }
}

/// ROWLOCK binds the write wherever the search for its rows is in the plan, and an INSERT; an index without page locks
/// has none.
#[tokio::test]
async fn page_locks_are_bound_wherever_they_may_arise() {
    let server = adversary(24).start().unwrap();
    let mut session = table(&server).await;
    session
        .run(
            "ALTER TABLE dbo.t SET (LOCK_ESCALATION = DISABLE);
             CREATE TABLE dbo.p (id INT NOT NULL CONSTRAINT pk_p PRIMARY KEY WITH (ALLOW_PAGE_LOCKS = OFF),
                                 v INT NOT NULL);
             ALTER TABLE dbo.p SET (LOCK_ESCALATION = DISABLE);
             INSERT INTO dbo.p (id, v) VALUES (1, 0), (2, 0)",
        )
        .await
        .unwrap();
    let bound = [
        "UPDATE dbo.t WITH (ROWLOCK) SET v = 1
         WHERE id = 7 AND EXISTS (SELECT 1 FROM dbo.t AS o WHERE o.id = dbo.t.id + 1)",
        "UPDATE x SET v = 1 FROM dbo.t AS x WITH (ROWLOCK) JOIN dbo.p AS p ON p.id = x.id",
        "DELETE FROM dbo.t WITH (ROWLOCK) WHERE id IN (SELECT id FROM dbo.p)",
        "INSERT INTO dbo.t WITH (ROWLOCK) (id, b, v) VALUES (100, 1, 1)",
    ];
    for statement in bound {
        let grains = answers(&mut session, &locked_by(statement)).await;
        assert_eq!(grains.iter().collect::<Vec<_>>(), ["KEY"], "{statement}");
    }
    let free = answers(
        &mut session,
        &locked_by("UPDATE dbo.p SET v = 1 WHERE id = 1"),
    )
    .await;
    assert!(free.iter().any(|g| g.contains("OBJECT")), "{free:?}");
    assert!(!free.iter().any(|g| g.contains("PAGE")), "{free:?}");
}

/// Escalation may come after few locks, but not where the table forbids it.
#[tokio::test]
async fn escalation_is_bound_by_the_table() {
    let server = adversary(22).start().unwrap();
    let mut session = table(&server).await;
    let update = locked_by("UPDATE dbo.t WITH (ROWLOCK) SET v = 1");
    let grains = answers(&mut session, &update).await;
    assert!(grains.iter().any(|g| g.contains("OBJECT")), "{grains:?}");
    session
        .run("ALTER TABLE dbo.t SET (LOCK_ESCALATION = DISABLE)")
        .await
        .unwrap();
    let grains = answers(&mut session, &update).await;
    assert_eq!(grains.iter().collect::<Vec<_>>(), ["KEY"]);
}

/// READPAST waits for a page that somebody has locked, and does not wait where pages cannot be locked.
#[tokio::test]
async fn readpast_does_not_step_over_a_page() {
    let server = adversary(23).start().unwrap();
    let mut holder = table(&server).await;
    let mut reader = Session::open(&server).await;
    // Until the statement happens to lock the page.
    loop {
        holder
            .run("BEGIN TRAN; UPDATE dbo.t SET v = 1 WHERE id = 7")
            .await
            .unwrap();
        let pages = "SELECT COUNT(*) FROM sys.dm_tran_locks
            WHERE resource_type = 'PAGE' AND request_mode = 'X' AND request_session_id = @@SPID";
        if holder.int(pages).await.unwrap() > 0 {
            break;
        }
        holder.run("ROLLBACK").await.unwrap();
    }
    let read = "SELECT id FROM dbo.t WITH (INDEX(pk_t), ROWLOCK, READPAST, READCOMMITTEDLOCK) WHERE id = 8";
    let spid = reader.spid;
    let reading = reader.spawn(read);
    blocked(&server.controls(), spid).await;
    holder.run("ROLLBACK").await.unwrap();
    let (back, answer) = within(reading).await.unwrap();
    reader = back;
    assert_eq!(answer.unwrap(), [8]);

    let only_rows = "CREATE TABLE dbo.rows_only (
            id INT NOT NULL CONSTRAINT pk_rows_only PRIMARY KEY WITH (ALLOW_PAGE_LOCKS = OFF),
            v INT NOT NULL);
        INSERT INTO dbo.rows_only (id, v) VALUES (7, 0), (8, 0)";
    holder.run(only_rows).await.unwrap();
    let pages = "BEGIN TRAN; UPDATE dbo.rows_only WITH (ROWLOCK) SET v = 1 WHERE id = 7;
        SELECT COUNT(*) FROM sys.dm_tran_locks WHERE resource_type = 'PAGE' AND request_session_id = @@SPID";
    assert_eq!(holder.int(pages).await.unwrap(), 0);
    let read = read
        .replace("dbo.t", "dbo.rows_only")
        .replace("pk_t", "pk_rows_only");
    assert_eq!(within(reader.ints(&read)).await.unwrap(), [8]);
    holder.run("ROLLBACK").await.unwrap();
}
