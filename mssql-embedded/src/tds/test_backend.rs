//! A stand-in for the engine that answers a few fixed requests, to test the wire by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::backend::{Backend, BackendSession};
use crate::error::{SqlError, SqlResult};
use crate::interrupt::Interrupt;
use crate::session::{
    Done, DoneKind, EnvChange, LoginAck, LoginRequest, RequestEnd, ResultSink, RpcRequest,
    TransactionRequest,
};
use crate::value::{Coercibility, Collation, ColumnMeta, DataType, Length, Value};

/// The password every login needs.
pub(crate) const PASSWORD: &str = "Pass-w0rd";

/// Counts its sessions and answers them all alike.
#[derive(Clone, Default)]
pub(crate) struct Echo {
    /// Sessions that are open.
    pub(crate) open: Arc<AtomicUsize>,
}

pub(crate) struct EchoSession {
    open: Arc<AtomicUsize>,
}

impl Drop for EchoSession {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Backend for Echo {
    type Session = EchoSession;

    fn login(&self, request: &LoginRequest) -> SqlResult<(EchoSession, LoginAck)> {
        if request.password != PASSWORD {
            let text = format!("Login failed for user '{}'.", request.user);
            return Err(SqlError::with(18456, 14, 1, text));
        }
        self.open.fetch_add(1, Ordering::SeqCst);
        let ack = LoginAck {
            database: "master".into(),
            spid: 51,
            collation: Collation::SqlLatin1CiAs,
        };
        Ok((
            EchoSession {
                open: Arc::clone(&self.open),
            },
            ack,
        ))
    }
}

fn column(name: &str, ty: DataType) -> ColumnMeta {
    ColumnMeta {
        name: name.into(),
        ty,
        nullable: true,
        identity: false,
        label: Coercibility::Default,
    }
}

fn done(kind: DoneKind, rows: Option<u64>, command: u16) -> Done {
    Done {
        kind,
        rows,
        error: false,
        command,
    }
}

fn wait_for_attention(sink: &mut dyn ResultSink) -> RequestEnd {
    loop {
        match sink.interrupted() {
            Some(Interrupt::Attention) => return RequestEnd::Attention,
            Some(Interrupt::Disconnected) => return RequestEnd::Close,
            None => thread::sleep(Duration::from_millis(1)),
        }
    }
}

impl EchoSession {
    fn run(
        &mut self,
        text: &str,
        sink: &mut dyn ResultSink,
    ) -> Result<RequestEnd, crate::session::Disconnected> {
        let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
        match verb {
            "echo" => {
                let ty = DataType::NVarChar(Length::Max, Collation::SqlLatin1CiAs);
                sink.columns(&[column("text", ty)])?;
                sink.row(&[Value::text(rest)])?;
                sink.done(done(DoneKind::Statement, Some(1), 0xC1))?;
            }
            "rows" => {
                let rows: i64 = rest.parse().unwrap_or(0);
                sink.columns(&[
                    column("n", DataType::BigInt),
                    column("pad", DataType::nvarchar(100, Collation::SqlLatin1CiAs)),
                ])?;
                for n in 0..rows {
                    sink.row(&[Value::Int(n), Value::text("padding padding padding")])?;
                }
                sink.done(done(DoneKind::Statement, Some(rows as u64), 0xC1))?;
            }
            "fail" => {
                sink.message(&SqlError::new(50_000, rest).at(3))?;
                sink.done(Done {
                    error: true,
                    ..done(DoneKind::Statement, None, 0xC1)
                })?;
            }
            "wait" => return Ok(wait_for_attention(sink)),
            "cut" => return Ok(RequestEnd::Close),
            "lie" => {
                sink.columns(&[column("n", DataType::Int)])?;
                sink.row(&[Value::text("no number")])?;
            }
            _ => sink.done(done(DoneKind::Statement, None, 0))?,
        }
        Ok(RequestEnd::Continue)
    }
}

impl BackendSession for EchoSession {
    fn attach(&mut self, _switch: crate::hooks::KillSwitch) {}

    fn batch(&mut self, text: &str, sink: &mut dyn ResultSink) -> RequestEnd {
        self.run(text, sink).unwrap_or(RequestEnd::Close)
    }

    /// Returns every parameter as a column of one row, and the output parameters once more.
    fn rpc(&mut self, request: RpcRequest, sink: &mut dyn ResultSink) -> RequestEnd {
        let columns: Vec<_> = request
            .params
            .iter()
            .map(|p| column(p.name.as_deref().unwrap_or_default(), p.ty.clone()))
            .collect();
        let values: Vec<_> = request.params.iter().map(|p| p.value.clone()).collect();
        let answer = |sink: &mut dyn ResultSink| {
            if !columns.is_empty() {
                sink.columns(&columns)?;
                sink.row(&values)?;
                sink.done(done(DoneKind::InProcedure, Some(1), 0xC1))?;
            }
            sink.return_status(7)?;
            for (at, p) in request.params.iter().enumerate().filter(|(_, p)| p.output) {
                sink.return_value(
                    p.name.as_deref().unwrap_or_default(),
                    at as u16,
                    &p.ty,
                    &p.value,
                )?;
            }
            sink.done(done(DoneKind::Procedure, None, 0xE0))
        };
        answer(sink).map_or(RequestEnd::Close, |()| RequestEnd::Continue)
    }

    fn transaction(
        &mut self,
        request: TransactionRequest,
        sink: &mut dyn ResultSink,
    ) -> RequestEnd {
        let change = match request {
            TransactionRequest::Begin { .. } => EnvChange::BeginTransaction(1),
            TransactionRequest::Commit { .. } => EnvChange::CommitTransaction(1),
            _ => EnvChange::RollbackTransaction(1),
        };
        let answer = sink
            .env_change(&change)
            .and_then(|()| sink.done(done(DoneKind::Statement, None, 0xD4)));
        answer.map_or(RequestEnd::Close, |()| RequestEnd::Continue)
    }

    fn reset(&mut self, _keep_transaction: bool, sink: &mut dyn ResultSink) -> RequestEnd {
        let answer = sink.env_change(&EnvChange::ResetConnection);
        answer.map_or(RequestEnd::Close, |()| RequestEnd::Continue)
    }
}
