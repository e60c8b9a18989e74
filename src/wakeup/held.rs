//! The instances whose turn is running in this process.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

struct Turn {
    instance: String,
    lease_ends: Instant,
    has_news: bool,
}

/// Running turns by lock token. A message for an instance in its turn cannot be fetched yet, so
/// it wakes nobody until the turn ends.
#[derive(Default)]
pub(crate) struct Held {
    turns: Mutex<HashMap<String, Turn>>,
}

impl Held {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Turn>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn insert(&self, token: &str, instance: &str, lease_ends: Instant) {
        let mut turns = self.lock();
        let now = Instant::now();
        // Turns that were neither acknowledged nor abandoned end with their lease.
        turns.retain(|_, turn| turn.lease_ends > now);
        let turn = Turn {
            instance: instance.to_owned(),
            lease_ends,
            has_news: false,
        };
        turns.insert(token.to_owned(), turn);
    }

    pub(crate) fn extend(&self, token: &str, lease_ends: Instant) {
        if let Some(turn) = self.lock().get_mut(token) {
            turn.lease_ends = turn.lease_ends.max(lease_ends);
        }
    }

    /// Ends a turn. True when a message arrived for its instance meanwhile.
    pub(crate) fn remove(&self, token: &str) -> bool {
        self.lock().remove(token).is_some_and(|turn| turn.has_news)
    }

    /// Notes a message for `instance`. False when no turn of it is running here.
    pub(crate) fn mark(&self, instance: &str, now: Instant) -> bool {
        let mut turns = self.lock();
        let turn = turns
            .values_mut()
            .find(|t| t.instance == instance && t.lease_ends > now);
        match turn {
            Some(turn) => {
                turn.has_news = true;
                true
            }
            None => false,
        }
    }
}
