//! Why the fetches of a group should ask, and which of these reasons a query has answered.

use std::time::Duration;

use tokio::time::Instant;

/// How long "nothing there" holds for a fetch that comes later.
pub(super) const ANSWER_HOLDS: Duration = Duration::from_millis(10);

/// A reason to ask the database, since a moment.
pub(super) struct Reason<W> {
    pub(super) cause: Cause<W>,
    since: Instant,
}

pub(super) enum Cause<W> {
    /// This work was committed.
    Told(W),
    /// The watch has seen something.
    Seen,
    /// Another fetch found more than it was told of, or it is simply time.
    Unknown,
}

impl<W> Reason<W> {
    pub(super) fn new(cause: Cause<W>) -> Self {
        Self {
            cause,
            since: Instant::now(),
        }
    }
}

/// The reasons that no fetch has taken up yet.
pub(super) struct Reasons<W> {
    open: Vec<Reason<W>>,
    /// The newest one that there was no room for.
    unsaid_at: Option<Instant>,
    /// When the latest query began that found nothing, unless work was found since that nobody had told of.
    empty_at: Option<Instant>,
}

impl<W> Reasons<W> {
    pub(super) fn none() -> Self {
        Self {
            open: Vec::new(),
            unsaid_at: None,
            empty_at: None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Keeps a reason for one of so many fetches.
    ///
    /// No more of them than there are fetches, which may all be busy for long while work is committed
    /// without end: a fetch that has asked comes back and asks before it waits, so that more reasons
    /// than fetches tell nothing new. The newest ones stay, because a query that found nothing answers
    /// the older ones.
    pub(super) fn add(&mut self, reason: Reason<W>, fetches: usize) {
        self.open.push(reason);
        if self.open.len() > fetches.max(1) {
            let oldest = (0..self.open.len()).min_by_key(|at| self.open[*at].since);
            let unsaid = oldest.map(|at| self.open.remove(at).since);
            self.unsaid_at = self.unsaid_at.max(unsaid);
        }
    }

    pub(super) fn take(&mut self) -> Option<Reason<W>> {
        self.open.pop()
    }

    /// A query of that moment found nothing: what is older is answered by it.
    pub(super) fn found_nothing(&mut self, asked_at: Instant) {
        self.empty_at = self.empty_at.max(Some(asked_at));
        self.open.retain(|reason| reason.since > asked_at);
    }

    /// A query found what nobody had told of: there may be more.
    pub(super) fn found_more(&mut self) {
        self.empty_at = None;
    }

    /// Whether a query has found nothing a moment ago, and everything that came since is in the list.
    pub(super) fn are_answered(&self) -> bool {
        let empty_at = self.empty_at.filter(|at| Some(*at) > self.unsaid_at);
        empty_at.is_some_and(|at| at.elapsed() < ANSWER_HOLDS)
    }

    pub(super) fn into_iter(self) -> impl Iterator<Item = Reason<W>> {
        self.open.into_iter()
    }
}
