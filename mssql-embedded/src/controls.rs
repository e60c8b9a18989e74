//! What a tester can see and steer.

use std::collections::{HashMap, HashSet};

use parking_lot::Mutex;

use crate::access::Stats;
use crate::error::SqlResult;

/// Counters of one procedure (or of plain batches, under the name `batch`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Requests that called it: round trips.
    pub calls: u64,
    /// What the calls did.
    pub stats: Stats,
}

/// The tester's controls of one engine.
#[derive(Debug, Default)]
pub struct Controls {
    counters: Mutex<HashMap<String, Counters>>,
    sessions: Mutex<Sessions>,
}

#[derive(Debug, Default)]
struct Sessions {
    active: HashSet<u16>,
    cut: HashSet<u16>,
}

impl Controls {
    /// A request begins.
    pub(crate) fn request_started(&self, _spid: u16, _label: &str) {}

    /// A request ended.
    pub(crate) fn request_ended(&self, _spid: u16, label: &str, stats: &Stats) {
        let mut counters = self.counters.lock();
        let entry = counters.entry(label.to_owned()).or_default();
        entry.calls += 1;
        entry.stats.add(stats);
    }

    /// A transaction is about to commit.
    pub(crate) fn before_commit(&self, _spid: u16) -> SqlResult<()> {
        Ok(())
    }

    /// A transaction has committed.
    pub(crate) fn after_commit(&self, _spid: u16) -> SqlResult<()> {
        Ok(())
    }

    pub(crate) fn session_started(&self, spid: u16) {
        self.sessions.lock().active.insert(spid);
    }

    pub(crate) fn session_ended(&self, spid: u16) {
        let mut sessions = self.sessions.lock();
        sessions.active.remove(&spid);
        sessions.cut.remove(&spid);
    }

    /// Ends a session's connection at the next moment it looks; false when there is none.
    pub fn cut_session(&self, spid: u16) -> bool {
        let mut sessions = self.sessions.lock();
        let known = sessions.active.contains(&spid);
        if known {
            sessions.cut.insert(spid);
        }
        known
    }

    /// Whether a session's connection shall end.
    pub(crate) fn is_cut(&self, spid: u16) -> bool {
        self.sessions.lock().cut.contains(&spid)
    }

    /// The counters of all procedures called so far.
    pub fn counters(&self) -> HashMap<String, Counters> {
        self.counters.lock().clone()
    }

    /// Sets all counters to zero.
    pub fn reset_counters(&self) {
        self.counters.lock().clear();
    }
}
