//! The interpreter: statements one after the other, control flow, TRY and CATCH.

pub mod call;
mod errors;
mod evaluate;
mod impersonate;
mod observe;
mod prepared;
mod set;
mod system;
mod table_statement;
mod transaction;
mod variables;

use std::sync::Arc;

use crate::ast::{Stmt, StmtKind};
use crate::context::{Core, Frame};
use crate::error::SqlError;
use crate::exec::test;
use crate::hooks::Stats;
use crate::interrupt::Interrupt;
use crate::memory::KeptRows;
use crate::plan::{BoundKind, Module};

use super::{Disconnected, Done, DoneKind, ResultSink};

use errors::Origin;
pub use errors::Stop;
pub use evaluate::bind_one;
pub(super) use observe::Observed;
pub use variables::assign;

/// How a statement hands on control.
#[derive(Debug, PartialEq)]
pub enum Flow {
    /// To the next statement.
    Next,
    /// BREAK.
    Break,
    /// CONTINUE.
    Continue,
    /// RETURN with a status.
    Return(i32),
    /// GOTO.
    Goto(String),
}

/// The result of running statements.
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
    /// The session.
    pub core: &'a mut Core,
    /// Where results go.
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

    /// Runs one statement.
    pub fn run(&mut self, stmt: &Stmt, module: &Arc<Module>, frame: &mut Frame) -> Run {
        self.go_on()?;
        if self.core.settings.noexec && !set::ends_noexec(&stmt.kind) {
            return Ok(Flow::Next);
        }
        match &stmt.kind {
            StmtKind::Block(list) => self.run_list(list, module, frame),
            StmtKind::If {
                then, otherwise, ..
            } => match self.condition(stmt, module, frame)? {
                Some(true) => self.run(then, module, frame),
                Some(false) => match otherwise {
                    Some(other) => self.run(other, module, frame),
                    None => Ok(Flow::Next),
                },
                None => Ok(Flow::Next),
            },
            StmtKind::While { body, .. } => self.run_while(stmt, body, module, frame),
            StmtKind::Break => Ok(Flow::Break),
            StmtKind::Continue => Ok(Flow::Continue),
            StmtKind::Goto(label) => Ok(Flow::Goto(label.name.clone())),
            StmtKind::Label(_) => Ok(Flow::Next),
            StmtKind::TryCatch { body, handler } => self.run_try(body, handler, module, frame),
            StmtKind::Return(_)
            | StmtKind::Throw(_)
            | StmtKind::RaisError { .. }
            | StmtKind::Print(_)
            | StmtKind::WaitFor { .. }
            | StmtKind::Declare(_)
            | StmtKind::SetVariable { .. }
            | StmtKind::SetOption(_)
            | StmtKind::Exec(_)
            | StmtKind::BeginTran(_)
            | StmtKind::Commit { .. }
            | StmtKind::Rollback(_)
            | StmtKind::SaveTran(_)
            | StmtKind::Use(_)
            | StmtKind::Select(_)
            | StmtKind::Insert(_)
            | StmtKind::Update(_)
            | StmtKind::Delete(_)
            | StmtKind::Ddl(_)
            | StmtKind::ExecuteAs { .. }
            | StmtKind::Revert
            | StmtKind::Kill(_)
            | StmtKind::Checkpoint => {
                match self.observe(stmt, module, |run| run.leaf(stmt, module, frame)) {
                    Ok(flow) => Ok(flow),
                    Err(Failure::Stop(stop)) => Err(stop),
                    Err(Failure::Error(error, origin)) => self.raise(error, origin, stmt, frame),
                }
            }
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

    fn leaf(
        &mut self,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        let flow = match &stmt.kind {
            StmtKind::Declare(list) => self.declare(list, stmt, module, frame)?,
            StmtKind::SetVariable { name, .. } => self.set_variable(name, stmt, module, frame)?,
            StmtKind::Return(_) => self.return_status(stmt, module, frame)?,
            StmtKind::Print(_) => self.print(stmt, module, frame)?,
            StmtKind::Throw(args) => self.throw(args.is_some(), stmt, module, frame)?,
            StmtKind::RaisError { .. } => self.raiserror(stmt, module, frame)?,
            StmtKind::WaitFor { delay, .. } => self.wait_for(*delay, stmt, module, frame)?,
            StmtKind::SetOption(option) => self.set_option(option, stmt, module, frame)?,
            StmtKind::Exec(exec) => self.exec(exec, stmt, module, frame)?,
            StmtKind::BeginTran(name) => self.begin_tran(name.as_ref(), frame)?,
            StmtKind::Commit { delayed, .. } => self.commit_tran(&module.qualified, *delayed)?,
            StmtKind::Rollback(name) => self.rollback_tran(name.as_ref(), frame)?,
            StmtKind::SaveTran(name) => self.save_tran(name, frame)?,
            StmtKind::Use(database) => self.use_database(&database.name)?,
            StmtKind::Select(_)
            | StmtKind::Insert(_)
            | StmtKind::Update(_)
            | StmtKind::Delete(_) => self.table_statement(stmt, module, frame)?,
            StmtKind::Ddl(ddl) => self.definition(ddl, stmt, frame)?,
            StmtKind::Kill(spid) => {
                self.core.engine.kill(*spid)?;
                Flow::Next
            }
            StmtKind::ExecuteAs { login, name } => self.execute_as(*login, name, frame)?,
            StmtKind::Revert => self.revert(frame),
            StmtKind::Checkpoint => Flow::Next,
            StmtKind::Block(_)
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Goto(_)
            | StmtKind::Label(_)
            | StmtKind::TryCatch { .. } => {
                return Err(SqlError::internal("a statement that its caller runs").into());
            }
        };
        Ok(flow)
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
        self.begin_implicitly(&stmt.kind)?;
        let engine = Arc::clone(&self.core.engine);
        self.within(engine.latch(), frame, |env| super::ddl::run(ddl, env))?;
        for notice in std::mem::take(&mut self.core.notices) {
            self.send_message(&notice.at(stmt.pos.line))?;
        }
        self.core.rowcount = 0;
        self.core.error = 0;
        self.done(frame, None, 0)?;
        Ok(Flow::Next)
    }

    /// Sends a message to the client.
    pub fn send_message(&mut self, message: &SqlError) -> Result<(), Disconnected> {
        self.ended = false;
        self.sink.message(message)
    }

    /// Ends a statement with its DONE token.
    pub fn done(
        &mut self,
        frame: &Frame,
        rows: Option<u64>,
        command: u16,
    ) -> Result<(), Disconnected> {
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
        .position(|s| matches!(&s.kind, StmtKind::Label(l) if l.name.eq_ignore_ascii_case(label)))
}
