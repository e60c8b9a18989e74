//! The adversary: what SQL Server's documents leave open, decided by a seed.
//!
//! SQL Server chooses index, join order, row order, lock grain and much more from statistics, load and
//! chance. A program that is right only for one of these choices is wrong. With an adversary the engine makes
//! another choice at every statement; without one it makes always the same, and nothing here costs
//! anything.
//!
//! Everything follows from the seed: the n-th statement of a session gets its [`Choices`], whatever other sessions
//! do, and within a statement decisions are asked for in the order of its execution. So a failure is replayed with
//! its seed, as far as the sessions meet in the same order; when they take [`Turns`], they do.

mod choices;
mod grain;
mod journal;
mod question;
mod splitmix;
mod turns;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::clock::Clock;

pub use choices::Choices;
pub use grain::Grain;
use journal::Journal;
pub use journal::{Decision, Detour, OpenPath};
pub use question::Question;
pub use turns::{Seat, Turns};

/// How often other sessions go first at a statement, how many of their statements at most, and how long they are
/// waited for if none comes.
const TURN_ONE_IN: usize = 16;
const TURNS_MAX: usize = 4;
const TURN_PATIENCE: Duration = Duration::from_micros(500);

/// How often a session that takes turns gives its turn back at a statement.
const PASS_ONE_IN: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdversaryOptions {
    /// Everything it decides follows from this.
    pub seed: u64,
    /// How many of the latest decisions it remembers; 0 remembers none.
    pub remember: usize,
}

#[derive(Debug)]
pub struct Adversary {
    seed: u64,
    /// How many statements have begun.
    statements: AtomicU64,
    journal: Arc<Journal>,
    turns: Arc<Turns>,
}

impl Adversary {
    pub fn new(options: AdversaryOptions) -> Self {
        Self {
            seed: options.seed,
            statements: AtomicU64::new(0),
            journal: Arc::new(Journal::new(options.remember)),
            turns: Arc::new(Turns::new(options.seed)),
        }
    }

    /// The choices of a session's statement with that number, which begins now.
    pub fn statement(&self, session: u16, number: u64) -> Choices {
        self.statements.fetch_add(1, Ordering::Relaxed);
        let seat = self.seat(session);
        let of_seat = seat.as_ref().and_then(Seat::next_statement);
        let which = of_seat.unwrap_or((u64::from(session), number));
        Choices::new(self.seed, which, Arc::clone(&self.journal), seat)
    }

    pub fn turns(&self) -> &Arc<Turns> {
        &self.turns
    }

    /// Where a session sits, if sessions take turns.
    pub fn seat(&self, session: u16) -> Option<Seat> {
        self.turns.seat_of(session.into())
    }

    /// Before a statement that has not touched anything yet: other sessions may begin some of theirs first. SQL
    /// Server schedules its workers as it likes.
    pub fn let_others_go_first(
        &self,
        choices: &Choices,
        clock: &Clock,
        stop: &mut dyn FnMut() -> bool,
    ) {
        if let Some(seat) = choices.seat() {
            if choices.chance(Question::Turn, PASS_ONE_IN) {
                seat.pass(clock, stop);
            }
        } else if choices.chance(Question::Turn, TURN_ONE_IN) {
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

    /// Every table of a statement that ever left the path open.
    pub fn open_paths(&self) -> Vec<OpenPath> {
        self.journal.open_paths()
    }

    /// Every statement that ever went from an index on to the rows.
    pub fn detours(&self) -> Vec<Detour> {
        self.journal.detours()
    }

    /// The sessions in which a question ever came up.
    pub fn asked(&self, question: Question) -> Vec<u64> {
        self.journal.asked(question)
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
                drop(adversary.statement(51, 0));
                std::thread::yield_now();
            }
            assert!(held.join().unwrap());
        });
        assert!(adversary.statements.load(Ordering::Relaxed) >= 3);
    }
}
