//! The README's lists of what is accepted without effect and what is refused are true.

use crate::support::{Session, number, server};

/// The number under which the engine refuses what it does not implement.
const REFUSED: u32 = 40517;

/// The lines of the README's code block with that label, without their remarks.
fn lines(label: &str) -> Vec<&'static str> {
    let readme = include_str!("../../README.md");
    let opening = format!("```sql {label}\n");
    let (_, rest) = readme.split_once(&opening).expect("the block is there");
    let (block, _) = rest.split_once("```").expect("the block ends");
    let lines: Vec<_> = block
        .lines()
        .map(|line| line.split(" -- ").next().unwrap_or(line))
        .collect();
    assert!(lines.len() > 10, "the block {label} is nearly empty");
    lines
}

async fn session(server: &mssql_embedded::Server) -> Session {
    let mut session = Session::open(server).await;
    session
        .run("CREATE TABLE readme (id INT PRIMARY KEY, v INT, t VARCHAR(MAX))")
        .await
        .unwrap();
    session
}

/// What the README says is accepted without effect is accepted.
#[tokio::test]
async fn accepted_lines_are_accepted() {
    let server = server(false);
    let mut session = session(&server).await;
    for line in lines("accepted") {
        let outcome = session.run(line).await;
        assert!(outcome.is_ok(), "{line}: {outcome:?}");
    }
}

/// What the README says is refused is refused by name, not by chance.
#[tokio::test]
async fn refused_lines_are_refused() {
    let server = server(false);
    let mut session = session(&server).await;
    for line in lines("refused") {
        assert_eq!(number(session.run(line).await), REFUSED, "{line}");
    }
}

/// What the README says is refused is refused in a procedure when that is created, not when it runs: a script must
/// not find out halfway. Only a call of a system procedure waits for the call.
#[tokio::test]
async fn a_procedure_with_a_refused_line_is_not_created() {
    let server = server(false);
    let mut session = session(&server).await;
    let lines = lines("refused").into_iter();
    for line in lines.filter(|line| !line.starts_with("EXEC sp_")) {
        let created = session.run(&format!("CREATE PROCEDURE p AS {line}")).await;
        assert!(created.is_err(), "{line} is refused only when it runs");
        assert_eq!(number(created), REFUSED, "{line}");
    }
}
