//! Binding a statement and running it under the latch, within a transaction.

use std::cell::RefCell;
use std::sync::Arc;

use crate::access::Latch;
use crate::adversary::{Choices, Question};
use crate::ast::Stmt;
use crate::catalog::LookedUp;
use crate::context::Frame;
use crate::error::{SqlError, SqlResult};
use crate::exec::{Env, Spools};
use crate::hooks::Stats;
use crate::interrupt::is_interrupt;
use crate::plan::{Bound, Module, Replan};
use crate::session::binding::bind_one;
use crate::value::{ColumnMeta, Value};

use super::errors::Origin;
use super::{Failure, Interp};

/// How often a statement is bound before it is given up: somebody redefines its objects faster than it can
/// lock them.
const BINDINGS: usize = 100;

/// How often the adversary throws a plan away: at every statement a plan may be made anew, because
/// statistics changed or the cache was short of memory.
const RECOMPILE_ONE_IN: usize = 2;

/// How often a plan that must not be made anew is gone, so that it has to be.
const EVICT_ONE_IN: usize = 16;

/// KEEPFIXED PLAN keeps a plan from new statistics, not from leaving the cache.
fn evicted(choices: &Choices) -> bool {
    choices.chance(Question::Recompile, EVICT_ONE_IN)
}

/// 8153. The client hears it once for a statement, behind its rows.
fn nulls_eliminated() -> SqlError {
    let text = "Warning: Null value is eliminated by an aggregate or other SET operation.";
    SqlError::with(8153, 10, 1, text)
}

impl Interp<'_> {
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
        self.core.begin_choices();
        let choices = self.core.choices.as_ref();
        engine.clean_up_ghosts_if_due(choices);
        if let (Some(adversary), Some(choices)) = (&engine.adversary, choices) {
            let mut stop = || self.sink.interrupted().is_some();
            adversary.let_others_go_first(choices, &engine.clock, &mut stop);
        }
        let anew =
            choices.is_some_and(|choices| choices.chance(Question::Recompile, RECOMPILE_ONE_IN));
        let stays = |bound: &Arc<Bound>| match bound.replan {
            Replan::Freely => !anew,
            Replan::OnChange => !anew || !choices.is_some_and(evicted),
            Replan::Always => choices.is_none(),
        };
        let mut kept = module.kept(stmt.pos.offset).filter(stays);
        for _ in 0..BINDINGS {
            let bound = match kept.take() {
                Some(bound) => bound,
                None => self.bind_anew(stmt, module, frame)?,
            };
            let outcome = self.within(engine.latch(), frame, |env| {
                if !env.admit(&bound)? {
                    return Ok(None);
                }
                match f.take() {
                    Some(f) => f(&bound, env).map(Some),
                    None => Ok(None),
                }
            });
            if let Some(choices) = &self.core.choices {
                choices.enter_detours(module.origin.name(), stmt.pos.line);
            }
            let eliminated = std::mem::take(&mut self.core.nulls_eliminated);
            if let Some(value) = outcome? {
                if eliminated {
                    let mut warning = nulls_eliminated().at(stmt.pos.line);
                    frame.origin.qualified().clone_into(&mut warning.procedure);
                    self.core.notices.push(warning);
                }
                return Ok(value);
            }
            self.go_on()?;
        }
        Err(SqlError::new(
            2801,
            "The definition of an object has changed since it was compiled, again and again.",
        )
        .into())
    }

    /// Binds a statement against the catalogue as it is now. The latch is not held meanwhile: binding
    /// may take its time, and whether the plan is still current is seen when it runs. If it cannot be bound,
    /// that counts once nobody is changing what it names.
    fn bind_anew(
        &mut self,
        stmt: &Stmt,
        module: &Module,
        frame: &mut Frame,
    ) -> Result<Arc<Bound>, Failure> {
        let bound = loop {
            let catalog = self.core.engine.catalog();
            let looked_up = LookedUp::default();
            let sink = RefCell::new(&mut *self.sink);
            let interrupted = || sink.borrow_mut().interrupted();
            let (core, at) = (&*self.core, &looked_up);
            match bind_one(stmt, module, core, frame, &catalog, at, &interrupted) {
                Ok(bound) => break bound,
                Err(error) if self.is_settled(&error, &looked_up, frame)? => {
                    return Err(Failure::Error(error, Origin::Compile));
                }
                Err(_) => self.go_on()?,
            }
        };
        if let Some(choices) = &self.core.choices {
            choices.enter_open_paths(module.origin.name(), stmt.pos.line);
        }
        let bound = Arc::new(bound);
        module.keep(stmt.pos.offset, Arc::clone(&bound));
        Ok(bound)
    }

    /// Whether an error stands that was found while names were bound. It does not if others were redefining what these
    /// mean: this waits for them.
    pub fn is_settled(
        &mut self,
        error: &SqlError,
        looked_up: &LookedUp,
        frame: &mut Frame,
    ) -> Result<bool, Failure> {
        if is_interrupt(error) || looked_up.is_empty() {
            return Ok(true);
        }
        let engine = Arc::clone(&self.core.engine);
        let anew = self.within(engine.latch(), frame, |env| env.await_names(looked_up))?;
        Ok(!anew)
    }

    /// Runs `f` under the latch with a transaction: the user's, or one that ends with `f`. A failure
    /// undoes what `f` wrote.
    pub fn within<'e, T>(
        &mut self,
        latch: Latch<'e>,
        frame: &mut Frame,
        f: impl FnOnce(&mut Env<'_, 'e>) -> SqlResult<T>,
    ) -> Result<T, Failure> {
        let sink = RefCell::new(&mut *self.sink);
        let mut interrupted = || sink.borrow_mut().interrupted();
        let mut begun = false;
        let mut send = |columns: &[ColumnMeta], rows: &[Vec<Value>]| {
            let mut sink = sink.borrow_mut();
            let begins = !std::mem::replace(&mut begun, true);
            (!begins || sink.columns(columns).is_ok())
                && rows.iter().all(|row| sink.row(row).is_ok())
        };
        let now = self.core.engine.clock.now_utc();
        let mut env = Env {
            latch,
            core: self.core,
            frame,
            rows: Vec::new(),
            working: Vec::new(),
            interrupted: &mut interrupted,
            send: &mut send,
            stats: Stats::default(),
            now,
            snapshot: None,
            spools: Spools::default(),
            kept: None,
            large: None,
        };
        let opened = env.open_statement();
        let result = f(&mut env);
        let result = env.close_statement(opened, result);
        self.stats.add(&env.stats);
        drop(env);
        result.map_err(Failure::from)
    }
}
