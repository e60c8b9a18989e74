//! Where the tester's controls meet the interpreter.

use std::sync::Arc;
use std::time::Instant;

use crate::ast::{ExecTarget, ObjectName, Stmt, StmtKind};
use crate::catalog::dotted;
use crate::hooks::{Action, Event, Gate, Moment, Request};
use crate::interrupt::Interrupt;
use crate::plan::Module;

use super::{Failure, Interp, Stop};

/// System procedures that run a text.
const CARRY_TEXT: &[&str] = &["sp_executesql", "sp_execute", "sp_prepexec"];

/// How the tester's controls see a request.
#[derive(Debug)]
pub struct Observed {
    /// The name the request is counted under; a request of the controls themselves has none and is
    /// neither counted nor disturbed.
    label: Option<String>,
    /// The moment of the request's arrival has been had.
    entered: bool,
    started: Instant,
}

impl Observed {
    /// A request to be counted under `label`.
    pub fn new(label: String) -> Self {
        Self {
            label: Some(label),
            ..Self::unnoticed()
        }
    }

    /// A request nobody shall notice.
    pub fn unnoticed() -> Self {
        Self {
            label: None,
            entered: false,
            started: Instant::now(),
        }
    }
}

impl Interp<'_> {
    /// Runs a statement under the eyes of the tester.
    pub fn observe<T>(
        &mut self,
        stmt: &Stmt,
        module: &Module,
        run: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if !self.core.engine.hooks.watching() || self.observed.label.is_none() {
            return run(self);
        }
        let text = module.text_of(stmt);
        self.moment(Moment::Statement, module.origin.qualified(), text)?;
        let before = self.stats;
        let outcome = run(self);
        let hooks = &self.core.engine.hooks;
        if hooks.counts_statements() {
            hooks.statement_ended(module.origin.qualified(), text, &self.stats.since(&before));
        }
        outcome
    }

    /// A moment at which rules may act: fail, cut the connection, hold the session. The latch must be
    /// free.
    pub fn moment(&mut self, moment: Moment, procedure: &str, text: &str) -> Result<(), Failure> {
        let hooks = &self.core.engine.hooks;
        if !hooks.has_rules() {
            return Ok(());
        }
        let Some(request) = &self.observed.label else {
            return Ok(());
        };
        let event = Event {
            moment,
            spid: self.core.spid,
            procedure,
            request,
            text,
        };
        for action in hooks.actions(&event) {
            match action {
                Action::Fail(error) => return Err(error.into()),
                Action::Cut => return Err(Stop::Disconnected.into()),
                Action::Pause(gate) => self.hold(&gate)?,
            }
        }
        Ok(())
    }

    fn hold(&mut self, gate: &Gate) -> Result<(), Stop> {
        let spid = self.core.spid;
        match gate.pass(spid, || self.sink.interrupted()) {
            None => Ok(()),
            Some(Interrupt::Attention) => Err(self.attention()),
            Some(Interrupt::Disconnected) => Err(Stop::Disconnected),
        }
    }

    /// The client calls a procedure. Those that carry a text enter with it.
    pub fn enter_procedure(&mut self, name: &ObjectName) -> Result<(), Failure> {
        let last = name.parts.last().map_or("", |part| part.name.as_str());
        if CARRY_TEXT
            .iter()
            .any(|carry| last.eq_ignore_ascii_case(carry))
        {
            return Ok(());
        }
        self.observed.entered = true;
        if let Some(label) = &mut self.observed.label {
            *label = dotted(name);
        }
        self.moment(Moment::Request, "", "")
    }

    /// The request brings a text. One that consists of an EXEC counts as a call of that procedure.
    pub fn enter_text(&mut self, text: &str, module: &Arc<Module>) -> Result<(), Failure> {
        if self.observed.entered {
            return Ok(());
        }
        self.observed.entered = true;
        if let [stmt] = module.body.as_slice()
            && let StmtKind::Exec(exec) = &stmt.kind
            && let ExecTarget::Procedure(name) = &exec.target
            && let Some(label) = &mut self.observed.label
        {
            *label = dotted(name);
        }
        self.moment(Moment::Request, "", text)
    }

    /// The request has run: counts it, and lets rules act on its response.
    pub fn leave(&mut self, text: &str) -> Result<(), Failure> {
        let Some(label) = &self.observed.label else {
            return Ok(());
        };
        let request = Request {
            label,
            stats: self.stats,
            time: self.observed.started.elapsed(),
            traffic: self.sink.traffic(),
        };
        self.core.engine.hooks.request_ended(&request);
        self.moment(Moment::Response, "", text)
    }
}
