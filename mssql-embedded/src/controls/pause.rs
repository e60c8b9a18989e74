//! The tester's ends of armed rules.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::hooks::Gate;

use super::Controls;

/// A rule that was armed. Dropping it leaves the rule armed.
pub struct Rule {
    controls: Controls,
    id: u64,
    fired: Arc<AtomicU64>,
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule")
            .field("id", &self.id)
            .field("fired", &self.fired())
            .finish_non_exhaustive()
    }
}

impl Rule {
    pub(super) fn new(controls: Controls, id: u64, fired: Arc<AtomicU64>) -> Self {
        Self {
            controls,
            id,
            fired,
        }
    }

    /// How often the rule has acted.
    pub fn fired(&self) -> u64 {
        self.fired.load(Ordering::Acquire)
    }

    /// Takes the rule back.
    pub fn disarm(&self) {
        self.controls.disarm(self.id);
    }
}

/// A place where sessions are held. Dropping it takes the rule back and lets everyone go on, so that
/// a test that fails does not hang.
#[derive(Debug)]
#[must_use = "dropping a pause takes it back"]
pub struct Pause {
    rule: Rule,
    gate: Arc<Gate>,
}

impl Pause {
    pub(super) fn new(rule: Rule, gate: Arc<Gate>) -> Self {
        Self { rule, gate }
    }

    /// Waits until a session is held, and returns its @@SPID. Works on any async runtime; give it a
    /// deadline with the runtime's own timeout.
    pub async fn paused(&self) -> u16 {
        poll_fn(|context| self.gate.poll(context.waker())).await
    }

    /// Blocks the calling thread until a session is held; `None` when none is within `at_most`. In
    /// async code use [`Pause::paused`], so that the clients can run.
    pub fn wait_paused(&self, at_most: Duration) -> Option<u16> {
        self.gate.wait(at_most)
    }

    /// The sessions held now, in the order in which they came.
    pub fn sessions(&self) -> Vec<u16> {
        self.gate.inside()
    }

    /// Lets the sessions held now go on. The rule stays armed for as many matches as are left of its
    /// [`super::Trigger::times`].
    pub fn release(&self) {
        self.gate.release();
    }

    /// How many sessions have been held so far.
    pub fn fired(&self) -> u64 {
        self.rule.fired()
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        self.rule.disarm();
        self.gate.retire();
    }
}
