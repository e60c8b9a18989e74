//! Requests that would outlast anybody's patience: they end when their client, an administrator or the server says so,
//! and meanwhile everybody else can work.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use mssql_embedded::{Controls, Server};

use crate::support::server;
use crate::wire::raw::{END, Raw, is_acknowledged};

/// Nothing here takes this long on a machine that is merely slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// What locks the row of `t`, by which others see how far a batch has come.
const REACHED: &str = "UPDATE t SET v = 1;";

/// A window function with so many rows in each frame that it lasts for minutes. It locks the row of `t` when it has read
/// all its rows and begins to compute.
pub fn long_frames() -> String {
    let digits: Vec<String> = (0..5).map(|i| format!("{DIGITS} AS d{i}(x)")).collect();
    format!(
        "SELECT MAX(s) FROM (SELECT STDEV(x) OVER
                (ORDER BY y ROWS BETWEEN 40000 PRECEDING AND 60000 FOLLOWING) AS s
            FROM (SELECT d0.x, d1.x AS y FROM {}
                  UNION ALL SELECT v, v FROM t WITH (XLOCK)) AS u) AS w",
        digits.join(", ")
    )
}

/// Counting more rows than anybody will.
pub fn cross_join() -> String {
    format!("SELECT COUNT_BIG(*) FROM {}", many().join(", "))
}

const DIGITS: &str = "(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))";

fn many() -> Vec<String> {
    (0..18).map(|i| format!("{DIGITS} AS d{i}(x)")).collect()
}

/// The batches, each behind the name of what loops in it.
fn endless() -> Vec<(&'static str, String)> {
    let many = many();
    let nested = nest(40, &|inner| format!("1 IN (SELECT 1 WHERE {inner})"));
    vec![
        (
            "a cross join of derived rows",
            format!("{REACHED} {}", cross_join()),
        ),
        (
            "a join whose condition never holds",
            format!(
                "{REACHED} SELECT 1 FROM {} FULL JOIN (VALUES (1)) AS z(x) ON d0.x = z.x + 100 WHERE d0.x < 0",
                many.join(" CROSS JOIN ")
            ),
        ),
        (
            "WHILE 1 = 1",
            format!("{REACHED} WHILE 1 = 1 SET @i = 1 - @i"),
        ),
        (
            "GOTO",
            format!("{REACHED} again: SET @i = 1 - @i; GOTO again"),
        ),
        (
            "a recursive CTE without limit",
            format!(
                "{REACHED} WITH n AS (SELECT 1 AS i UNION ALL SELECT 1 - i FROM n)
                 SELECT COUNT(*) FROM n OPTION (MAXRECURSION 0)"
            ),
        ),
        (
            "deeply nested membership",
            format!(
                "{REACHED} SELECT COUNT_BIG(*) FROM {} WHERE {nested}",
                many.join(", ")
            ),
        ),
        ("a window function whose frames are long", long_frames()),
        (
            "a pattern that is looked for at every place",
            format!(
                "SET @s = REPLICATE(CAST(N'a' AS NVARCHAR(MAX)), 2000000);
                 {REACHED} SELECT PATINDEX(N'%a%b', @s)"
            ),
        ),
        (
            "a pattern that is compared with every number of blanks",
            format!(
                "SET @v = REPLICATE(CAST('a' AS VARCHAR(MAX)), 2000000) + REPLICATE(CAST(' ' AS VARCHAR(MAX)), 2000000);
                 {REACHED} IF @v LIKE '%b' SELECT 1"
            ),
        ),
        (
            "paths that lead over a long JSON text, each for itself",
            format!(
                "SET @s = N'[[' + REPLICATE(CAST(N'1,' AS NVARCHAR(MAX)), 15000000) + N'1]]';
                 {REACHED} SELECT COUNT(*) FROM OPENJSON(@s) WITH ({})",
                (0..900)
                    .map(|i| format!("c{i} INT N'$[99999999]'"))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        ),
        (
            "a trimming of long texts by each other",
            format!(
                "SET @s = REPLICATE(CAST(N'b' AS NVARCHAR(MAX)), 2000000) + N'a';
                 {REACHED} SELECT TRIM(@s FROM REPLICATE(CAST(N'a' AS NVARCHAR(MAX)), 2000000))"
            ),
        ),
        (
            "a replacing of a text that is nearly found at every place",
            format!(
                "SET @s = REPLICATE(CAST(N'a' AS NVARCHAR(MAX)), 2000000);
                 {REACHED} SELECT REPLACE(@s, SUBSTRING(@s, 1, 1000000) + N'b', N'')"
            ),
        ),
        (
            "a translation with as many characters as the text has",
            format!(
                "SET @s = REPLICATE(CAST(N'a' AS NVARCHAR(MAX)), 2000000);
                 {REACHED} SELECT TRANSLATE(REPLACE(@s, N'a', N'b'), @s, @s)"
            ),
        ),
        (
            "the building of a long text",
            format!(
                "{REACHED} WHILE LEN(@s) < 900000000 SET @s = REPLACE(@s + N'x', N'y', N'z')"
            ),
        ),
    ]
}

fn nest(depth: usize, level: &dyn Fn(&str) -> String) -> String {
    (0..depth).fold("1 = 1".to_owned(), |inner, _| level(&inner))
}

fn wait(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "never happened: {what}");
        std::thread::yield_now();
    }
}

/// A server with a table of one row, and a client that works while others loop.
fn with_row() -> (Server, Controls, Raw) {
    let server = server(false);
    let mut other = Raw::open(&server);
    other.batch("CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT t VALUES (1, 0);");
    let controls = server.controls();
    (server, controls, other)
}

/// Starts a batch in a new session and returns when it has come to what lasts: it has locked the row, which another
/// client sees.
fn start(server: &Server, batch: &str) -> (Raw, i32) {
    let mut client = Raw::open(server);
    let spid = client.int("SELECT CAST(@@SPID AS INT)");
    client.start(&in_transaction(batch), END);
    // This client comes while the other one loops.
    let mut observer = Raw::open(server);
    wait("the row is locked", || observer.int(&row_locks(spid)) > 0);
    (client, spid)
}

fn in_transaction(batch: &str) -> String {
    format!("DECLARE @i INT = 0, @s NVARCHAR(MAX) = N'', @v VARCHAR(MAX) = ''; BEGIN TRAN; {batch}")
}

/// How many locks a session has on rows to write them.
pub fn row_locks(spid: i32) -> String {
    format!(
        "SELECT COUNT(*) FROM sys.dm_tran_locks WHERE request_session_id = {spid} AND request_mode = N'X'"
    )
}

/// An attention ends each of them, and the connection goes on.
#[test]
fn attention_ends_what_would_never_end() {
    let (server, _, mut other) = with_row();
    for (what, statement) in endless() {
        let (mut client, _) = start(&server, &statement);
        assert_eq!(other.int("SELECT 7"), 7, "{what}");
        client.attention();
        assert!(is_acknowledged(&client.answer()), "{what}");
        assert_eq!(client.int("SELECT @@TRANCOUNT"), 1, "{what}");
        client.batch("ROLLBACK");
    }
}

/// KILL ends each of them and rolls back.
#[test]
fn kill_ends_what_would_never_end() {
    let (server, controls, mut other) = with_row();
    for (what, statement) in endless() {
        let (_client, spid) = start(&server, &statement);
        other.batch(&format!("KILL {spid}"));
        let number = u16::try_from(spid).unwrap();
        wait(what, || !controls.sessions().contains(&number));
        assert_eq!(other.int("SELECT v FROM t"), 0, "{what}");
    }
}

/// A client that vanishes takes its request with it.
#[test]
fn a_vanished_client_ends_what_would_never_end() {
    let (server, controls, mut other) = with_row();
    for (what, statement) in endless() {
        let (client, spid) = start(&server, &statement);
        drop(client);
        let number = u16::try_from(spid).unwrap();
        wait(what, || !controls.sessions().contains(&number));
        assert_eq!(other.int("SELECT v FROM t"), 0, "{what}");
    }
}

/// A statement is bound anew as often as somebody redefines its table; that ends by attention and by KILL, too, and so
/// does the redefining.
#[test]
fn what_is_bound_again_and_again_can_be_ended() {
    let (server, controls, mut other) = with_row();
    other.batch("CREATE TABLE changing (a INT); INSERT changing VALUES (1);");
    let redefine = "WHILE 1 = 1
        BEGIN ALTER TABLE changing ADD b INT; ALTER TABLE changing DROP COLUMN b; END";
    // It must not hold what it defines: the other one would wait for a lock instead of binding.
    let mut redefining = Raw::open(&server);
    let redefining_spid = redefining.int("SELECT CAST(@@SPID AS INT)");
    redefining.start(redefine, END);
    let read = format!("{REACHED} WHILE 1 = 1 SELECT @i = COUNT(*) FROM changing");
    let (mut client, _) = start(&server, &read);
    client.attention();
    assert!(is_acknowledged(&client.answer()));
    client.batch("ROLLBACK");
    let (_client, spid) = start(&server, &read);
    for spid in [spid, redefining_spid] {
        other.batch(&format!("KILL {spid}"));
        let number = u16::try_from(spid).unwrap();
        wait("the session is gone", || {
            !controls.sessions().contains(&number)
        });
    }
    assert_eq!(other.int("SELECT COUNT(*) FROM changing"), 1);
}

/// The server stops although each of them is running.
#[test]
fn stop_ends_what_would_never_end() {
    let (mut server, _, other) = with_row();
    drop(other);
    let started: Vec<_> = endless()
        .into_iter()
        .enumerate()
        .map(|(i, (_, statement))| {
            let mut client = Raw::open(&server);
            client.start(
                &format!(
                    "DECLARE @i INT = 0, @s NVARCHAR(MAX) = N'', @v VARCHAR(MAX) = ''; CREATE TABLE running{i} (a INT);
                     {statement}"
                ),
                END,
            );
            client
        })
        .collect();
    let mut observer = Raw::open(&server);
    wait("all of them are running", || {
        let running = "SELECT COUNT(*) FROM sys.tables WHERE name LIKE N'running%'";
        observer.int(running) == i32::try_from(started.len()).unwrap()
    });
    let (stopped, when) = mpsc::channel();
    std::thread::spawn(move || {
        server.stop();
        stopped.send(()).unwrap();
    });
    when.recv_timeout(PATIENCE).expect("the server has stopped");
}

/// Nested membership tests are bound in time that grows with their depth, whatever the operands: literals, columns with
/// and without an index, and NOT IN.
#[test]
fn deep_nesting_is_bound_in_time() {
    let (server, _, mut client) = with_row();
    let shapes: [&dyn Fn(&str) -> String; 4] = [
        &|inner| format!("1 IN (SELECT 1 WHERE {inner})"),
        &|inner| format!("id IN (SELECT id FROM t WHERE {inner})"),
        &|inner| format!("v IN (SELECT v FROM t WHERE {inner})"),
        &|inner| format!("1 NOT IN (SELECT 2 WHERE {inner})"),
    ];
    for level in shapes {
        let begun = Instant::now();
        let query = format!("SELECT COUNT(*) FROM t WHERE {}", nest(30, level));
        assert_eq!(client.int(&query), 1, "{}", level("…"));
        assert!(begun.elapsed() < PATIENCE, "{}", level("…"));
    }
    drop(server);
}

/// CTEs each of which names the one before it twice grow without bounds; they are refused as SQL Server refuses a query
/// that it cannot plan, while others work.
#[test]
fn ctes_that_double_are_refused() {
    let (_server, _, mut client) = with_row();
    let steps: Vec<String> = (1..60)
        .map(|i| {
            let last = i - 1;
            format!("c{i} AS (SELECT MAX(a.x) AS x FROM c{last} AS a CROSS JOIN c{last} AS b)")
        })
        .collect();
    let query = |depth: usize| {
        let steps = steps[..depth].join(", ");
        format!("WITH c0 AS (SELECT 1 AS x), {steps} SELECT x FROM c{depth}")
    };
    assert_eq!(client.int(&query(8)), 1);
    let caught = format!(
        "BEGIN TRY EXEC (N'{}') END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH",
        query(50)
    );
    assert_eq!(client.int(&caught), 8623);
}
