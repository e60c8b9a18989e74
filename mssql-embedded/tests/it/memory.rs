//! The memory of one client: results are sent as they are produced, and what must be held has a limit.

use mssql_embedded::{Encryption, Server};

use crate::support::{Session, number, within};

fn server(session_memory: usize) -> Server {
    Server::builder()
        .encryption(Encryption::Off)
        .session_memory(session_memory)
        .start()
        .unwrap()
}

/// A FROM clause of ten to the power of `digits` rows.
fn rows(digits: usize) -> String {
    let digit = "(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))";
    let from: Vec<String> = (0..digits).map(|i| format!("{digit} AS d{i}(x)")).collect();
    format!("FROM {}", from.join(", "))
}

/// What must be held fails with 701 when it becomes too much, the session goes on, and what it held is free again.
#[tokio::test]
async fn what_must_be_held_has_a_limit() {
    let server = server(4 << 20);
    let mut client = Session::open(&server).await;
    let many = rows(6);
    let ints = "c0 INT, c1 INT, c2 INT, c3 INT, c4 INT, c5 INT, c6 INT, c7 INT, c8 INT, c9 INT";
    client
        .run(&format!(
            "CREATE TABLE many (id INT IDENTITY PRIMARY KEY, v INT NOT NULL);
             CREATE TABLE few (id INT PRIMARY KEY, v INT NOT NULL, w INT NOT NULL);
             CREATE TABLE said (x VARCHAR(8000));
             CREATE TABLE referred (id INT IDENTITY PRIMARY KEY, {ints});
             CREATE TABLE referring (id INT REFERENCES referred (id));
             INSERT few SELECT d0.x + 10 * d1.x + 100 * d2.x, 0, 4000 {};
             DECLARE @i INT = 0;
             WHILE @i < 50
             BEGIN
                 INSERT many SELECT 0 {hundreds};
                 INSERT referred (c0) SELECT 0 {hundreds};
                 SET @i += 1
             END",
            rows(3),
            hundreds = rows(3),
        ))
        .await
        .unwrap();
    let statements = [
        "DECLARE @s NVARCHAR(MAX) = N'x', @i INT = 0;
         WHILE @i < 40 BEGIN SET @s = @s + @s; SET @i += 1 END"
            .to_owned(),
        "DECLARE @s NVARCHAR(MAX) = REPLICATE(CAST(N'x' AS NVARCHAR(MAX)), 100000000)".to_owned(),
        "DECLARE @s NVARCHAR(MAX) = REPLICATE(CAST(N'x' AS NVARCHAR(MAX)), 900000);
         SET @s = REPLACE(@s, N'x', N'0123456789')"
            .to_owned(),
        format!(
            "DECLARE @n INT; SELECT @n = x FROM (SELECT TOP (1000000) d0.x {many} ORDER BY NEWID()) AS s"
        ),
        format!("SELECT COUNT(*) FROM (SELECT DISTINCT NEWID() AS g {many}) AS s"),
        format!(
            "SELECT COUNT(*) FROM (SELECT g FROM (SELECT NEWID() AS g {many}) AS r GROUP BY g) AS s"
        ),
        format!("SELECT LEN(STRING_AGG(CAST(N'0123456789' AS NVARCHAR(MAX)), N'')) {many}"),
        format!(
            "DECLARE @t TABLE (g UNIQUEIDENTIFIER); DECLARE @i INT = 0;
             WHILE @i < 400 BEGIN INSERT @t SELECT NEWID() {}; SET @i += 1 END",
            rows(3)
        ),
        format!("SELECT d0.x {many} FOR JSON PATH"),
        // The rows are few, and what they name is a variable's.
        "DECLARE @s NVARCHAR(MAX) = REPLICATE(CAST(N'x' AS NVARCHAR(MAX)), 500000);
         SELECT @s AS a, @s AS b, @s AS c, @s AS d FOR JSON PATH"
            .to_owned(),
        format!(
            "DECLARE @s NVARCHAR(MAX) = REPLICATE(CAST(N'x' AS NVARCHAR(MAX)), 100000), @n INT;
             SET @n = LEN((SELECT @s AS a {} FOR JSON PATH))",
            rows(2)
        ),
        "DECLARE @s NVARCHAR(MAX) = REPLICATE(CAST(NCHAR(1) AS NVARCHAR(MAX)), 500000), @n INT;
         SET @n = LEN(STRING_ESCAPE(@s, N'json'))"
            .to_owned(),
        "DECLARE @s NVARCHAR(MAX) = REPLICATE(CAST(N'x' AS NVARCHAR(MAX)), 500000), @n INT;
         SET @n = LEN(CONCAT(@s, @s, @s, @s, @s))"
            .to_owned(),
        "DECLARE @s NVARCHAR(MAX) = REPLICATE(CAST(N'x' AS NVARCHAR(MAX)), 500000), @n INT;
         SET @n = LEN(CONCAT_WS(@s, N'', N'', N'', N'', N'', N''))"
            .to_owned(),
        "DECLARE @s VARCHAR(MAX) = REPLICATE(CAST('x' AS VARCHAR(MAX)), 900000), @n INT;
         SET @n = LEN(CONVERT(VARCHAR(MAX), CAST(@s AS VARBINARY(MAX)), 1))"
            .to_owned(),
        "DECLARE @s NVARCHAR(MAX) = REPLICATE(CAST(N'x' AS NVARCHAR(MAX)), 1500000), @n INT;
         SET @n = LEN(STUFF(@s, 1, 0, @s))"
            .to_owned(),
        "SELECT COUNT(*) FROM OPENJSON(N'[' + REPLICATE(CAST(N'1,' AS NVARCHAR(MAX)), 300000) + N'1]')".to_owned(),
        "SELECT COUNT(*) FROM STRING_SPLIT(REPLICATE(CAST(N'1,' AS NVARCHAR(MAX)), 300000), N',')".to_owned(),
        "WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n)
         SELECT COUNT(*) FROM n OPTION (MAXRECURSION 0)"
            .to_owned(),
        // Rows that a statement keeps until it has written them, and what it says of those that it has written.
        "UPDATE many SET v = v + 1".to_owned(),
        "UPDATE few SET v = v + 1 OUTPUT REPLICATE('x', inserted.w)".to_owned(),
        "UPDATE few SET v = v + 1 OUTPUT REPLICATE('x', inserted.w) INTO said".to_owned(),
        "DELETE few OUTPUT REPLICATE('x', deleted.w)".to_owned(),
        "INSERT few (id, v, w) OUTPUT REPLICATE('x', inserted.w) SELECT id + 100000, v, w FROM few".to_owned(),
        "DELETE referred".to_owned(),
        "SELECT id, v INTO copied FROM many".to_owned(),
        format!(
            "INSERT said EXEC (N'{}')",
            "SELECT CAST(id AS VARCHAR(9)) FROM many; ".repeat(8)
        ),
        format!(
            "SELECT COUNT(*) FROM (SELECT NEWID() AS g {} EXCEPT SELECT NEWID() {}) AS s",
            rows(4),
            rows(5)
        ),
    ];
    for statement in &statements {
        is_too_much(&mut client, statement).await;
    }
}

/// A statement fails with 701, and what it held is free again.
async fn is_too_much(client: &mut Session, statement: &str) {
    let answer = within(client.run(statement)).await;
    assert!(answer.is_err(), "{statement}");
    assert_eq!(number(answer), 701, "{statement}");
    let free = "DECLARE @s NVARCHAR(MAX) = REPLICATE(CAST(N'x' AS NVARCHAR(MAX)), 500000); SELECT LEN(@s) / 1";
    assert_eq!(client.rows(free).await.unwrap().len(), 1, "{statement}");
}

/// A text counts wherever it is kept, also when it came out of a query inside, and so does what a statement makes of it
/// for its own use.
#[tokio::test]
async fn texts_count_wherever_they_are_kept() {
    let server = server(4 << 20);
    let mut client = Session::open(&server).await;
    let long = "REPLICATE(CAST(N'x' AS NVARCHAR(MAX)), 100000 + d0.x)";
    let inside = |digits| format!("(SELECT {long} AS x, d0.x AS i {}) AS a", rows(digits));
    let columns = |column: &str| {
        let columns: Vec<String> = (0..20)
            .map(|i| column.replace('?', &i.to_string()))
            .collect();
        columns.join(", ")
    };
    let s = "DECLARE @s NVARCHAR(MAX) = REPLICATE(CAST(N'x' AS NVARCHAR(MAX)), 400000)";
    let statements = [
        format!("SELECT x INTO #t FROM {}", inside(3)),
        format!(
            "SELECT COUNT(*) FROM (SELECT x FROM {} EXCEPT SELECT N'') AS s",
            inside(1)
        ),
        format!(
            "DECLARE @t TABLE (x NVARCHAR(MAX)); INSERT @t SELECT x FROM {}",
            inside(3)
        ),
        format!(
            "SELECT COUNT(l) FROM (SELECT LAG({long}) OVER (ORDER BY d0.x) AS l {}) AS s",
            rows(3)
        ),
        format!(
            "SELECT COUNT(l) FROM (SELECT RANK() OVER (ORDER BY {long}) AS l {}) AS s",
            rows(3)
        ),
        format!(
            "SELECT COUNT(l) FROM (SELECT COUNT(*) OVER (PARTITION BY {long}) AS l {}) AS s",
            rows(3)
        ),
        format!(
            "SELECT STRING_AGG(N'x', N'') WITHIN GROUP (ORDER BY {long}) {}",
            rows(3)
        ),
        // The groups are there while the values of the rows are made of them.
        format!(
            "SELECT LEN(REPLICATE(CAST(N'y' AS NVARCHAR(MAX)), 1300000 + i))
             FROM (SELECT x, MAX(i) AS i FROM {} WHERE i < 4 GROUP BY x) AS g",
            inside(1)
        ),
        format!("{s}; SELECT {}", columns("@s + N'?'")),
        format!(
            "{s}; SELECT {}",
            columns("CAST(SUBSTRING(@s, ?, 400000) AS VARBINARY(MAX))")
        ),
        format!(
            "{s}; SELECT LEN(CONCAT({}))",
            columns("CAST(@s AS VARCHAR(MAX))")
        ),
        // Each of one row, beside each other.
        format!(
            "{s}; SELECT COUNT(*) FROM {}",
            columns("(SELECT @s + N'?' AS x UNION ALL SELECT N'') AS a?")
        ),
    ];
    for statement in &statements {
        is_too_much(&mut client, statement).await;
    }
    // What is a variable's is not each row's.
    let shared = format!(
        "{s}; SELECT @s AS x INTO #u {}; SELECT COUNT(*) FROM #u",
        rows(2)
    );
    assert_eq!(client.rows(&shared).await.unwrap().len(), 1);
    // A value that is not kept is free for the next one.
    let passing = format!("{s}; SELECT MAX(LEN(@s + N'x')) + 7 {}", rows(3));
    assert_eq!(client.rows(&passing).await.unwrap().len(), 1);
}

/// Values that are small by themselves count as well, when one row has many of them.
#[tokio::test]
async fn the_values_of_one_row_count_together() {
    let server = server(4 << 20);
    let mut client = Session::open(&server).await;
    let columns = |count: usize| {
        let text = |i| format!("REPLICATE(CAST(N'x' AS NVARCHAR(MAX)), 30000 + {i}) AS c{i}");
        (0..count).map(text).collect::<Vec<_>>().join(", ")
    };
    is_too_much(&mut client, &format!("SELECT {}", columns(110))).await;
    // Nobody keeps these rows.
    let lengths: Vec<String> = (0..110).map(|i| format!("LEN(c{i})")).collect();
    let read = format!(
        "SELECT {} FROM (SELECT {all} UNION ALL SELECT {all}) AS s",
        lengths.join(" + "),
        all = columns(110)
    );
    is_too_much(&mut client, &read).await;
    // One row after the other is not.
    let few = format!("SELECT {} {}", columns(20), rows(2));
    assert_eq!(within(client.rows(&few)).await.unwrap().len(), 100);
}

/// What is read and compiled of a text counts while the text runs, and is gone afterwards.
#[tokio::test]
async fn a_compiled_text_counts_while_it_runs() {
    let server = server(4 << 20);
    let mut client = Session::open(&server).await;
    let long = "DECLARE @s NVARCHAR(MAX) = N'DECLARE @a INT = 0 ' + REPLICATE(CAST(N'SET @a=@a+1 ' AS NVARCHAR(MAX)), ?)";
    let too_much = format!("{}; EXEC (@s)", long.replace('?', "20000"));
    is_too_much(&mut client, &too_much).await;
    // It is the text within the text that is too much.
    let nested = |inner: &str| {
        format!(
            "{}; SET @s = N'EXEC (N''' + @s + N''')'
                + REPLICATE(CAST(N' SET NOCOUNT            ON' AS NVARCHAR(MAX)), 3000); EXEC (@s)",
            long.replace('?', inner)
        )
    };
    client.run(&nested("100")).await.unwrap();
    is_too_much(&mut client, &nested("1000")).await;
    // One after the other is not, whether it is kept or too long for that.
    let one_by_one = |statement: &str| {
        format!(
            "DECLARE @i INT = 0;
             WHILE @i < 20
             BEGIN
                 {};
                 SET @s += N'--' + STR(@i); EXEC (@s); SET @i += 1
             END",
            long.replace('?', "1000").replace("SET @a=@a+1", statement)
        )
    };
    client.run(&one_by_one("SET @a=@a+1")).await.unwrap();
    let blanks = " ".repeat(80);
    let spaced = one_by_one(&format!("SET @a={blanks}@a+1"));
    client.run(&spaced).await.unwrap();
    // A long literal is one token.
    let literal = format!("SELECT CAST(LEN(N'{}') AS INT)", "x".repeat(400_000));
    assert_eq!(client.int(&literal).await.unwrap(), 400_000);
}

/// The rows of a system view count, too.
#[tokio::test]
async fn rows_of_system_views_count() {
    let server = server(1 << 20);
    let mut client = Session::open(&server).await;
    let columns: Vec<String> = (0..500).map(|i| format!("c{i} INT")).collect();
    for table in 0..8 {
        let create = format!("CREATE TABLE t{table} ({})", columns.join(", "));
        client.run(&create).await.unwrap();
    }
    let read = client.run("SELECT COUNT(*) FROM sys.columns").await;
    assert_eq!(number(read), 701);
    let read = client.run("SELECT COUNT(*) FROM master.sys.columns").await;
    assert_eq!(number(read), 701);
}

/// Texts that a client has prepared count until it gives them up.
#[tokio::test]
async fn prepared_texts_have_a_limit() {
    let server = server(4 << 20);
    let mut client = Session::open(&server).await;
    let prepare = "DECLARE @h INT, @i INT = 0,
            @s NVARCHAR(MAX) = REPLICATE(CAST(N' ' AS NVARCHAR(MAX)), 100000);
         WHILE @i < 100 BEGIN EXEC sp_prepare @h OUTPUT, NULL, @s; SET @i += 1 END";
    assert_eq!(number(within(client.run(prepare)).await), 701);
    let give_up =
        "EXEC sp_unprepare 1; EXEC sp_unprepare 2; EXEC sp_unprepare 3; EXEC sp_unprepare 4;
         DECLARE @s NVARCHAR(MAX) = REPLICATE(CAST(N'x' AS NVARCHAR(MAX)), 100000)";
    within(client.run(give_up)).await.unwrap();
}

/// A result that is larger than all that a session may hold arrives whole, because it is sent as it is produced.
#[tokio::test]
async fn a_result_may_be_larger_than_the_memory() {
    let server = server(1 << 20);
    let mut client = Session::open(&server).await;
    let query = format!("SELECT d0.x, CAST(NEWID() AS CHAR(36)) AS g {}", rows(5));
    let all = within(client.rows(&query)).await.unwrap();
    assert_eq!(all.len(), 100_000);
    assert_eq!(client.int("SELECT 7").await.unwrap(), 7);
}

/// Rows before an error arrive, however many, and then the error.
#[tokio::test]
async fn rows_before_an_error_are_streamed_too() {
    let server = server(1 << 20);
    let mut client = Session::open(&server).await;
    let query = format!(
        "CREATE TABLE #n (i INT NOT NULL PRIMARY KEY);
         INSERT #n SELECT d0.x + 10 * d1.x + 100 * d2.x + 1000 * d3.x {};
         SELECT 1 / (9000 - i), REPLICATE('x', 200) FROM #n ORDER BY i",
        rows(4)
    );
    assert_eq!(number(within(client.run(&query)).await), 8134);
    assert_eq!(client.int("SELECT @@ROWCOUNT + 7").await.unwrap(), 7);
}

/// A client that does not read its result holds up nobody.
#[tokio::test]
async fn a_slow_reader_holds_nobody_up() {
    let server = server(64 << 20);
    let mut other = Session::open(&server).await;
    other
        .run(
            "CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT t VALUES (1, 0);
             CREATE TABLE u (v INT); INSERT u VALUES (0)",
        )
        .await
        .unwrap();
    let mut reading = crate::wire::raw::Raw::open(&server);
    let query = format!(
        "SELECT t.v, REPLICATE('x', 200) {} CROSS JOIN u AS t",
        rows(6)
    );
    reading.start(&query, crate::wire::raw::END);
    reading.packet();
    for i in 0..20 {
        let change = format!("UPDATE t SET v = {i} WHERE id = 1; SELECT v FROM t WHERE id = 1");
        assert_eq!(within(other.int(&change)).await.unwrap(), i);
    }
    drop(reading);
}

/// Nothing limits the savepoints of a transaction but the memory, and they are gone with it.
#[tokio::test]
async fn savepoints_have_a_limit() {
    let server = server(1 << 20);
    let mut client = Session::open(&server).await;
    let save =
        "DECLARE @i INT = 0; BEGIN TRAN; WHILE @i < 100000 BEGIN SAVE TRAN s; SET @i += 1 END";
    assert_eq!(number(within(client.run(save)).await), 701);
    client.run("ROLLBACK").await.unwrap();
    let again = "BEGIN TRAN; SAVE TRAN s; ROLLBACK TRAN s; COMMIT; SELECT @@TRANCOUNT + 7";
    assert_eq!(client.int(again).await.unwrap(), 7);
}
