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

pub use choices::{Choices, Question};
pub use grain::Grain;
pub use journal::Decision;
use journal::Journal;

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

    /// What it decided lately, oldest first.
    pub fn decisions(&self) -> Vec<Decision> {
        self.journal.latest()
    }
}
