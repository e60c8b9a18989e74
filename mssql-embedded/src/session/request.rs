//! The requests of a client: login, batch, RPC, transaction manager, reset.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use crate::activity::SessionActivity;
use crate::catalog::{Catalog, LookedUp, Param, ProcedureDef};
use crate::context::{Core, Frame, Random, Settings};
use crate::engine::Engine;
use crate::error::{SqlError, SqlResult};
use crate::hooks::KillSwitch;
use crate::plan::Module;
use crate::value::Value;

use super::interp::{Failure, Flow, Interp, Observed, Stop};
use super::{
    Compiled, Done, DoneKind, EnvChange, LoginAck, LoginRequest, RequestEnd, ResultSink,
    RpcProcedure, RpcRequest, TransactionRequest, login,
};

/// One client's session. Dropping it rolls back and releases everything it holds.
pub struct Session {
    core: Core,
}

impl Session {
    /// Checks a login and starts its session.
    pub fn login(engine: &Arc<Engine>, request: &LoginRequest) -> SqlResult<(Self, LoginAck)> {
        let latch = engine.latch();
        let identity = login::identify(&latch, request, engine.clock.unix_ms())?;
        let spid = engine.new_session();
        let ack = LoginAck {
            database: identity.database_name,
            spid,
            collation: identity.collation,
        };
        let now_ms = engine.clock.unix_ms();
        engine.activity.opened(SessionActivity {
            spid,
            login: identity.login.clone(),
            host_name: request.host_name.clone(),
            program_name: request.app_name.clone(),
            login_ms: now_ms,
            database: identity.database.clone(),
            last_start_ms: now_ms,
            last_end_ms: Some(now_ms),
            settings: Settings::default().shown(),
        });
        // Until here nobody could drop the database.
        drop(latch);
        let core = Core {
            engine: Arc::clone(engine),
            spid,
            login: identity.login,
            sysadmin: identity.sysadmin,
            user: identity.user,
            impersonated: Vec::new(),
            home: identity.database.clone(),
            database: identity.database,
            app_name: request.app_name.clone(),
            host_name: request.host_name.clone(),
            settings: Settings::default(),
            memory: crate::memory::Memory::new(engine.session_memory_bytes),
            txn: None,
            trancount: 0,
            doomed: false,
            savepoints: Vec::new(),
            transaction_name: None,
            rowcount: 0,
            error: 0,
            identity: Value::Null,
            scope_identity: Value::Null,
            began_in_snapshot: false,
            caught: Vec::new(),
            nest_level: 0,
            try_depth: 0,
            random: crate::context::Random::default(),
            notices: Vec::new(),
            nulls_eliminated: false,
            context_info: None,
            choices: None,
            statements: 0,
            temporaries: crate::catalog::TemporaryTables::default(),
            prepared: HashMap::new(),
            next_handle: 1,
            called: Default::default(),
        };
        Ok((Self { core }, ack))
    }

    #[cfg(test)]
    pub(super) fn engine(&self) -> Arc<Engine> {
        Arc::clone(&self.core.engine)
    }

    /// Lets KILL end the connection.
    pub(crate) fn attach(&self, switch: KillSwitch) {
        let hooks = &self.core.engine.hooks;
        hooks.session_attached(self.core.spid, switch);
    }

    pub fn batch(&mut self, text: &str, sink: &mut dyn ResultSink) -> RequestEnd {
        let observed = Observed::new("batch".to_owned());
        let mut interp = interpreter(&mut self.core, sink, false, observed);
        let outcome = interp.batch(text);
        let end = interp.finish(outcome, false);
        let end = interp.respond(end, text);
        self.request_ended();
        end
    }

    /// Runs a batch that the tester's controls neither count nor disturb.
    pub(crate) fn run_uncounted(&mut self, text: &str, sink: &mut dyn ResultSink) {
        let mut interp = interpreter(&mut self.core, sink, false, Observed::unnoticed());
        let outcome = interp.batch(text);
        interp.finish(outcome, false);
        self.request_ended();
    }

    /// Notes that the request has run; its answer is not sent yet.
    fn request_ended(&self) {
        let Core {
            engine,
            spid,
            database,
            ..
        } = &self.core;
        engine
            .activity
            .ended(*spid, database, engine.clock.unix_ms());
        if let Some(seat) = engine.adversary.as_ref().and_then(|a| a.seat(*spid)) {
            seat.answer(&engine.clock);
        }
    }

    /// Runs a remote procedure call.
    pub fn rpc(&mut self, request: RpcRequest, sink: &mut dyn ResultSink) -> RequestEnd {
        let label = match &request.procedure {
            RpcProcedure::Name(name) => name.clone(),
            RpcProcedure::Id(id) => match well_known(*id) {
                Some(name) => name.to_owned(),
                None => format!("number {id}"),
            },
        };
        let mut interp = interpreter(&mut self.core, sink, true, Observed::new(label));
        let outcome = interp.remote_call(request);
        let end = interp.finish(outcome, true);
        let end = interp.respond(end, "");
        self.request_ended();
        end
    }

    /// Serves a transaction-manager request.
    pub fn transaction(
        &mut self,
        request: TransactionRequest,
        sink: &mut dyn ResultSink,
    ) -> RequestEnd {
        let observed = Observed::new("transaction".to_owned());
        let mut interp = interpreter(&mut self.core, sink, false, observed);
        let outcome = interp.transaction_request(request);
        let outcome = interp.settle(outcome);
        let end = interp.finish(outcome, false);
        let end = interp.respond(end, "");
        self.request_ended();
        end
    }

    /// Resets the session before its next request (RESETCONNECTION), "effectively simulating a logout and a subsequent
    /// login": settings, database, transaction, and what else belongs to the previous user of a pooled connection. But
    /// "isolation levels are not reset" (MS-TDS, 2.2.3.1.2).
    pub fn reset(&mut self, keep_transaction: bool, sink: &mut dyn ResultSink) -> RequestEnd {
        if !keep_transaction {
            self.core.rollback_all();
            self.core.drop_temporaries();
        }
        self.core.restore(Settings {
            isolation: self.core.settings.isolation,
            ..Settings::default()
        });
        self.core.revert_to(0);
        self.core.prepared.clear();
        self.core.context_info = None;
        self.core.identity = Value::Null;
        self.core.scope_identity = Value::Null;
        self.core.rowcount = 0;
        self.core.error = 0;
        self.core.release_session_locks();
        let engine = Arc::clone(&self.core.engine);
        let returned = login::return_home(&engine.latch(), &mut self.core);
        let told = match returned {
            Ok(None) => Ok(()),
            Ok(Some((new, old))) => sink.env_change(&EnvChange::Database(new, old)),
            Err(error) => {
                // Whether the client hears why makes no difference: the session is over.
                let _ = sink.message(&error);
                return RequestEnd::Close;
            }
        };
        match told.and_then(|()| sink.env_change(&EnvChange::ResetConnection)) {
            Ok(()) => RequestEnd::Continue,
            Err(_) => RequestEnd::Close,
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.core.rollback_all();
        self.core.drop_temporaries();
        self.core.release_session_locks();
        self.core.engine.end_session(self.core.spid);
    }
}

fn interpreter<'a>(
    core: &'a mut Core,
    sink: &'a mut dyn ResultSink,
    rpc: bool,
    observed: Observed,
) -> Interp<'a> {
    let engine = &core.engine;
    if let Some(seat) = engine.adversary.as_ref().and_then(|a| a.seat(core.spid)) {
        core.random = Random::seeded(seat.random_seed());
        seat.pass(&engine.clock, &mut || sink.interrupted().is_some());
    }
    let now_ms = engine.clock.unix_ms();
    engine.activity.begun(core.spid, &core.database, now_ms);
    core.caught.clear();
    core.try_depth = 0;
    core.nest_level = 0;
    Interp {
        core,
        sink,
        capture: None,
        rpc,
        ended: false,
        stats: crate::hooks::Stats::default(),
        observed,
    }
}

/// The system procedure of a number, as far as the engine has them.
fn well_known(id: u16) -> Option<&'static str> {
    Some(match id {
        10 => "sp_executesql",
        11 => "sp_prepare",
        12 => "sp_execute",
        13 => "sp_prepexec",
        14 => "sp_prepexecrpc",
        15 => "sp_unprepare",
        _ => return None,
    })
}

/// A frame that belongs to no module, for errors outside of statements.
fn batch_frame() -> Frame {
    static NOTHING: LazyLock<Arc<Module>> = LazyLock::new(|| Arc::new(Module::empty()));
    Frame::of(&NOTHING, 0, 1)
}

impl Interp<'_> {
    fn batch(&mut self, text: &str) -> Result<(), Stop> {
        let compiled = match self.compile(text, Vec::new()) {
            Ok(compiled) => compiled,
            Err(error) => return self.fail(&error, &batch_frame()),
        };
        let module = &compiled.module;
        let entered = self.enter_text(text, module);
        if entered.is_err() {
            return self.settle(entered);
        }
        let mut frame = Frame::of(module, 0, self.core.user);
        let checked = self.precompile(module, &mut frame);
        if checked.is_err() {
            return self.settle(checked);
        }
        let body = Arc::clone(&module.body);
        frame.scope_identity = std::mem::replace(&mut self.core.scope_identity, Value::Null);
        let outcome = self.run_list(&body, module, &mut frame);
        self.core.scope_identity = std::mem::replace(&mut frame.scope_identity, Value::Null);
        match outcome {
            Ok(Flow::Goto(_)) => {
                self.report(&SqlError::internal("a GOTO without its label"), &frame)
            }
            Ok(_) | Err(Stop::Scope) => Ok(()),
            Err(stop) => Err(stop),
        }
    }

    fn remote_call(&mut self, request: RpcRequest) -> Result<(), Stop> {
        let mut frame = batch_frame();
        frame.user = self.core.user;
        let names: Vec<(Option<String>, bool)> = request
            .params
            .iter()
            .map(|p| (p.name.clone(), p.output))
            .collect();
        let name = match request.procedure {
            RpcProcedure::Name(name) => self.core.procedure_name(&name),
            RpcProcedure::Id(id) => match well_known(id) {
                Some(name) => self.core.procedure_name(name),
                None => Err(SqlError::unsupported(format!(
                    "the system procedure number {id}"
                ))),
            },
        };
        let args = super::interp::arguments::rpc_arguments(request.params);
        let outcome = match name {
            Ok(name) => match self.enter_procedure(&name) {
                Ok(()) => self.call(&name, args, &mut frame),
                Err(failure) => Err(failure),
            },
            Err(error) => Err(error.into()),
        };
        let returned = match outcome {
            Ok(returned) => returned,
            Err(Failure::Stop(Stop::Raised { error, .. })) | Err(Failure::Error(error, _)) => {
                let aborts = self.core.settings.xact_abort;
                self.fail(&error, &frame)?;
                if aborts {
                    self.rollback_all();
                }
                return Ok(());
            }
            Err(Failure::Stop(stop)) => return Err(stop),
        };
        let gone = |_| Stop::Disconnected;
        self.sink.return_status(returned.status).map_err(gone)?;
        let mut large = Vec::new();
        for (position, (name, output)) in names.iter().enumerate() {
            if !*output {
                continue;
            }
            let found = match name {
                None => returned.params.get(position),
                Some(name) => {
                    let mut params = returned.params.iter();
                    params.find(|(p, _)| p.name.eq_ignore_ascii_case(name))
                }
            };
            if let Some((param, value)) = found {
                let ordinal = position as u16;
                if param.ty.is_max() {
                    large.push((param, ordinal, value));
                    continue;
                }
                self.sink
                    .return_value(&param.name, ordinal, &param.ty, value)
                    .map_err(gone)?;
            }
        }
        // Large values travel behind all others, whatever their position.
        for (param, ordinal, value) in large {
            self.sink
                .return_value(&param.name, ordinal, &param.ty, value)
                .map_err(gone)?;
        }
        Ok(())
    }

    /// Tells the client of an error outside of all statements.
    fn settle(&mut self, outcome: Result<(), Failure>) -> Result<(), Stop> {
        match outcome {
            Ok(()) => Ok(()),
            Err(Failure::Stop(stop)) => Err(stop),
            Err(Failure::Error(error, _)) => self.fail(&error, &batch_frame()),
        }
    }

    /// Tells the client of an error that ends the request; that of an interrupt is told to nobody.
    fn fail(&mut self, error: &SqlError, frame: &Frame) -> Result<(), Stop> {
        if let Some(stop) = self.stopped_by(error) {
            return Err(stop);
        }
        self.core.error = error.number;
        self.report(error, frame)?;
        // A deadlock's victim loses its transaction also where a batch is compiled or a procedure is looked for.
        if error.number == 1205 {
            self.rollback_all();
        }
        Ok(())
    }

    /// Counts the request and gives the tester's rules their last chance before the response is sent.
    fn respond(&mut self, end: RequestEnd, text: &str) -> RequestEnd {
        let outcome = self.leave(text);
        match self.settle(outcome) {
            Ok(()) => end,
            Err(Stop::Attention) => RequestEnd::Attention,
            Err(_) => RequestEnd::Close,
        }
    }

    /// Ends the response: the last DONE, the fate of a doomed transaction, the fate of the connection.
    fn finish(&mut self, outcome: Result<(), Stop>, rpc: bool) -> RequestEnd {
        let end = match outcome {
            Ok(()) | Err(Stop::Batch | Stop::Scope) => RequestEnd::Continue,
            Err(Stop::Raised { error, .. }) => {
                let _ = self.report(&error, &batch_frame());
                RequestEnd::Continue
            }
            Err(Stop::Attention) => return RequestEnd::Attention,
            Err(Stop::Disconnected) => return RequestEnd::Close,
        };
        if self.core.doomed && self.core.trancount > 0 {
            self.rollback_all();
            let error = SqlError::new(
                3998,
                "Uncommittable transaction is detected at the end of the batch. The transaction is rolled back.",
            );
            let _ = self.report(&error, &batch_frame());
        }
        if rpc || !self.ended {
            let kind = if rpc {
                DoneKind::Procedure
            } else {
                DoneKind::Statement
            };
            let done = Done {
                kind,
                rows: None,
                error: false,
                command: if rpc { 0xE0 } else { 0 },
            };
            if self.sink.done(done).is_err() {
                return RequestEnd::Close;
            }
        }
        end
    }

    /// A text as something that can run.
    pub fn compile(&mut self, text: &str, params: Vec<Param>) -> SqlResult<Compiled> {
        let sink = RefCell::new(&mut *self.sink);
        let interrupted = || sink.borrow_mut().interrupted();
        super::compile_text(text, params, self.core, &interrupted)
    }

    /// The parameters that a text is declared with, as sp_executesql takes them.
    pub fn declared(&mut self, text: &str) -> SqlResult<Vec<Param>> {
        let sink = RefCell::new(&mut *self.sink);
        let interrupted = || sink.borrow_mut().interrupted();
        super::parse_parameters(text, self.core, &interrupted)
    }

    /// The compiled unit of a procedure.
    pub fn module_of(
        &mut self,
        catalog: &Catalog,
        procedure: &Arc<ProcedureDef>,
    ) -> SqlResult<Arc<Module>> {
        let sink = RefCell::new(&mut *self.sink);
        let interrupted = || sink.borrow_mut().interrupted();
        super::module_of(catalog, procedure, self.core, &interrupted)
    }

    /// Binds every statement whose objects exist before the first one runs, as SQL Server compiles a
    /// batch: a wrong column fails the whole batch, a missing object only the statement that needs it.
    pub fn precompile(&mut self, module: &Arc<Module>, frame: &mut Frame) -> Result<(), Failure> {
        loop {
            let catalog = self.core.engine.catalog();
            let looked_up = LookedUp::default();
            let sink = RefCell::new(&mut *self.sink);
            let interrupted = || sink.borrow_mut().interrupted();
            let (list, core, at) = (&module.body, &*self.core, &looked_up);
            match super::precompile::check(module, list, core, frame, &catalog, at, &interrupted) {
                Ok(()) => return Ok(()),
                Err(error) if self.is_settled(&error, &looked_up, frame)? => {
                    return Err(error.into());
                }
                Err(_) => self.go_on()?,
            }
        }
    }
}
