//! Statements over many rows.

use super::super::RequestEnd;
use super::{Client, Patience, ROWS, ROWS_PER_QUESTION};
use crate::engine::EngineOptions;
use crate::storage::GhostCleanup;

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
        statement: "DECLARE @t TABLE (v INT); DECLARE @v INT; INSERT @t SELECT id FROM t;
                    UPDATE @t SET v = v + 1; INSERT o VALUES (1)",
        without: "DECLARE @t TABLE (v INT); DECLARE @v INT; INSERT @t SELECT id FROM t;
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
