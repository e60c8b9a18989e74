//! When a group asks without a reason.

use std::time::Duration;

use tokio::time::Instant;

use crate::time::{jittered, later};

/// How rarely fetches ask that are watched for: only in case the watch fails without a word.
const WATCHED_INTERVAL: Duration = Duration::from_secs(5);

/// How often a waiting fetch asks the database without having been signalled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Repoll {
    pub(crate) min: Duration,
    pub(crate) max: Duration,
}

/// Questions without a reason: ever more rarely while nothing is found.
pub(super) struct Rhythm {
    repoll: Repoll,
    /// How long after a question the next one follows, as long as nobody watches.
    interval: Duration,
    next_at: Instant,
    /// A time at which asking is known to help.
    hint: Option<Instant>,
    /// Somebody watches the database for this group.
    is_watched: bool,
}

impl Rhythm {
    pub(super) fn new(repoll: Repoll, is_watched: bool) -> Self {
        let mut rhythm = Self {
            repoll,
            interval: repoll.min,
            next_at: Instant::now(),
            hint: None,
            is_watched,
        };
        rhythm.next_at = rhythm.following(Instant::now());
        rhythm
    }

    /// The question after one of this moment.
    fn following(&self, asked_at: Instant) -> Instant {
        let pace = if self.is_watched {
            self.repoll.max.max(WATCHED_INTERVAL)
        } else {
            self.interval
        };
        later(asked_at, jittered(pace))
    }

    pub(super) fn next_at(&self) -> Instant {
        self.next_at
    }

    pub(super) fn is_watched(&self) -> bool {
        self.is_watched
    }

    /// One asks now, for a fetch that wants to do so at least this often.
    pub(super) fn ask(&mut self, now: Instant, at_least_every: Duration) {
        self.hint = None;
        self.interval = self.interval.saturating_mul(2).min(at_least_every);
        self.next_at = self.following(now);
    }

    /// Asking helps at this time. Whether that is sooner than it would be asked.
    pub(super) fn hint(&mut self, at: Instant) -> bool {
        self.hint = Some(self.hint.map_or(at, |known| known.min(at)));
        self.hurry(at)
    }

    /// Work was found, and more is likely soon. Whether it is asked sooner for that.
    pub(super) fn quicken(&mut self, interval: Duration) -> bool {
        self.interval = interval;
        self.hurry(later(Instant::now(), jittered(interval)))
    }

    /// Somebody watches from now on, or nobody does any more. Whether it is asked sooner for that.
    pub(super) fn watch(&mut self, is_watched: bool) -> bool {
        if is_watched == self.is_watched {
            return false;
        }
        self.is_watched = is_watched;
        let next_at = self.following(Instant::now());
        if !is_watched {
            return self.hurry(next_at);
        }
        let next_at = next_at.max(self.next_at);
        self.next_at = self.hint.map_or(next_at, |hint| hint.min(next_at));
        false
    }

    fn hurry(&mut self, at: Instant) -> bool {
        let is_sooner = at < self.next_at;
        if is_sooner {
            self.next_at = at;
        }
        is_sooner
    }
}
