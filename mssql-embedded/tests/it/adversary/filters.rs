//! Filters. A condition on columns of a nonclustered index may be tested on its entry, before the row is looked up, or on
//! the row ("Index architecture and design guide", key lookups; "Showplan logical and physical operators
//! reference", Filter and Key Lookup). Locks on rows that fail may be given back, or last as long as the others: UPDLOCK takes
//! locks "held until the transaction completes" ("Table hints", docs/t-sql/queries/hints-transact-sql-table.md), whatever
//! becomes of the row.

use crate::adversary::{adversary, answers, table};
use crate::support::Session;

/// Locks on rows that do not qualify stay or go; on rows that a seek leaves out there are none.
#[tokio::test]
async fn locks_on_rows_that_fail_may_stay() {
    let server = adversary(81).start().unwrap();
    let mut session = table(&server).await;
    session
        .run("ALTER TABLE dbo.t SET (LOCK_ESCALATION = DISABLE)")
        .await
        .unwrap();
    let locked_by = |condition: &str| {
        format!(
            "BEGIN TRAN; DECLARE @v INT;
             SELECT @v = v FROM dbo.t WITH (INDEX(pk_t), FORCESEEK, UPDLOCK, ROWLOCK) WHERE {condition};
             SELECT CAST(COUNT(*) AS VARCHAR(10)) FROM sys.dm_tran_locks
             WHERE request_session_id = @@SPID AND resource_type = 'KEY' AND request_mode = 'U';
             ROLLBACK"
        )
    };
    let free = answers(&mut session, &locked_by("id BETWEEN 3 AND 7 AND v = 1")).await;
    assert_eq!(free.iter().collect::<Vec<_>>(), ["0", "5"]);
    let all = answers(&mut session, &locked_by("id BETWEEN 3 AND 7")).await;
    assert_eq!(all.iter().collect::<Vec<_>>(), ["5"]);
}

/// A row that fails by its index entry is looked up or not; one that cannot be judged by it always is, and one that
/// the index covers never.
#[tokio::test]
async fn an_entry_that_fails_may_spare_its_row() {
    let server = adversary(82).start().unwrap();
    let mut holder = table(&server).await;
    let mut reader = Session::open(&server).await;
    let setup = "ALTER TABLE dbo.t SET (LOCK_ESCALATION = DISABLE); BEGIN TRAN;
        UPDATE x SET v = 2 FROM dbo.t AS x WITH (INDEX(pk_t), FORCESEEK, ROWLOCK) WHERE id = 7";
    holder.run(setup).await.unwrap();
    let read = |column: &str, condition: &str| {
        format!(
            "SET LOCK_TIMEOUT 0; DECLARE @x INT;
             BEGIN TRY
                 SELECT @x = {column} FROM dbo.t WITH (INDEX(ix_t_b), FORCESEEK, ROWLOCK)
                 WHERE b BETWEEN 990 AND 995 AND {condition};
                 SELECT 'read';
             END TRY
             BEGIN CATCH SELECT CAST(ERROR_NUMBER() AS VARCHAR(10)); END CATCH"
        )
    };
    let outcomes = [
        (read("v", "b % 2 = 0"), vec!["1222", "read"]),
        (read("v", "v % 2 = 1"), vec!["1222"]),
        (read("b", "b % 2 = 1"), vec!["read"]),
    ];
    for (batch, expected) in outcomes {
        let seen = answers(&mut reader, &batch).await;
        assert_eq!(seen.iter().collect::<Vec<_>>(), expected, "{batch}");
    }
    holder.run("ROLLBACK").await.unwrap();
}
