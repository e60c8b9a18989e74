//! Texts that are long: parsed, and bound.

use super::super::RequestEnd;
use super::{Client, Patience, ROWS_PER_QUESTION};

/// What is only bound, and how often that asks at least.
fn bound() -> Vec<(String, usize)> {
    let list = |count: usize, item: &dyn Fn(usize) -> String, between: &str| {
        let items: Vec<String> = (0..count).map(item).collect();
        items.join(between)
    };
    let tables = format!(
        "SELECT 1 FROM {}",
        list(20, &|i| format!("t AS t{i}"), ", ")
    );
    let selects = list(100, &|_| "SELECT 1".to_owned(), " UNION ALL ");
    let statements = list(100, &|i| format!("PRINT {i};"), " ");
    let checks = list(
        100,
        &|i| format!("CONSTRAINT ck{i} CHECK (v > {i} - 1000)"),
        ", ",
    );
    let ones = list(1000, &|_| "1".to_owned(), ", ");
    let keys = list(1000, &|i| format!("v + {i}"), ", ");
    let columns = list(1000, &|i| format!("c{i} INT"), ", ");
    let unnamed = list(1000, &|i| format!("CHECK (v > {i})"), ", ");
    vec![
        (format!("IF 1 = 0 {tables}"), 200),
        (format!("IF 1 = 0 {selects}"), 100),
        (format!("IF 1 = 0 BEGIN {statements} END"), 100),
        (format!("CREATE PROCEDURE long_one AS {tables}"), 200),
        (format!("CREATE PROCEDURE longer AS {statements}"), 100),
        (format!("CREATE VIEW long_view (x) AS {selects}"), 100),
        (format!("ALTER TABLE t ADD {checks}"), 100),
        (format!("IF 1 = 0 SELECT {ones}"), 1000),
        (format!("IF 1 = 0 SELECT 1 WHERE 0 IN ({ones})"), 1000),
        (format!("IF 1 = 0 SELECT 1 FROM t GROUP BY {keys}"), 1000),
        (format!("IF 1 = 0 SELECT 1 FROM t ORDER BY {keys}"), 1000),
        (format!("DECLARE @t TABLE ({columns})"), 1000),
        (format!("CREATE TABLE wide ({columns})"), 1000),
        (
            format!("CREATE PROCEDURE wide AS DECLARE @t TABLE ({columns})"),
            1000,
        ),
        (format!("DECLARE @t TABLE (v INT, {unnamed})"), 1000),
    ]
}

/// Binding asks for every SELECT, for every table that may be the next of a join, for every rule of a table and for every
/// statement of a batch or procedure. It can be ended there, and the session goes on.
#[test]
fn binding_asks_whether_to_stop() {
    for (statement, least) in bound() {
        let mut client = Client::open();
        let before = client.picture();
        let mut patience = Patience {
            stop_at: Some(least * 3 / 4),
            ..Patience::default()
        };
        let end = client.0.batch(&statement, &mut patience);
        assert_eq!(end, RequestEnd::Attention, "{statement}");
        assert_eq!(patience.error, None, "{statement}");
        assert_eq!(client.picture(), before, "{statement}");
        // Another engine, which has kept nothing yet.
        let asked = Client::open().run(&statement).asked;
        assert!(asked >= least, "{statement}: {asked} questions");
    }
}

/// The table variables of a procedure are bound while others have the latch, when it is made and when it is first called.
#[test]
fn table_variables_are_bound_without_the_latch() {
    let mut client = Client::open();
    let columns: Vec<String> = (0..1000).map(|i| format!("c{i} INT DEFAULT {i}")).collect();
    let create = format!(
        "CREATE PROCEDURE wide AS DECLARE @t TABLE ({})",
        columns.join(", ")
    );
    for batch in [create.as_str(), "EXEC wide"] {
        let Patience {
            asked,
            asked_under_latch,
            ..
        } = client.run(batch);
        let start = &batch[..9];
        assert!(asked >= 1000, "{start}: {asked} questions");
        assert!(
            asked_under_latch < 10,
            "{start}: {asked_under_latch} under the latch"
        );
    }
}

/// A text that is long asks while it is cut into tokens and while these are parsed, although it turns out to be wrong
/// in the end, and it can be ended there.
#[test]
fn parsing_asks_whether_to_stop() {
    let texts = [
        format!(
            "DECLARE @a INT; {} SELECT FROM",
            "SET @a = @a + 1 ".repeat(2_000)
        ),
        format!("SELECT 1 WHERE 1 IN ({}", "1, ".repeat(6_000)),
        format!("SELECT CASE {}", "WHEN 1 = 1 THEN 2 ".repeat(2_000)),
        // Without any expression.
        format!("INSERT t ({}", "a, ".repeat(6_000)),
        format!("DROP TABLE {}", "a, ".repeat(6_000)),
        format!("SELECT 1 FROM t WITH ({}", "NOLOCK, ".repeat(6_000)),
        format!("{} SELECT FROM", ";".repeat(12_000)),
        format!("CREATE TABLE t ({}", "a INT, ".repeat(4_000)),
        format!("CREATE PROCEDURE p {}", "@a INT, ".repeat(4_000)),
        format!("GRANT SELECT TO {}", "a, ".repeat(6_000)),
    ];
    for text in texts {
        let tokens = 12_000;
        let mut patience = Patience::default();
        let mut client = Client::open();
        client.0.batch(&text, &mut patience);
        assert!(patience.error.is_some(), "{}", &text[..40]);
        let least = 2 * tokens / ROWS_PER_QUESTION - 2;
        assert!(
            patience.asked >= least,
            "{}: {} questions",
            &text[..40],
            patience.asked
        );
        for stop_at in [1, least / 2, least] {
            let mut patience = Patience {
                stop_at: Some(stop_at),
                ..Patience::default()
            };
            let end = client.0.batch(&text, &mut patience);
            assert_eq!(end, RequestEnd::Attention, "{}", &text[..40]);
            assert_eq!(patience.error, None, "{}", &text[..40]);
        }
    }
}
