//! The workers of this process that may own sessions.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::time::{after, lease_end};

/// For how long a worker may own a session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lease {
    /// The first of its sessions ends then or later.
    ends_at: Instant,
    /// The last of its sessions ends then or sooner.
    until: Instant,
}

impl Lease {
    /// A lease that a request of that moment was answered with just now.
    pub(super) fn new(asked_at: Instant, length: Duration) -> Self {
        Self {
            ends_at: lease_end(asked_at, length),
            until: after(length),
        }
    }
}

/// Until when each worker may own a session. Only its owner can take the items of a session, so such a
/// worker has to ask for itself; all the others can ask for each other.
#[derive(Default)]
pub(super) struct Owners(Mutex<HashMap<String, Lease>>);

impl Owners {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Lease>> {
        let mut owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        owners.retain(|_, lease| lease.until > now);
        owners
    }

    pub(super) fn has(&self, owner: &str) -> bool {
        self.lock().contains_key(owner)
    }

    /// This worker has won a session, maybe beside others. Whether it was not known to own any.
    pub(super) fn owns(&self, owner: &str, lease: Lease) -> bool {
        let mut owners = self.lock();
        match owners.get_mut(owner) {
            Some(known) => {
                // Of a session that ended without being renewed there is nothing left to renew.
                if known.ends_at <= Instant::now() {
                    known.ends_at = lease.ends_at;
                }
                known.ends_at = known.ends_at.min(lease.ends_at);
                known.until = known.until.max(lease.until);
                false
            }
            None => {
                owners.insert(owner.to_owned(), lease);
                true
            }
        }
    }

    /// Some sessions of these workers were extended: of those that are known as owners, or, after a
    /// restart under the same names, of any.
    pub(super) fn renewed(&self, owner_ids: &[&str], lease: Lease) {
        let mut owners = self.lock();
        let is_known = |owner: &&&str| owners.contains_key(**owner);
        let known: Vec<_> = owner_ids.iter().filter(is_known).collect();
        let renewed = if known.is_empty() {
            owner_ids.iter().collect()
        } else {
            known
        };
        for owner in renewed {
            let known = owners.entry((*owner).to_owned()).or_insert(lease);
            known.ends_at = lease.ends_at;
            known.until = known.until.max(lease.until);
        }
    }

    /// What is left of the session of these workers that ends first, as far as is known here.
    pub(super) fn left(&self, owner_ids: &[&str]) -> Option<Duration> {
        let owners = self.lock();
        let known = owner_ids.iter().filter_map(|owner| owners.get(*owner));
        let first = known.map(|lease| lease.ends_at).min()?;
        Some(first.saturating_duration_since(Instant::now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// An idle session is not renewed. Its end says nothing of one that its owner has won since.
    #[tokio::test(start_paused = true)]
    async fn session_that_has_ended_shortens_no_other() {
        let owners = Owners::default();
        owners.owns("a", Lease::new(Instant::now(), 20 * SECOND));
        tokio::time::advance(15 * SECOND).await;
        owners.owns("a", Lease::new(Instant::now(), 20 * SECOND));
        assert_eq!(owners.left(&["a"]), Some(5 * SECOND));
        tokio::time::advance(10 * SECOND).await;
        owners.owns("a", Lease::new(Instant::now(), 20 * SECOND));
        assert_eq!(owners.left(&["a"]), Some(20 * SECOND));
    }

    /// The runtime renews the sessions of all its workers in one call, which must be done before the first of them ends.
    #[tokio::test(start_paused = true)]
    async fn session_that_ends_first_says_how_much_is_left() {
        let owners = Owners::default();
        let asked_at = Instant::now();
        tokio::time::advance(SECOND).await;
        owners.owns("a", Lease::new(asked_at, 20 * SECOND));
        owners.owns("b", Lease::new(asked_at, 60 * SECOND));
        assert_eq!(owners.left(&["a", "b", "c"]), Some(19 * SECOND));
        assert_eq!(owners.left(&["b"]), Some(59 * SECOND));
        assert_eq!(owners.left(&["c"]), None);
        // Another session does not lengthen the first one.
        owners.owns("a", Lease::new(Instant::now(), 20 * SECOND));
        assert_eq!(owners.left(&["a"]), Some(19 * SECOND));
        tokio::time::advance(9 * SECOND).await;
        owners.renewed(&["a", "b", "c"], Lease::new(Instant::now(), 30 * SECOND));
        assert_eq!(owners.left(&["a"]), Some(30 * SECOND));
        assert_eq!(owners.left(&["b"]), Some(30 * SECOND), "not the longest");
        assert_eq!(owners.left(&["c"]), None, "it was not known to own any");
        tokio::time::advance(31 * SECOND).await;
        assert_eq!(owners.left(&["a"]), None);
        assert_eq!(owners.left(&["b"]), Some(Duration::ZERO));
        owners.renewed(&["c", "d"], Lease::new(Instant::now(), SECOND));
        assert_eq!(owners.left(&["d"]), Some(SECOND), "after a restart");
    }
}
