//! Writing while searching. A plan hands rows to the write one by one, or gathers them first behind a spool or sort; it
//! gathers them where the statement could otherwise see its own work ("Showplan logical and physical operators
//! reference", docs/relational-databases/showplan-logical-and-physical-operators-reference.md: Eager Spool; "Query
//! hints", NO_PERFORMANCE_SPOOL: a spool may be required for valid update semantics).

use crate::adversary::{adversary, answers, table};
use crate::support::{Session, blocked, within};

/// An UPDATE that waits for a row has written those before it, or none.
#[tokio::test]
async fn rows_are_written_one_by_one_or_after_the_search() {
    let server = adversary(51).start().unwrap();
    let mut holder = table(&server).await;
    let mut writer = Session::open(&server).await;
    holder
        .run("ALTER TABLE dbo.t SET (LOCK_ESCALATION = DISABLE)")
        .await
        .unwrap();
    let (mut by_row, mut after) = (false, false);
    for _ in 0..100 {
        let hold = "BEGIN TRAN;
            UPDATE x SET v = 0 FROM dbo.t AS x WITH (INDEX(pk_t), FORCESEEK, ROWLOCK) WHERE id = 20";
        holder.run(hold).await.unwrap();
        let spid = writer.spid;
        let waiting =
            writer.spawn("UPDATE x SET v = 1 FROM dbo.t AS x WITH (INDEX(pk_t), ROWLOCK)");
        blocked(&server.controls(), spid).await;
        let written = format!(
            "SELECT COUNT(*) FROM sys.dm_tran_locks WHERE request_session_id = {spid}
             AND resource_type = 'KEY' AND request_mode = 'X' AND request_status = 'GRANT'"
        );
        match holder.int(&written).await.unwrap() {
            0 => after = true,
            rows => {
                assert!(rows == 19 || rows == 20, "{rows}");
                by_row = true;
            }
        }
        holder.run("COMMIT").await.unwrap();
        writer = within(waiting).await.unwrap().0;
        if by_row && after {
            return;
        }
    }
    panic!("one by one: {by_row}, after the search: {after}");
}

/// However rows are written, a statement does not see its own work.
#[tokio::test]
async fn a_statement_does_not_see_its_own_work() {
    for seed in 0..2 {
        let server = adversary(seed).start().unwrap();
        let mut session = table(&server).await;
        session.run("DELETE FROM dbo.t WHERE id > 8").await.unwrap();
        let one_answer = [
            // A subquery on the changed table.
            "UPDATE dbo.t SET v = 0;
             UPDATE dbo.t SET v = (SELECT COUNT(*) FROM dbo.t AS o WHERE o.v = 0);
             SELECT CAST(COUNT(DISTINCT v) AS VARCHAR(10)) FROM dbo.t",
            // The changed table joined with itself.
            "UPDATE dbo.t SET v = 0;
             UPDATE x SET v = y.v + 1 FROM dbo.t AS x JOIN dbo.t AS y ON y.id = x.id - 1;
             SELECT CAST(MAX(v) AS VARCHAR(10)) FROM dbo.t",
            // Rows that move ahead of the search.
            "UPDATE dbo.t SET b = 1000 - id;
             UPDATE x SET b = b + 7 FROM dbo.t AS x WITH (INDEX(ix_t_b)) WHERE b < 2000;
             SELECT CAST(SUM(b - 1000 + id) AS VARCHAR(10)) FROM dbo.t",
            // A condition on other rows of the changed table.
            "BEGIN TRAN; DELETE FROM dbo.t WHERE EXISTS (SELECT 1 FROM dbo.t AS o WHERE o.id = dbo.t.id + 1);
             SELECT CAST(COUNT(*) AS VARCHAR(10)) FROM dbo.t; ROLLBACK",
        ];
        for batch in one_answer {
            let seen = answers(&mut session, batch).await;
            assert_eq!(seen.len(), 1, "seed {seed}, {batch}: {seen:?}");
        }
    }
}
