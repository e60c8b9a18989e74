//! The decisions of one statement.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

use super::grain::Grain;
use super::journal::{Decision, Detour, Journal, OpenPath};
use super::question::Question;
use super::splitmix::{GOLDEN, mixed};
use super::turns::Seat;

/// The decisions of one statement. Not shared between threads: a statement runs on one.
#[derive(Debug)]
pub struct Choices {
    session: u64,
    statement: u64,
    /// The generator of what is decided for the statement itself.
    state: Cell<u64>,
    /// Another one for what goes on around it, so that neither disturbs the other.
    around: Cell<u64>,
    journal: Arc<Journal>,
    /// How much the statement's writes lock at a time.
    writes: Cell<Grain>,
    /// Tables to which more than one way leads, and whether the index is named.
    open_paths: RefCell<Vec<(String, bool)>>,
    /// Tables and indexes whose entries were locked with the rows, and whether the locks are shared.
    detours: RefCell<BTreeSet<(String, String, bool)>>,
    /// Where the session sits, if sessions take turns.
    seat: Option<Seat>,
}

impl Choices {
    pub(super) fn new(
        seed: u64,
        (session, statement): (u64, u64),
        journal: Arc<Journal>,
        seat: Option<Seat>,
    ) -> Self {
        // Neighbouring seeds, sessions and statements must not give neighbouring sequences.
        let of_session = mixed(mixed(seed).wrapping_add(session.wrapping_mul(GOLDEN)));
        let state = mixed(of_session.wrapping_add(statement.wrapping_mul(GOLDEN)));
        Self {
            session,
            statement,
            state: Cell::new(state),
            around: Cell::new(mixed(state ^ GOLDEN)),
            journal,
            writes: Cell::default(),
            open_paths: RefCell::default(),
            detours: RefCell::default(),
            seat,
        }
    }

    pub fn seat(&self) -> Option<&Seat> {
        self.seat.as_ref()
    }

    /// One of `options` possibilities, each as likely as the others; 0 when there is only one.
    pub fn pick(&self, question: Question, options: usize) -> usize {
        if options <= 1 {
            return 0;
        }
        let chosen = usize::try_from(self.next(question) % options as u64).unwrap_or(0);
        self.journal.note(|| Decision {
            session: self.session,
            statement: self.statement,
            question,
            options,
            chosen,
        });
        chosen
    }

    /// True about once in `one_in` times.
    pub fn chance(&self, question: Question, one_in: usize) -> bool {
        self.pick(question, one_in) == 0
    }

    /// Puts rows that nobody ordered into another order.
    pub fn shuffle<T>(&self, question: Question, rows: &mut [T]) {
        for end in (1..rows.len()).rev() {
            rows.swap(end, self.pick(question, end + 1));
        }
    }

    /// Rows, pages or the table: SQL Server decides that from its estimates, unless ROWLOCK says it.
    pub fn grain(&self) -> Grain {
        match self.pick(Question::LockGrain, 8) {
            0 => Grain::Table,
            1 | 2 => Grain::Page,
            _ => Grain::Row,
        }
    }

    /// Decides how much the statement's writes lock at a time.
    pub fn decide_writes(&self, rowlock: bool) {
        let grain = if rowlock { Grain::Row } else { self.grain() };
        self.writes.set(grain);
    }

    pub fn writes(&self) -> Grain {
        self.writes.get()
    }

    /// Notes that more than one way leads to a table of the statement that is being compiled.
    pub fn note_open_path(&self, table: &str, is_index_named: bool) {
        let mut paths = self.open_paths.borrow_mut();
        paths.push((table.to_owned(), is_index_named));
    }

    /// The statement has been compiled: what was noted belongs to this place.
    pub fn enter_open_paths(&self, procedure: &str, line: u32) {
        let paths = self.open_paths.take();
        if !paths.is_empty() {
            let entries = paths.into_iter().map(|(table, is_index_named)| OpenPath {
                procedure: procedure.to_owned(),
                line,
                table,
                is_index_named,
            });
            self.journal.enter_paths(entries);
        }
    }

    /// Notes that the statement waits for locks on entries of an index, and with them on rows of its table.
    pub fn note_detour(&self, table: &str, index: &str, is_shared: bool) {
        let detour = (table.to_owned(), index.to_owned(), is_shared);
        self.detours.borrow_mut().insert(detour);
    }

    /// The statement has run: what was noted belongs to this place.
    pub fn enter_detours(&self, procedure: &str, line: u32) {
        let detours = self.detours.take();
        if !detours.is_empty() {
            let entries = (detours.into_iter()).map(|(table, index, is_shared)| Detour {
                procedure: procedure.to_owned(),
                line,
                table,
                index,
                is_shared,
            });
            self.journal.enter_detours(entries);
        }
    }

    fn next(&self, question: Question) -> u64 {
        let generator = match question {
            Question::GhostCleanup | Question::Turn | Question::Filter | Question::Spool => {
                &self.around
            }
            Question::Recompile
            | Question::AccessPath
            | Question::JoinOrder
            | Question::JoinStrategy
            | Question::RowOrder
            | Question::WriteOrder
            | Question::LockGrain
            | Question::Escalation
            | Question::LockAfterQualification
            | Question::Schedule
            | Question::Victim => &self.state,
        };
        let state = generator.get().wrapping_add(GOLDEN);
        generator.set(state);
        mixed(state)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Adversary, AdversaryOptions};
    use super::*;

    fn first_picks(seed: u64, statements: usize) -> Vec<usize> {
        let adversary = Adversary::new(AdversaryOptions { seed, remember: 0 });
        (0..statements as u64)
            .map(|n| adversary.statement(51, n).pick(Question::AccessPath, 1000))
            .collect()
    }

    /// The same seed plays the same game, another seed another one.
    #[test]
    fn choices_follow_from_the_seed() {
        assert_eq!(first_picks(7, 50), first_picks(7, 50));
        assert_ne!(first_picks(7, 50), first_picks(8, 50));
    }

    /// What one statement asks does not change what the next one gets, and what one session does does not change what
    /// another gets.
    #[test]
    fn statements_and_sessions_do_not_disturb_each_other() {
        let adversary = Adversary::new(AdversaryOptions {
            seed: 3,
            remember: 0,
        });
        let curious = adversary.statement(51, 0);
        for n in 0..10 {
            curious.pick(Question::RowOrder, 5);
            adversary.statement(52, n).pick(Question::RowOrder, 5);
        }
        let second = adversary.statement(51, 1).pick(Question::AccessPath, 1000);
        assert_eq!(second, first_picks(3, 2)[1]);
        let other = adversary.statement(52, 1).pick(Question::AccessPath, 1000);
        assert_ne!(other, second);
    }

    /// Every possibility comes up, and a shuffle loses nothing.
    #[test]
    fn every_possibility_comes_up() {
        let adversary = Adversary::new(AdversaryOptions {
            seed: 1,
            remember: 0,
        });
        let mut seen = [false; 4];
        for n in 0..200 {
            seen[adversary.statement(51, n).pick(Question::LockGrain, 4)] = true;
        }
        assert_eq!(seen, [true; 4]);
        let mut rows: Vec<u32> = (0..20).collect();
        adversary
            .statement(51, 0)
            .shuffle(Question::RowOrder, &mut rows);
        assert_ne!(rows, (0..20).collect::<Vec<_>>());
        rows.sort_unstable();
        assert_eq!(rows, (0..20).collect::<Vec<_>>());
    }

    /// The journal keeps the latest decisions, with what was asked and answered.
    #[test]
    fn decisions_are_remembered() {
        let adversary = Adversary::new(AdversaryOptions {
            seed: 1,
            remember: 2,
        });
        for n in 0..3 {
            adversary.statement(51, n).pick(Question::Victim, 9);
        }
        let latest = adversary.decisions();
        assert_eq!(latest.len(), 2);
        assert_eq!(latest[1].statement, 2);
        assert!(
            latest[1]
                .to_string()
                .starts_with("session 51, statement 2: victim "),
            "{}",
            latest[1]
        );
    }
}
