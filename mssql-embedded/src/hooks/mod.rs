//! The engine's side of the controls: armed rules, counters and live sessions.
//!
//! The engine calls [`Hooks`] at the moments a [`Trigger`] can name. As long as no rule is armed and
//! no statement is watched, that costs one load of an atomic.

mod counters;
mod gate;
mod sessions;
mod stats;
mod trigger;

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

pub use counters::{Counters, Snapshot, StatementCounters, Traffic};
pub(crate) use gate::Gate;
pub(crate) use sessions::KillSwitch;
pub use stats::Stats;
pub use trigger::Trigger;
pub(crate) use trigger::{Event, Moment};

use crate::error::SqlError;
use counters::Book;
use sessions::Sessions;

const RULES: u8 = 1;
/// Statements are counted one by one.
const STATEMENTS: u8 = 2;

#[derive(Clone, Debug)]
pub(crate) enum Action {
    Fail(SqlError),
    /// End the connection without a word.
    Cut,
    /// Hold the session.
    Pause(Arc<Gate>),
}

/// What a finished request cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// The name it is counted under.
    pub(crate) label: &'a str,
    pub(crate) stats: Stats,
    pub(crate) time: Duration,
    pub(crate) traffic: Traffic,
}

/// What the engine asks and tells while it runs requests.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    /// What is being looked for, so that an unobserved engine pays one load per statement.
    watching: AtomicU8,
    rules: Mutex<Rules>,
    book: Mutex<Book>,
    sessions: Mutex<Sessions>,
    /// What every login is answered with.
    refusal: Mutex<Option<SqlError>>,
}

#[derive(Debug, Default)]
struct Rules {
    next_id: u64,
    armed: Vec<Armed>,
}

#[derive(Debug)]
struct Armed {
    id: u64,
    trigger: Trigger,
    action: Action,
    matched: u64,
    fired: Arc<AtomicU64>,
}

impl Hooks {
    /// Whether anything is to be done at statements.
    pub(crate) fn watching(&self) -> bool {
        self.watching.load(Ordering::Acquire) != 0
    }

    pub(crate) fn has_rules(&self) -> bool {
        self.watching.load(Ordering::Acquire) & RULES != 0
    }

    pub(crate) fn counts_statements(&self) -> bool {
        self.watching.load(Ordering::Acquire) & STATEMENTS != 0
    }

    /// What the rules demand at an event, in the order in which they were armed. An error or a cut
    /// is the last one.
    pub(crate) fn actions(&self, event: &Event<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        for rule in &mut self.rules.lock().armed {
            if !rule.trigger.matches(event) {
                continue;
            }
            let nth = rule.matched;
            rule.matched += 1;
            if !rule.trigger.acts_on(nth) {
                continue;
            }
            rule.fired.fetch_add(1, Ordering::AcqRel);
            actions.push(rule.action.clone());
            if !matches!(rule.action, Action::Pause(_)) {
                break;
            }
        }
        actions
    }

    pub(crate) fn refuse_logins(&self, error: Option<SqlError>) {
        *self.refusal.lock() = error;
    }

    /// Whether nobody may log in now, and what to say to them.
    pub(crate) fn login_refusal(&self) -> Option<SqlError> {
        self.refusal.lock().clone()
    }

    pub(crate) fn arm(&self, trigger: Trigger, action: Action) -> (u64, Arc<AtomicU64>) {
        let fired = Arc::new(AtomicU64::new(0));
        let mut rules = self.rules.lock();
        rules.next_id += 1;
        let id = rules.next_id;
        rules.armed.push(Armed {
            id,
            trigger,
            action,
            matched: 0,
            fired: Arc::clone(&fired),
        });
        self.watching.fetch_or(RULES, Ordering::AcqRel);
        (id, fired)
    }

    pub(crate) fn disarm(&self, id: u64) {
        self.retain(|rule| rule.id != id);
    }

    pub(crate) fn disarm_all(&self) {
        self.retain(|_| false);
    }

    fn retain(&self, keep: impl Fn(&Armed) -> bool) {
        let mut rules = self.rules.lock();
        rules.armed.retain(keep);
        if rules.armed.is_empty() {
            self.watching.fetch_and(!RULES, Ordering::AcqRel);
        }
    }

    /// A request has run; its answer is not sent yet, so a client that has the answer finds the
    /// request counted.
    pub(crate) fn request_ended(&self, request: &Request<'_>) {
        self.book.lock().request(request);
    }

    /// A statement of a procedure (`schema.name`, or empty) has run.
    pub(crate) fn statement_ended(&self, procedure: &str, text: &str, stats: &Stats) {
        self.book.lock().statement(procedure, text, stats);
    }

    pub(crate) fn watch_statements(&self, on: bool) {
        if on {
            self.watching.fetch_or(STATEMENTS, Ordering::AcqRel);
        } else {
            self.watching.fetch_and(!STATEMENTS, Ordering::AcqRel);
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.book.lock().snapshot()
    }

    pub(crate) fn reset_counters(&self) {
        *self.book.lock() = Book::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit() -> Event<'static> {
        Event {
            moment: Moment::Commit,
            spid: 51,
            procedure: "",
            request: "batch",
            text: "",
        }
    }

    /// Disarming the last rule gives the engine its speed back.
    #[test]
    fn watching_ends_with_the_last_rule() {
        let hooks = Hooks::default();
        let (first, _) = hooks.arm(Trigger::commit(), Action::Cut);
        let (second, _) = hooks.arm(Trigger::commit(), Action::Cut);
        hooks.disarm(first);
        assert!(hooks.has_rules());
        hooks.disarm(second);
        assert!(!hooks.watching());
    }

    /// A rule that has done its work lets the next one act.
    #[test]
    fn a_spent_rule_makes_way() {
        let hooks = Hooks::default();
        let (_, cuts) = hooks.arm(Trigger::commit(), Action::Cut);
        let error = SqlError::new(50_001, "second");
        let (_, failures) = hooks.arm(Trigger::commit(), Action::Fail(error));
        assert!(matches!(hooks.actions(&commit())[..], [Action::Cut]));
        assert!(matches!(hooks.actions(&commit())[..], [Action::Fail(_)]));
        assert!(hooks.actions(&commit()).is_empty());
        assert_eq!(cuts.load(Ordering::Acquire), 1);
        assert_eq!(failures.load(Ordering::Acquire), 1);
    }
}
