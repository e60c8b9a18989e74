//! The requests of a client: login, batch, RPC, transaction manager, reset.

use std::collections::HashMap;
use std::sync::Arc;

use crate::activity::SessionActivity;
use crate::context::{Core, Random, Settings};
use crate::engine::Engine;
use crate::error::SqlResult;
use crate::hooks::KillSwitch;
use crate::value::Value;

use super::interp::{Interp, Observed, well_known};
use super::{
    EnvChange, LoginAck, LoginRequest, RequestEnd, ResultSink, RpcProcedure, RpcRequest,
    TransactionRequest, login,
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
