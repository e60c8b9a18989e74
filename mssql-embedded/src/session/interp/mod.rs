//! The interpreter: statements one after the other, control flow, TRY and CATCH.

pub mod call;
mod errors;
mod impersonate;
mod observe;
mod query;
mod set;
mod system;
mod transaction;

use std::sync::Arc;

use crate::access::{Latch, Stats};
use crate::ast::{Declaration, Expr, ExprKind, Stmt, StmtKind};
use crate::bind::{self, BindContext};
use crate::error::{SqlError, SqlResult};
use crate::exec::{Env, Frame, eval, test};
use crate::plan::{Bound, BoundKind, Typed};
use crate::value::precedence::check_implicit;
use crate::value::{CastMode, DataType, Value, cast};

use super::module::is_current;
use super::{Core, Disconnected, Done, DoneKind, Interrupt, Module, ResultSink};

use errors::Origin;
pub use errors::Stop;
pub(super) use observe::Observed;

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
    pub capture: Option<Vec<Vec<Value>>>,
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
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    /// Runs one statement.
    pub fn run(&mut self, stmt: &Stmt, module: &Arc<Module>, frame: &mut Frame) -> Run {
        match self.sink.interrupted() {
            Some(Interrupt::Attention) => return Err(self.attention()),
            Some(Interrupt::Disconnected) => return Err(Stop::Disconnected),
            None => {}
        }
        if self.core.settings.noexec && !set::ends_noexec(&stmt.kind) {
            return Ok(Flow::Next);
        }
        match &stmt.kind {
            StmtKind::Block(list) => self.run_list(list, module, frame),
            StmtKind::If { .. } => self.run_if(stmt, module, frame),
            StmtKind::While { .. } => self.run_while(stmt, module, frame),
            StmtKind::Break => Ok(Flow::Break),
            StmtKind::Continue => Ok(Flow::Continue),
            StmtKind::Goto(label) => Ok(Flow::Goto(label.name.clone())),
            StmtKind::Label(_) => Ok(Flow::Next),
            StmtKind::TryCatch { body, handler } => self.run_try(body, handler, module, frame),
            _ => match self.observe(stmt, module, |run| run.leaf(stmt, module, frame)) {
                Ok(flow) => Ok(flow),
                Err(Failure::Stop(stop)) => Err(stop),
                Err(Failure::Error(error, origin)) => self.raise(error, origin, stmt, frame),
            },
        }
    }

    fn run_if(&mut self, stmt: &Stmt, module: &Arc<Module>, frame: &mut Frame) -> Run {
        let StmtKind::If {
            then, otherwise, ..
        } = &stmt.kind
        else {
            return Ok(Flow::Next);
        };
        match self.condition(stmt, module, frame)? {
            Some(true) => self.run(then, module, frame),
            Some(false) => match otherwise {
                Some(other) => self.run(other, module, frame),
                None => Ok(Flow::Next),
            },
            None => Ok(Flow::Next),
        }
    }

    fn run_while(&mut self, stmt: &Stmt, module: &Arc<Module>, frame: &mut Frame) -> Run {
        let StmtKind::While { body, .. } = &stmt.kind else {
            return Ok(Flow::Next);
        };
        while self.condition(stmt, module, frame)? == Some(true) {
            match self.run(body, module, frame)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => break,
                other => return Ok(other),
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
            run.evaluate(stmt, module, frame, |bound, env| match &bound.kind {
                BoundKind::Condition(cond) => test(cond, env),
                _ => Ok(None),
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

    /// Binds a statement (or takes it from the module) and runs `f` on it under the latch, within the
    /// open transaction or one of its own.
    pub fn evaluate<T>(
        &mut self,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
        f: impl FnOnce(&Bound, &mut Env<'_, '_>) -> SqlResult<T>,
    ) -> Result<T, Failure> {
        let engine = Arc::clone(&self.core.engine);
        let mut f = Some(f);
        loop {
            let latch = Latch::new(&engine);
            let bound = self.bound(stmt, module, frame, &latch)?;
            let outcome = self.within(latch, frame, |env| {
                env.lock_schemas(&bound.depends)?;
                // Waiting for another session's DDL may have outdated the plan: bind anew.
                if !is_current(&bound, &env.latch, &env.core.database) {
                    return Ok(None);
                }
                super::permission::check(&bound.requires, env)?;
                match f.take() {
                    Some(f) => f(&bound, env).map(Some),
                    None => Ok(None),
                }
            })?;
            if let Some(value) = outcome {
                return Ok(value);
            }
        }
    }

    fn bound(
        &self,
        stmt: &Stmt,
        module: &Module,
        frame: &Frame,
        latch: &Latch<'_>,
    ) -> Result<Arc<Bound>, Failure> {
        if let Some(bound) = module.bound(stmt.pos.offset, latch, &self.core.database) {
            return Ok(bound);
        }
        let bound = bind_one(stmt, module, self.core, frame, latch)
            .map_err(|e| Failure::Error(e, Origin::Compile))?;
        let bound = Arc::new(bound);
        module.keep(stmt.pos.offset, Arc::clone(&bound));
        Ok(bound)
    }

    /// Runs `f` under the latch with a transaction: the user's, or one that ends with `f`. A failure
    /// undoes what `f` wrote.
    pub fn within<'e, T>(
        &mut self,
        latch: Latch<'e>,
        frame: &mut Frame,
        f: impl FnOnce(&mut Env<'_, 'e>) -> SqlResult<T>,
    ) -> Result<T, Failure> {
        let sink = &mut *self.sink;
        let mut interrupted = || sink.interrupted();
        let now = self.core.engine.clock.now_utc();
        let mut env = Env {
            latch,
            core: self.core,
            frame,
            rows: Vec::new(),
            working: Vec::new(),
            interrupted: &mut interrupted,
            stats: Stats::default(),
            now,
            snapshot: None,
        };
        let result = env.statement(f);
        self.stats.add(&env.stats);
        drop(env);
        result.map_err(Failure::from)
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
            StmtKind::Commit(_) => self.commit_tran(&module.qualified)?,
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
            _ => return Err(SqlError::unsupported("this statement").into()),
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
        let engine = Arc::clone(&self.core.engine);
        self.within(Latch::new(&engine), frame, |env| {
            super::ddl::run(ddl, stmt, env)
        })?;
        for notice in std::mem::take(&mut self.core.notices) {
            self.send_message(&notice.at(stmt.pos.line))?;
        }
        self.core.rowcount = 0;
        self.core.error = 0;
        self.done(frame, None, 0)?;
        Ok(Flow::Next)
    }

    /// The bound values of a statement.
    pub fn values(
        &mut self,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Vec<(Value, DataType)>, Failure> {
        self.evaluate(stmt, module, frame, |bound, env| {
            let BoundKind::Scalars(list) = &bound.kind else {
                return Ok(Vec::new());
            };
            list.iter()
                .map(|Typed { expr, ty, .. }| Ok((eval(expr, env)?, ty.clone())))
                .collect()
        })
    }

    fn declare(
        &mut self,
        list: &[Declaration],
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        // One at a time: an initial value may use a variable declared before it in the same list.
        let initial = list
            .iter()
            .filter(|d| matches!(d, Declaration::Scalar { value: Some(_), .. }));
        for (i, declaration) in initial.enumerate() {
            let Declaration::Scalar { name, .. } = declaration else {
                continue;
            };
            let (value, from) = self.evaluate(stmt, module, frame, |bound, env| {
                let BoundKind::Scalars(list) = &bound.kind else {
                    return Ok((Value::Null, DataType::Null));
                };
                Ok((eval(&list[i].expr, env)?, list[i].ty.clone()))
            })?;
            assign(frame, name, &value, &from)?;
            self.core.rowcount = 1;
        }
        self.core.error = 0;
        Ok(Flow::Next)
    }

    fn set_variable(
        &mut self,
        name: &str,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        for (value, from) in self.values(stmt, module, frame)? {
            assign(frame, name, &value, &from)?;
        }
        self.core.rowcount = 1;
        self.core.error = 0;
        Ok(Flow::Next)
    }

    fn return_status(
        &mut self,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        let values = self.values(stmt, module, frame)?;
        let status = match values.first() {
            None => 0,
            Some((value, from)) => match cast(value, from, &DataType::Int, None, CastMode::Assign)?
            {
                Value::Int(n) => n as i32,
                _ => {
                    self.null_status(stmt, frame)?;
                    0
                }
            },
        };
        Ok(Flow::Return(status))
    }

    /// A procedure that returns NULL returns 0, and says so.
    fn null_status(&mut self, stmt: &Stmt, frame: &Frame) -> Result<(), Failure> {
        let name = &frame.procedure_name;
        let short = name.rsplit('.').next().unwrap_or(name);
        let text = format!(
            "The '{short}' procedure attempted to return a status of NULL, which is not allowed. A status of 0 will be returned instead."
        );
        let mut notice = SqlError::with(282, 10, 1, text).at(stmt.pos.line);
        notice.procedure.clone_from(name);
        self.send_message(&notice)?;
        Ok(())
    }

    fn print(
        &mut self,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        let text = match self.values(stmt, module, frame)?.first() {
            Some((value, from)) => super::text_of(value, from, 4000)?,
            None => String::new(),
        };
        let mut message = SqlError::with(0, 0, 1, text).at(stmt.pos.line);
        message.procedure.clone_from(&frame.procedure_name);
        self.send_message(&message)?;
        self.core.rowcount = 0;
        self.core.error = 0;
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

/// Assigns to a variable by name; text that is too long is cut without a word, as SQL Server does.
pub fn assign(frame: &mut Frame, name: &str, value: &Value, from: &DataType) -> SqlResult<()> {
    let variable = frame.variables.scalar_named(name)?;
    check_implicit(from, &variable.ty)?;
    frame.values[variable.slot] = cast(value, from, &variable.ty, None, CastMode::Assign)?;
    Ok(())
}

fn find_label(list: &[Stmt], label: &str) -> Option<usize> {
    list.iter()
        .position(|s| matches!(&s.kind, StmtKind::Label(l) if l.name.eq_ignore_ascii_case(label)))
}

/// Binds what a statement needs bound.
pub fn bind_one(
    stmt: &Stmt,
    module: &Module,
    core: &Core,
    frame: &Frame,
    latch: &Latch<'_>,
) -> SqlResult<Bound> {
    let Some(database) = latch.catalog.databases.get(&core.database) else {
        return Err(SqlError::new(
            911,
            format!("Database '{}' does not exist.", core.database),
        ));
    };
    let default_schema = super::default_schema(database, frame.user);
    let context = BindContext {
        catalog: &latch.catalog,
        database,
        default_schema: &default_schema,
        variables: &module.variables,
        quoted_identifier: module.quoted_identifier,
    };
    bind_in(&context, stmt)
}

/// Binds a statement in a given context.
pub fn bind_in(context: &BindContext<'_>, stmt: &Stmt) -> SqlResult<Bound> {
    match &stmt.kind {
        StmtKind::If { condition, .. } | StmtKind::While { condition, .. } => {
            bind::bind_condition(context, condition)
        }
        StmtKind::Select(_) | StmtKind::Insert(_) | StmtKind::Update(_) | StmtKind::Delete(_) => {
            bind::bind_statement(context, &stmt.kind)
        }
        StmtKind::SetVariable {
            op: None, value, ..
        } => bind::bind_scalars(context, &[value]),
        StmtKind::SetVariable {
            name,
            op: Some(op),
            value,
        } => {
            let variable = Expr {
                pos: stmt.pos,
                kind: ExprKind::Variable(name.clone()),
            };
            let kind = ExprKind::Binary(*op, Box::new(variable), Box::new(value.clone()));
            bind::bind_scalars(
                context,
                &[&Expr {
                    pos: value.pos,
                    kind,
                }],
            )
        }
        kind => bind::bind_scalars(context, &super::expressions::of(kind)),
    }
}
