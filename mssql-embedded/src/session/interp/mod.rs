//! The interpreter: statements one after the other, control flow, TRY and CATCH.

mod applock;
pub mod arguments;
pub mod call;
mod call_errors;
mod errors;
mod evaluate;
mod impersonate;
mod observe;
mod prepared;
mod serve;
mod set;
mod system;
mod table_statement;
mod transaction;
mod variables;

use std::sync::Arc;

use crate::ast::{FlowStmt, SessionStmt, Stmt, StmtKind, ValueStmt};
use crate::context::{Core, Frame};
use crate::error::{SqlError, SqlResult};
use crate::exec::test;
use crate::hooks::Stats;
use crate::interrupt::Interrupt;
use crate::memory::KeptRows;
use crate::plan::{BoundKind, Module};

use super::{Disconnected, Done, DoneKind, ResultSink};

use errors::Origin;
pub use errors::Stop;
pub(super) use observe::Observed;
pub use serve::well_known;
pub use variables::assign;

/// How a statement hands on control.
#[derive(Debug, PartialEq)]
pub enum Flow {
    /// To the next statement.
    Next,
    Break,
    Continue,
    /// RETURN with a status.
    Return(i32),
    Goto(String),
}

pub type Run = Result<Flow, Stop>;

/// Why a leaf statement did not succeed.
pub enum Failure {
    /// It raised an error.
    Error(SqlError, Origin),
    /// Something it ran stopped already.
    Stop(Stop),
}

impl From<SqlError> for Failure {
    fn from(error: SqlError) -> Self {
        Self::Error(error, Origin::Statement)
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl From<Disconnected> for Failure {
    fn from(_: Disconnected) -> Self {
        Self::Stop(Stop::Disconnected)
    }
}

/// Runs the requests of one session.
pub struct Interp<'a> {
    pub core: &'a mut Core,
    pub sink: &'a mut dyn ResultSink,
    /// Rows of INSERT … EXEC are caught here instead of going to the client.
    pub capture: Option<KeptRows>,
    /// Whether the client called by RPC: statements then end with DONEINPROC.
    pub rpc: bool,
    /// The last token sent was a DONE, so that the response may end here.
    pub ended: bool,
    /// What all statements of the request did.
    pub stats: Stats,
    /// How the tester's controls see the request.
    pub(super) observed: Observed,
}

impl Interp<'_> {
    /// Runs a list of statements; GOTO looks for its label here and, failing that, further out.
    pub fn run_list(&mut self, list: &[Stmt], module: &Arc<Module>, frame: &mut Frame) -> Run {
        let mut at = 0;
        while at < list.len() {
            match self.run(&list[at], module, frame)? {
                Flow::Next => at += 1,
                Flow::Goto(label) => match find_label(list, &label) {
                    Some(position) => at = position,
                    None => return Ok(Flow::Goto(label)),
                },
                other @ (Flow::Break | Flow::Continue | Flow::Return(_)) => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    pub fn run(&mut self, stmt: &Stmt, module: &Arc<Module>, frame: &mut Frame) -> Run {
        self.go_on()?;
        if self.core.settings.noexec && !set::ends_noexec(&stmt.kind) {
            return Ok(Flow::Next);
        }
        match &stmt.kind {
            StmtKind::Flow(flow) => self.flow(flow, stmt, module, frame),
            StmtKind::Table(table) => self.leaf(stmt, module, frame, |run, frame| {
                run.table_statement(table, stmt, module, frame)
            }),
            StmtKind::Ddl(ddl) => self.leaf(stmt, module, frame, |run, frame| {
                run.definition(ddl, stmt, frame)
            }),
            StmtKind::Tran(tran) => self.leaf(stmt, module, frame, |run, frame| {
                run.tran_statement(tran, module, frame)
            }),
            StmtKind::Session(session) => self.leaf(stmt, module, frame, |run, frame| {
                run.session_statement(session, stmt, module, frame)
            }),
            StmtKind::Value(value) => self.leaf(stmt, module, frame, |run, frame| {
                run.value_statement(value, stmt, module, frame)
            }),
            StmtKind::Exec(exec) => self.leaf(stmt, module, frame, |run, frame| {
                run.exec(exec, stmt, module, frame)
            }),
        }
    }

    /// Runs a statement that has no others within it, and does with its error what is to be done.
    fn leaf(
        &mut self,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
        f: impl FnOnce(&mut Self, &mut Frame) -> Result<Flow, Failure>,
    ) -> Run {
        match self.observe(stmt, module, |run| f(run, frame)) {
            Ok(flow) => Ok(flow),
            Err(Failure::Stop(stop)) => Err(stop),
            Err(Failure::Error(error, origin)) => self.raise(error, origin, stmt, frame),
        }
    }

    fn flow(
        &mut self,
        flow: &FlowStmt,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Run {
        match flow {
            FlowStmt::Block(list) => self.run_list(list, module, frame),
            FlowStmt::If {
                then, otherwise, ..
            } => match self.condition(stmt, module, frame)? {
                Some(true) => self.run(then, module, frame),
                Some(false) => match otherwise {
                    Some(other) => self.run(other, module, frame),
                    None => Ok(Flow::Next),
                },
                None => Ok(Flow::Next),
            },
            FlowStmt::While { body, .. } => self.run_while(stmt, body, module, frame),
            FlowStmt::Break => Ok(Flow::Break),
            FlowStmt::Continue => Ok(Flow::Continue),
            FlowStmt::Goto(label) => Ok(Flow::Goto(label.name.clone())),
            FlowStmt::Label(_) => Ok(Flow::Next),
            FlowStmt::TryCatch { body, handler } => self.run_try(body, handler, module, frame),
        }
    }

    /// Whether to go on: the client may have sent an attention or be gone.
    pub fn go_on(&mut self) -> Result<(), Stop> {
        match self.sink.interrupted() {
            Some(Interrupt::Attention) => Err(self.attention()),
            Some(Interrupt::Disconnected) => Err(Stop::Disconnected),
            None => Ok(()),
        }
    }

    fn run_while(
        &mut self,
        stmt: &Stmt,
        body: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Run {
        while self.condition(stmt, module, frame)? == Some(true) {
            match self.run(body, module, frame)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => break,
                other @ (Flow::Return(_) | Flow::Goto(_)) => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    /// The condition of IF or WHILE; `None` when it failed and the statement is passed over.
    fn condition(
        &mut self,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Option<bool>, Stop> {
        let outcome = self.observe(stmt, module, |run| {
            run.evaluate(stmt, module, frame, |bound, env| {
                let BoundKind::Condition(cond) = &bound.kind else {
                    return Err(SqlError::internal("IF or WHILE without a condition"));
                };
                test(cond, env)
            })
        });
        match outcome {
            Ok(answer) => {
                self.send_notices()
                    .map_err(|Disconnected| Stop::Disconnected)?;
                self.core.rowcount = 0;
                self.core.error = 0;
                Ok(Some(answer == Some(true)))
            }
            Err(Failure::Stop(stop)) => Err(stop),
            Err(Failure::Error(error, origin)) => {
                self.raise(error, origin, stmt, frame)?;
                Ok(None)
            }
        }
    }

    fn run_try(
        &mut self,
        body: &[Stmt],
        handler: &[Stmt],
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Run {
        self.core.try_depth += 1;
        frame.try_depth += 1;
        let outcome = self.run_list(body, module, frame);
        self.core.try_depth -= 1;
        frame.try_depth -= 1;
        match outcome {
            Err(Stop::Raised { error, compile_in }) if compile_in != Some(frame.depth) => {
                self.core.caught.push(error);
                let result = self.run_list(handler, module, frame);
                self.core.caught.pop();
                result
            }
            other => other,
        }
    }

    fn value_statement(
        &mut self,
        value: &ValueStmt,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        match value {
            ValueStmt::Declare(list) => self.declare(list, stmt, module, frame),
            ValueStmt::SetVariable { name, .. } => self.set_variable(name, stmt, module, frame),
            ValueStmt::Return(_) => self.return_status(stmt, module, frame),
            ValueStmt::Print(_) => self.print(stmt, module, frame),
            ValueStmt::Throw(args) => self.throw(args.is_some(), stmt, module, frame),
            ValueStmt::RaisError(raise) => self.raiserror(raise, stmt, module, frame),
            ValueStmt::WaitFor { .. } => self.wait_for(stmt, module, frame),
        }
    }

    fn session_statement(
        &mut self,
        session: &SessionStmt,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        match session {
            SessionStmt::Set(option) => {
                let flow = self.set_option(option, stmt, module, frame)?;
                self.core.show_settings();
                Ok(flow)
            }
            SessionStmt::Use(database) => self.use_database(&database.name, frame),
            SessionStmt::ExecuteAs(name) => self.execute_as(name, frame),
            SessionStmt::Revert => Ok(self.revert(frame)),
            SessionStmt::Kill(spid) => {
                self.kill(*spid)?;
                Ok(Flow::Next)
            }
            SessionStmt::Checkpoint => Ok(Flow::Next),
        }
    }

    /// KILL, with the refusals in SQL Server's order.
    fn kill(&self, spid: i64) -> SqlResult<()> {
        if !self.core.sysadmin {
            let message = "User does not have permission to use the KILL statement.";
            return Err(SqlError::with(6102, 14, 1, message));
        }
        let highest = i64::from(i16::MAX);
        let refused = |number: i32, text: &str| Err(SqlError::new(number, text));
        match spid {
            _ if self.core.trancount > 0 => refused(
                6115,
                "KILL command cannot be used inside user transactions.",
            ),
            _ if !(1..=highest).contains(&spid) => refused(
                6101,
                &format!(
                    "Process ID {spid} is not a valid process ID. Choose a number between 1 and {highest}."
                ),
            ),
            // The sessions up to 50 are the server's own.
            1..=50 => refused(6107, "Only user processes can be killed."),
            _ if spid == i64::from(self.core.spid) => {
                refused(6104, "Cannot use KILL to kill your own process.")
            }
            _ => self.core.engine.kill(spid),
        }
    }

    /// CREATE, ALTER, DROP, GRANT and the like.
    fn definition(
        &mut self,
        ddl: &crate::ast::Ddl,
        stmt: &Stmt,
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        if self.core.doomed && self.core.trancount > 0 {
            return Err(transaction::doomed().into());
        }
        self.begin_implicitly(transaction::ddl_needs_transaction(ddl))?;
        let engine = Arc::clone(&self.core.engine);
        self.within(engine.latch(), frame, |env| super::ddl::run(ddl, env))?;
        let notices = std::mem::take(&mut self.core.notices).into_iter();
        self.core.notices = notices.map(|n| n.at(stmt.pos.line)).collect();
        self.core.rowcount = 0;
        self.core.error = 0;
        self.done(frame, None, 0)?;
        Ok(Flow::Next)
    }

    pub fn send_message(&mut self, message: &SqlError) -> Result<(), Disconnected> {
        self.ended = false;
        self.sink.message(message)
    }

    /// What the statement wants shown besides its answer.
    pub fn send_notices(&mut self) -> Result<(), Disconnected> {
        for notice in std::mem::take(&mut self.core.notices) {
            self.send_message(&notice)?;
        }
        Ok(())
    }

    /// Ends a statement with its DONE token.
    pub fn done(
        &mut self,
        frame: &Frame,
        rows: Option<u64>,
        command: u16,
    ) -> Result<(), Disconnected> {
        self.send_notices()?;
        let inside = self.rpc || frame.depth > 0;
        if inside && rows.is_none() && command != SELECT {
            return Ok(());
        }
        let kind = if inside {
            DoneKind::InProcedure
        } else {
            DoneKind::Statement
        };
        self.ended = true;
        self.sink.done(Done {
            kind,
            rows,
            error: false,
            command,
        })
    }
}

/// CurCmd of a SELECT.
pub const SELECT: u16 = 0xC1;

fn find_label(list: &[Stmt], label: &str) -> Option<usize> {
    list.iter()
        .position(|s| matches!(&s.kind, StmtKind::Flow(FlowStmt::Label(l)) if l.name.eq_ignore_ascii_case(label)))
}
