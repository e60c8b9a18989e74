//! The line's part in watching the database: for whom it is worthwhile, and whom it wakes.
//!
//! Watching is for fetches that have nothing to do. A group with a fetch under way hears from that
//! fetch, and a group that is told of work every few milliseconds would only have its watch begun
//! anew each time.

use std::time::Duration;

use tokio::time::Instant;

use super::{Cause, Group, Interest, Line, Reason};
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

impl<I: Interest> Group<I> {
    /// All members are asleep now, and were not before.
    pub(super) fn fell_quiet(&mut self) -> bool {
        let is_quiet = self.waiting == self.members && self.reasons.is_empty();
        if !is_quiet || self.quiet_since.is_some() {
            return false;
        }
        self.quiet_since = Some(Instant::now());
        true
    }

    /// When it becomes worthwhile to watch for this group.
    fn watchable_at(&self) -> Option<Instant> {
        let settled = self.quiet_since? + SETTLED;
        Some(self.unwatched_until.map_or(settled, |at| at.max(settled)))
    }

    pub(super) fn saw_in_vain(&mut self) {
        let longest = self.repoll.max.max(PAUSE_FIRST);
        self.watch_pause = (self.watch_pause * 2).clamp(PAUSE_FIRST, longest);
        self.unwatched_until = Some(later(Instant::now(), jittered(self.watch_pause)));
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
            match group.watchable_at() {
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
        let now = Instant::now();
        let mut state = self.lock();
        state.watched = interests.to_vec();
        for group in &mut state.groups {
            let is_watched = interests.contains(&group.interest);
            if is_watched == group.is_watched {
                continue;
            }
            group.is_watched = is_watched;
            let next_at = later(now, jittered(group.pace()));
            if is_watched {
                let next_at = next_at.max(group.next_at);
                group.next_at = group.hint.map_or(next_at, |hint| hint.min(next_at));
            } else {
                group.hurry(next_at);
            }
        }
    }

    /// The watch has seen something for these interests: their quiet groups ask. False when nobody
    /// who is watched for has such an interest.
    pub(crate) fn seen(&self, with: impl Fn(&I) -> bool) -> bool {
        let mut state = self.lock();
        let groups = state.groups.iter_mut();
        for group in groups.filter(|g| g.is_watched && with(&g.interest)) {
            if group.quiet_since.is_some() {
                group.give(Reason::new(Cause::Seen));
            }
        }
        state.watched.iter().any(with)
    }
}
