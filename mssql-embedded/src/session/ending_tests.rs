//! Statements over many rows ask again and again whether to stop, and one that is told so leaves nothing behind.

use std::sync::Arc;

use super::{Disconnected, Done, EnvChange, LoginRequest, RequestEnd, ResultSink, Session};
use crate::engine::{Engine, EngineOptions};
use crate::error::SqlError;
use crate::hooks::Traffic;
use crate::interrupt::Interrupt;
use crate::storage::GhostCleanup;
use crate::value::{ColumnMeta, DataType, Value};

/// Rows of each table here.
const ROWS: usize = 3_000;

/// After so many rows at most a loop asks.
const ROWS_PER_QUESTION: usize = 1_000;

/// A client that counts how often it is asked whether to stop, and says yes at one of the questions.
#[derive(Default)]
struct Patience {
    asked: usize,
    /// The engine, to see whether the latch is held when asked, and how often it was.
    engine: Option<Arc<Engine>>,
    asked_under_latch: usize,
    stop_at: Option<usize>,
    value: Option<Value>,
    error: Option<SqlError>,
}

impl ResultSink for Patience {
    fn columns(&mut self, _: &[ColumnMeta]) -> Result<(), Disconnected> {
        Ok(())
    }

    fn row(&mut self, values: &[Value]) -> Result<(), Disconnected> {
        self.value = values.first().cloned();
        Ok(())
    }

    fn done(&mut self, _: Done) -> Result<(), Disconnected> {
        Ok(())
    }

    fn message(&mut self, error: &SqlError) -> Result<(), Disconnected> {
        if error.severity > 10 {
            self.error = Some(error.clone());
        }
        Ok(())
    }

    fn return_status(&mut self, _: i32) -> Result<(), Disconnected> {
        Ok(())
    }

    fn return_value(
        &mut self,
        _: &str,
        _: u16,
        _: &DataType,
        _: &Value,
    ) -> Result<(), Disconnected> {
        Ok(())
    }

    fn env_change(&mut self, _: &EnvChange) -> Result<(), Disconnected> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Disconnected> {
        Ok(())
    }

    fn interrupted(&mut self) -> Option<Interrupt> {
        self.asked += 1;
        let held = self.engine.as_ref().is_some_and(|e| e.state.is_locked());
        self.asked_under_latch += usize::from(held);
        (self.stop_at == Some(self.asked)).then_some(Interrupt::Attention)
    }

    fn traffic(&mut self) -> Traffic {
        Traffic::default()
    }
}

struct Client(Session);

impl Client {
    /// A session in a database whose tables have many rows.
    fn open() -> Self {
        Self::with(&EngineOptions::default())
    }

    fn with(options: &EngineOptions) -> Self {
        let engine = Engine::new(options);
        let request = LoginRequest {
            user: "sa".to_owned(),
            database: Some("master".to_owned()),
            ..LoginRequest::default()
        };
        let (session, _) = Session::login(&engine, &request).unwrap();
        let mut client = Self(session);
        client.run(
            "CREATE TABLE p (id INT NOT NULL PRIMARY KEY);
             INSERT p VALUES (1);
             CREATE TABLE t (id INT NOT NULL PRIMARY KEY, v INT NOT NULL, w NVARCHAR(20), p INT NOT NULL);
             CREATE TABLE c (id INT NOT NULL PRIMARY KEY, p INT REFERENCES p (id) ON DELETE CASCADE);
             CREATE TABLE o (id INT);
             CREATE INDEX ix_v ON t (v);",
        );
        let digit = "(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))";
        client.run(&format!(
            "INSERT t SELECT n, n, N'w', 1 FROM
                (SELECT a.x + 10 * b.x + 100 * c.x + 1000 * d.x AS n
                 FROM {digit} AS a(x), {digit} AS b(x), {digit} AS c(x), {digit} AS d(x)) AS n
             WHERE n < {ROWS};
             INSERT c SELECT id, 1 FROM t;"
        ));
        client
    }

    fn run(&mut self, batch: &str) -> Patience {
        let mut patience = Patience {
            engine: Some(self.0.engine()),
            ..Patience::default()
        };
        assert_eq!(self.0.batch(batch, &mut patience), RequestEnd::Continue);
        assert!(patience.error.is_none(), "{batch}: {:?}", patience.error);
        patience
    }

    /// What any of the statements below would change.
    fn picture(&mut self) -> Option<Value> {
        let picture = "SELECT CONCAT(
            (SELECT SUM(v) FROM t), N' ', (SELECT COUNT(*) FROM c), N' ', (SELECT COUNT(*) FROM o), N' ',
            (SELECT CONCAT(COUNT(*), N' ', SUM(index_id)) FROM sys.indexes), N' ', (SELECT COUNT(*) FROM sys.columns), N' ',
            (SELECT COUNT(*) FROM sys.objects), N' ',
            (SELECT SUM(max_length) FROM sys.columns WHERE object_id = OBJECT_ID(N't')))";
        self.run(picture).value
    }
}

/// A statement, one that does the same but for the loops in question, and how many times those go over all rows.
struct Lasting {
    statement: &'static str,
    without: &'static str,
    passes: usize,
}

const LASTING: [Lasting; 15] = [
    Lasting {
        statement: "UPDATE t SET v = v + 1",
        without: "DECLARE @v INT; SELECT @v = v + 1 FROM t WITH (UPDLOCK)",
        passes: 2,
    },
    Lasting {
        statement: "DECLARE @t TABLE (v INT), @v INT; INSERT @t SELECT id FROM t;
                    UPDATE @t SET v = v + 1; INSERT o VALUES (1)",
        without: "DECLARE @t TABLE (v INT), @v INT; INSERT @t SELECT id FROM t;
                  SELECT @v = v + 1 FROM @t; INSERT o VALUES (1)",
        passes: 2,
    },
    Lasting {
        statement: "INSERT o OUTPUT inserted.id INTO o SELECT id FROM t",
        without: "INSERT o SELECT id FROM t",
        passes: 1,
    },
    Lasting {
        statement: "DELETE p",
        without: "DECLARE @v INT; SELECT @v = id FROM c WITH (UPDLOCK) WHERE p = 1",
        passes: 1,
    },
    Lasting {
        statement: "CREATE INDEX ix_w ON t (w)",
        without: "",
        passes: 1,
    },
    Lasting {
        statement: "CREATE CLUSTERED INDEX ix_o ON big (v)",
        without: "",
        passes: 2,
    },
    Lasting {
        statement: "ALTER TABLE t ADD x INT NOT NULL DEFAULT 7",
        without: "",
        passes: 2,
    },
    Lasting {
        statement: "ALTER TABLE t ALTER COLUMN w NVARCHAR(40)",
        without: "",
        passes: 2,
    },
    Lasting {
        statement: "ALTER TABLE t DROP COLUMN w",
        without: "",
        passes: 2,
    },
    Lasting {
        statement: "ALTER TABLE t ADD CONSTRAINT ck CHECK (v >= 0)",
        without: "",
        passes: 2,
    },
    Lasting {
        statement: "ALTER TABLE t ADD CONSTRAINT fk FOREIGN KEY (p) REFERENCES p (id)",
        without: "",
        passes: 3,
    },
    // Both read; a window function besides places its rows, sorts them, finds partitions and peers, computes the values
    // and puts them into the rows.
    Lasting {
        statement: "INSERT o SELECT RANK() OVER (ORDER BY v) FROM t",
        without: "INSERT o SELECT v FROM t",
        passes: 6,
    },
    Lasting {
        statement: "INSERT o SELECT LAG(id) OVER (ORDER BY v) FROM t",
        without: "INSERT o SELECT v FROM t",
        passes: 6,
    },
    Lasting {
        statement: "INSERT o SELECT FIRST_VALUE(id) OVER (PARTITION BY v ORDER BY v) FROM t",
        without: "INSERT o SELECT v FROM t",
        passes: 6,
    },
    Lasting {
        statement: "INSERT o EXEC (N'SELECT id FROM t')",
        without: "INSERT o SELECT id FROM t",
        passes: 1,
    },
];

/// Makes a heap of as many rows, with an index.
const HEAP: &str = "SELECT id, v INTO big FROM t; CREATE INDEX ix_big ON big (id);";

/// Every loop over rows asks at least once in a thousand of them.
#[test]
fn every_loop_over_rows_asks_whether_to_stop() {
    for lasting in LASTING {
        let asked = |batch| {
            let mut client = Client::open();
            client.run(HEAP);
            // Binding asks too, and what is bound is kept.
            for before in ["SET NOEXEC ON", batch, "SET NOEXEC OFF"] {
                client.run(before);
            }
            client.run(batch).asked
        };
        let (with, without) = (asked(lasting.statement), asked(lasting.without));
        let least = lasting.passes * ROWS / ROWS_PER_QUESTION - 1;
        assert!(
            with >= without + least,
            "{}: {with} questions, {without} without its loops",
            lasting.statement
        );
    }
}

/// Wherever a statement is ended, all it did is undone, and the session goes on: the statement succeeds then.
#[test]
fn a_statement_that_is_ended_leaves_nothing_behind() {
    for Lasting { statement, .. } in LASTING {
        let mut client = Client::open();
        client.run(HEAP);
        let before = client.picture();
        // Once more than needed: binding asks too, and what is bound is kept.
        let mut questions = 0;
        for _ in 0..2 {
            client.run("BEGIN TRAN");
            questions = client.run(statement).asked;
            client.run("ROLLBACK");
            assert_eq!(client.picture(), before, "{statement}");
        }
        // The last question is that of the batch, when all is done.
        for stop_at in (1..questions).rev().step_by(questions / 5 + 1) {
            let mut patience = Patience {
                stop_at: Some(stop_at),
                ..Patience::default()
            };
            let end = client.0.batch(statement, &mut patience);
            assert_eq!(end, RequestEnd::Attention, "{statement}, {stop_at}");
            assert_eq!(client.picture(), before, "{statement}, {stop_at}");
        }
        client.run(statement);
        assert_ne!(client.picture(), before, "{statement}");
    }
}

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

/// How many rows the statements with large values go over.
const LARGE_ROWS: usize = 40;

/// A row whose values are large lasts by itself, so each of them asks.
#[test]
fn every_large_value_asks_whether_to_stop() {
    let expressions = [
        "LEN(UPPER(@s + w))",
        "IIF(@s + w = N'q', 1, 0)",
        "IIF(@s = @same, 1, 0)",
        "IIF(@s IN (@other, @same), 1, 0)",
        "DATALENGTH(HASHBYTES(N'SHA2_256', @s))",
        "DATALENGTH(CAST(@s AS VARBINARY(MAX)))",
        "LEN(CONVERT(VARCHAR(MAX), CAST(@s AS VARBINARY(MAX)), 1))",
        "DATALENGTH(TRY_CONVERT(VARBINARY(MAX), @s, 2))",
    ];
    let from = format!("FROM t WHERE id < {LARGE_ROWS}");
    let mut queries: Vec<String> = expressions
        .iter()
        .map(|expression| format!("SELECT @n = {expression} {from}"))
        .collect();
    queries.push(format!("SELECT @n = v {from} ORDER BY CONCAT(@s, w)"));
    queries.push(format!(
        "SELECT @n = 1 FROM (SELECT DISTINCT IIF(v < 0, N'', @s) AS x {from}) AS d"
    ));
    queries.push(format!(
        "SELECT @n = 1 FROM (SELECT IIF(v < 0, N'', @s) AS x {from}) AS d GROUP BY x"
    ));
    for query in queries {
        let mut client = Client::open();
        let batch = format!(
            "DECLARE @s NVARCHAR(MAX) = REPLICATE(CAST(N'a' AS NVARCHAR(MAX)), 50000), @n INT;
             DECLARE @same NVARCHAR(MAX) = UPPER(@s), @other NVARCHAR(MAX) = @s + N'b'; {query}"
        );
        // Binding asks too, and what is bound is kept.
        client.run(&batch);
        let asked = client.run(&batch).asked;
        assert!(asked >= LARGE_ROWS, "{query}: {asked} questions");
        let mut patience = Patience {
            stop_at: Some(asked - LARGE_ROWS / 2),
            ..Patience::default()
        };
        let end = client.0.batch(&batch, &mut patience);
        assert_eq!(end, RequestEnd::Attention, "{query}");
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

/// Deleted keys that nobody has cleaned up yet are passed over, and that asks too.
#[test]
fn passing_over_ghosts_asks_whether_to_stop() {
    let seeks = [
        "SELECT id FROM t WITH (READCOMMITTEDLOCK)",
        "SELECT id FROM t WITH (READCOMMITTEDLOCK) ORDER BY id DESC",
        "SELECT id FROM t WITH (SERIALIZABLE)",
        "SELECT id FROM t WITH (SERIALIZABLE) WHERE id < 0",
        "SELECT id FROM t WITH (SERIALIZABLE) WHERE id < 0; INSERT t VALUES (-1, 0, N'', 1)",
    ];
    for seek in seeks {
        let mut client = Client::with(&EngineOptions {
            ghost_cleanup: Some(GhostCleanup::Never),
            ..EngineOptions::default()
        });
        client.run("DELETE t");
        let batch = format!("BEGIN TRAN; {seek}; ROLLBACK");
        let nothing = "BEGIN TRAN; SELECT 1; ROLLBACK";
        // Compiling asks too, and what is compiled is kept.
        client.run(&batch);
        client.run(nothing);
        let (asked, without) = (client.run(&batch).asked, client.run(nothing).asked);
        let least = ROWS / ROWS_PER_QUESTION - 1;
        assert!(
            asked >= without + least,
            "{seek}: {asked} questions, {without} without"
        );
    }
}

/// The rows of a system view are made before the first is handed on, and that asks too.
#[test]
fn making_the_rows_of_a_system_view_asks_whether_to_stop() {
    let mut client = Client::open();
    client.run("BEGIN TRAN; DECLARE @v INT; SELECT @v = id FROM t WITH (XLOCK)");
    let count = |from: &str| format!("SELECT COUNT(*) FROM {from}");
    let (locks, rows) = (count("sys.dm_tran_locks"), count("t WITH (NOLOCK)"));
    client.run(&locks);
    client.run(&rows);
    let (asked, without) = (client.run(&locks).asked, client.run(&rows).asked);
    let least = ROWS / ROWS_PER_QUESTION;
    assert!(
        asked >= without + least,
        "{asked} questions, {without} without"
    );
}
