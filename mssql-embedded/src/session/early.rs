//! What a bound statement says of itself before it runs, and the engine refuses: so that it is refused in a procedure
//! that is being created, too.

use crate::ast::{SessionStmt, SetOption, StmtKind, ValueStmt};
use crate::error::{SqlError, SqlResult};
use crate::plan::{Bound, BoundKind, Scalar, Typed};
use crate::value::{DataType, Value};

/// Refuses a bound statement whose constants or types show that it cannot be run.
///
/// # Errors
///
/// 40517.
pub(super) fn refuse(statement: &StmtKind, bound: &Bound) -> SqlResult<()> {
    let BoundKind::Scalars(values) = &bound.kind else {
        return Ok(());
    };
    if let (StmtKind::Value(ValueStmt::RaisError(_)), [message, ..]) =
        (statement, values.as_slice())
    {
        message_text(&message.ty)?;
    }
    if let StmtKind::Session(SessionStmt::Set(SetOption::TextSize(_))) = statement
        && let [
            Typed {
                expr: Scalar::Const(Value::Int(n)),
                ..
            },
        ] = values.as_slice()
    {
        textsize(*n)?;
    }
    Ok(())
}

/// RAISERROR takes a text: the numbers of sys.messages, to which sp_addmessage would add, are not kept.
///
/// # Errors
///
/// 40517 for a number.
fn message_text(ty: &DataType) -> SqlResult<()> {
    if ty.is_string() {
        return Ok(());
    }
    Err(SqlError::unsupported("RAISERROR with a message number"))
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
