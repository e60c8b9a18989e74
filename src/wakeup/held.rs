//! The instances whose turn is running in this process.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

struct Turn {
    instance: String,
    lease_ends: Instant,
    has_news: bool,
}

/// How long the answer to a fetch may be on its way for messages from before it to be remembered.
const ON_ITS_WAY: Duration = Duration::from_secs(2);
/// So many instances at most have messages that nobody was found in a turn for; of more than these, the
/// interval tells.
const MOST: usize = 1024;

/// Running turns by lock token. A message for an instance in its turn cannot be fetched yet, so
/// it wakes nobody until the turn ends.
///
/// A turn is known here when the answer to its fetch has been read, and runs since the claim was committed. A message that
/// comes in between wakes a fetch that finds the instance held, so that it must be remembered for the turn.
#[derive(Default)]
pub(crate) struct Held(Mutex<Instances>);

#[derive(Default)]
struct Instances {
    turns: HashMap<String, Turn>,
    /// When the last message came for instances that were in no turn, as far as was known, by the hash of their ids: two of one
    /// hash cost a fetch in vain.
    unheld: HashMap<u64, Instant>,
    hasher: RandomState,
}

impl Held {
    fn lock(&self) -> MutexGuard<'_, Instances> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A turn began by a fetch of the moment `asked_at`.
    pub(crate) fn insert(
        &self,
        token: &str,
        instance: &str,
        asked_at: Instant,
        lease_ends: Instant,
    ) {
        let mut held = self.lock();
        let now = Instant::now();
        // Turns that were neither acknowledged nor abandoned end with their lease.
        held.turns.retain(|_, turn| turn.lease_ends > now);
        let hash = held.hasher.hash_one(instance);
        let told_at = held.unheld.remove(&hash);
        let turn = Turn {
            instance: instance.to_owned(),
            lease_ends,
            has_news: told_at.is_some_and(|at| at >= asked_at),
        };
        held.turns.insert(token.to_owned(), turn);
    }

    pub(crate) fn extend(&self, token: &str, lease_ends: Instant) {
        if let Some(turn) = self.lock().turns.get_mut(token) {
            turn.lease_ends = turn.lease_ends.max(lease_ends);
        }
    }

    /// Ends a turn. True when a message arrived for its instance meanwhile.
    pub(crate) fn remove(&self, token: &str) -> bool {
        let turn = self.lock().turns.remove(token);
        turn.is_some_and(|turn| turn.has_news)
    }

    /// Notes a message for `instance`. False when no turn of it is known to run here.
    pub(crate) fn mark(&self, instance: &str, now: Instant) -> bool {
        let mut held = self.lock();
        let turn = held
            .turns
            .values_mut()
            .find(|t| t.instance == instance && t.lease_ends > now);
        if let Some(turn) = turn {
            turn.has_news = true;
            return true;
        }
        let hash = held.hasher.hash_one(instance);
        let unheld = &mut held.unheld;
        if unheld.len() >= MOST {
            unheld.retain(|_, at| now.saturating_duration_since(*at) < ON_ITS_WAY);
        }
        if unheld.len() < MOST {
            unheld.insert(hash, now);
        }
        false
    }
}
