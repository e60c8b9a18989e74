//! Joins. Order and strategy are the optimiser's choice ("Query processing architecture guide", optimizing SELECT
//! statements). A join hint fixes the strategy of its join and the order of all tables ("Join hints",
//! docs/t-sql/queries/hints-transact-sql-join.md); OPTION fixes the strategy of all joins or their order, and what cannot be
//! planned so is refused with 8622 ("Query hints", docs/t-sql/queries/hints-transact-sql-query.md).

use std::collections::BTreeSet;

use mssql_embedded::Server;

use crate::adversary::{adversary, table};
use crate::support::{Session, number};

/// Forty rows against three, each read as a whole, so that the number of rows visited tells the plan.
fn joined(join: &str, option: &str) -> String {
    format!(
        "SELECT COUNT(*) FROM dbo.t AS x WITH (INDEX(pk_t), FORCESCAN)
         {join} dbo.u AS y WITH (INDEX(pk_u), FORCESCAN) ON y.id = x.id {option}"
    )
}

const FROM_T: u64 = 40 + 40 * 3;
const FROM_U: u64 = 3 + 3 * 40;
const ONCE: u64 = 40 + 3;

/// How many rows are visited in sixty executions.
async fn visits(server: &Server, session: &mut Session, query: &str) -> BTreeSet<u64> {
    let controls = server.controls();
    let mut seen = BTreeSet::new();
    for _ in 0..60 {
        let before = controls.counters();
        assert_eq!(session.int(query).await.unwrap(), 3, "{query}");
        seen.insert(controls.counters().since(&before).total().stats.rows_read);
    }
    seen
}

/// Every order and strategy comes up, and hints leave those that they name.
#[tokio::test]
async fn hints_bind_order_and_strategy() {
    let server = adversary(41).start().unwrap();
    let mut session = table(&server).await;
    let three = "CREATE TABLE dbo.u (id INT NOT NULL CONSTRAINT pk_u PRIMARY KEY);
        INSERT INTO dbo.u (id) VALUES (1), (2), (3)";
    session.run(three).await.unwrap();
    let bound = [
        ("JOIN", "", vec![ONCE, FROM_U, FROM_T]),
        ("JOIN", "OPTION (FORCE ORDER)", vec![ONCE, FROM_T]),
        ("JOIN", "OPTION (LOOP JOIN)", vec![FROM_U, FROM_T]),
        ("JOIN", "OPTION (HASH JOIN)", vec![ONCE]),
        ("JOIN", "OPTION (MERGE JOIN)", vec![ONCE]),
        (
            "JOIN",
            "OPTION (LOOP JOIN, HASH JOIN)",
            vec![ONCE, FROM_U, FROM_T],
        ),
        ("JOIN", "OPTION (LOOP JOIN, FORCE ORDER)", vec![FROM_T]),
        ("INNER LOOP JOIN", "", vec![FROM_T]),
        ("INNER HASH JOIN", "", vec![ONCE]),
        ("INNER MERGE JOIN", "", vec![ONCE]),
        ("RIGHT HASH JOIN", "", vec![ONCE]),
    ];
    for (join, option, plans) in bound {
        let query = joined(join, option);
        let seen = visits(&server, &mut session, &query).await;
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), plans, "{query}");
    }
}

/// Hints that leave no plan are refused, whoever plans.
#[tokio::test]
async fn impossible_hints_are_refused() {
    for server in [
        crate::support::server(false),
        adversary(42).start().unwrap(),
    ] {
        let mut session = table(&server).await;
        for query in [
            "SELECT COUNT(*) FROM dbo.t AS x INNER HASH JOIN dbo.t AS y ON y.id > x.id",
            "SELECT COUNT(*) FROM dbo.t AS x CROSS JOIN dbo.t AS y OPTION (MERGE JOIN)",
            "SELECT COUNT(*) FROM dbo.t AS x LEFT HASH JOIN dbo.t AS y ON y.id > x.id",
            // "Join hints": LOOP can't be specified together with RIGHT or FULL.
            "SELECT COUNT(*) FROM dbo.t AS x RIGHT LOOP JOIN dbo.t AS y ON y.id = x.id",
            "SELECT COUNT(*) FROM dbo.t AS x FULL LOOP JOIN dbo.t AS y ON y.id = x.id",
        ] {
            assert_eq!(number(session.int(query).await), 8622, "{query}");
        }
        // Where nothing is joined there is nothing to plan.
        let one = "SELECT COUNT(*) FROM dbo.t WHERE id = 7 AND @@SPID > 0 OPTION (HASH JOIN)";
        assert_eq!(session.int(one).await.unwrap(), 1);
    }
}
