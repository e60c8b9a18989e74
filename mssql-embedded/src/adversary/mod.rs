//! The adversary: what SQL Server's documents leave open, decided by a seed.
//!
//! SQL Server chooses index, join order, row order, lock grain and much more from statistics, load and
//! chance. A program that is right only for one of these choices is wrong. With an adversary the engine makes
//! another choice at every statement; without one it makes always the same, and nothing here costs
//! anything.
//!
//! Everything follows from the seed and the order in which statements begin: the n-th statement of a
//! server gets the n-th [`Choices`], and within a statement decisions are asked for in the order of its
//! execution. So a failure is replayed with its seed, as far as the order of the sessions is the same.

mod choices;
mod grain;
mod journal;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub use choices::{Choices, Question};
pub use grain::Grain;
pub use journal::Decision;
use journal::Journal;

/// How often other sessions go first at a statement, how many of their statements at most, and how long they are
/// waited for if none comes.
const TURN_ONE_IN: usize = 16;
const TURNS_MAX: usize = 4;
const TURN_PATIENCE: Duration = Duration::from_micros(500);

/// How an adversary plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdversaryOptions {
    /// Everything it decides follows from this.
    pub seed: u64,
    /// How many of the latest decisions it remembers; 0 remembers none.
    pub remember: usize,
}

/// The adversary of one engine.
#[derive(Debug)]
pub struct Adversary {
    seed: u64,
    statements: AtomicU64,
    journal: Arc<Journal>,
}

impl Adversary {
    /// An adversary at its first statement.
    pub fn new(options: AdversaryOptions) -> Self {
        Self {
            seed: options.seed,
            statements: AtomicU64::new(0),
            journal: Arc::new(Journal::new(options.remember)),
        }
    }

    /// The choices of the statement that begins now.
    pub fn statement(&self) -> Choices {
        let number = self.statements.fetch_add(1, Ordering::Relaxed);
        Choices::new(self.seed, number, Arc::clone(&self.journal))
    }

    /// Before a statement that has not touched anything yet: other sessions may begin some of theirs first. SQL
    /// Server schedules its workers as it likes.
    pub fn let_others_go_first(&self, choices: &Choices) {
        if choices.chance(Question::Turn, TURN_ONE_IN) {
            let turns = 1 + choices.pick(Question::Turn, TURNS_MAX);
            self.wait_for_turns(turns as u64, TURN_PATIENCE);
        }
    }

    /// Waits until so many more statements have begun; false if they did not come in time.
    fn wait_for_turns(&self, turns: u64, patience: Duration) -> bool {
        let until = self.statements.load(Ordering::Relaxed) + turns;
        let deadline = Instant::now() + patience;
        while self.statements.load(Ordering::Relaxed) < until {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(TURN_PATIENCE / 10);
        }
        true
    }

    /// What it decided lately, oldest first.
    pub fn decisions(&self) -> Vec<Decision> {
        self.journal.latest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session that others go before is held until they have begun their statements, and not for ever.
    #[test]
    fn others_begin_their_statements_first() {
        let adversary = Adversary::new(AdversaryOptions {
            seed: 1,
            remember: 0,
        });
        assert!(!adversary.wait_for_turns(1, Duration::ZERO));
        std::thread::scope(|scope| {
            let held = scope.spawn(|| adversary.wait_for_turns(3, Duration::from_secs(30)));
            while !held.is_finished() {
                drop(adversary.statement());
                std::thread::yield_now();
            }
            assert!(held.join().unwrap());
        });
        assert!(adversary.statements.load(Ordering::Relaxed) >= 3);
    }
}
