//! The workers of this process that may own sessions.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::time::after;

/// Until when each worker may own a session. Only its owner can take the items of a session, so such a
/// worker has to ask for itself; all the others can ask for each other.
#[derive(Default)]
pub(super) struct Owners(Mutex<HashMap<String, Instant>>);

impl Owners {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        let mut owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        owners.retain(|_, until| *until > now);
        owners
    }

    pub(super) fn has(&self, owner: &str) -> bool {
        self.lock().contains_key(owner)
    }

    /// This worker has won a session. Whether it was not known to own any.
    pub(super) fn owns(&self, owner: &str, lease: Duration) -> bool {
        let until = after(lease);
        let mut owners = self.lock();
        let known = owners.get(owner).copied();
        owners.insert(owner.to_owned(), until.max(known.unwrap_or(until)));
        known.is_none()
    }

    /// Some sessions of these workers were extended: of those that are known as owners, or, after a
    /// restart under the same names, of any.
    pub(super) fn renewed(&self, owner_ids: &[&str], lease: Duration) {
        let is_known = |owner: &&&str| self.has(owner);
        let known: Vec<_> = owner_ids.iter().filter(is_known).collect();
        if known.is_empty() {
            owner_ids.iter().for_each(|owner| {
                self.owns(owner, lease);
            });
        } else {
            known.into_iter().for_each(|owner| {
                self.owns(owner, lease);
            });
        }
    }
}
