//! What a tester can see and steer: time, failures, connections, interleavings, counters, switches.
//!
//! ```
//! use mssql_embedded::{Server, SqlError, Trigger};
//!
//! let server = Server::builder().start()?;
//! let controls = server.controls();
//! // The second UPDATE of any session is chosen as a deadlock victim.
//! let update = Trigger::statement().containing("UPDATE").after(1);
//! let rule = controls.fail(update, SqlError::with(1205, 13, 51, "chosen by the test"));
//! // … let the code under test run, then:
//! assert_eq!(rule.fired(), 0);
//! # Ok::<(), mssql_embedded::StartError>(())
//! ```
//!
//! The rules themselves are kept below the engine, in [`crate::hooks`].

mod admin;
#[cfg(test)]
mod definition_tests;
mod durability;
mod ghosts;
mod locks;
mod pause;
mod sessions;
mod turns;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use pause::{Pause, Rule};

use crate::adversary::{Adversary, Decision, Detour, OpenPath, Question};
use crate::engine::Engine;
use crate::error::SqlError;
use crate::hooks::{Action, Gate, Snapshot, Trigger};

/// The controls of one engine. Clones steer the same engine, and keep it alive.
#[derive(Clone)]
pub struct Controls {
    engine: Arc<Engine>,
}

impl fmt::Debug for Controls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controls").finish_non_exhaustive()
    }
}

impl Controls {
    /// Any number of handles act on the same engine.
    pub fn new(engine: &Arc<Engine>) -> Self {
        Self {
            engine: Arc::clone(engine),
        }
    }

    /// Lets time pass without waiting: SYSUTCDATETIME() and its kin move, and every running lock
    /// timeout and WAITFOR has `by` less to go.
    pub fn advance(&self, by: Duration) {
        self.engine.clock.advance(by);
    }

    /// Sets the wall clock forward or back by milliseconds, as an administrator would. Running lock
    /// timeouts and WAITFOR do not notice.
    pub fn shift_utc(&self, by_ms: i64) {
        self.engine.clock.shift_utc(by_ms);
    }

    /// The engine's time, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.engine.clock.unix_ms()
    }

    /// Raises an error where `trigger` says, instead of going on. The error takes its course as if
    /// the statement had raised it: TRY…CATCH sees it, XACT_ABORT applies, 1205 rolls back, and
    /// severity 20 or above ends the connection.
    pub fn fail(&self, trigger: Trigger, error: SqlError) -> Rule {
        self.arm(trigger, Action::Fail(error))
    }

    /// Cuts the connection where `trigger` says. The client hears nothing of its request; what the
    /// session had open is rolled back.
    ///
    /// With [`Trigger::committed`] or [`Trigger::response`] the work is done and only the news is
    /// lost.
    pub fn cut(&self, trigger: Trigger) -> Rule {
        self.arm(trigger, Action::Cut)
    }

    /// Holds the sessions that come to where `trigger` says until the returned handle lets them go.
    /// They hold their locks meanwhile, and nothing else: other sessions run.
    ///
    /// With [`Trigger::response`] the request has been served and its answer is held back.
    pub fn pause(&self, trigger: Trigger) -> Pause {
        let gate = Arc::new(Gate::default());
        let rule = self.arm(trigger, Action::Pause(Arc::clone(&gate)));
        Pause::new(rule, gate)
    }

    /// Disarms every rule. Sessions that are paused stay so until their [`Pause`] lets them go.
    pub fn disarm_all(&self) {
        self.engine.hooks.disarm_all();
    }

    /// What has been counted since the start or the last [`Controls::reset_counters`].
    pub fn counters(&self) -> Snapshot {
        self.engine.hooks.snapshot()
    }

    /// Begins to count anew. A snapshot from before cannot be subtracted from a later one any more.
    pub fn reset_counters(&self) {
        self.engine.hooks.reset_counters();
    }

    /// Whether to count statements one by one as well ([`Snapshot::statements`]). Off at first,
    /// because it costs a look at the text of each statement.
    pub fn watch_statements(&self, on: bool) {
        self.engine.hooks.watch_statements(on);
    }

    /// What the adversary decided lately, oldest first; empty without one.
    pub fn decisions(&self) -> Vec<Decision> {
        let adversary = self.engine.adversary.as_ref();
        adversary.map(Adversary::decisions).unwrap_or_default()
    }

    /// The sessions, as in [`Decision::session`], whose statements ever left a question to the adversary; none without
    /// one. [`Question::LockGrain`], for instance, never comes up in a session all of whose statements say ROWLOCK.
    pub fn asked(&self, question: Question) -> Vec<u64> {
        let adversary = self.engine.adversary.as_ref();
        adversary.map_or_else(Vec::new, |adversary| adversary.asked(question))
    }

    /// Every table, but temporary ones and table variables, that a statement ever reached in one of several ways: because
    /// it names no index and several would do, or one that can be sought and no FORCESEEK. None without an adversary.
    pub fn open_paths(&self) -> Vec<OpenPath> {
        let adversary = self.engine.adversary.as_ref();
        adversary.map_or_else(Vec::new, Adversary::open_paths)
    }

    /// Every statement that ever waited for locks on entries of a nonclustered index and, holding them, for locks on the
    /// rows of its table, because the index does not have all that was asked for or because the rows are changed. Not those
    /// that step over what is locked. None without an adversary.
    pub fn detours(&self) -> Vec<Detour> {
        let adversary = self.engine.adversary.as_ref();
        adversary.map_or_else(Vec::new, Adversary::detours)
    }

    fn arm(&self, trigger: Trigger, action: Action) -> Rule {
        let (id, fired) = self.engine.hooks.arm(trigger, action);
        Rule::new(self.clone(), id, fired)
    }

    fn disarm(&self, id: u64) {
        self.engine.hooks.disarm(id);
    }
}
