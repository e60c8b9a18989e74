//! The seam between the wire and the interpreter: what a request is and where results go.

use crate::ast::{IsolationLevel, PARAMETERS_MAX};
use crate::error::SqlError;
use crate::hooks::Traffic;
use crate::interrupt::Interrupt;
use crate::value::{Collation, ColumnMeta, DataType, Value};

/// 8003: a call with more parameters than there may be.
pub fn too_many_parameters() -> SqlError {
    SqlError::new(
        8003,
        format!(
            "The incoming request has too many parameters. The server supports a maximum of \
             {PARAMETERS_MAX} parameters. Reduce the number of parameters and resend the request."
        ),
    )
}

/// 5701: the session is in another database than before.
pub fn database_changed(name: &str) -> SqlError {
    SqlError::with(
        5701,
        10,
        2,
        format!("Changed database context to '{name}'."),
    )
}

/// 5703: the session has a language, and there is but one.
pub fn language_changed() -> SqlError {
    SqlError::with(5703, 10, 1, "Changed language setting to us_english.")
}

/// How a statement ended, for its DONE token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoneKind {
    /// The end of a statement of a batch (DONE).
    Statement,
    /// The end of a statement inside a procedure (DONEINPROC).
    InProcedure,
    /// The end of a procedure called by RPC (DONEPROC).
    Procedure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    pub kind: DoneKind,
    /// Rows affected, when counted (SET NOCOUNT OFF or a SELECT's rows).
    pub rows: Option<u64>,
    pub error: bool,
    /// CurCmd of the token: 0xC1 SELECT, 0xC3 INSERT, 0xC4 DELETE, 0xC5 UPDATE, 0xE0 EXECUTE, …
    pub command: u16,
}

/// A change the client must know about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvChange {
    /// The current database: new, old.
    Database(String, String),
    /// The language: new, old.
    Language(String, String),
    /// A transaction began; its descriptor.
    BeginTransaction(u64),
    /// A transaction committed; its descriptor.
    CommitTransaction(u64),
    /// A transaction rolled back; its descriptor.
    RollbackTransaction(u64),
    /// The connection was reset (acknowledges RESETCONNECTION).
    ResetConnection,
}

/// Where the interpreter sends what the client shall see, in order.
///
/// The wire side encodes tokens into packets. An `Err` means that the client is gone; the
/// interpreter then rolls back and ends.
pub trait ResultSink {
    /// A result set begins.
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<(), Disconnected>;
    fn row(&mut self, values: &[Value]) -> Result<(), Disconnected>;
    /// A statement or procedure ended. The sink sets the MORE flag itself: a DONE is held back
    /// until the next token or the end of the response is known.
    fn done(&mut self, done: Done) -> Result<(), Disconnected>;
    /// An error or, with severity 10 or below, an information message.
    fn message(&mut self, error: &SqlError) -> Result<(), Disconnected>;
    /// The return status of a procedure called by RPC.
    fn return_status(&mut self, status: i32) -> Result<(), Disconnected>;
    /// An output parameter of a procedure called by RPC.
    fn return_value(
        &mut self,
        name: &str,
        ordinal: u16,
        ty: &DataType,
        value: &Value,
    ) -> Result<(), Disconnected>;
    fn env_change(&mut self, change: &EnvChange) -> Result<(), Disconnected>;
    /// Sends what has gathered without waiting for more (RAISERROR … WITH NOWAIT).
    fn flush(&mut self) -> Result<(), Disconnected>;
    /// Whether the client has sent an attention or hung up; asked at statement ends, by long loops whenever they let others
    /// have the latch, and about every 20 ms while waiting for a lock or in WAITFOR.
    fn interrupted(&mut self) -> Option<Interrupt>;
    /// The bytes of the request and its answer that were not yet told.
    fn traffic(&mut self) -> Traffic;
}

/// The client hung up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disconnected;

/// How a request ended, as far as the connection is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestEnd {
    /// The connection goes on.
    Continue,
    /// It was interrupted by an attention, to be acknowledged.
    Attention,
    /// The connection must be closed (severity 20 and above, KILL, disconnect).
    Close,
}

/// What LOGIN7 carries.
#[derive(Clone, Debug, Default)]
pub struct LoginRequest {
    pub user: String,
    pub password: String,
    /// An access token, which takes the place of both.
    pub token: Option<String>,
    /// The database asked for, unless it is the login's default.
    pub database: Option<String>,
    pub app_name: String,
    pub host_name: String,
}

/// What the server answers to a successful login.
#[derive(Clone, Debug)]
pub struct LoginAck {
    /// What the session begins in: the one asked for, or the login's default.
    pub database: String,
    pub spid: u16,
    /// The default collation's five bytes for ENVCHANGE type 7.
    pub collation: Collation,
}

/// A remote procedure call.
#[derive(Clone, Debug)]
pub struct RpcRequest {
    pub procedure: RpcProcedure,
    pub params: Vec<RpcParam>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RpcProcedure {
    /// By name, possibly dotted and bracketed: `[a b].[proc]`.
    Name(String),
    /// By the well-known number: 10 sp_executesql, 11 sp_prepare, 12 sp_execute, 13 sp_prepexec, 14
    /// sp_prepexecrpc, 15 sp_unprepare.
    Id(u16),
}

#[derive(Clone, Debug, PartialEq)]
pub struct RpcParam {
    /// `@name`, unless it is a positional one.
    pub name: Option<String>,
    /// By reference: an output parameter.
    pub output: bool,
    /// fDefaultValue: use the procedure's default.
    pub default: bool,
    /// As the client declared it, which need not be that of the procedure's parameter.
    pub ty: DataType,
    pub value: Value,
}

/// How a transaction-manager request begins a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeginRequest {
    /// What the session's isolation level becomes; `None` leaves it as it is.
    pub isolation: Option<IsolationLevel>,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransactionRequest {
    /// TM_BEGIN_XACT.
    Begin(BeginRequest),
    /// TM_COMMIT_XACT; with `begin`, a new transaction follows at once.
    Commit {
        name: String,
        begin: Option<BeginRequest>,
    },
    /// TM_ROLLBACK_XACT.
    Rollback {
        name: String,
        begin: Option<BeginRequest>,
    },
    /// TM_SAVE_XACT.
    Save { name: String },
}
