//! Types and nullability of results.

use super::{bind, query};
use crate::plan::BoundKind;

#[track_caller]
fn types(sql: &str) -> Vec<String> {
    query(sql)
        .columns
        .iter()
        .map(|c| {
            format!(
                "{}{}",
                c.ty.declaration(),
                if c.nullable { " null" } else { "" }
            )
        })
        .collect()
}

#[test]
fn literals() {
    assert_eq!(
        types("SELECT 1, 2147483648, 1.50, 1e3, 'abc', N'abc', '', 0x0102, NULL"),
        [
            "int",
            "decimal(10,0)",
            "decimal(3,2)",
            "float",
            "varchar(3)",
            "nvarchar(3)",
            "varchar(1)",
            "varbinary(2)",
            "int null"
        ]
    );
}

#[test]
fn columns_keep_their_types_and_outer_joins_make_them_nullable() {
    assert_eq!(
        types(
            "SELECT q.id, q.tag, i.execution FROM queue q LEFT JOIN instances i ON i.id = q.instance"
        ),
        ["bigint", "nvarchar(50) null", "int null"]
    );
}

#[test]
fn expressions() {
    assert_eq!(
        types("SELECT COUNT(*), SUM(a), MAX(b), COUNT_BIG(a) FROM heap"),
        ["int", "int null", "int null", "bigint"]
    );
    assert_eq!(
        types("SELECT ISNULL(a, 0), COALESCE(a, CAST(1 AS BIGINT)) FROM heap")[0],
        "int"
    );
    assert_eq!(
        types("SELECT CASE WHEN 1 = 1 THEN 'a' ELSE N'bcd' END, IIF(1 = 1, 1, 2.5)"),
        ["nvarchar(3)", "decimal(11,1)"]
    );
    assert_eq!(
        types("SELECT ROW_NUMBER() OVER (ORDER BY a) FROM heap"),
        ["bigint"]
    );
    assert_eq!(types("SELECT 'a' + N'bc'"), ["nvarchar(3)"]);
}

#[test]
fn a_column_collation_wins_over_a_variable() {
    let bound =
        bind("DECLARE @i NVARCHAR(10) IF EXISTS (SELECT 1 FROM instances WHERE id = @i) PRINT 'x'");
    assert!(matches!(bound.unwrap().kind, BoundKind::Condition(_)));
    let q = query("DECLARE @i NVARCHAR(10) SELECT id + @i FROM instances");
    assert_eq!(
        q.columns[0].ty.collation(),
        Some(crate::value::Collation::Bin2)
    );
}

#[test]
fn union_finds_common_types() {
    assert_eq!(
        types("SELECT 1 AS x UNION ALL SELECT 2.5 UNION ALL SELECT NULL"),
        ["decimal(11,1) null"]
    );
    assert_eq!(
        types("SELECT v.a FROM (VALUES (1), (CAST(2 AS BIGINT))) v(a)"),
        ["bigint"]
    );
}

#[test]
fn openjson_has_its_own_columns() {
    assert_eq!(
        types("SELECT * FROM OPENJSON(N'[]')"),
        ["nvarchar(4000)", "nvarchar(max) null", "tinyint"]
    );
    assert_eq!(
        types("SELECT * FROM OPENJSON(N'[]') WITH (a INT, b NVARCHAR(MAX) '$.b' AS JSON) j"),
        ["int null", "nvarchar(max) null"]
    );
}
