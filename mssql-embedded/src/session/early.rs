//! What a bound statement says of itself before it runs, and the engine refuses: so that it is refused in a procedure
//! that is being created, too.

use crate::ast::{SessionStmt, SetOption, StmtKind, ValueStmt};
use crate::error::{SqlError, SqlResult};
use crate::plan::{Bound, BoundKind, Scalar, Typed};
use crate::value::Value;

/// Refuses a bound statement whose constants or types show that it cannot be run.
///
/// # Errors
///
/// 40517.
pub(super) fn refuse(statement: &StmtKind, bound: &Bound) -> SqlResult<()> {
    let values = scalars(&bound.kind);
    match statement {
        StmtKind::Value(value) => match value {
            ValueStmt::RaisError(_) => values.first().map_or(Ok(()), message),
            ValueStmt::Return(_)
            | ValueStmt::Throw(_)
            | ValueStmt::Print(_)
            | ValueStmt::WaitFor { .. }
            | ValueStmt::Declare(_)
            | ValueStmt::SetVariable { .. } => Ok(()),
        },
        StmtKind::Session(session) => match session {
            SessionStmt::Set(option) => option_value(option, values),
            SessionStmt::Use(_)
            | SessionStmt::ExecuteAs(_)
            | SessionStmt::Revert
            | SessionStmt::Kill(_)
            | SessionStmt::Checkpoint => Ok(()),
        },
        StmtKind::Flow(_)
        | StmtKind::Table(_)
        | StmtKind::Tran(_)
        | StmtKind::Exec(_)
        | StmtKind::Ddl(_) => Ok(()),
    }
}

/// The expressions of a statement that consists of expressions.
fn scalars(bound: &BoundKind) -> &[Typed] {
    match bound {
        BoundKind::Scalars(values) => values,
        BoundKind::Select(_)
        | BoundKind::SelectInto(_)
        | BoundKind::Assign(_)
        | BoundKind::Insert(_)
        | BoundKind::Update(_)
        | BoundKind::Delete(_)
        | BoundKind::Condition(_) => &[],
    }
}

fn option_value(option: &SetOption, values: &[Typed]) -> SqlResult<()> {
    let constant = match values {
        [
            Typed {
                expr: Scalar::Const(Value::Int(n)),
                ..
            },
        ] => Some(*n),
        _ => None,
    };
    match option {
        SetOption::TextSize(_) => constant.map_or(Ok(()), textsize),
        SetOption::Switch(..)
        | SetOption::IdentityInsert(..)
        | SetOption::LockTimeout(_)
        | SetOption::DeadlockPriority(_)
        | SetOption::IsolationLevel(_)
        | SetOption::RowCount(_)
        | SetOption::DateFirst(_)
        | SetOption::DateFormat
        | SetOption::Language
        | SetOption::ContextInfo(_)
        | SetOption::Statistics => Ok(()),
    }
}

/// RAISERROR takes a text, or a number of which it is known that sys.messages does not have it.
///
/// # Errors
///
/// 40517 for a number that it has, and for what is neither text nor number.
fn message(message: &Typed) -> SqlResult<()> {
    if let Scalar::Const(Value::Int(n)) = message.expr {
        is_no_system_message(n)
    } else if message.ty.is_string() || message.ty.is_integer() {
        Ok(())
    } else {
        Err(message_number())
    }
}

/// What SQL Server comes with has numbers from 13,000 to 49,999 as far as RAISERROR can show it, and the engine does not keep
/// it. Beyond are those that sp_addmessage adds, which there are none of.
///
/// # Errors
///
/// 40517.
pub(super) fn is_no_system_message(number: i64) -> SqlResult<()> {
    if (13_000..50_000).contains(&number) {
        return Err(message_number());
    }
    Ok(())
}

fn message_number() -> SqlError {
    SqlError::unsupported("RAISERROR with a message number")
}

/// Nothing is ever cut, so only the values that cut nothing are taken.
///
/// # Errors
///
/// 40517 for another value.
pub(super) fn textsize(n: i64) -> SqlResult<()> {
    if n == -1 || n == i64::from(i32::MAX) {
        return Ok(());
    }
    Err(SqlError::unsupported(format!("SET TEXTSIZE {n}")))
}
