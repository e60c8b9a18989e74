//! @@ROWCOUNT, ERROR_NUMBER(), USER_NAME() and the like.

use std::sync::Arc;

use crate::access::Latch;
use crate::dictionary::SERVER_NAME;
use crate::func::SessionValue;
use crate::value::Value;

use super::{Core, Frame, acting_login};

/// @@VERSION. The numbers are those of SQL Server 2019, whose behaviour is followed.
pub const VERSION: &str = concat!(
    "Microsoft SQL Server 2019 (RTM) - 15.0.2000.5 (mssql-embedded ",
    env!("CARGO_PKG_VERSION"),
    ", an engine for tests; not a product of Microsoft)"
);

pub fn session_value(value: SessionValue, core: &Core, frame: &Frame, latch: &Latch<'_>) -> Value {
    let database = latch.catalog.databases.get(&core.database);
    let text = |s: &str| Value::text(s);
    let int = |n: i64| Value::Int(n);
    match value {
        SessionValue::RowCount | SessionValue::RowCountBig => int(core.rowcount),
        SessionValue::TranCount => int(i64::from(core.trancount)),
        SessionValue::LastError => int(i64::from(core.error)),
        SessionValue::Identity => as_identity(&core.identity),
        SessionValue::ScopeIdentity => as_identity(&frame.scope_identity),
        SessionValue::Spid => int(i64::from(core.spid)),
        SessionValue::Version => text(VERSION),
        SessionValue::ServerName => text(SERVER_NAME),
        SessionValue::ServiceName => text("MSSQLSERVER"),
        SessionValue::NestLevel => int(i64::from(core.nest_level)),
        SessionValue::ContextInfo => {
            let info = core.context_info.as_ref();
            info.map_or(Value::Null, |bytes| Value::Bytes(Arc::clone(bytes)))
        }
        // 0 is SQL Server's own answer outside of procedures.
        SessionValue::ProcId => {
            let id = frame.origin.of_procedure().and_then(|p| p.id);
            int(i64::from(id.unwrap_or(0)))
        }
        SessionValue::LockTimeout => {
            let timeout = core.settings.lock_timeout_ms;
            int(timeout.map_or(-1, |ms| i64::try_from(ms).unwrap_or(i64::MAX)))
        }
        SessionValue::Options => int(core.settings.option_bits()),
        SessionValue::DateFirst => int(i64::from(core.settings.datefirst)),
        SessionValue::Language => text(&core.settings.language),
        SessionValue::MaxPrecision => int(38),
        SessionValue::TextSize => int(core.settings.textsize),
        SessionValue::MicrosoftVersion => int(0x0F00_07D0),
        SessionValue::XactState => int(core.xact_state()),
        SessionValue::UserName => database
            .and_then(|d| d.principals.get(&frame.user))
            .map_or(Value::Null, |p| text(&p.name)),
        SessionValue::LoginName => text(&acting_login(&latch.catalog, core, frame.user)),
        SessionValue::OriginalLogin => text(&core.login),
        SessionValue::AppName => text(&core.app_name),
        SessionValue::HostName => text(&core.host_name),
        SessionValue::TransactionId => core.txn.as_ref().map_or(int(0), |t| int(t.id as i64)),
        SessionValue::ErrorNumber
        | SessionValue::ErrorMessage
        | SessionValue::ErrorSeverity
        | SessionValue::ErrorState
        | SessionValue::ErrorLine
        | SessionValue::ErrorProcedure => caught(value, core),
    }
}

/// @@IDENTITY and SCOPE_IDENTITY() are NUMERIC(38, 0).
fn as_identity(value: &Value) -> Value {
    if let Value::Int(n) = value {
        Value::Decimal {
            units: i128::from(*n),
            scale: 0,
        }
    } else {
        Value::Null
    }
}

/// ERROR_NUMBER() and its kin: NULL outside of a CATCH block.
fn caught(value: SessionValue, core: &Core) -> Value {
    let Some(error) = core.caught.last() else {
        return Value::Null;
    };
    match value {
        SessionValue::ErrorNumber => Value::Int(i64::from(error.number)),
        SessionValue::ErrorMessage => Value::text(&error.message),
        SessionValue::ErrorSeverity => Value::Int(i64::from(error.severity)),
        SessionValue::ErrorState => Value::Int(i64::from(error.state)),
        SessionValue::ErrorLine => Value::Int(i64::from(error.line)),
        SessionValue::ErrorProcedure if !error.procedure.is_empty() => {
            Value::text(&error.procedure)
        }
        SessionValue::RowCount
        | SessionValue::RowCountBig
        | SessionValue::TranCount
        | SessionValue::LastError
        | SessionValue::Identity
        | SessionValue::ScopeIdentity
        | SessionValue::Spid
        | SessionValue::Version
        | SessionValue::ServerName
        | SessionValue::ServiceName
        | SessionValue::NestLevel
        | SessionValue::ContextInfo
        | SessionValue::ProcId
        | SessionValue::LockTimeout
        | SessionValue::Options
        | SessionValue::DateFirst
        | SessionValue::Language
        | SessionValue::MaxPrecision
        | SessionValue::TextSize
        | SessionValue::MicrosoftVersion
        | SessionValue::XactState
        | SessionValue::ErrorProcedure
        | SessionValue::UserName
        | SessionValue::LoginName
        | SessionValue::OriginalLogin
        | SessionValue::AppName
        | SessionValue::HostName
        | SessionValue::TransactionId => Value::Null,
    }
}
