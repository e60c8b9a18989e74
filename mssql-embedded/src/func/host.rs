//! What functions need from the session that evaluates them.

use crate::dictionary::Source;
use crate::error::SqlResult;
use crate::value::Value;

/// The session, as functions see it.
pub trait Host: Source {
    /// The clock: UTC days since 0001-01-01 and 100 ns ticks of the day; constant within a statement.
    fn now_utc(&self) -> (i32, i64);
    fn newid(&mut self) -> [u8; 16];
    fn rand(&mut self, seed: Option<i32>) -> f64;
    /// @@ROWCOUNT and the like, with the type that [`SessionValue::ty`] names.
    fn session_value(&self, value: SessionValue) -> Value;
    /// Asked before so many bytes are filled: 701 when the session may not hold them.
    fn room(&self, bytes: usize) -> SqlResult<()>;
    /// Asked now and then by what lasts: the error of an interrupt when it shall stop.
    fn go_on(&mut self) -> SqlResult<()>;
}

/// Values of the session, each readable as a function or an `@@` name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionValue {
    RowCount,
    RowCountBig,
    TranCount,
    /// @@ERROR.
    LastError,
    Identity,
    ScopeIdentity,
    Spid,
    Version,
    ServerName,
    ServiceName,
    NestLevel,
    ContextInfo,
    ProcId,
    LockTimeout,
    Options,
    DateFirst,
    Language,
    MaxPrecision,
    TextSize,
    MicrosoftVersion,
    XactState,
    ErrorNumber,
    ErrorMessage,
    ErrorSeverity,
    ErrorState,
    ErrorLine,
    ErrorProcedure,
    /// USER, CURRENT_USER and SESSION_USER.
    UserName,
    /// SYSTEM_USER.
    LoginName,
    OriginalLogin,
    AppName,
    HostName,
    /// CURRENT_TRANSACTION_ID().
    TransactionId,
}
