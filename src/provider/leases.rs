//! The leases that this provider holds, and how much is left of them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::time::later;

/// Which queue a lease is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Queue {
    Orchestrations,
    Work,
}

struct Held {
    queue: Queue,
    /// For those who look at spans and logs.
    instance_id: String,
    ends_at: Instant,
}

/// Leases by lock token, from the fetch to the ack or abandon.
#[derive(Default)]
pub(crate) struct Leases(Mutex<HashMap<String, Held>>);

impl Leases {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A lease was won. It is counted from the moment of the request: the server gave it later.
    pub(crate) fn begin(
        &self,
        token: &str,
        queue: Queue,
        instance_id: &str,
        asked_at: Instant,
        length: Duration,
    ) {
        let ends_at = later(asked_at, length);
        let mut leases = self.lock();
        let now = Instant::now();
        // Leases that nobody settled end by themselves.
        leases.retain(|_, held| held.ends_at > now);
        let held = Held {
            queue,
            instance_id: instance_id.to_owned(),
            ends_at,
        };
        leases.insert(token.to_owned(), held);
    }

    /// A lease was extended by a request of that moment.
    pub(crate) fn extend(&self, token: &str, asked_at: Instant, length: Duration) {
        if let Some(held) = self.lock().get_mut(token) {
            held.ends_at = held.ends_at.max(later(asked_at, length));
        }
    }

    /// The item was acknowledged, given back or lost.
    pub(crate) fn end(&self, token: &str) {
        self.lock().remove(token);
    }

    /// The instance that a lease is of, if it is known here.
    pub(crate) fn instance_id(&self, token: &str) -> Option<String> {
        let leases = self.lock();
        leases.get(token).map(|held| held.instance_id.clone())
    }

    /// What is left of a lease; nothing when it is over, `None` when it is not known here.
    pub(crate) fn left(&self, token: &str) -> Option<Duration> {
        let now = Instant::now();
        let leases = self.lock();
        let held = leases.get(token)?;
        Some(held.ends_at.saturating_duration_since(now))
    }

    /// Every lease that still holds.
    pub(crate) fn take_all(&self) -> Vec<(Queue, String)> {
        let now = Instant::now();
        let leases = std::mem::take(&mut *self.lock());
        let holding = leases.into_iter().filter(|(_, held)| held.ends_at > now);
        holding.map(|(token, held)| (held.queue, token)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn lease_is_counted_from_the_request_that_won_or_extended_it() {
        let leases = Leases::default();
        let asked_at = Instant::now();
        tokio::time::advance(SECOND).await;
        leases.begin("a", Queue::Work, "order", asked_at, 5 * SECOND);
        assert_eq!(leases.instance_id("a").as_deref(), Some("order"));
        assert_eq!(leases.left("a"), Some(4 * SECOND));
        let asked_at = Instant::now();
        tokio::time::advance(SECOND).await;
        leases.extend("a", asked_at, 10 * SECOND);
        assert_eq!(leases.left("a"), Some(9 * SECOND));
        leases.extend("a", asked_at, SECOND);
        assert_eq!(leases.left("a"), Some(9 * SECOND), "never shorter");
        tokio::time::advance(20 * SECOND).await;
        assert_eq!(leases.left("a"), Some(Duration::ZERO));
        leases.end("a");
        assert_eq!(leases.left("a"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn only_leases_that_hold_are_given_back() {
        let leases = Leases::default();
        leases.begin("over", Queue::Work, "", Instant::now(), SECOND);
        leases.begin(
            "held",
            Queue::Orchestrations,
            "",
            Instant::now(),
            Duration::MAX,
        );
        leases.begin("none", Queue::Work, "", Instant::now(), Duration::ZERO);
        tokio::time::advance(SECOND).await;
        let held = (Queue::Orchestrations, "held".to_owned());
        assert_eq!(leases.take_all(), [held]);
        assert_eq!(leases.take_all(), []);
    }
}
