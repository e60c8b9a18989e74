//! Functions and `@@` names that read the session.

use super::sig::{DEFAULT, arity, sig};
use super::{Arg, Function, SessionValue, Signature};
use crate::error::SqlResult;
use crate::value::{DataType, Length};

/// A function without arguments that reads one value of the session.
macro_rules! session {
    ($($name:literal => $value:ident),* $(,)?) => {
        &[$(Function::new($name, |name, args| bind(name, args, SessionValue::$value), |host, _, _| Ok(host.session_value(SessionValue::$value))).of_its_time()),*]
    };
}

pub(super) static FUNCTIONS: &[Function] = session![
    "@@ROWCOUNT" => RowCount,
    "ROWCOUNT_BIG" => RowCountBig,
    "@@TRANCOUNT" => TranCount,
    "@@ERROR" => LastError,
    "@@IDENTITY" => Identity,
    "SCOPE_IDENTITY" => ScopeIdentity,
    "@@SPID" => Spid,
    "@@VERSION" => Version,
    "@@SERVERNAME" => ServerName,
    "@@SERVICENAME" => ServiceName,
    "@@NESTLEVEL" => NestLevel,
    "@@PROCID" => ProcId,
    "@@LOCK_TIMEOUT" => LockTimeout,
    "@@OPTIONS" => Options,
    "@@DATEFIRST" => DateFirst,
    "@@LANGUAGE" => Language,
    "@@MAX_PRECISION" => MaxPrecision,
    "@@TEXTSIZE" => TextSize,
    "@@MICROSOFTVERSION" => MicrosoftVersion,
    "XACT_STATE" => XactState,
    "ERROR_NUMBER" => ErrorNumber,
    "ERROR_MESSAGE" => ErrorMessage,
    "ERROR_SEVERITY" => ErrorSeverity,
    "ERROR_STATE" => ErrorState,
    "ERROR_LINE" => ErrorLine,
    "ERROR_PROCEDURE" => ErrorProcedure,
    "USER" => UserName,
    "CURRENT_USER" => UserName,
    "SESSION_USER" => UserName,
    "SYSTEM_USER" => LoginName,
    "ORIGINAL_LOGIN" => OriginalLogin,
    "APP_NAME" => AppName,
    "HOST_NAME" => HostName,
    "CURRENT_TRANSACTION_ID" => TransactionId,
    "CONTEXT_INFO" => ContextInfo,
];

fn bind(name: &str, args: &[Arg], value: SessionValue) -> SqlResult<Signature> {
    arity(name, args, 0, 0)?;
    sig(value.ty(), Vec::new())
}

impl SessionValue {
    pub fn ty(self) -> DataType {
        match self {
            Self::RowCount
            | Self::TranCount
            | Self::LastError
            | Self::NestLevel
            | Self::ProcId
            | Self::LockTimeout
            | Self::Options
            | Self::TextSize
            | Self::MicrosoftVersion
            | Self::ErrorNumber
            | Self::ErrorSeverity
            | Self::ErrorState
            | Self::ErrorLine => DataType::Int,
            Self::RowCountBig | Self::TransactionId => DataType::BigInt,
            Self::Identity | Self::ScopeIdentity => DataType::decimal(38, 0),
            Self::Spid | Self::XactState => DataType::SmallInt,
            Self::DateFirst | Self::MaxPrecision => DataType::TinyInt,
            Self::ContextInfo => DataType::VarBinary(Length::Limited(128)),
            Self::Version => DataType::nvarchar(300, DEFAULT),
            Self::ErrorMessage => DataType::nvarchar(4000, DEFAULT),
            Self::OriginalLogin
            | Self::ErrorProcedure
            | Self::ServerName
            | Self::ServiceName
            | Self::Language
            | Self::UserName
            | Self::LoginName
            | Self::AppName
            | Self::HostName => DataType::nvarchar(128, DEFAULT),
        }
    }
}
