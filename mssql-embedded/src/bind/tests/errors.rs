//! What is refused, and by which number.

use super::{bind, bind_with, refused};

#[track_caller]
fn number(sql: &str, expected: i32) {
    let error = refused(sql);
    assert_eq!(error.number, expected, "{sql}: {error}");
}

#[test]
fn names_that_mean_nothing_or_two_things() {
    number("SELECT nope FROM queue", 207);
    number("SELECT 1 FROM nope", 208);
    number("SELECT id FROM queue, instances", 209);
    number("SELECT x.id FROM queue", 4104);
    number("SELECT queue.nope FROM queue", 207);
    number("SELECT x.* FROM queue", 107);
    number("SELECT NOPE(1)", 195);
    number("SELECT dbo.f(1)", 4121);
    number("SELECT @x", 137);
    number("DECLARE @x INT, @x INT SELECT 1", 134);
    number("SELECT 1 FROM @t", 1087);
    number("SELECT 1 FROM queue a, instances a", 1011);
    number("SELECT 1 FROM queue, queue", 1013);
    number("SELECT 1 FROM #t", 208);
}

#[test]
fn a_variable_is_unknown_before_its_declaration() {
    number("SELECT @x DECLARE @x INT SELECT @y", 137);
    let catalog = super::catalog();
    let database = &catalog.databases["db"];
    let batch = crate::parse::parse_batch(
        "SELECT @x DECLARE @x INT",
        crate::parse::ParseOptions::default(),
    )
    .unwrap();
    let variables =
        super::collect_variables(&[], &batch.statements, database, &crate::interrupt::never)
            .unwrap();
    let ctx = super::BindContext {
        catalog: &catalog,
        database,
        default_schema: "dbo",
        login: "",
        variables: &variables,
        quoted_identifier: true,
        temporaries: crate::catalog::TemporaryTables::none(),
        choices: None,
        looked_up: None,
        interrupted: &crate::interrupt::never,
    };
    let crate::ast::StmtKind::Table(select) = &batch.statements[0].kind else {
        panic!("the first statement is a SELECT");
    };
    let error = super::bind_statement(&ctx, select).unwrap_err();
    assert_eq!(error.number, 137);
}

#[test]
fn grouping_rules() {
    number("SELECT a, b FROM heap GROUP BY a", 8120);
    number("SELECT a, COUNT(*) FROM heap", 8120);
    number("SELECT a FROM heap GROUP BY a HAVING b > 1", 8121);
    number("SELECT a FROM heap GROUP BY a ORDER BY b", 8127);
    number("SELECT 1 FROM heap WHERE COUNT(*) > 1", 147);
    number("SELECT SUM(COUNT(*)) FROM heap", 130);
    number("SELECT 1 FROM heap GROUP BY COUNT(*)", 144);
    number("SELECT 1 FROM heap GROUP BY 1", 164);
    bind("SELECT a + 1, COUNT(*) FROM heap GROUP BY a + 1 HAVING COUNT(*) > 1 ORDER BY a + 1")
        .unwrap();
    bind("SELECT a, (SELECT MAX(b) FROM heap x WHERE x.a = heap.a) FROM heap GROUP BY a").unwrap();
}

#[test]
fn ordering_and_limits() {
    number("SELECT a FROM heap ORDER BY 2", 108);
    number("SELECT DISTINCT a FROM heap ORDER BY b", 145);
    number(
        "SELECT a FROM heap UNION SELECT b FROM heap ORDER BY c",
        104,
    );
    number("SELECT * FROM (SELECT a FROM heap ORDER BY a) x", 1033);
    number("SELECT TOP (1) a FROM heap ORDER BY a OFFSET 1 ROWS", 10741);
    number("SELECT TOP (1) WITH TIES a FROM heap", 1062);
    number("SELECT a FROM heap ORDER BY a, a", 169);
    number("SELECT ROW_NUMBER() OVER (PARTITION BY a) FROM heap", 4112);
    number(
        "SELECT a FROM heap WHERE ROW_NUMBER() OVER (ORDER BY a) = 1",
        4108,
    );
    number("SELECT ROW_NUMBER() FROM heap", 10753);
}

#[test]
fn shapes_of_queries() {
    number("SELECT a FROM heap UNION SELECT a, b FROM heap", 205);
    number("SELECT * FROM (SELECT 1) x", 8155);
    number("SELECT * FROM (SELECT 1 AS a, 2 AS a) x", 8156);
    number("SELECT * FROM (SELECT 1 AS a, 2 AS b) x (p)", 8158);
    number("SELECT * FROM (SELECT 1 AS a) x (p, q)", 8159);
    number("SELECT 1 WHERE 1 = (SELECT a, b FROM heap)", 116);
    number("DECLARE @x INT SELECT @x = a, b FROM heap", 141);
    number(
        "WITH c AS (SELECT 1 AS x), c AS (SELECT 2 AS x) SELECT 1 FROM c",
        239,
    );
    number("SELECT *", 263);
    number("SELECT 1 WHERE EXISTS (SELECT 1 AS x INTO t)", 156);
}

#[test]
fn types_that_do_not_meet() {
    number(
        "SELECT 1 FROM heap WHERE a = CAST('2020-01-01' AS DATE)",
        206,
    );
    number("SELECT CAST(CAST('2020-01-01' AS DATE) AS INT)", 529);
    number("SELECT CASE WHEN 1 = 1 THEN NULL END", 8133);
    number("SELECT COALESCE(NULL, NULL)", 4127);
    number(
        "SELECT 1 FROM instances i JOIN queue q ON q.tag = i.id COLLATE Latin1_General_CI_AS WHERE i.id = q.tag",
        468,
    );
    number("SELECT ISNULL(1)", 174);
    number("SELECT 'a' COLLATE Nowhere_CI_AS", 448);
}

#[test]
fn inserts() {
    number("INSERT INTO heap VALUES (1)", 213);
    number("INSERT INTO heap (a, b) VALUES (1)", 109);
    number("INSERT INTO heap (a) VALUES (1, 2)", 110);
    number("INSERT INTO heap (a, b) SELECT 1", 120);
    number("INSERT INTO heap (a) SELECT 1, 2", 121);
    number("INSERT INTO heap (a, a) VALUES (1, 2)", 264);
    number("INSERT INTO heap (c) VALUES (1)", 271);
    number("INSERT INTO heap (nope) VALUES (1)", 207);
    number("INSERT INTO queue VALUES (1, 2, N'i', NULL, 0, N'')", 8101);
    number("INSERT INTO heap (a, b) VALUES (1, 2), (3)", 10709);
    number(
        "INSERT INTO queue (id, not_before_ms, instance) VALUES (DEFAULT, 1, N'')",
        339,
    );
    number(
        "INSERT INTO heap (a) VALUES (CAST('2020-01-01' AS DATE))",
        206,
    );
    number("INSERT INTO running (id) VALUES (N'a')", 40517);
    bind("INSERT INTO queue (not_before_ms, instance, locked) VALUES (1, N'i', DEFAULT)").unwrap();
}

#[test]
fn updates_and_deletes() {
    number("UPDATE queue SET id = 1", 8102);
    number("UPDATE heap SET c = 1", 271);
    number("UPDATE heap SET a = 1, a = 2", 264);
    number("UPDATE heap SET a = COUNT(*)", 157);
    number("UPDATE nope SET a = 1", 208);
    number("UPDATE heap SET nope = 1", 207);
    number(
        "WITH c AS (SELECT a + 1 AS a FROM heap) UPDATE c SET a = 1",
        4406,
    );
    number("DELETE FROM queue WITH (NOLOCK)", 1065);
    number("DELETE FROM heap OUTPUT inserted.a", 4104);
    number("UPDATE heap SET a = 1 OUTPUT a", 207);
}

#[test]
fn hints_that_cannot_be_obeyed() {
    number("SELECT 1 FROM queue WITH (INDEX(nope))", 308);
    number("SELECT 1 FROM queue WITH (FORCESEEK)", 8622);
    number("SELECT 1 FROM queue WITH (NOLOCK, UPDLOCK)", 1047);
    number("SELECT 1 FROM queue WITH (INDEX(ix_tagged))", 8622);
}

#[test]
fn filtered_indexes_demand_quoted_identifier() {
    let error = bind_with("DELETE FROM queue WHERE id = 1", false).unwrap_err();
    assert_eq!(error.number, 1934);
    bind_with("DELETE FROM history WHERE instance = N'a'", false).unwrap();
}

#[test]
fn permissions_and_dependencies_are_noted() {
    let bound =
        bind("UPDATE queue SET locked = 1 FROM queue JOIN running r ON r.id = queue.instance")
            .unwrap();
    let mut wanted: Vec<&str> = bound.requires.iter().map(|r| r.permission.name()).collect();
    wanted.sort_unstable();
    assert_eq!(wanted, ["SELECT", "SELECT", "UPDATE"]);
    // The table behind the view counts for versions, not for permissions.
    assert_eq!(bound.depends.len(), 3);
}
