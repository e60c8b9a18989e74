//! Statements that grow far beyond their text are refused while they are bound, and the server lives on.

use std::fmt::Write;

use crate::support::{Session, number, server, within};

fn nest(depth: usize, innermost: &str, level: &dyn Fn(&str) -> String) -> String {
    (0..depth).fold(innermost.to_owned(), |inner, _| level(&inner))
}

/// Forms that need an operand twice do not double it at every level without end.
#[tokio::test]
async fn operands_that_double_are_refused() {
    let server = server(false);
    let mut client = Session::open(&server).await;
    let shapes: [&dyn Fn(&str) -> String; 4] = [
        &|inner| format!("NULLIF({inner}, 7)"),
        &|inner| format!("(SELECT 1 WHERE {inner} BETWEEN 0 AND 9)"),
        &|inner| format!("(SELECT CASE {inner} WHEN 7 THEN 1 WHEN 8 THEN 1 ELSE 1 END)"),
        &|inner| format!("(SELECT TOP (1) {inner} AS x ORDER BY x)"),
    ];
    for level in shapes {
        let query = |depth| format!("SELECT {}", nest(depth, "1", level));
        let few = within(client.int(&query(5))).await;
        assert_eq!(few.unwrap(), 1, "{}", level("…"));
        let many = within(client.int(&query(20))).await;
        assert_eq!(number(many), 8623, "{}", level("…"));
    }
}

/// The query of a CTE that names the one of the given number.
type Body<'a> = &'a dyn Fn(usize) -> String;

/// Each CTE names the one before it, in a way that makes it part of the query around it and in one that does not, and
/// below as many operators as an expression may have.
#[tokio::test]
async fn chains_of_ctes_are_refused_where_they_end_too_deep() {
    let server = server(false);
    let mut client = Session::open(&server).await;
    let sum = "+ 0 ".repeat(450);
    let shapes: [(Body<'_>, usize, usize); 5] = [
        (&|last| format!("SELECT x FROM c{last}"), 190, 3000),
        (
            &|last| format!("SELECT MAX(x) AS x FROM c{last}"),
            190,
            3000,
        ),
        (
            &|last| format!("SELECT (SELECT x FROM c{last}) AS x"),
            90,
            3000,
        ),
        (
            &|last| format!("SELECT x FROM c{last} WHERE x IN (SELECT x FROM c{last})"),
            3,
            3000,
        ),
        (
            &|last| format!("SELECT (SELECT MAX(x) FROM c{last}) {sum} AS x"),
            4,
            250,
        ),
    ];
    for (body, fits, exceeds) in shapes {
        let query = |depth: usize| {
            let steps = (1..=depth).fold(String::new(), |mut steps, i| {
                write!(steps, ", c{i} AS ({})", body(i - 1)).unwrap();
                steps
            });
            format!("WITH c0 AS (SELECT 1 AS x){steps} SELECT x FROM c{depth}")
        };
        let short = within(client.int(&query(fits))).await;
        assert_eq!(short.unwrap(), 1, "{fits} of {:.60}", body(0));
        let long = within(client.int(&query(exceeds))).await;
        assert_eq!(number(long), 8623, "{exceeds} of {:.60}", body(0));
    }
}

/// CTEs that become part of the query around them cannot make it join more than one text could.
#[tokio::test]
async fn sources_that_multiply_are_refused() {
    let server = server(false);
    let mut client = Session::open(&server).await;
    client
        .run("CREATE TABLE t (x INT); INSERT t VALUES (1);")
        .await
        .unwrap();
    let cross = |of: &str| {
        let list: Vec<String> = (0..20).map(|i| format!("{of} AS s{i}")).collect();
        format!("SELECT s0.x FROM {}", list.join(", "))
    };
    let (a, b, c) = (cross("t"), cross("a"), cross("b"));
    let query = |last| format!("WITH a AS ({a}), b AS ({b}), c AS ({c}) SELECT x FROM {last}");
    assert_eq!(within(client.int(&query("b"))).await.unwrap(), 1);
    assert_eq!(number(within(client.int(&query("c"))).await), 8623);
}

/// "Create views": views nest up to 32 levels.
#[tokio::test]
async fn views_nest_to_level_32() {
    let server = server(false);
    let mut client = Session::open(&server).await;
    for (first, body) in [
        ("a", "SELECT x FROM"),
        ("b", "SELECT MAX(x) AS x FROM"),
        (
            "c",
            "WITH c AS (SELECT 1 AS one) SELECT x FROM c CROSS JOIN",
        ),
    ] {
        let create = format!("CREATE VIEW {first}1 AS SELECT 1 AS x");
        client.run(&create).await.unwrap();
        for i in 2..=33 {
            let create = format!("CREATE VIEW {first}{i} AS {body} {first}{}", i - 1);
            client.run(&create).await.unwrap();
        }
        let last = client.int(&format!("SELECT x FROM {first}32")).await;
        assert_eq!(last.unwrap(), 1, "{body}");
        let beyond = client.int(&format!("SELECT x FROM {first}33")).await;
        assert_eq!(number(beyond), 217, "{body}");
    }
}
