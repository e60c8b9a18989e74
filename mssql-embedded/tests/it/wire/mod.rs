//! What the wire does around a request: attention, reset, messages ahead of their statement's end.

pub mod raw;

use std::time::{Duration, Instant};

use mssql_embedded::{Controls, Server, Trigger};

use crate::support::server;
use raw::{END, RESET, RESET_KEEP_TRANSACTION, Raw, int_of, is_acknowledged};

const PATIENCE: Duration = Duration::from_secs(20);

fn wait(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "never happened: {what}");
        std::thread::yield_now();
    }
}

/// A server with a table of one row.
fn with_row() -> (Server, Controls) {
    let server = server(false);
    let mut setup = Raw::open(&server);
    setup.batch("CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT t VALUES (1, 0);");
    let controls = server.controls();
    (server, controls)
}

/// An attention ends a WAITFOR at once, and the connection goes on.
#[test]
fn attention_ends_a_waitfor() {
    let (server, _) = with_row();
    let mut client = Raw::open(&server);
    client.start("WAITFOR DELAY '01:00:00'; SELECT 5", END);
    client.attention();
    assert!(is_acknowledged(&client.answer()));
    assert_eq!(client.int("SELECT 7"), 7);
}

/// An attention ends a wait for a lock. The transaction stays open, unless XACT_ABORT is on.
#[test]
fn attention_ends_a_lock_wait_and_not_the_transaction() {
    let (server, controls) = with_row();
    let mut holder = Raw::open(&server);
    holder.batch("BEGIN TRAN; UPDATE t SET v = 1;");
    for (xact_abort, open) in [("OFF", 1), ("ON", 0)] {
        let mut client = Raw::open(&server);
        client.batch(&format!("SET XACT_ABORT {xact_abort}; BEGIN TRAN;"));
        client.start("UPDATE t SET v = 2", END);
        wait("the update waits", || controls.blocked() > 0);
        client.attention();
        assert!(is_acknowledged(&client.answer()));
        assert_eq!(client.int("SELECT @@TRANCOUNT"), open);
    }
}

/// A client may send its next request before the answer to the one before (MS-TDS, 3.3.5.9). That hides neither an
/// attention, after which nothing is answered but the acknowledgement, nor a kill, nor the client's end.
#[test]
fn what_waits_behind_a_request_hides_no_end() {
    let (server, controls) = with_row();
    let queued = |client: &mut Raw| {
        client.start("WAITFOR DELAY '01:00:00'; SELECT 5", END);
        for _ in 0..3 {
            client.start("SELECT 6", END);
        }
    };
    let mut client = Raw::open(&server);
    queued(&mut client);
    client.attention();
    assert!(is_acknowledged(&client.answer()));
    assert_eq!(client.int("SELECT 7"), 7);

    let spid = client.int("SELECT CAST(@@SPID AS INT)");
    let spid = u16::try_from(spid).unwrap();
    queued(&mut client);
    assert!(controls.kill(spid));
    wait("the session ends when it is killed", || {
        !controls.sessions().contains(&spid)
    });

    let mut client = Raw::open(&server);
    let spid = u16::try_from(client.int("SELECT CAST(@@SPID AS INT)")).unwrap();
    assert!(controls.sessions().contains(&spid));
    queued(&mut client);
    drop(client);
    // Only its own: others that have ended may still be going away.
    wait("the session ends with its client", || {
        !controls.sessions().contains(&spid)
    });
}

/// Requests that were sent ahead are answered in their turn.
#[test]
fn requests_sent_ahead_are_answered() {
    let (server, _) = with_row();
    let mut client = Raw::open(&server);
    client.start("WAITFOR DELAY '00:00:00.100'; SELECT 1", END);
    for n in 2..200 {
        client.start(&format!("SELECT {n}{}", " ".repeat(500)), END);
    }
    for n in 1..200 {
        assert_eq!(int_of(&client.answer()), n);
    }
}

/// An attention ends a large result, and nothing of it is mistaken for the next answer.
#[test]
fn attention_ends_a_large_result() {
    let (server, _) = with_row();
    let mut client = Raw::open(&server);
    client.start(
        "WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
         SELECT i, REPLICATE('x', 200) FROM n OPTION (MAXRECURSION 0)",
        END,
    );
    client.packet();
    client.attention();
    let mut tokens = client.answer();
    // When the result was complete before the attention was seen, its acknowledgement is an answer
    // of its own.
    if !is_acknowledged(&tokens) {
        tokens = client.answer();
    }
    assert!(is_acknowledged(&tokens));
    assert_eq!(client.int("SELECT 7"), 7);
}

/// A reset connection has no transaction and no settings of its previous user; it keeps the
/// transaction when the client asks for that.
#[test]
fn reset_ends_the_transaction_unless_it_is_kept() {
    let (server, _) = with_row();
    for (status, open) in [(RESET, 0), (RESET_KEEP_TRANSACTION, 1)] {
        let mut client = Raw::open(&server);
        client.batch("SET LOCK_TIMEOUT 5; BEGIN TRAN; UPDATE t SET v = v + 1;");
        client.start("SELECT @@TRANCOUNT * 10 - @@LOCK_TIMEOUT", END | status);
        assert_eq!(int_of(&client.answer()), open * 10 + 1);
        client.batch("IF @@TRANCOUNT > 0 ROLLBACK");
        assert_eq!(client.int("SELECT v FROM t"), 0);
    }
}

/// ENVCHANGE of the database: type 1, new name, old name.
fn database_change(new: &str, old: &str) -> Vec<u8> {
    let mut body = vec![1];
    for name in [new, old] {
        body.push(u8::try_from(name.len()).unwrap());
        body.extend(name.encode_utf16().flat_map(u16::to_le_bytes));
    }
    let length = u16::try_from(body.len()).unwrap().to_le_bytes();
    [&[0xE3][..], &length, &body].concat()
}

/// A reset connection is where its login put it, whatever became of the transaction, and its client hears of that; the
/// statements before have left no count and no error. "Isolation levels are not reset" (MS-TDS, 2.2.3.1.2).
#[test]
fn reset_goes_back_to_the_database_of_the_login() {
    let (server, _) = with_row();
    Raw::open(&server).batch("CREATE DATABASE other");
    for status in [RESET, RESET_KEEP_TRANSACTION] {
        let mut client = Raw::open(&server);
        client.batch("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; USE other");
        assert_eq!(
            client.int("SELECT CAST(DB_ID() - DB_ID('other') AS INT)"),
            0
        );
        client.start("SELECT CAST(DB_ID() AS INT)", END | status);
        let answer = client.answer();
        let change = database_change("master", "other");
        assert!(answer.windows(change.len()).any(|part| part == change));
        assert_eq!(int_of(&answer), 1);
        let isolation = "SELECT CAST(transaction_isolation_level AS INT) FROM sys.dm_exec_sessions \
                         WHERE session_id = @@SPID";
        assert_eq!(client.int(isolation), 4);
        client.batch("SELECT 1 UNION ALL SELECT 2");
        client.start("SELECT @@ROWCOUNT", END | status);
        let answer = client.answer();
        assert_eq!(int_of(&answer), 0);
        let change = database_change("master", "master");
        assert!(!answer.windows(change.len()).any(|part| part == change));
        client.batch("SELECT 1 / 0");
        assert_eq!(client.int("SELECT @@ERROR"), 8134);
        client.batch("SELECT 1 / 0");
        client.start("SELECT @@ERROR", END | status);
        assert_eq!(int_of(&client.answer()), 0);
    }
}

/// A session whose database is gone could not log in again, so it is not reset: it ends with 18056 (Microsoft's support blog,
/// "Breaking Down 18056").
#[test]
fn reset_ends_a_session_whose_database_is_gone() {
    let (server, controls) = with_row();
    let mut other = Raw::open(&server);
    other.batch("CREATE DATABASE other");
    let settings = server.connection_string();
    let mut client = Raw::open_with(&settings.replace("database=master", "database=other"));
    assert_eq!(
        client.int("SELECT CAST(DB_ID() - DB_ID('other') AS INT)"),
        0
    );
    client.batch("USE master");
    other.batch("DROP DATABASE other");
    let sessions = controls.sessions().len();
    client.start("SELECT 1", END | RESET);
    let answer = client.answer();
    let number = 18056_i32.to_le_bytes();
    assert!(answer.windows(4).any(|part| part == number));
    wait("the session ends", || controls.sessions().len() < sessions);
}

/// RAISERROR WITH NOWAIT reaches the client while the batch still runs.
#[test]
fn nowait_messages_are_sent_at_once() {
    let (server, controls) = with_row();
    let mut client = Raw::open(&server);
    let pause = controls.pause(Trigger::statement().containing("SELECT 42"));
    client.start(
        "RAISERROR (N'progress', 10, 1) WITH NOWAIT; SELECT 42;",
        END,
    );
    let first = client.packet();
    let text: Vec<u8> = "progress"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert!(!first.last);
    assert!(first.body.windows(text.len()).any(|part| part == text));
    // Only who is held can be released.
    assert!(pause.wait_paused(PATIENCE).is_some());
    pause.release();
    assert_eq!(int_of(&client.answer()), 42);
}

/// A procedure called by a batch ends with its return status, before the DONE of the procedure.
#[test]
fn a_batch_that_calls_a_procedure_gets_its_status() {
    let (server, _) = with_row();
    let mut client = Raw::open(&server);
    client.batch("CREATE PROCEDURE p AS RETURN 9");
    let tokens = client.batch("EXEC p");
    let end = &tokens[tokens.len() - 18..];
    assert_eq!(end[..5], [0x79, 9, 0, 0, 0]);
    assert_eq!(end[5], 0xFE);
}

/// A prepared call of a procedure, as ODBC makes it, returns the procedure's status and outputs.
#[test]
fn prepared_calls_reach_the_procedure() {
    let (server, _) = with_row();
    let mut client = Raw::open(&server);
    client
        .batch("CREATE PROCEDURE p @a INT, @b INT OUTPUT AS BEGIN SET @b = @a + 1; RETURN 6; END");
    let tokens = client.batch(
        "SET NOCOUNT ON; DECLARE @h INT, @x INT, @rc INT;
         EXEC @rc = sp_prepexecrpc @h OUTPUT, N'{? = call dbo.p (?, ?)}', 4, @x OUTPUT;
         SELECT @rc * 10 + @x;",
    );
    assert_eq!(int_of(&tokens), 65);
}

/// Whether one of the messages in these tokens is `text`.
fn says(tokens: &[u8], text: &str) -> bool {
    let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    tokens.windows(units.len()).any(|window| window == units)
}

/// 3621 follows the error of a statement that writes when the batch goes on after it: not when XACT_ABORT
/// or the error itself ends the batch, not when TRY caught it, and not after a statement that only reads.
#[test]
fn only_statements_that_were_taken_back_are_terminated() {
    let (server, _) = with_row();
    let mut client = Raw::open(&server);
    client.batch("CREATE TABLE dbo.k (a INT PRIMARY KEY); INSERT dbo.k VALUES (1)");
    let mut terminated = |batch: &str| {
        let tokens = client.batch(batch);
        says(&tokens, "The statement has been terminated.")
    };
    assert!(terminated("INSERT dbo.k VALUES (1)"));
    assert!(terminated("UPDATE dbo.k SET a = a / 0"));
    assert!(terminated(
        "CREATE TABLE dbo.d (a INT); INSERT dbo.d VALUES (1), (1); CREATE UNIQUE INDEX u ON dbo.d (a)"
    ));
    assert!(!terminated("SELECT 1 / 0"));
    assert!(!terminated("UPDATE dbo.k SET a = CAST('x' AS INT)"));
    assert!(!terminated("ALTER TABLE dbo.k ADD CHECK (a > 1)"));
    assert!(!terminated(
        "BEGIN TRY INSERT dbo.k VALUES (1) END TRY BEGIN CATCH END CATCH"
    ));
    assert!(!terminated("SET XACT_ABORT ON; INSERT dbo.k VALUES (1)"));
}
