//! Whose sessions this provider has leased, so that those of workers that never come back can be let go.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::time::{after, later};

/// The server leases a session after it was asked to.
const ON_ITS_WAY: Duration = Duration::from_secs(60);

/// The owners that fetches and renewals have named, and until when a session may be leased to them.
#[derive(Default)]
pub(super) struct SessionOwners(Mutex<HashMap<String, Instant>>);

impl SessionOwners {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call is about to lease sessions to this owner, or to extend their leases.
    pub(super) fn named(&self, owner_id: &str, lease: Duration) {
        if !is_of_one_runtime(owner_id) {
            return;
        }
        let now = Instant::now();
        let until = later(after(lease), ON_ITS_WAY);
        let mut owners = self.lock();
        match owners.get_mut(owner_id) {
            Some(known) => *known = until.max(*known),
            None => {
                owners.retain(|_, until| *until > now);
                owners.insert(owner_id.to_owned(), until);
            }
        }
    }

    /// The owners that may have sessions and will not come back for them.
    pub(super) fn holding(&self) -> Vec<String> {
        let now = Instant::now();
        let owners = self.lock();
        let holding = owners.iter().filter(|(_, until)| **until > now);
        holding.map(|(owner_id, _)| owner_id.clone()).collect()
    }
}

/// Whether the runtime made this name up for one of its workers, as it does without a `worker_node_id`:
/// `work-`, a number, and the four hexadecimal digits that it calls itself by. Its workers do not come back under it, though another
/// runtime may draw the same digits, rarely: such twins share their sessions by duroxide's own rule, and lose them
/// together. A name of the user's own is there to find its sessions again after a restart.
fn is_of_one_runtime(owner_id: &str) -> bool {
    let numbered = owner_id.strip_prefix("work-");
    numbered
        .and_then(|rest| rest.split_once('-'))
        .is_some_and(|(number, runtime)| {
            let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit())
                && runtime.len() == 4
                && runtime.bytes().all(is_hex)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn names_of_the_user_are_told_from_those_of_a_runtime() {
        for name in ["work-0-a1b2", "work-17-0000", "work-3-ffff"] {
            assert!(is_of_one_runtime(name), "{name}");
        }
        for name in [
            "",
            "pod-0",
            "work-",
            "work-0",
            "work-a-1",
            "work--1",
            "network-0-a1b2",
            "work-0-",
            "work-0-a1b",
            "work-0-a1b2c",
            "work-0-A1B2",
            "work-0-next",
            "work-0-a1b2-x",
            "work-+1-a1b2",
        ] {
            assert!(!is_of_one_runtime(name), "{name}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn owners_are_known_for_as_long_as_their_leases_may_last() {
        let owners = SessionOwners::default();
        owners.named("work-0-00aa", SECOND);
        owners.named("work-1-00aa", Duration::MAX);
        owners.named("work-2-00aa", SECOND);
        owners.named("pod-0", Duration::MAX);
        tokio::time::advance(SECOND + ON_ITS_WAY / 2).await;
        owners.named("work-2-00aa", SECOND);
        tokio::time::advance(ON_ITS_WAY / 2).await;
        let mut held = owners.holding();
        held.sort_unstable();
        assert_eq!(held, ["work-1-00aa", "work-2-00aa"]);
        tokio::time::advance(SECOND + ON_ITS_WAY).await;
        assert_eq!(owners.holding(), ["work-1-00aa"], "a day at most");
    }
}
