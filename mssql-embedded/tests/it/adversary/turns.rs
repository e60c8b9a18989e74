//! Turns. Which session runs next is nobody's to promise: SQL Server's schedulers share processors among workers, which
//! yield when they wait and when their time is over ("Thread and task architecture guide",
//! docs/relational-databases/thread-and-task-architecture-guide.md). So other sessions may come between any two statements.

use mssql_embedded::Question;

use crate::adversary::adversary;
use crate::support::Session;

/// Turns are given at statements that lock nothing, and follow from the seed.
#[tokio::test]
async fn others_may_come_between_any_two_statements() {
    let mut games = Vec::new();
    for seed in [71, 71, 72] {
        let server = adversary(seed).start().unwrap();
        let mut session = Session::open(&server).await;
        for _ in 0..100 {
            session
                .run("DECLARE @x INT = 1; SET @x += 1")
                .await
                .unwrap();
        }
        let decisions = server.controls().decisions();
        let turns = decisions
            .into_iter()
            .filter(|d| d.question == Question::Turn);
        // The first answer says whether somebody goes first, a second one how many.
        let given: Vec<u64> = turns
            .filter(|d| d.options == 4)
            .map(|d| d.statement)
            .collect();
        assert!(given.len() > 3, "seed {seed}: {given:?}");
        games.push(given);
    }
    assert_eq!(games[0], games[1]);
    assert_ne!(games[0], games[2]);
}
