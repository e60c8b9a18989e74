//! Replays the case files of `tests/cases` and compares every answer with SQL Server's.
//!
//! Without settings they run against an embedded server of their own. `MSSQL_CASES_URL` (an ADO.NET
//! connection string) points them at any other server; `MSSQL_CASES_ONLY=topic` or `topic/case`
//! selects some. See `tests/cases/README.md` for the format.

mod case_runner;

use std::collections::BTreeSet;
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

/// The errors that procedures and their callers meet most, each of which some case must raise.
const ERRORS_COVERED: &[u32] = &[
    102, 156, 201, 208, 229, 245, 266, 515, 547, 1205, 1222, 1934, 2601, 2627, 2628, 2812, 3902,
    3903, 3930, 8115, 8134, 8144, 13609, 18456, 50000,
];

/// None of the errors that must be covered has lost its case, and some case raises a number of its own.
#[test]
fn every_common_error_has_a_case() -> anyhow::Result<()> {
    let cases = load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"))?;
    // A case that the embedded engine refuses shows nothing here.
    let shown = cases.iter().filter(|case| case.refused.is_none());
    let raised: BTreeSet<u32> = shown
        .flat_map(|case| &case.batches)
        .flat_map(|batch| &batch.expect.errors)
        .map(|error| error.number)
        .collect();
    let missing: Vec<_> = ERRORS_COVERED
        .iter()
        .filter(|number| !raised.contains(number))
        .collect();
    assert!(missing.is_empty(), "no case expects the errors {missing:?}");
    assert!(
        raised.iter().any(|number| *number > 50_000),
        "no case throws a number above 50000"
    );
    Ok(())
}
