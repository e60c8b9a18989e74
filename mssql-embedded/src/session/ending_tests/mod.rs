//! Whatever can last asks again and again whether to stop, and what is told so leaves nothing behind.

mod rows;
mod texts;

use std::sync::Arc;

use super::{Disconnected, Done, EnvChange, LoginRequest, RequestEnd, ResultSink, Session};
use crate::engine::{Engine, EngineOptions};
use crate::error::SqlError;
use crate::hooks::Traffic;
use crate::interrupt::Interrupt;
use crate::value::{ColumnMeta, DataType, Value};

/// Rows of each table here.
const ROWS: usize = 3_000;

/// After so many rows, or tokens, at most a loop asks.
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
