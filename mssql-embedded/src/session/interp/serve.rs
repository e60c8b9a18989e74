//! How the interpreter serves a request: a batch, a remote call, and the end of both.

use std::cell::RefCell;
use std::sync::{Arc, LazyLock};

use crate::catalog::{Catalog, LookedUp, Param, ProcedureDef};
use crate::context::Frame;
use crate::error::{SqlError, SqlResult};
use crate::plan::Module;
use crate::session::{
    Compiled, Done, DoneKind, RequestEnd, RpcProcedure, RpcRequest, compile_text, module_of,
    parse_parameters, precompile,
};
use crate::value::Value;

use super::arguments::rpc_arguments;
use super::{Failure, Flow, Interp, Stop};

/// The system procedure of a number, as far as the engine has them.
pub fn well_known(id: u16) -> Option<&'static str> {
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
    pub fn batch(&mut self, text: &str) -> Result<(), Stop> {
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

    pub fn remote_call(&mut self, request: RpcRequest) -> Result<(), Stop> {
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
        let args = rpc_arguments(request.params);
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
    pub fn settle(&mut self, outcome: Result<(), Failure>) -> Result<(), Stop> {
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
    pub fn respond(&mut self, end: RequestEnd, text: &str) -> RequestEnd {
        let outcome = self.leave(text);
        match self.settle(outcome) {
            Ok(()) => end,
            Err(Stop::Attention) => RequestEnd::Attention,
            Err(_) => RequestEnd::Close,
        }
    }

    /// Ends the response: the last DONE, the fate of a doomed transaction, the fate of the connection.
    pub fn finish(&mut self, outcome: Result<(), Stop>, rpc: bool) -> RequestEnd {
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
        compile_text(text, params, self.core, &interrupted)
    }

    /// The parameters that a text is declared with, as sp_executesql takes them.
    pub fn declared(&mut self, text: &str) -> SqlResult<Vec<Param>> {
        let sink = RefCell::new(&mut *self.sink);
        let interrupted = || sink.borrow_mut().interrupted();
        parse_parameters(text, self.core, &interrupted)
    }

    /// The compiled unit of a procedure.
    pub fn module_of(
        &mut self,
        catalog: &Catalog,
        procedure: &Arc<ProcedureDef>,
    ) -> SqlResult<Arc<Module>> {
        let sink = RefCell::new(&mut *self.sink);
        let interrupted = || sink.borrow_mut().interrupted();
        module_of(catalog, procedure, self.core, &interrupted)
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
            match precompile::check(module, list, core, frame, &catalog, at, &interrupted) {
                Ok(()) => return Ok(()),
                Err(error) if self.is_settled(&error, &looked_up, frame)? => {
                    return Err(error.into());
                }
                Err(_) => self.go_on()?,
            }
        }
    }
}
