//! When the background removes ghosts.
//!
//! SQL Server's task runs every five seconds and touches at most ten pages each time ("Ghost cleanup process guide");
//! when it comes to a page is nobody's to say, so an adversary decides.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::adversary::{Choices, Question};
use crate::clock::Clock;

/// How many entries one run looks at: ten pages with a hundred each.
pub(crate) const GHOSTS_PER_RUN: usize = 1_000;

const INTERVAL: Duration = Duration::from_secs(5);

/// How often, with an adversary, a statement finds the background at work.
const RUN_ONE_IN: usize = 64;

/// Knows when the background is to work.
#[derive(Debug, Default)]
pub(crate) struct GhostCleaner {
    runs: AtomicBool,
    /// The engine's time of the last run, in milliseconds.
    last_ms: AtomicU64,
}

impl GhostCleaner {
    /// Whether there is a background task at all.
    pub(crate) fn run_by_itself(&self, runs: bool) {
        self.runs.store(runs, Ordering::Relaxed);
    }

    /// Whether a run is due. Whoever is told so must do it.
    pub(crate) fn is_due(&self, clock: &Clock, choices: Option<&Choices>) -> bool {
        if !self.runs.load(Ordering::Relaxed) {
            return false;
        }
        if let Some(choices) = choices {
            return choices.chance(Question::GhostCleanup, RUN_ONE_IN);
        }
        let now = u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX);
        let last = self.last_ms.load(Ordering::Relaxed);
        let due = u128::from(now.saturating_sub(last)) >= INTERVAL.as_millis();
        let order = Ordering::Relaxed;
        due && (self.last_ms.compare_exchange(last, now, order, order)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Once in five seconds of the engine's time, and not at all when it is switched off.
    #[test]
    fn a_run_is_due_every_five_seconds() {
        let (cleaner, clock) = (GhostCleaner::default(), Clock::new());
        clock.advance(INTERVAL);
        assert!(!cleaner.is_due(&clock, None));
        cleaner.run_by_itself(true);
        assert!(cleaner.is_due(&clock, None));
        assert!(!cleaner.is_due(&clock, None));
        clock.advance(INTERVAL);
        assert!(cleaner.is_due(&clock, None));
    }
}
