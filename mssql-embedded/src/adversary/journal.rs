//! What was decided, for whoever replays a failure.

use std::collections::VecDeque;
use std::fmt;

use parking_lot::Mutex;

use super::Question;

/// One decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The session, or the player's number among those that take turns.
    pub session: u64,
    /// The number of the statement, counted from the start of the session.
    pub statement: u64,
    /// What was asked.
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

/// The latest decisions.
#[derive(Debug)]
pub(super) struct Journal {
    keep: usize,
    latest: Mutex<VecDeque<Decision>>,
}

impl Journal {
    pub fn new(keep: usize) -> Self {
        Self {
            keep,
            latest: Mutex::default(),
        }
    }

    pub fn note(&self, decision: impl FnOnce() -> Decision) {
        if self.keep == 0 {
            return;
        }
        let mut latest = self.latest.lock();
        if latest.len() == self.keep {
            latest.pop_front();
        }
        latest.push_back(decision());
    }

    pub fn latest(&self) -> Vec<Decision> {
        self.latest.lock().iter().copied().collect()
    }
}
