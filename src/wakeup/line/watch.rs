//! The line's part in watching the database: for whom it is worthwhile, and whom it wakes.
//!
//! Watching is for fetches that have nothing to do. A group with a fetch under way hears from that
//! fetch, and a group that is told of work every few milliseconds would only have its watch begun
//! anew each time.

use std::time::Duration;

use tokio::time::Instant;

use super::{Cause, Interest, Line, Reason};
use crate::time::{jittered, later};

/// A group that has been quiet for so long is worth watching for.
const SETTLED: Duration = Duration::from_millis(50);

/// Pauses after a watch that woke a fetch in vain: another process was quicker, or the fetch sees
/// what the watch does not. They grow up to the longest interval between questions.
const PAUSE_FIRST: Duration = Duration::from_millis(20);

/// What should be watched for.
pub(crate) struct Watchable<I> {
    pub(crate) interests: Vec<I>,
    /// When there may be more, if nothing happens before.
    pub(crate) more_at: Option<Instant>,
}

/// Since when a group has nothing to do, and whether that is worth a watch.
#[derive(Default)]
pub(super) struct Quiet {
    /// Since when all members have been asleep without a reason to ask.
    since: Option<Instant>,
    /// After a watch that saw what no member could take: until when there is none, and how long that is.
    paused_until: Option<Instant>,
    pause: Duration,
}

impl Quiet {
    /// All members are asleep. Whether that is new.
    pub(super) fn fell(&mut self) -> bool {
        let is_new = self.since.is_none();
        self.since.get_or_insert_with(Instant::now);
        is_new
    }

    /// Some member is awake, or should be.
    pub(super) fn broken(&mut self) {
        self.since = None;
    }

    /// When it becomes worthwhile to watch.
    fn watchable_at(&self) -> Option<Instant> {
        let settled = self.since? + SETTLED;
        Some(self.paused_until.map_or(settled, |at| at.max(settled)))
    }

    /// The watch woke a member in vain.
    pub(super) fn pause(&mut self, longest: Duration) {
        let doubled = self.pause.saturating_mul(2);
        self.pause = doubled.clamp(PAUSE_FIRST, longest.max(PAUSE_FIRST));
        self.paused_until = Some(later(Instant::now(), jittered(self.pause)));
    }

    /// A member found something: the next pause is a short one.
    pub(super) fn no_pause(&mut self) {
        self.pause = Duration::ZERO;
    }
}

impl<I: Interest> Line<I> {
    /// The interests that should be watched for now.
    pub(crate) fn watchable(&self) -> Watchable<I> {
        let now = Instant::now();
        let mut watchable = Watchable {
            interests: Vec::new(),
            more_at: None,
        };
        let state = self.lock();
        for group in state.groups.iter().filter(|g| g.interest.is_watchable()) {
            match group.quiet.watchable_at() {
                Some(at) if at <= now => watchable.interests.push(group.interest.clone()),
                Some(at) => {
                    watchable.more_at =
                        Some(watchable.more_at.map_or(at, |known: Instant| known.min(at)));
                }
                None => {}
            }
        }
        watchable
    }

    /// A group has fallen quiet since the last call of this function.
    pub(crate) async fn quieted(&self) {
        self.quieted.notified().await;
    }

    /// From now on exactly these are watched for. The others ask by themselves again.
    pub(crate) fn watch(&self, interests: &[I]) {
        let mut state = self.lock();
        state.watched = interests.to_vec();
        for group in &mut state.groups {
            let is_watched = interests.contains(&group.interest);
            group.retime(|rhythm| rhythm.watch(is_watched));
        }
    }

    /// The watch has seen something for these interests: their quiet groups ask. False when nobody
    /// who is watched for has such an interest.
    pub(crate) fn seen(&self, with: impl Fn(&I) -> bool) -> bool {
        let mut state = self.lock();
        let groups = state.groups.iter_mut();
        for group in groups.filter(|g| g.rhythm.is_watched() && with(&g.interest)) {
            if group.quiet.since.is_some() {
                group.give(Reason::new(Cause::Seen));
            }
        }
        state.watched.iter().any(with)
    }
}
