//! Replays the case files of `tests/cases` and compares every answer with SQL Server's.
//!
//! Without settings they run against an embedded server of their own. `MSSQL_CASES_URL` (an ADO.NET
//! connection string) points them at any other server; `MSSQL_CASES_ONLY=topic` or `topic/case`
//! selects some. See `tests/cases/README.md` for the format.

mod case_runner;

use std::collections::BTreeSet;
use std::path::Path;

use case_runner::{Case, Target, load, run};
use mssql_embedded::Server;

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
    let differing = differing(&selected, &target).await;
    assert_eq!(
        differing,
        0,
        "{differing} of {} cases differ",
        selected.len()
    );
    Ok(())
}

/// How many cases differ; what differs is printed.
async fn differing(cases: &[&Case], target: &Target) -> usize {
    let mut differing = 0;
    for case in cases {
        let differences = run(case, target).await;
        if !differences.is_empty() {
            differing += 1;
            println!("--- {} ({}:{})", case.title(), case.file, case.line);
            for difference in differences {
                println!("    {}", difference.replace('\n', "\n    "));
            }
        }
    }
    println!("{} cases, {differing} differ", cases.len());
    differing
}

/// Cases that rest on what SQL Server does as a rule and does not promise. An adversary breaks them, and is
/// right to.
const NOT_PROMISED: &[(&str, &str)] = &[
    ("deadlocks/a_lock_order_inversion_has_one_victim", ROW_LOCKS),
    (
        "deadlocks/the_victim_can_catch_its_doomed_transaction",
        ROW_LOCKS,
    ),
    (
        "deadlocks/updlock_taken_first_serialises_instead",
        ROW_LOCKS,
    ),
    ("deadlocks/serializable_keeps_a_phantom_out", ROW_LOCKS),
    ("dml/output_into_a_table_variable", ROW_ORDER),
    ("isolation/readpast_skips_locked_rows", ROW_LOCKS),
    ("isolation/updlock_excludes_updlock", ROW_LOCKS),
    ("isolation/holdlock_keeps_a_phantom_out", ROW_LOCKS),
    (
        "isolation/readpast_at_repeatable_read_keeps_the_rows_it_read",
        ROW_LOCKS,
    ),
    (
        "isolation/rows_with_large_values_stay_locked_until_the_statement_ends",
        ROW_LOCKS,
    ),
    (
        "isolation/rows_without_large_values_are_released_one_by_one",
        ROW_LOCKS,
    ),
    ("rowcount/set_rowcount_limits_changes", ROW_ORDER),
    ("openjson/default_schema_of_an_object", ROW_ORDER),
    ("dml/insert_output", ROW_ORDER),
    (
        "writes_through_queries/update_the_first_rows_in_order",
        ROW_ORDER,
    ),
    ("openjson/default_schema_of_an_array", ROW_ORDER),
    ("openjson/with_clause_gives_types", ROW_ORDER),
    ("openjson/a_path_selects_the_part", ROW_ORDER),
    ("partial_results/rows_before_the_error_arrive", ROW_ORDER),
    ("partial_results/conversion_in_the_third_row", ROW_ORDER),
    ("partial_results/a_caught_error_leaves_its_rows", ROW_ORDER),
    (
        "partial_results/a_lock_timeout_has_begun_its_result_set",
        ROW_ORDER,
    ),
    ("table_variables/identity_and_checks", ROW_ORDER),
    (
        "temporary_tables/select_into_keeps_the_identity_property",
        ROW_ORDER,
    ),
    ("transactions/others_see_it_after_the_commit", ROW_LOCKS),
];
const ROW_LOCKS: &str = "another row of the table is not locked, or not in another order";
const ROW_ORDER: &str =
    "rows without ORDER BY come in the order of their key or of their insertion";

/// What SQL Server leaves open does not show in any other case: each gives the same answers whatever the
/// adversary chooses, and with optimized locking.
#[tokio::test]
async fn every_case_answers_the_same_whatever_is_left_open() -> anyhow::Result<()> {
    if std::env::var("MSSQL_CASES_URL").is_ok() {
        // Another server makes its own choices; the test above has asked it.
        return Ok(());
    }
    let only = std::env::var("MSSQL_CASES_ONLY").unwrap_or_default();
    let cases = load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"))?;
    let selected: Vec<&Case> = cases
        .iter()
        .filter(|case| only.is_empty() || case.topic == only || case.title() == only)
        .filter(|case| NOT_PROMISED.iter().all(|(title, _)| *title != case.title()))
        .collect();
    let known: BTreeSet<String> = cases.iter().map(|case| case.title()).collect();
    for (title, why) in NOT_PROMISED {
        assert!(known.contains(*title), "no case is called {title} ({why})");
    }
    let seeds = match std::env::var("MSSQL_CASES_SEEDS") {
        Ok(text) => text.split(',').map(str::parse).collect::<Result<_, _>>()?,
        Err(_) => vec![1, 2],
    };
    for seed in seeds {
        let builder = Server::builder()
            .adversary(seed)
            .optimized_locking(seed % 2 == 0);
        let target = Target::embedded(builder)?;
        assert_eq!(differing(&selected, &target).await, 0, "seed {seed}");
    }
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
