//! Tests of the parser: what is accepted, how it is grouped, and which error the rest gets.

use super::{ParseOptions, parse_batch};
use crate::ast::{
    Batch, Ddl, ExprKind, Literal, SelectItem, StmtKind, TableStmt, TranStmt, ValueStmt,
};
use crate::error::SqlError;

fn parse(text: &str) -> Batch {
    parse_batch(text, ParseOptions::default()).unwrap_or_else(|e| panic!("{text}\n{e}"))
}

fn error(text: &str) -> SqlError {
    match parse_batch(text, ParseOptions::default()) {
        Ok(batch) => panic!("{text}\nwas accepted: {batch:?}"),
        Err(error) => error,
    }
}

#[track_caller]
fn fails(text: &str, number: i32, fragment: &str) {
    let error = error(text);
    assert_eq!(error.number, number, "{text}\n{error}");
    assert!(error.message.contains(fragment), "{text}\n{error}");
}

/// The text form of the first select item, to see how operators group.
fn rendered(expr: &str) -> String {
    let batch = parse(&format!("SELECT {expr}"));
    let StmtKind::Table(TableStmt::Select(select)) = &batch.statements[0].kind else {
        panic!("not a select");
    };
    let crate::ast::QueryBody::Select(spec) = &select.query.body else {
        panic!("not a single select");
    };
    match &spec.items[0] {
        SelectItem::Expr { expr, .. } => super::render::render_expr(expr),
        other => panic!("not an expression: {other:?}"),
    }
}

/// Statements need no semicolons between them, and keep their own lines and texts.
#[test]
fn statements_end_where_the_next_begins() {
    let text = "DECLARE @a INT = 1 SET @a += 2\nIF @a = 3 SELECT @a ELSE PRINT 'no'\nEXEC p 1, @b = @x OUTPUT\nSELECT 1 a";
    let batch = parse(text);
    let lines: Vec<_> = batch.statements.iter().map(|s| s.pos.line).collect();
    assert_eq!(lines, [1, 1, 2, 3, 4]);
    let second = &batch.statements[1];
    assert_eq!(
        &text[second.pos.offset as usize..second.end as usize],
        "SET @a += 2"
    );
}

/// The reserved words are SQL Server's: KEY needs brackets, THROW and GO are ordinary names.
#[test]
fn reserved_words_need_delimiters() {
    fails("SELECT 1 AS key", 156, "the keyword 'key'");
    parse("SELECT 1 AS [key], 2 \"select\", 3 AS throw, 4 go");
    fails("SELECT 1 FROM t key", 156, "'key'");
    fails("PRINT 'x'\nGO", 102, "near 'GO'");
}

/// Numbers and texts of syntax errors, and the line they are reported at.
#[test]
fn syntax_errors_are_those_of_sql_server() {
    fails("SELECT * FROM", 102, "near 'FROM'");
    fails("SELECT * FROM WHERE", 156, "keyword 'WHERE'");
    fails("SELECT 'abc", 105, "string 'abc'");
    fails("SELECT 1 /* /* */", 113, "'*/'");
    fails("SELECT 1 WHERE 1", 4145, "near '1'");
    fails(
        "SELECT 1 WHERE (1=1) AND 2 ORDER BY 1",
        4145,
        "near 'ORDER'",
    );
    fails("SELECT (1=1)", 102, "near '='");
    fails("SELECT 1 FROM t WITH (FOO)", 321, "\"FOO\"");
    fails("SELECT 1 AS []", 1038, "missing or empty");
    fails("BREAK", 135, "BREAK");
    fails("CONTINUE", 136, "CONTINUE");
    fails("RETURN 1", 178, "RETURN");
    fails("THROW", 10704, "rethrow");
    fails("GOTO nowhere", 133, "'nowhere'");
    fails("a: a:", 132, "'a'");
    fails("SELECT @a = 1, 2", 141, "assigns");
    fails("SELECT (SELECT a FROM t ORDER BY a)", 1033, "ORDER BY");
    fails("INSERT t (a, b) VALUES (1)", 109, "more columns");
    fails("INSERT t (a) VALUES (1, 2)", 110, "fewer columns");
    fails("SET FOO ON", 195, "'FOO'");
    fails("CREATE THING x", 343, "'THING'");
    fails("SELECT a.b.c.d.e.f FROM t", 117, "prefixes");
    fails("BEGIN END", 156, "'END'");
    assert_eq!(error("SELECT 1\n\nSELECT FROM").line, 3);
    let long = "x".repeat(129);
    fails(&format!("SELECT 1 AS {long}"), 103, "too long");
}

/// CREATE of a module must open the batch; in a block it is a plain syntax error.
#[test]
fn modules_must_open_their_batch() {
    fails(
        "SELECT 1 CREATE PROC p AS SELECT 1",
        111,
        "'CREATE/ALTER PROCEDURE'",
    );
    fails("SELECT 1; CREATE SCHEMA s", 111, "'CREATE SCHEMA'");
    fails("IF 1=1 CREATE SCHEMA s", 156, "'SCHEMA'");
    parse(
        "/* why */ CREATE OR ALTER PROCEDURE [s].p @a INT = NULL, @b NVARCHAR(MAX) OUTPUT AS RETURN 1",
    );
}

/// THROW and WITH need the semicolon before them; otherwise they are read as something else.
#[test]
fn throw_and_with_need_a_semicolon_before() {
    fails("PRINT 'a' THROW 50000, 'b', 1", 102, "near 'THROW'");
    parse("PRINT 'a'; THROW 50000, 'b', 1");
    parse("IF 1 = 1 THROW 50000, N'b', 1");
    fails(
        "PRINT 'a' WITH c AS (SELECT 1 a) SELECT * FROM c",
        319,
        "'with'",
    );
    fails(
        "SELECT 1 FROM t WITH c AS (SELECT 1 a) SELECT 1",
        336,
        "near 'c'",
    );
    parse("PRINT 'a';WITH c AS (SELECT 1 a) SELECT * FROM c");
    // The famous trap: THROW becomes the name of the transaction.
    let batch = parse("ROLLBACK TRAN THROW");
    assert!(matches!(
        &batch.statements[0].kind,
        StmtKind::Tran(TranStmt::Rollback(Some(_)))
    ));
}

/// A sign takes the whole product after it.
#[test]
fn operators_group_as_in_sql_server() {
    assert_eq!(rendered("1 + 2 * 3"), "(1)+(2)*(3)");
    assert_eq!(rendered("(1 + 2) * 3"), "((1)+(2))*(3)");
    assert_eq!(rendered("1 - 2 - 3"), "(1)-(2)-(3)");
    assert_eq!(rendered("1 - (2 - 3)"), "(1)-((2)-(3))");
    assert_eq!(rendered("6 / -2 * 3"), "(6)/-((2)*(3))");
    assert_eq!(rendered("1 | 2 + 4"), "(1)|(2)+(4)");
}

/// How a literal is written decides its type, so the tree must tell the ways of writing apart.
#[test]
fn literals_keep_their_kind() {
    let kind = |text: &str| {
        let batch = parse(&format!("PRINT {text}"));
        match &batch.statements[0].kind {
            StmtKind::Value(ValueStmt::Print(expr)) => match &expr.kind {
                ExprKind::Literal(literal) => literal.clone(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(kind("'it''s'"), Literal::String("it's".into()));
    assert_eq!(kind("N'é'"), Literal::NString("é".into()));
    assert_eq!(kind("0xABC"), Literal::Binary(vec![0x0A, 0xBC]));
    assert_eq!(kind("1."), Literal::Decimal("1.".into()));
    assert_eq!(kind("1e3"), Literal::Float("1e3".into()));
    assert_eq!(kind("$5"), Literal::Money("$5".into()));
}

/// With QUOTED_IDENTIFIER off, double quotes make a string.
#[test]
fn double_quotes_follow_quoted_identifier() {
    let off = ParseOptions {
        quoted_identifier: false,
        ..ParseOptions::default()
    };
    assert!(parse_batch("PRINT \"it's\"", off).is_ok());
    assert!(parse_batch("SELECT 1 FROM \"t\"", off).is_err());
    assert!(parse_batch("SELECT 1 FROM \"t\"", ParseOptions::default()).is_ok());
}

/// Below compatibility level 130 OPENJSON is the name of some function, and WITH cannot follow it:
/// Azure/azure-functions-sql-extension issue 452.
#[test]
fn openjson_is_no_word_below_level_130() {
    let old = ParseOptions {
        open_json: false,
        ..ParseOptions::default()
    };
    for text in [
        "SELECT a FROM OPENJSON(@j) with (a INT)",
        "IF 1 = 0 SELECT 1 WHERE 1 IN (SELECT a FROM OPENJSON(@j, '$.x') with (a INT) AS j)",
    ] {
        let error = parse_batch(text, old).expect_err(text);
        assert_eq!((error.number, error.severity), (319, 15), "{error}");
        assert!(error.message.contains("near the keyword 'with'"), "{error}");
        assert!(parse_batch(text, ParseOptions::default()).is_ok(), "{text}");
    }
    assert!(parse_batch("SELECT [key] FROM OPENJSON(@j) AS j", old).is_ok());
}

/// Constructs that the engine does not implement are named in the refusal.
#[test]
fn unsupported_constructs_are_refused_by_name() {
    for (text, name) in [
        ("MERGE t USING s ON 1=1 WHEN MATCHED THEN DELETE", "MERGE"),
        ("DECLARE c CURSOR FOR SELECT 1", "CURSOR"),
        (
            "CREATE TRIGGER x ON t FOR INSERT AS PRINT 1",
            "CREATE TRIGGER",
        ),
        (
            "CREATE FUNCTION f() RETURNS INT AS BEGIN RETURN 1 END",
            "CREATE FUNCTION",
        ),
        ("CREATE TABLE ##t (a INT)", "a global temporary object"),
        ("SELECT * FROM ##t", "a global temporary object"),
        ("SELECT * FROM t FOR XML PATH", "FOR XML"),
        ("SELECT * FROM t PIVOT (SUM(a) FOR b IN ([1])) p", "PIVOT"),
        ("CREATE SEQUENCE s", "SEQUENCE"),
        ("BACKUP DATABASE x TO DISK = 'y'", "BACKUP"),
        ("SELECT NEXT VALUE FOR s", "NEXT VALUE FOR"),
        ("SELECT 1 FROM t GROUP BY ALL a", "GROUP BY ALL"),
        ("SELECT * FROM t WITH (NOEXPAND)", "NOEXPAND"),
    ] {
        fails(text, 40517, name);
    }
}

/// A wide tour of what must be accepted.
#[test]
fn the_supported_language_is_accepted() {
    for text in [
        "SELECT TOP (5) WITH TIES a.*, b = c, N'x' AS 'y' FROM s.t a WITH (UPDLOCK, READPAST) JOIN u (NOLOCK) ON a.i = u.i ORDER BY a.i DESC",
        "SELECT * FROM a JOIN b JOIN c ON b.x = c.x ON a.x = b.x LEFT OUTER JOIN d ON 1 = 1 CROSS JOIN e CROSS APPLY (SELECT 1 z) f",
        "SELECT x FROM (VALUES (1), (2)) v(x) UNION ALL (SELECT 3 EXCEPT SELECT 4) INTERSECT SELECT 5 ORDER BY 1 OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY",
        "SELECT ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t",
        "SELECT COUNT(*), COUNT(DISTINCT a), STRING_AGG(b, ',') WITHIN GROUP (ORDER BY b) FROM t GROUP BY c, d + 1 HAVING COUNT(*) > 1",
        "SELECT ((SELECT 1) + 1), ((SELECT 1) UNION (SELECT 2)) WHERE ((a) = 1 OR (b + 1) * 2 > 3) AND NOT EXISTS (SELECT * FROM t) AND a NOT IN (1, 2) AND b LIKE 'x%' ESCAPE '!' AND c >= ALL (SELECT 1)",
        "SELECT j.a FROM OPENJSON(@j, '$.x') WITH (a NVARCHAR(MAX) '$.a' AS JSON, [b] INT) AS j",
        "SELECT a FROM t FOR JSON PATH, ROOT('r'), INCLUDE_NULL_VALUES, WITHOUT_ARRAY_WRAPPER",
        "UPDATE TOP (1) t WITH (ROWLOCK) SET a = 1, @b = c = d + 1, e += 2, f = DEFAULT OUTPUT inserted.a, deleted.* INTO @o (a, b) FROM t JOIN u ON t.i = u.i WHERE t.a = 1 OPTION (RECOMPILE, MAXDOP 1)",
        "DELETE TOP (@n) FROM t OUTPUT deleted.a WHERE a = 1",
        "DELETE a FROM t AS a WHERE a.x = 1",
        "INSERT INTO t (a, b) OUTPUT inserted.a VALUES (1, DEFAULT), (2, NULL)",
        "INSERT t DEFAULT VALUES INSERT INTO t EXEC p 1 INSERT t (SELECT 1)",
        "WITH c (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM c WHERE a < 5) DELETE FROM c WHERE a = 2",
        "BEGIN TRY BEGIN TRAN; SAVE TRAN x; COMMIT TRANSACTION; END TRY BEGIN CATCH IF XACT_STATE() <> 0 ROLLBACK; THROW; END CATCH",
        "SET NOCOUNT, XACT_ABORT ON; SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET LOCK_TIMEOUT -1; SET DEADLOCK_PRIORITY LOW; SET IDENTITY_INSERT s.t ON",
        "WHILE 1 = 1 BEGIN IF @a > 1 BREAK; CONTINUE; END",
        "EXEC @r = s.p @a = 1, @b = @c OUTPUT, @d = DEFAULT; EXEC ('SELECT ' + @x); EXEC sp_executesql N'x', N'@a INT', @a = -1",
        "RAISERROR(N'a %d', 16, 1, @x) WITH NOWAIT; WAITFOR DELAY '00:00:01'; PRINT CONCAT('a', 1)",
        "DECLARE @t TABLE (id INT NOT NULL PRIMARY KEY, v NVARCHAR(10) COLLATE Latin1_General_100_BIN2 NULL DEFAULT (N'x'), UNIQUE (v, id))",
        "CREATE TABLE [s].t (a BIGINT IDENTITY(1, 1) NOT NULL CONSTRAINT pk_t PRIMARY KEY CLUSTERED WITH (ALLOW_PAGE_LOCKS = OFF), b INT NOT NULL CONSTRAINT df_b DEFAULT 0 CHECK (b >= 0), c AS (a + 1) PERSISTED, CONSTRAINT uq UNIQUE NONCLUSTERED (b DESC), INDEX ix (b) INCLUDE (c) WHERE b > 1, CONSTRAINT fk FOREIGN KEY (b) REFERENCES s.u (a) ON DELETE CASCADE)",
        "CREATE UNIQUE NONCLUSTERED INDEX ix ON s.t (a ASC, b DESC) INCLUDE (c) WHERE a IS NOT NULL AND b = 1 WITH (FILLFACTOR = 90, IGNORE_DUP_KEY = ON)",
        "ALTER TABLE t ADD a INT NULL, b INT NOT NULL CONSTRAINT d DEFAULT (1) WITH VALUES; ALTER TABLE t ALTER COLUMN a BIGINT NOT NULL; ALTER TABLE t DROP COLUMN IF EXISTS a, b; ALTER TABLE t DROP CONSTRAINT c; ALTER TABLE t SET (LOCK_ESCALATION = DISABLE)",
        "DROP TABLE IF EXISTS a, s.b; DROP INDEX ix ON t; DROP INDEX a ON t, b ON t; DROP PROC p; DROP SCHEMA IF EXISTS s",
        "GRANT EXECUTE, VIEW DEFINITION ON SCHEMA::s TO r, public; REVOKE SELECT ON OBJECT::s.t FROM u CASCADE; DENY INSERT ON t TO u",
        "CREATE LOGIN l WITH PASSWORD = 'x', CHECK_POLICY = OFF; CREATE USER u FOR LOGIN l WITH DEFAULT_SCHEMA = s; CREATE ROLE r AUTHORIZATION dbo; ALTER ROLE r ADD MEMBER u",
        "ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE",
        "SELECT CASE a WHEN 1 THEN 'x' ELSE 'y' END, CASE WHEN a = 1 THEN 1 END, IIF(a = 1, 2, 3), CAST(a AS DECIMAL(10, 2)), CONVERT(VARCHAR(30), b, 126), TRY_CONVERT(INT, c), LEFT(a, 1), CURRENT_TIMESTAMP, @@ROWCOUNT, x COLLATE Latin1_General_BIN2, TRIM('x' FROM y), DATEADD(DAY, 1, z)",
        "l: SET @a = 1 GOTO l",
        "EXECUTE AS USER = 'u'; REVERT",
        "(SELECT 1) UNION SELECT 2; ;; SELECT 3",
        "sp_help t",
    ] {
        parse(text);
    }
}

/// Defaults, checks and filters are kept in the catalog's form.
#[test]
fn stored_texts_take_the_catalogs_form() {
    let batch = parse(
        "CREATE TABLE t (a INT DEFAULT 0, b DATETIME2 DEFAULT SYSUTCDATETIME(), c INT CHECK (c > 1 AND c IN (1, 2)))",
    );
    let StmtKind::Ddl(Ddl::CreateTable { columns, .. }) = &batch.statements[0].kind else {
        panic!("not a table");
    };
    let default = |i: usize| columns[i].default.as_ref().map(|d| d.2.clone());
    assert_eq!(default(0).as_deref(), Some("((0))"));
    assert_eq!(default(1).as_deref(), Some("(sysutcdatetime())"));
    let crate::ast::ConstraintKind::Check(_, text) = &columns[2].constraints[0].kind else {
        panic!("not a check");
    };
    assert_eq!(text, "([c]>(1) AND ([c]=(2) OR [c]=(1)))");
}

/// Nesting is refused with 191 long before it could exhaust the stack, and chains as well.
#[test]
fn deep_nesting_is_refused() {
    let open = |n: usize, a: &str, b: &str, c: &str| format!("{}{b}{}", a.repeat(n), c.repeat(n));
    for text in [
        format!("SELECT {}", open(100_000, "(", "1", ")")),
        format!("SELECT 1 WHERE {}", open(100_000, "(", "1=1", ")")),
        format!("SELECT {}1", "- ".repeat(100_000)),
        format!("SELECT {}1", "~".repeat(100_000)),
        format!("SELECT 1 WHERE {}1=1", "NOT ".repeat(100_000)),
        format!("SELECT 1{}", "+1".repeat(100_000)),
        format!("SELECT 1{}", " UNION SELECT 1".repeat(100_000)),
        format!("SELECT 1 FROM t{}", " CROSS JOIN t".repeat(100_000)),
        format!("SELECT 1 FROM t{}", ", t".repeat(100_000)),
        format!("UPDATE t SET a = 1 FROM t{}", ", t".repeat(100_000)),
        format!("DELETE t FROM t{}", ", t".repeat(100_000)),
        format!(
            "SELECT 1 FROM t{}{}",
            ", t".repeat(300),
            " CROSS JOIN t".repeat(300)
        ),
        format!("SELECT * FROM {}", "(".repeat(100_000)),
        "BEGIN ".repeat(100_000),
        "IF 1=1 ".repeat(100_000),
        format!("SELECT {}", "CASE WHEN 1=1 THEN ".repeat(100_000)),
        format!("SELECT {}", "f(".repeat(100_000)),
        format!("SELECT {}", "(SELECT ".repeat(100_000)),
    ] {
        assert_eq!(error(&text).number, 191, "{}", &text[..60]);
    }
    parse(&format!("SELECT {}", open(40, "(", "1", ")")));
    parse(&format!("SELECT 1{}", "+1".repeat(400)));
}

/// A text that is too long for a name is not cut into tokens.
#[test]
fn names_have_a_length() {
    let part = format!("[{}]", "]]".repeat(128));
    let longest = [part.as_str(); 4].join(" . ");
    assert_eq!(crate::parse::parse_name(&longest).unwrap().parts.len(), 4);
    let dots = ".".repeat(10_000);
    assert_eq!(crate::parse::parse_name(&dots).unwrap_err().number, 103);
}
