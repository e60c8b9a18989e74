//! What was decided, for whoever replays a failure.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;

use parking_lot::Mutex;

use super::Question;

/// One answer of the adversary. The seed gives it again, so the list tells what a run met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The session, or the player's number among those that take turns.
    pub session: u64,
    /// The number of the statement, counted from the start of the session.
    pub statement: u64,
    /// What SQL Server's documents leave open here; the README's table lists it.
    pub question: Question,
    /// How many possibilities there were.
    pub options: usize,
    /// Which one was taken.
    pub chosen: usize,
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let question = match self.question {
            Question::Recompile => "recompile",
            Question::AccessPath => "access path",
            Question::JoinOrder => "join order",
            Question::JoinStrategy => "join strategy",
            Question::RowOrder => "row order",
            Question::WriteOrder => "write order",
            Question::LockGrain => "lock grain",
            Question::Escalation => "escalation",
            Question::LockAfterQualification => "lock after qualification",
            Question::GhostCleanup => "ghost clean-up",
            Question::Schedule => "schedule",
            Question::Turn => "turn",
            Question::Filter => "filter",
            Question::Spool => "spool",
            Question::Victim => "victim",
        };
        let Self {
            session,
            statement,
            chosen,
            options,
            ..
        } = self;
        write!(
            f,
            "session {session}, statement {statement}: {question} {chosen} of {options}"
        )
    }
}

/// A table of a statement to which more than one way led when the statement was compiled.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpenPath {
    /// The procedure, empty for a batch.
    pub procedure: String,
    /// The line on which the statement begins.
    pub line: u32,
    /// Its name without schema.
    pub table: String,
    /// Whether the statement names the index, and leaves open only how it is read.
    pub is_index_named: bool,
}

impl fmt::Display for OpenPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            procedure,
            line,
            table,
            is_index_named,
        } = self;
        let what = if *is_index_named {
            "seek or scan"
        } else {
            "which index"
        };
        write!(f, "{procedure}, line {line}: {what} for {table}")
    }
}

/// A statement that waited for locks on entries of an index, and with them for locks on the rows.
///
/// Whoever writes has the row first and wants the entries after it, so that the two can wait for each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Detour {
    /// The procedure, empty for a batch.
    pub procedure: String,
    /// The line on which the statement begins.
    pub line: u32,
    /// The table's name without schema.
    pub table: String,
    /// The nonclustered index.
    pub index: String,
    /// Whether the locks are shared, so that several come this way at the same time.
    pub is_shared: bool,
}

impl fmt::Display for Detour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            procedure,
            line,
            table,
            index,
            is_shared,
        } = self;
        let locks = if *is_shared { "shared" } else { "own" };
        write!(
            f,
            "{procedure}, line {line}: from {index} on to the rows of {table}, with {locks} locks"
        )
    }
}

/// The latest decisions, whom each kind of question was ever put to, which paths were ever open, and who made a detour.
#[derive(Debug)]
pub(super) struct Journal {
    keep: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    latest: VecDeque<Decision>,
    asked: BTreeSet<(Question, u64)>,
    open_paths: BTreeSet<OpenPath>,
    detours: BTreeSet<Detour>,
}

impl Journal {
    pub fn new(keep: usize) -> Self {
        Self {
            keep,
            kept: Mutex::default(),
        }
    }

    pub fn note(&self, decision: impl FnOnce() -> Decision) {
        if self.keep == 0 {
            return;
        }
        let decision = decision();
        let mut kept = self.kept.lock();
        if kept.latest.len() == self.keep {
            kept.latest.pop_front();
        }
        kept.latest.push_back(decision);
        kept.asked.insert((decision.question, decision.session));
    }

    pub fn enter_paths(&self, paths: impl Iterator<Item = OpenPath>) {
        if self.keep > 0 {
            self.kept.lock().open_paths.extend(paths);
        }
    }

    pub fn open_paths(&self) -> Vec<OpenPath> {
        self.kept.lock().open_paths.iter().cloned().collect()
    }

    pub fn enter_detours(&self, detours: impl Iterator<Item = Detour>) {
        if self.keep > 0 {
            self.kept.lock().detours.extend(detours);
        }
    }

    pub fn detours(&self) -> Vec<Detour> {
        self.kept.lock().detours.iter().cloned().collect()
    }

    pub fn latest(&self) -> Vec<Decision> {
        self.kept.lock().latest.iter().copied().collect()
    }

    pub fn asked(&self, question: Question) -> Vec<u64> {
        let kept = self.kept.lock();
        let sessions = kept.asked.range((question, 0)..=(question, u64::MAX));
        sessions.map(|(_, session)| *session).collect()
    }
}
