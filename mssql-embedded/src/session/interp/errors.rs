//! What an error does: end the statement, the procedure, the batch or the transaction; be caught.

use std::sync::Arc;

use crate::ast::{RaisErrorStmt, Stmt, StmtKind, TableStmt};
use crate::context::Frame;
use crate::error::SqlError;
use crate::interrupt::{Interrupt, is_interrupt};
use crate::plan::Module;
use crate::session::early::is_no_system_message;
use crate::session::{Done, DoneKind, text_up_to};
use crate::value::{CastMode, DataType, Value, cast};

use super::{Failure, Flow, Interp, Run};

#[derive(Debug)]
pub enum Stop {
    /// An error on its way to a CATCH block. One found while compiling a statement passes the TRY
    /// blocks of its own frame by.
    Raised {
        error: SqlError,
        /// The frame whose TRY blocks cannot catch it.
        compile_in: Option<u32>,
    },
    /// The procedure ends; its caller goes on. The client has been told.
    Scope,
    /// The batch ends. The client has been told.
    Batch,
    /// The client sent an attention.
    Attention,
    /// The client is gone, or the connection must be closed.
    Disconnected,
}

/// Where an error comes from, as far as it matters for what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A statement that failed.
    Statement,
    /// Names or types of a statement did not resolve when it was about to run.
    Compile,
    /// THROW: ends the batch.
    Throw,
    /// RAISERROR: execution goes on, whatever XACT_ABORT says.
    RaisError,
}

/// How far an error reaches without a TRY block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    Statement,
    Scope,
    /// The batch, but an open transaction stays.
    Batch,
    /// The batch and the transaction.
    Transaction,
}

/// Errors that end the batch and roll the transaction back even with XACT_ABORT OFF: failed
/// conversions, the deadlock victim, an operation in a doomed transaction, SNAPSHOT in a transaction that
/// began otherwise ("causes the transaction to abort"), a snapshot conflict, READPAST at a level that has it not.
const TRANSACTION_ENDING: &[i32] = &[
    235, 236, 241, 242, 244, 245, 248, 293, 295, 296, 650, 1205, 3930, 3951, 3960, 8114, 8169,
];

fn reach(error: &SqlError, origin: Origin) -> Reach {
    match origin {
        Origin::RaisError => Reach::Statement,
        Origin::Throw => Reach::Batch,
        Origin::Compile => Reach::Scope,
        Origin::Statement if TRANSACTION_ENDING.contains(&error.number) => Reach::Transaction,
        Origin::Statement => Reach::Statement,
    }
}

/// Errors in the rows of a statement that writes: what it wrote is taken back, of which the client is
/// told in a message of its own (3621) when the batch goes on after it.
const ROW_ERRORS: &[i32] = &[
    220, 232, 512, 515, 517, 535, 547, 1222, 2601, 2627, 2628, 3623, 8115, 8134, 8152,
];

/// Whether an error is followed by 3621. Definitions that fail by the rows they find are, too, but for
/// a constraint that rows do not satisfy (547).
fn terminates(error: &SqlError, origin: Origin, statement: &StmtKind) -> bool {
    let caused_by_rows = |e: &SqlError| e.number == 1505;
    if origin != Origin::Statement {
        return false;
    }
    match statement {
        StmtKind::Table(TableStmt::Insert(_) | TableStmt::Update(_) | TableStmt::Delete(_)) => {
            ROW_ERRORS.contains(&error.number)
        }
        StmtKind::Ddl(_) => {
            matches!(error.number, 515 | 1505 | 2628 | 8152)
                || error.cause.as_deref().is_some_and(caused_by_rows)
        }
        StmtKind::Table(TableStmt::Select(_))
        | StmtKind::Flow(_)
        | StmtKind::Tran(_)
        | StmtKind::Session(_)
        | StmtKind::Value(_)
        | StmtKind::Exec(_) => false,
    }
}

impl Interp<'_> {
    /// An attention: an open transaction stays, unless XACT_ABORT is on.
    pub fn attention(&mut self) -> Stop {
        if self.core.settings.xact_abort && self.core.trancount > 0 {
            self.rollback_all();
        }
        Stop::Attention
    }

    /// What an error stops that carries an interrupt; `None` for any other.
    pub fn stopped_by(&mut self, error: &SqlError) -> Option<Stop> {
        is_interrupt(error).then(|| match self.sink.interrupted() {
            Some(Interrupt::Disconnected) => Stop::Disconnected,
            Some(Interrupt::Attention) | None => self.attention(),
        })
    }

    /// Lets an error take its effect.
    pub fn raise(
        &mut self,
        error: SqlError,
        origin: Origin,
        stmt: &Stmt,
        frame: &mut Frame,
    ) -> Run {
        if let Some(stop) = self.stopped_by(&error) {
            return Err(stop);
        }
        let mut error = error;
        // An error that names its procedure already knows its line, which is 0 for the call as a whole.
        if error.procedure.is_empty() {
            error = error.at(stmt.pos.line);
            frame.origin.qualified().clone_into(&mut error.procedure);
        }
        self.core.error = error.number;
        self.core.rowcount = 0;
        self.core.notices.clear();
        let reach = reach(&error, origin);
        let aborts = self.core.settings.xact_abort && origin != Origin::RaisError;
        if error.severity >= 20 {
            self.end_session_by(&error, origin);
            return Err(Stop::Disconnected);
        }
        let own_try = frame.try_depth > 0;
        let outer_try = self.core.try_depth > frame.try_depth;
        let compile = origin == Origin::Compile;
        if outer_try || own_try && !compile {
            // Caught, an error of RAISERROR dooms as any other.
            let dooms = self.core.settings.xact_abort || reach == Reach::Transaction;
            if self.core.trancount > 0 && dooms {
                self.core.doomed = true;
            }
            return Err(Stop::Raised {
                error,
                compile_in: compile.then_some(frame.depth),
            });
        }
        self.send_with_causes(&error)?;
        if !aborts && reach == Reach::Statement && terminates(&error, origin, &stmt.kind) {
            let mut end = SqlError::with(3621, 0, 0, "The statement has been terminated.");
            end.line = error.line;
            end.procedure.clone_from(&error.procedure);
            self.send_message(&end).map_err(|_| Stop::Disconnected)?;
        }
        self.done_with_error(frame)?;
        if aborts || reach == Reach::Transaction {
            self.rollback_all();
            return Err(Stop::Batch);
        }
        match reach {
            Reach::Statement => Ok(Flow::Next),
            Reach::Scope => Err(Stop::Scope),
            Reach::Batch | Reach::Transaction => Err(Stop::Batch),
        }
    }

    /// Tells of an error that ends the connection; of one that the user raised SQL Server says so before,
    /// and after it that the session is no more. Whether anybody hears it makes no difference.
    fn end_session_by(&mut self, error: &SqlError, origin: Origin) {
        if origin != Origin::RaisError {
            let _ = self.send_message(error);
            return;
        }
        let mut before = SqlError::with(
            2745,
            16,
            2,
            format!(
                "Process ID {} has raised user error {}, severity {}. SQL Server is terminating this process.",
                self.core.spid, error.number, error.severity
            ),
        );
        before.line = error.line;
        before.procedure.clone_from(&error.procedure);
        let killed = "Cannot continue the execution because the session is in the kill state.";
        let after = SqlError::with(596, 21, 1, killed);
        for message in [&before, error, &after] {
            let _ = self.send_message(message);
        }
    }

    /// Sends an error and the DONE token of the failed statement.
    pub fn report(&mut self, error: &SqlError, frame: &Frame) -> Result<(), Stop> {
        self.send_with_causes(error)?;
        self.done_with_error(frame)
    }

    fn send_with_causes(&mut self, error: &SqlError) -> Result<(), Stop> {
        let mut causes: Vec<&SqlError> = Vec::new();
        let mut at = error;
        while let Some(cause) = &at.cause {
            causes.push(cause);
            at = cause;
        }
        for cause in causes.into_iter().rev() {
            let mut cause = cause.clone().at(error.line);
            cause.procedure.clone_from(&error.procedure);
            self.send_message(&cause).map_err(|_| Stop::Disconnected)?;
        }
        self.send_message(error).map_err(|_| Stop::Disconnected)
    }

    fn done_with_error(&mut self, frame: &Frame) -> Result<(), Stop> {
        let inside = self.rpc || frame.depth > 0;
        let kind = if inside {
            DoneKind::InProcedure
        } else {
            DoneKind::Statement
        };
        self.ended = true;
        let done = Done {
            kind,
            rows: None,
            error: true,
            command: 0,
        };
        self.sink.done(done).map_err(|_| Stop::Disconnected)
    }

    pub fn throw(
        &mut self,
        with_args: bool,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        if !with_args {
            let Some(error) = self.core.caught.last().cloned() else {
                return Err(SqlError::internal("THROW without an error to throw again").into());
            };
            return Err(Failure::Error(error, Origin::Throw));
        }
        let values = self.values(stmt, module, frame)?;
        let int = |i: usize| -> Result<i64, SqlError> {
            let (value, from) = &values[i];
            if let Value::Int(n) = cast(value, from, &DataType::Int, None, CastMode::Assign)? {
                Ok(n)
            } else {
                Err(SqlError::with(
                    10708,
                    15,
                    1,
                    "NULL is not a valid parameter of THROW.",
                ))
            }
        };
        let (number, state) = (int(0)?, int(2)?);
        let text = text_up_to(2048, &values[1].0, &values[1].1)?;
        if !(50000..=i64::from(i32::MAX)).contains(&number) {
            return Err(SqlError::with(
                35100,
                16,
                10,
                format!("Error number {number} in the THROW statement is outside the valid range. Specify an error number in the valid range of 50000 to 2147483647."),
            )
            .into());
        }
        let state = u8::try_from(state).map_err(|_| {
            SqlError::new(
                35100,
                format!("State {state} in the THROW statement is outside 0 to 255."),
            )
        })?;
        Err(Failure::Error(
            SqlError::with(number as i32, 16, state, text),
            Origin::Throw,
        ))
    }

    /// RAISERROR with a text (or a variable that holds one), or with the number of a message that does not exist.
    pub fn raiserror(
        &mut self,
        raise: &RaisErrorStmt,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        let values = self.values(stmt, module, frame)?;
        let (message, message_ty) = &values[0];
        let int = |i: usize| -> Result<i64, SqlError> {
            match cast(
                &values[i].0,
                &values[i].1,
                &DataType::Int,
                None,
                CastMode::Assign,
            )? {
                Value::Int(n) => Ok(n),
                Value::Null => Ok(0),
                Value::Bit(_)
                | Value::Decimal { .. }
                | Value::Float(_)
                | Value::Str(_)
                | Value::Bytes(_)
                | Value::Guid(_)
                | Value::Date(_)
                | Value::Time(_)
                | Value::DateTime { .. }
                | Value::DateTimeOffset { .. } => Err(SqlError::internal("an INT that is none")),
            }
        };
        let severity = int(1)?.clamp(0, 25) as u8;
        let state = int(2)?;
        let state = if state < 0 { 1 } else { state.min(255) as u8 };
        if let Value::Int(n) = message {
            return Err(Failure::Error(
                unknown_message(*n, severity, state)?,
                Origin::RaisError,
            ));
        }
        let format = text_up_to(2047, message, message_ty)?;
        for (i, (_, ty)) in values.iter().enumerate().skip(3) {
            if !substitutable(ty) {
                return Err(SqlError::new(
                    2748,
                    format!(
                        "Cannot specify {} data type (parameter {}) as a substitution parameter.",
                        ty.name(),
                        i + 1
                    ),
                )
                .into());
            }
        }
        let args: Vec<Value> = values[3..].iter().map(|(v, _)| v.clone()).collect();
        let text = crate::func::format_message(&format, &args)?;
        let number = 50000;
        let error = SqlError::with(number, severity, state, text);
        check_log(severity, raise.log, self.core.sysadmin)?;
        if severity <= 10 {
            let mut info = error.at(stmt.pos.line);
            frame.origin.qualified().clone_into(&mut info.procedure);
            self.send_message(&info)?;
            self.core.error = if raise.seterror { number } else { 0 };
            self.core.rowcount = 0;
            if raise.nowait {
                self.sink.flush()?;
            }
            return Ok(Flow::Next);
        }
        Err(Failure::Error(error, Origin::RaisError))
    }
}

/// The error of a number for which there is no message.
///
/// # Errors
///
/// 40517 where SQL Server has one.
fn unknown_message(number: i64, severity: u8, state: u8) -> Result<SqlError, SqlError> {
    if number < 13_000 || number == 50_000 {
        return Ok(SqlError::new(
            2732,
            format!(
                "Error number {number} is invalid. The number must be from 13000 through 2147483647 and it cannot be 50000."
            ),
        ));
    }
    is_no_system_message(number)?;
    Ok(SqlError::new(
        18054,
        format!(
            "Error {number}, severity {severity}, state {state} was raised, but no message with that error number was found in sys.messages. If error is larger than 50000, make sure the user-defined message is added using sp_addmessage."
        ),
    ))
}

/// The log is for administrators, and fatal errors must go there. The engine keeps no log, so that is
/// all there is to WITH LOG.
fn check_log(severity: u8, log: bool, sysadmin: bool) -> Result<(), SqlError> {
    if severity > 18 && !(log && sysadmin) {
        return Err(SqlError::new(
            2754,
            "Error severity levels greater than 18 can only be specified by members of the sysadmin role, using the WITH LOG option.",
        ));
    }
    if log && !sysadmin {
        return Err(SqlError::new(
            2778,
            "Only System Administrator can specify WITH LOG option for RAISERROR command.",
        ));
    }
    Ok(())
}

/// Whether RAISERROR can put a value of this type into its message.
fn substitutable(ty: &DataType) -> bool {
    match ty {
        DataType::Null
        | DataType::TinyInt
        | DataType::SmallInt
        | DataType::Int
        | DataType::BigInt
        | DataType::Char(..)
        | DataType::VarChar(..)
        | DataType::NChar(..)
        | DataType::NVarChar(..)
        | DataType::Binary(_)
        | DataType::VarBinary(_) => true,
        DataType::Bit
        | DataType::Decimal { .. }
        | DataType::Real
        | DataType::Float
        | DataType::UniqueIdentifier
        | DataType::Date
        | DataType::Time(_)
        | DataType::SmallDateTime
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_) => false,
    }
}
