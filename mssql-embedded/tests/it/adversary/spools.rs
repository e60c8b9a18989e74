//! Spools. A plan may keep the rows of a part that is needed several times, read as they are asked for (Lazy Spool) or
//! all at once (Eager Spool); who looks again for the same gets the kept rows, who looks for something else makes them be
//! read anew ("Showplan logical and physical operators reference",
//! docs/relational-databases/showplan-logical-and-physical-operators-reference.md). NO_PERFORMANCE_SPOOL forbids it
//! ("Query hints", docs/t-sql/queries/hints-transact-sql-query.md).

use std::collections::BTreeSet;

use mssql_embedded::Server;

use crate::adversary::{adversary, answers, table};
use crate::support::{Session, blocked, number, within};

/// Runs a query that has to wait at row 20 of forty, while `dbo.s`, which was empty, gets a row. It answers 1 when all
/// rows saw the same of `dbo.s`, and 2 otherwise.
async fn seen(server: &Server, holder: &mut Session, query: &str) -> BTreeSet<i32> {
    let mut seen = BTreeSet::new();
    let mut reader = Session::open(server).await;
    for _ in 0..60 {
        let hold = "DELETE FROM dbo.s; BEGIN TRAN;
            UPDATE x SET v = 0 FROM dbo.t AS x WITH (INDEX(pk_t), FORCESEEK, ROWLOCK) WHERE id = 20";
        holder.run(hold).await.unwrap();
        let spid = reader.spid;
        let waiting = reader.spawn(query);
        blocked(&server.controls(), spid).await;
        let change = "INSERT INTO dbo.s WITH (ROWLOCK) (x) VALUES (1); COMMIT";
        holder.run(change).await.unwrap();
        let (session, values) = within(waiting).await.unwrap();
        seen.extend(values.unwrap());
        reader = session;
    }
    seen
}

/// A subquery, and the inner side of a join, is read for every row or once; the hint makes it every row.
#[tokio::test]
async fn what_is_needed_for_every_row_is_read_once_or_again() {
    let server = adversary(61).start().unwrap();
    let mut holder = table(&server).await;
    let other = "CREATE TABLE dbo.s (x INT NOT NULL);
        ALTER TABLE dbo.t SET (LOCK_ESCALATION = DISABLE)";
    holder.run(other).await.unwrap();
    let outer = "dbo.t AS o WITH (INDEX(pk_t), ROWLOCK)";
    let subqueries = [
        "ISNULL((SELECT x FROM dbo.s WITH (ROWLOCK)), 0)",
        "IIF(EXISTS (SELECT 1 FROM dbo.s WITH (ROWLOCK)), 1, 0)",
        "IIF(1 IN (SELECT x FROM dbo.s WITH (ROWLOCK)), 1, 0)",
    ];
    let mut queries: Vec<String> = subqueries
        .iter()
        .map(|y| format!("SELECT COUNT(DISTINCT y) FROM (SELECT {y} AS y FROM {outer}) AS q"))
        .collect();
    queries.push(format!(
        "SELECT IIF(COUNT(*) = 0, 1, 2) FROM {outer} INNER LOOP JOIN dbo.s AS i WITH (ROWLOCK) ON i.x > 0"
    ));
    for query in queries {
        let open = seen(&server, &mut holder, &query).await;
        assert_eq!(open, BTreeSet::from([1, 2]), "{query}");
        let bound = format!("{query} OPTION (NO_PERFORMANCE_SPOOL)");
        let bound = seen(&server, &mut holder, &bound).await;
        assert_eq!(bound, BTreeSet::from([2]), "{query}");
    }
}

/// What depends on the outer row is looked for again when that row is another one, and what is never the same twice is
/// not kept.
#[tokio::test]
async fn a_spool_gives_nobody_the_rows_of_another() {
    for seed in 0..4 {
        let server = adversary(seed).start().unwrap();
        let mut session = table(&server).await;
        let one_answer = [
            "SELECT CAST(COUNT(*) AS VARCHAR(10)) FROM dbo.t AS o WHERE o.b = (SELECT i.b FROM dbo.t AS i WHERE i.id = o.id)",
            "SELECT CAST(COUNT(*) AS VARCHAR(10)) FROM dbo.t AS o WHERE EXISTS (SELECT 1 FROM dbo.t AS i WHERE i.id = o.id + 1)",
            "SELECT CAST(COUNT(*) AS VARCHAR(10)) FROM dbo.t AS o WHERE o.id % 4 IN (SELECT i.id FROM dbo.t AS i WHERE i.id < o.id)",
            "SELECT CAST(SUM(i.id) AS VARCHAR(10)) FROM dbo.t AS o CROSS APPLY (SELECT TOP (2) id FROM dbo.t WHERE id >= o.id % 3 ORDER BY id) AS i",
            "SELECT CAST(COUNT(DISTINCT n) AS VARCHAR(10)) FROM (SELECT (SELECT NEWID() WHERE o.id > 0) AS n FROM dbo.t AS o) AS q",
            "DECLARE @n INT = 0; SELECT @n = @n + (SELECT COUNT(*) FROM dbo.t WHERE id <= @n + 1) FROM (VALUES (1), (2), (3)) AS v (x);
             SELECT CAST(@n AS VARCHAR(10))",
        ];
        for batch in one_answer {
            let seen = answers(&mut session, batch).await;
            assert_eq!(seen.len(), 1, "seed {seed}, {batch}: {seen:?}");
        }
    }
}

/// What a spool keeps counts row by row: it is too much long before the last row, which fails.
#[tokio::test]
async fn a_spool_pays_for_each_row() {
    let server = adversary(5).session_memory(256 << 10).start().unwrap();
    let mut session = table(&server).await;
    let digit = "(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))";
    let query = format!(
        "SELECT COUNT(*) FROM (SELECT TOP (1) id FROM dbo.t) AS o INNER LOOP JOIN
            (SELECT 1 / (9999 - a.x - 10 * b.x - 100 * c.x - 1000 * d.x) AS y
             FROM {digit} AS a(x), {digit} AS b(x), {digit} AS c(x), {digit} AS d(x)) AS i ON i.y < o.id"
    );
    let mut numbers = BTreeSet::new();
    for _ in 0..40 {
        numbers.insert(number(within(session.rows(&query)).await));
    }
    assert_eq!(numbers, BTreeSet::from([701, 8134]));
}
