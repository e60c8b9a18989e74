//! Replays the case files of `tests/cases` and compares every answer with SQL Server's.
//!
//! Without settings they run against an embedded server of their own. `MSSQL_CASES_URL` (an ADO.NET
//! connection string) points them at any other server; `MSSQL_CASES_ONLY=topic` or `topic/case`
//! selects some. See `tests/cases/README.md` for the format.

mod case_runner;

use std::path::Path;

use case_runner::{Case, Target, load, run};

/// The least number of cases that must be there, so that a loader that finds none can't pass.
const CASES_MIN: usize = 300;

/// Every case gives the result sets, errors and messages that SQL Server gives.
#[tokio::test]
async fn every_case_answers_as_sql_server_does() -> anyhow::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let cases = load(&folder)?;
    assert!(cases.len() >= CASES_MIN, "only {} cases found", cases.len());

    let only = std::env::var("MSSQL_CASES_ONLY").unwrap_or_default();
    let selected: Vec<&Case> = cases
        .iter()
        .filter(|case| only.is_empty() || case.topic == only || case.title() == only)
        .collect();
    assert!(!selected.is_empty(), "no case is called {only}");

    let target = Target::from_environment()?;
    let mut differing = 0;
    for case in &selected {
        let differences = run(case, &target).await;
        if !differences.is_empty() {
            differing += 1;
            println!("--- {} ({}:{})", case.title(), case.file, case.line);
            for difference in differences {
                println!("    {}", difference.replace('\n', "\n    "));
            }
        }
    }
    println!("{} cases, {differing} differ", selected.len());
    assert_eq!(
        differing,
        0,
        "{differing} of {} cases differ",
        selected.len()
    );
    Ok(())
}
