//! Signals that end a long poll early.
//!
//! Signals are a courtesy: correctness never depends on them, because every waiting fetch also
//! asks the database again at intervals. Those of this process are sent after the call that brought
//! the work has committed; a watch in the database sees the work of others. All providers of this
//! process that use the same schema share them.

mod held;
mod line;
mod owners;
mod watch;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use duroxide::providers::{SessionFetchConfig, TagFilter, WorkItem};
use tokio::time::Instant;

use crate::time::after;
use held::Held;
pub(crate) use line::{Interest, Line, Repoll, Woken};
use owners::{Lease, Owners};
pub(crate) use watch::{Question, Seen, Wanted};

/// A timer is asked for slightly late rather than slightly early: an early query finds nothing
/// and leaves the timer to the next interval.
const DUE_MARGIN: Duration = Duration::from_millis(1);

/// What an orchestration dispatcher can take. Which versions it supports decides only whether
/// it shares its queries with another dispatcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OrchestrationInterest {
    pub(crate) versions: Option<(i64, i64)>,
}

impl Interest for OrchestrationInterest {
    type Work = ();
    type Kind = ();

    fn kind(&self) {}

    fn fits(&self, _: &()) -> bool {
        true
    }

    fn is_watchable(&self) -> bool {
        true
    }
}

/// What a worker can take. Workers are equal by what they can take, not by who they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkerInterest {
    tags: TagFilter,
    sessions: Sessions,
}

/// Which items of sessions a worker can take.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Sessions {
    /// None at all.
    None,
    /// Those of sessions that nobody owns, like every other worker.
    Free,
    /// Those as well, and those of the sessions that this worker owns.
    Owned(String),
}

/// Workers whose waits end together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkerKind {
    /// They take no sessions.
    Plain,
    /// They own none.
    Free,
    /// They own some.
    Owner,
}

/// A work item as far as it decides who can take it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WorkerWork {
    New {
        tag: Option<String>,
        is_in_session: bool,
    },
    /// It came back to its queue, and nobody here knows any more what it asks of a worker.
    Returned,
}

impl Interest for WorkerInterest {
    type Work = WorkerWork;
    type Kind = WorkerKind;

    fn kind(&self) -> WorkerKind {
        match self.sessions {
            Sessions::None => WorkerKind::Plain,
            Sessions::Free => WorkerKind::Free,
            Sessions::Owned(_) => WorkerKind::Owner,
        }
    }

    fn fits(&self, work: &WorkerWork) -> bool {
        match work {
            WorkerWork::New { tag, is_in_session } => {
                self.tags.matches(tag.as_deref())
                    && (!is_in_session || self.sessions != Sessions::None)
            }
            WorkerWork::Returned => true,
        }
    }

    /// The sessions of one worker are looked into by tag, and any tag is too many.
    fn is_watchable(&self) -> bool {
        self.tags != TagFilter::Any || !matches!(self.sessions, Sessions::Owned(_))
    }
}

/// The signals of one schema.
pub(crate) struct Wakeups {
    pub(crate) orchestrations: Line<OrchestrationInterest>,
    pub(crate) workers: Line<WorkerInterest>,
    held: Held,
    owners: Owners,
    /// Whoever has it watches the database for all.
    seat: Arc<tokio::sync::Mutex<()>>,
}

impl Wakeups {
    fn new() -> Self {
        Self {
            orchestrations: Line::new(),
            workers: Line::new(),
            held: Held::default(),
            owners: Owners::default(),
            seat: Arc::default(),
        }
    }

    /// The signals of the schema with this identity, shared by the whole process.
    pub(crate) fn shared(identity: String) -> Arc<Self> {
        static ALL: OnceLock<Mutex<HashMap<String, Weak<Wakeups>>>> = OnceLock::new();
        let all = ALL.get_or_init(Mutex::default);
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(existing) = all.get(&identity).and_then(Weak::upgrade) {
            return existing;
        }
        all.retain(|_, wakeups| wakeups.strong_count() > 0);
        let wakeups = Arc::new(Self::new());
        all.insert(identity, Arc::downgrade(&wakeups));
        wakeups
    }

    /// What a worker can take that fetches with these settings. A worker that takes sessions shows
    /// that its runtime has room for one: those of its workers that came when there was none ask
    /// their runtime again. So does one that asked its runtime before there was room, and comes now.
    pub(crate) fn worker(
        &self,
        tags: &TagFilter,
        session: Option<&SessionFetchConfig>,
    ) -> WorkerInterest {
        let sessions = match session {
            None => Sessions::None,
            Some(session) if self.owners.has(&session.owner_id) => {
                Sessions::Owned(session.owner_id.clone())
            }
            Some(_) => Sessions::Free,
        };
        if sessions != Sessions::None {
            self.workers.end_waits(WorkerKind::Plain);
        }
        WorkerInterest {
            tags: tags.clone(),
            sessions,
        }
    }

    /// A worker fetched an item of a session, and owns the session for this long. Fetches that wait among those without
    /// a session may be of the same owner: they come again as what they are now, or nobody would look for them
    /// into that session while its winner is busy.
    ///
    /// The fetch was sent at `asked_at`: the lease began then or later.
    pub(crate) fn session_owned(&self, session: &SessionFetchConfig, asked_at: Instant) {
        let lease = Lease::new(asked_at, session.lock_timeout);
        if self.owners.owns(&session.owner_id, lease) {
            self.workers.end_waits(WorkerKind::Free);
        }
    }

    /// That many sessions of these owners were extended, by a request of that moment.
    pub(crate) fn sessions_renewed(
        &self,
        owner_ids: &[&str],
        count: usize,
        asked_at: Instant,
        lease: Duration,
    ) {
        if count > 0 {
            self.owners.renewed(owner_ids, Lease::new(asked_at, lease));
        }
    }

    /// What is left at least of the sessions of these owners, of the first that ends; `None` when none is known.
    pub(crate) fn sessions_left(&self, owner_ids: &[&str]) -> Option<Duration> {
        self.owners.left(owner_ids)
    }

    /// A turn of `instance` began here by a fetch of that moment; its messages are not fetchable until it ends.
    pub(crate) fn turn_began(
        &self,
        token: &str,
        instance: &str,
        asked_at: Instant,
        lease: Duration,
    ) {
        self.held.insert(token, instance, asked_at, after(lease));
    }

    /// The turn's lease was extended.
    pub(crate) fn turn_renewed(&self, token: &str, lease: Duration) {
        self.held.extend(token, after(lease));
    }

    /// The turn ended without leaving work for its own instance.
    pub(crate) fn turn_ended(&self, token: &str) {
        if self.held.remove(token) {
            self.orchestrations.signal(());
        }
    }

    /// The turn ended and its messages are back in the queue.
    pub(crate) fn turn_abandoned(&self, token: &str, delay: Option<Duration>) {
        self.turn_ended(token);
        self.orchestration_later(delay.unwrap_or_default());
    }

    /// A message for `instance` was committed and is visible.
    pub(crate) fn orchestration_ready(&self, instance: &str) {
        if !self.held.mark(instance, Instant::now()) {
            self.orchestrations.signal(());
        }
    }

    /// Some message becomes visible after `delay`.
    pub(crate) fn orchestration_later(&self, delay: Duration) {
        if delay.is_zero() {
            self.orchestrations.signal(());
        } else {
            self.orchestrations.signal_at(due(delay), &());
        }
    }

    /// A message was committed; timers become visible at their own time.
    pub(crate) fn message(&self, item: &WorkItem, instance: &str) {
        match item {
            WorkItem::TimerFired { fire_at_ms, .. } => match until(*fire_at_ms) {
                Duration::ZERO => self.orchestration_ready(instance),
                delay => self.orchestration_later(delay),
            },
            _ => self.orchestration_ready(instance),
        }
    }

    /// A work item was committed and is visible.
    pub(crate) fn work(&self, item: &WorkItem) {
        if let WorkItem::ActivityExecute {
            tag, session_id, ..
        } = item
        {
            let is_in_session = session_id.is_some();
            let work = WorkerWork::New {
                tag: tag.clone(),
                is_in_session,
            };
            if is_in_session {
                // Only the session's owner can take it, if it has one, and nobody here knows.
                self.workers.signal_all(&work);
            } else {
                self.workers.signal(work);
            }
        }
    }

    /// An activity is back in its queue, to be had after `delay`.
    pub(crate) fn work_returned(&self, delay: Option<Duration>) {
        match delay {
            None | Some(Duration::ZERO) => self.workers.signal_all(&WorkerWork::Returned),
            Some(delay) => self.workers.signal_at(due(delay), &WorkerWork::Returned),
        }
    }

    /// Lets whoever was woken go before the caller.
    pub(crate) async fn go_first(&self) {
        if self.orchestrations.is_awaited() || self.workers.is_awaited() {
            tokio::task::yield_now().await;
        }
    }
}

/// When to ask for what becomes visible after `delay`; of what is days away, once too early.
fn due(delay: Duration) -> Instant {
    after(delay.saturating_add(DUE_MARGIN))
}

/// Time from now until a moment given in milliseconds since 1970.
fn until(at_ms: u64) -> Duration {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Duration::from_millis(at_ms).saturating_sub(now)
}

#[cfg(test)]
mod tests;
