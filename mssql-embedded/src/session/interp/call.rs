//! EXEC: procedures, dynamic text, arguments, return status and output parameters.

use std::sync::Arc;

use crate::ast::{ExecArg, ExecStmt, ExecTarget, ExprKind, ObjectName, Stmt};
use crate::catalog::{LookedUp, Names, Param, ProcedureDef, dotted, server_fold};
use crate::context::Frame;
use crate::error::{SqlError, SqlResult};
use crate::memory::heap_bytes;
use crate::parse::NAME_BYTES_MAX;
use crate::plan::Module;
use crate::session::{Done, DoneKind, text_of};
use crate::value::{Collation, DataType, Length, Value};

use super::arguments::{Argument, bind_arguments};
use super::call_errors::unknown_procedure;
use super::{Failure, Flow, Interp, Stop, assign};

/// What a call left behind.
pub struct Returned {
    pub status: i32,
    /// Final values of the parameters, in their order.
    pub params: Vec<(Param, Value)>,
}

/// CurCmd of EXECUTE.
const EXECUTE: u16 = 0xE0;

/// Procedures may nest this deep.
const MAX_NESTING: u32 = 32;

impl Interp<'_> {
    /// EXEC as a statement.
    pub fn exec(
        &mut self,
        exec: &ExecStmt,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<Flow, Failure> {
        self.exec_inner(exec, stmt, module, frame)?;
        Ok(Flow::Next)
    }

    /// EXEC, also behind INSERT … EXEC.
    pub fn exec_inner(
        &mut self,
        exec: &ExecStmt,
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
    ) -> Result<(), Failure> {
        match &exec.target {
            ExecTarget::Text(_) => {
                let mut text = String::new();
                let mut charge = self.core.memory.charge();
                for (value, ty) in self.values(stmt, module, frame)? {
                    // One long variable can stand there many times.
                    self.go_on()?;
                    charge.add(heap_bytes(&value))?;
                    text.push_str(&text_of(&value, &ty)?);
                }
                self.run_text(&text, Vec::new(), frame)?;
                Ok(())
            }
            ExecTarget::Procedure(name) => {
                let args = self.arguments(&exec.args, stmt, module, frame, 0)?;
                self.exec_named(name, args, exec, frame)
            }
            ExecTarget::Variable(variable) => {
                let name = variable_text(frame, variable)?;
                let name = crate::parse::parse_name(&name).map_err(|_| unknown_procedure(&name))?;
                let args = self.arguments(&exec.args, stmt, module, frame, 0)?;
                self.exec_named(&name, args, exec, frame)
            }
        }
    }

    fn exec_named(
        &mut self,
        name: &ObjectName,
        args: Vec<Argument>,
        exec: &ExecStmt,
        frame: &mut Frame,
    ) -> Result<(), Failure> {
        let passed = args.clone();
        let returned = self.call(name, args, frame)?;
        self.tell_status(returned.status, frame)?;
        if let Some(variable) = &exec.return_into {
            assign(
                frame,
                variable,
                &Value::Int(i64::from(returned.status)),
                &DataType::Int,
            )?;
        }
        for (position, (argument, source)) in passed.iter().zip(&exec.args).enumerate() {
            if !argument.output {
                continue;
            }
            let found = match &argument.name {
                None => returned.params.get(position),
                Some(name) => {
                    let mut params = returned.params.iter();
                    params.find(|(p, _)| p.name.eq_ignore_ascii_case(name))
                }
            };
            let (Some((param, value)), Some(target)) = (found, output_variable(source)) else {
                continue;
            };
            assign(frame, target, value, &param.ty)?;
        }
        Ok(())
    }

    /// A procedure called by the batch itself ends as one called by RPC: with its return status.
    fn tell_status(&mut self, status: i32, frame: &Frame) -> Result<(), Failure> {
        if self.rpc || frame.depth > 0 || self.capture.is_some() {
            return Ok(());
        }
        self.sink.return_status(status)?;
        self.ended = true;
        self.sink.done(Done {
            kind: DoneKind::Procedure,
            rows: None,
            error: false,
            command: EXECUTE,
        })?;
        Ok(())
    }

    /// The values of EXEC's arguments.
    fn arguments(
        &mut self,
        args: &[ExecArg],
        stmt: &Stmt,
        module: &Arc<Module>,
        frame: &mut Frame,
        skip: usize,
    ) -> Result<Vec<Argument>, Failure> {
        let mut values = self.values(stmt, module, frame)?.into_iter().skip(skip);
        let mut list = Vec::with_capacity(args.len());
        let mut named = false;
        for (i, arg) in args.iter().enumerate() {
            named |= arg.name.is_some();
            if named && arg.name.is_none() {
                return Err(SqlError::with(
                    119,
                    15,
                    1,
                    format!("Must pass parameter number {} and subsequent parameters as '@name = value'. After the form '@name = value' has been used, all subsequent parameters must be passed in the form '@name = value'.", i + 1),
                )
                .into());
            }
            list.push(Argument {
                name: arg.name.clone(),
                value: if arg.value.is_some() {
                    values.next()
                } else {
                    None
                },
                output: arg.output,
            });
        }
        Ok(list)
    }

    /// Calls a procedure, of the user or of the system, by name.
    pub fn call(
        &mut self,
        name: &ObjectName,
        args: Vec<Argument>,
        caller: &mut Frame,
    ) -> Result<Returned, Failure> {
        let mut args = args;
        // Whoever was changing the procedure may have taken that back, or put another one in its place.
        loop {
            if let Some(returned) = self.try_call(name, &mut args, caller)? {
                return Ok(returned);
            }
            self.go_on()?;
        }
    }

    /// Calls what the name means now; `None` if that changed before it could begin.
    fn try_call(
        &mut self,
        name: &ObjectName,
        args: &mut Vec<Argument>,
        caller: &mut Frame,
    ) -> Result<Option<Returned>, Failure> {
        let engine = Arc::clone(&self.core.engine);
        let latch = engine.latch();
        let names = crate::context::names(&latch.catalog, self.core, caller)?;
        let home = names.database_of(name)?;
        let home = home.ok_or_else(|| unknown_procedure(&dotted(name)))?;
        let found = names.object(name)?;
        let found = found.and_then(|found| found.object.as_procedure()).cloned();
        let looked_up = LookedUp::default();
        if found.is_none() && latch.has_dropped() {
            let looked_up = Some(&looked_up);
            Names { looked_up, ..names }.object(name)?;
        }
        let away = match home.id == names.database.id {
            true => None,
            false => {
                let key = server_fold(&home.name);
                let user = crate::context::user_in(&latch.catalog, &key, self.core, caller)?;
                Some((key, user))
            }
        };
        drop(latch);
        if !self.is_settled(&unknown_procedure(""), &looked_up, caller)? {
            return Ok(None);
        }
        let Some((key, user)) = away else {
            return self.call_here(name, found, args, caller);
        };
        // The procedure runs in its own database, as the login's user there; no ownership chain
        // reaches into it.
        let database = std::mem::replace(&mut self.core.database, key);
        let users = (self.core.user, caller.user);
        (self.core.user, caller.user) = (user, user);
        let chain_owner = caller.chain_owner.take();
        let outcome = self.call_here(name, found, args, caller);
        caller.chain_owner = chain_owner;
        (self.core.user, caller.user) = users;
        self.core.database = database;
        outcome
    }

    /// Calls a procedure of the current database, or of the system when there is none of that name. `None`, and the
    /// arguments are still there, if others had changed the procedure when its schema lock was granted.
    fn call_here(
        &mut self,
        name: &ObjectName,
        found: Option<Arc<ProcedureDef>>,
        args: &mut Vec<Argument>,
        caller: &mut Frame,
    ) -> Result<Option<Returned>, Failure> {
        let Some(procedure) = found else {
            let args = std::mem::take(args);
            return self.system_procedure(name, args, caller).map(Some);
        };
        let engine = Arc::clone(&self.core.engine);
        let catalog = engine.catalog();
        let module = self.module_of(&catalog, &procedure)?;
        drop(catalog);
        let (object, version) = (procedure.id, procedure.version);
        let entered = self.within(engine.latch(), caller, |env| {
            if !env.is_version(object, version) {
                return Ok(None);
            }
            crate::exec::check_execute(object, env)?;
            env.lock_schemas(&[(object, version)])?;
            let owner = crate::exec::owner_of(&env.latch, env.core, procedure.schema_id);
            Ok(env.is_version(object, version).then_some(owner))
        })?;
        let Some(owner) = entered else {
            return Ok(None);
        };
        if self.core.nest_level >= MAX_NESTING {
            return Err(SqlError::nested_too_deep().into());
        }
        let mut frame = Frame::of(&module, caller.depth + 1, caller.user);
        frame.chain_owner = owner;
        bind_arguments(&module, args, &mut frame).map_err(|mut error| {
            module.origin.qualified().clone_into(&mut error.procedure);
            error
        })?;
        let status = self.run_module(&module, &mut frame, true)?;
        let params = module.params.iter().cloned().zip(frame.values).collect();
        Ok(Some(Returned { status, params }))
    }

    /// Runs a module in its frame and restores what a procedure does not leak: SET options.
    pub fn run_module(
        &mut self,
        module: &Arc<Module>,
        frame: &mut Frame,
        procedure: bool,
    ) -> Result<i32, Failure> {
        let settings = self.core.settings.clone();
        let impersonated = self.core.impersonated.len();
        let trancount = self.core.trancount;
        self.core.nest_level += u32::from(procedure);
        let body = Arc::clone(&module.body);
        let outcome = self.run_list(&body, module, frame);
        self.core.nest_level -= u32::from(procedure);
        let left = self.leave_scope(frame);
        let xact_abort = self.core.settings.xact_abort;
        self.core.restore(settings);
        self.core
            .revert_to(impersonated.min(self.core.impersonated.len()));
        // The caller has its settings and its user back however that ended.
        left?;
        let status = match outcome {
            Ok(Flow::Return(status)) => status,
            Ok(_) => 0,
            Err(Stop::Scope) => -6,
            Err(stop) => return Err(stop.into()),
        };
        if procedure && trancount != self.core.trancount && !xact_abort {
            let error = SqlError::with(
                266,
                16,
                2,
                format!(
                    "Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT statements. Previous count = {trancount}, current count = {}.",
                    self.core.trancount
                ),
            );
            let mut error = error;
            module.origin.qualified().clone_into(&mut error.procedure);
            if self.core.try_depth > 0 {
                return Err(Failure::Error(error, super::Origin::Statement));
            }
            self.core.error = 266;
            self.send_message(&error)?;
        }
        Ok(status)
    }

    /// Drops the temporary tables of a procedure or text that has ended.
    fn leave_scope(&mut self, frame: &mut Frame) -> Result<(), Failure> {
        let ids = self.core.temporaries.leave(frame.depth);
        if ids.is_empty() {
            return Ok(());
        }
        let engine = Arc::clone(&self.core.engine);
        self.within(engine.latch(), frame, |env| {
            crate::session::ddl::drop_temporaries(&ids, env)
        })?;
        if self.core.trancount == 0 {
            self.core.temporaries.forget(&ids);
        }
        Ok(())
    }

    /// Runs dynamic text: EXEC ('…') and sp_executesql.
    pub fn run_text(
        &mut self,
        text: &str,
        params: Vec<(Param, Value)>,
        caller: &mut Frame,
    ) -> Result<Vec<Value>, Failure> {
        if self.core.nest_level >= MAX_NESTING {
            return Err(SqlError::nested_too_deep().into());
        }
        let (params, values): (Vec<_>, Vec<_>) = params.into_iter().unzip();
        let compiled = self.compile(text, params)?;
        let module = &compiled.module;
        self.enter_text(text, module)?;
        let mut frame = Frame::of(module, caller.depth + 1, caller.user);
        frame.values[..values.len()].clone_from_slice(&values);
        self.precompile(module, &mut frame)?;
        let home = (self.core.database.clone(), self.core.user);
        self.core.nest_level += 1;
        let outcome = self.run_module(module, &mut frame, false);
        self.core.nest_level -= 1;
        self.return_to(home)?;
        outcome?;
        Ok(frame.values)
    }
}

/// An argument of a system procedure that precedes those of the text it runs.
pub(super) fn own(name: &str) -> (Param, Value) {
    let param = Param {
        name: name.to_owned(),
        ty: DataType::NVarChar(Length::Max, Collation::SqlLatin1CiAs),
        default: None,
        output: false,
    };
    (param, Value::Null)
}

pub(super) fn status(status: i32) -> Returned {
    Returned {
        status,
        params: Vec::new(),
    }
}

fn output_variable(arg: &ExecArg) -> Option<&str> {
    match arg.value.as_ref().map(|e| &e.kind) {
        Some(ExprKind::Variable(name)) => Some(name),
        _ => None,
    }
}

fn variable_text(frame: &Frame, variable: &str) -> SqlResult<String> {
    let Value::Str(s) = &frame.values[frame.variables.scalar_named(variable)?.slot] else {
        return Err(unknown_procedure(""));
    };
    if s.len() > NAME_BYTES_MAX {
        // The error shows the beginning; of what cannot be a name nothing else is looked at.
        return Err(unknown_procedure(&String::from_utf16_lossy(&s[..128])));
    }
    Ok(String::from_utf16_lossy(s))
}
