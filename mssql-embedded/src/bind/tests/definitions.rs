//! Table definitions.

use super::{StmtKind, TableName, ValueStmt, catalog, parse_batch, table_def_from_ast, table_of};
use crate::ast::{Ddl, Declaration};
use crate::catalog::{Home, TableDef};
use crate::error::SqlResult;
use crate::parse::ParseOptions;

fn create(sql: &str) -> SqlResult<TableDef> {
    let catalog = catalog();
    let home = Home {
        database: &catalog.databases["db"],
        default_schema: "dbo",
    };
    let batch = parse_batch(sql, ParseOptions::default()).expect("the text parses");
    let at = TableName {
        schema_id: 1,
        schema: "dbo".to_owned(),
        name: "t".to_owned(),
        database: "db".to_owned(),
    };
    match &batch.statements[0].kind {
        StmtKind::Ddl(Ddl::CreateTable {
            columns,
            constraints,
            ..
        }) => table_def_from_ast(&at, columns, constraints, home, &crate::interrupt::never),
        StmtKind::Value(ValueStmt::Declare(list)) => match &list[0] {
            Declaration::Table {
                columns,
                constraints,
                ..
            } => table_def_from_ast(&at, columns, constraints, home, &crate::interrupt::never),
            Declaration::Scalar { .. } => panic!("not a table"),
        },
        other => panic!("not a table: {other:?}"),
    }
}

#[track_caller]
fn number(sql: &str, expected: i32) {
    match create(sql) {
        Ok(_) => panic!("{sql} was accepted"),
        Err(e) => {
            let first = e.cause.as_ref().map_or(e.number, |cause| cause.number);
            assert_eq!(first, expected, "{sql}: {e}");
        }
    }
}

#[test]
fn keys_are_clustered_by_the_rules() {
    let t = create("CREATE TABLE t (a INT PRIMARY KEY, b INT UNIQUE)").unwrap();
    assert!(t.indexes[0].clustered && !t.indexes[1].clustered);
    assert!(!t.columns[0].nullable && t.columns[1].nullable);
    let t = create("CREATE TABLE t (a INT PRIMARY KEY, b INT UNIQUE CLUSTERED)").unwrap();
    assert_eq!(t.indexes[0].keys[0].0, 1);
    assert!(t.indexes[0].clustered && !t.indexes[1].clustered);
    assert_eq!((t.indexes[0].index_id, t.indexes[1].index_id), (1, 2));
    let t = create("DECLARE @t TABLE (a INT NOT NULL, INDEX ix (a))").unwrap();
    assert!(!t.indexes[0].clustered);
}

#[test]
fn names_are_made_up_in_the_servers_pattern() {
    let t = create("CREATE TABLE t (a INT PRIMARY KEY, b INT DEFAULT 1 CHECK (b > 0))").unwrap();
    assert!(t.indexes[0].name.starts_with("PK__t__") && t.indexes[0].name.len() == 23);
    assert!(
        t.columns[1]
            .default
            .as_ref()
            .unwrap()
            .name
            .starts_with("DF__t__b__")
    );
    assert!(t.checks[0].name.starts_with("CK__t__b__") && t.checks[0].system_named);
    assert_eq!(t.checks[0].column.as_deref(), Some("b"));
}

#[test]
fn computed_columns_get_the_type_of_their_expression() {
    let catalog = catalog();
    let heap = table_of(&catalog.databases["db"], "heap");
    assert_eq!(heap.columns[2].ty.declaration(), "int");
    assert!(heap.columns[2].nullable);
}

#[test]
fn wrong_definitions_are_refused() {
    number("CREATE TABLE t (a INT, A INT)", 2705);
    number("CREATE TABLE t (a INT IDENTITY, b INT IDENTITY)", 2744);
    number(
        "CREATE TABLE t (a INT PRIMARY KEY, b INT, PRIMARY KEY (b))",
        8110,
    );
    number("CREATE TABLE t (a INT NULL PRIMARY KEY)", 8111);
    number("CREATE TABLE t (a NVARCHAR(MAX) PRIMARY KEY)", 1919);
    number(
        "CREATE TABLE t (a INT UNIQUE CLUSTERED, b INT UNIQUE CLUSTERED)",
        8112,
    );
    number("CREATE TABLE t (a INT, PRIMARY KEY (nope))", 1911);
    number("CREATE TABLE t (a INT NOT NULL, PRIMARY KEY (a, a))", 1909);
    number("CREATE TABLE t (a CHAR(1000) PRIMARY KEY)", 1944);
    number("CREATE TABLE t (a NVARCHAR(10) IDENTITY)", 2749);
    number("CREATE TABLE t (a INT NULL IDENTITY)", 8147);
    number("CREATE TABLE t (a NOPE)", 2715);
    number("CREATE TABLE t (a INT CHECK (b > 1))", 207);
    number("CREATE TABLE t (a INT DEFAULT b)", 128);
    number("CREATE TABLE t (a INT REFERENCES queue)", 1778);
}
