//! The leases that this provider holds, and how much is left of them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::time::{later, lease_end};

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
    /// It ends then or later.
    ends_at: Instant,
    /// It ends then or sooner, unless a renewal is under way.
    may_end_at: Instant,
    /// How many renewals are under way, and what the longest of them adds. The server may grant it at any moment.
    renewals: u32,
    extension: Duration,
    /// How many acks and abandons are under way.
    settlements: u32,
    /// Set when a renewal failed and the server did not say that the lease is lost: until when that is remembered.
    in_doubt_until: Option<Instant>,
}

impl Held {
    fn new(queue: Queue, instance_id: &str, ends_at: Instant, may_end_at: Instant) -> Self {
        Self {
            queue,
            instance_id: instance_id.to_owned(),
            ends_at,
            may_end_at,
            renewals: 0,
            extension: Duration::ZERO,
            settlements: 0,
            in_doubt_until: None,
        }
    }

    /// What may be left of it by the server's account.
    fn may_be_left(&self, now: Instant) -> Duration {
        let known = self.may_end_at.saturating_duration_since(now);
        match self.renewals {
            0 => known,
            _ => known.max(self.extension),
        }
    }

    /// Whether it still matters to anybody.
    fn is_kept(&self, now: Instant) -> bool {
        !self.may_be_left(now).is_zero() || self.in_doubt_until.is_some_and(|until| until > now)
    }
}

/// How long a failed renewal is remembered. The runtime settles the item after its grace period, which is seconds
/// by default.
const DOUBT: Duration = Duration::from_secs(60 * 60);

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
        let now = Instant::now();
        let (ends_at, may_end_at) = (lease_end(asked_at, length), lease_end(now, length));
        let mut leases = self.lock();
        // Leases that nobody settled end by themselves.
        leases.retain(|_, held| held.is_kept(now));
        let held = Held::new(queue, instance_id, ends_at, may_end_at);
        leases.insert(token.to_owned(), held);
    }

    /// A lease was extended by a request of that moment. It may have been taken for ended, and forgotten, while
    /// the answer was on its way.
    pub(crate) fn extend(&self, token: &str, queue: Queue, asked_at: Instant, length: Duration) {
        let ends_at = lease_end(asked_at, length);
        let may_end_at = lease_end(Instant::now(), length);
        let mut leases = self.lock();
        match leases.get_mut(token) {
            Some(held) => {
                held.ends_at = held.ends_at.max(ends_at);
                held.may_end_at = held.may_end_at.max(may_end_at);
                held.in_doubt_until = None;
            }
            None => {
                let held = Held::new(queue, "", ends_at, may_end_at);
                leases.insert(token.to_owned(), held);
            }
        }
    }

    /// A renewal by this much begins. However it ends, unless it is known what became of it, the lease may last for that much from then on.
    pub(crate) fn renewing<'a>(&'a self, token: &'a str, extension: Duration) -> Renewing<'a> {
        let mut leases = self.lock();
        let held = leases.get_mut(token);
        let was_held = held.is_some();
        if let Some(held) = held {
            held.renewals += 1;
            held.extension = held.extension.max(extension);
        }
        Renewing {
            leases: self,
            token,
            extension,
            was_held,
            is_known: false,
        }
    }

    /// An ack or an abandon begins, and goes on until what is returned is dropped.
    pub(crate) fn settling<'a>(&'a self, token: &'a str) -> Settling<'a> {
        if let Some(held) = self.lock().get_mut(token) {
            held.settlements += 1;
        }
        Settling {
            leases: self,
            token,
        }
    }

    /// The renewal of a work item failed, and nobody knows whether its lease is lost. Leases that are over may
    /// have been forgotten meanwhile.
    pub(crate) fn doubt(&self, token: &str) {
        let now = Instant::now();
        let mut leases = self.lock();
        let held = leases
            .entry(token.to_owned())
            .or_insert_with(|| Held::new(Queue::Work, "", now, now));
        held.in_doubt_until = Some(later(now, DOUBT));
    }

    /// Whether the last renewal of this lease left its state in doubt.
    pub(crate) fn is_in_doubt(&self, token: &str) -> bool {
        let leases = self.lock();
        leases
            .get(token)
            .is_some_and(|held| held.in_doubt_until.is_some())
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

    /// What is left of a lease at least; nothing when it may be over, `None` when it is not known here.
    pub(crate) fn left(&self, token: &str) -> Option<Duration> {
        let now = Instant::now();
        let leases = self.lock();
        let held = leases.get(token)?;
        Some(held.ends_at.saturating_duration_since(now))
    }

    /// What is left of a lease at most; nothing when it is over for certain, or not known here.
    pub(crate) fn may_be_left(&self, token: &str) -> Duration {
        let leases = self.lock();
        let held = leases.get(token);
        held.map_or(Duration::ZERO, |held| held.may_be_left(Instant::now()))
    }

    /// Every lease that still holds, or may hold.
    pub(crate) fn take_all(&self) -> Vec<(Queue, String)> {
        let now = Instant::now();
        let leases = std::mem::take(&mut *self.lock());
        let holding = leases.into_iter().filter(|(_, held)| held.is_kept(now));
        holding.map(|(token, held)| (held.queue, token)).collect()
    }
}

/// A renewal under way. Its caller may go away at any moment, and the runtime does when a turn has ended.
pub(crate) struct Renewing<'a> {
    leases: &'a Leases,
    token: &'a str,
    extension: Duration,
    /// The lease was known when it began.
    was_held: bool,
    is_known: bool,
}

impl Renewing<'_> {
    /// Whether somebody settles the lease, or has settled it since this began. A server that knows nothing of it then tells of no loss.
    pub(crate) fn is_overtaken(&self) -> bool {
        match self.leases.lock().get(self.token) {
            Some(held) => held.settlements > 0,
            None => self.was_held,
        }
    }

    /// The server has answered.
    pub(crate) fn answered(mut self) {
        self.is_known = true;
    }
}

impl Drop for Renewing<'_> {
    fn drop(&mut self) {
        if let Some(held) = self.leases.lock().get_mut(self.token) {
            held.renewals = held.renewals.saturating_sub(1);
            if held.renewals == 0 {
                held.extension = Duration::ZERO;
            }
            if !self.is_known {
                let may_end_at = lease_end(Instant::now(), self.extension);
                held.may_end_at = held.may_end_at.max(may_end_at);
            }
        }
    }
}

/// An ack or an abandon under way.
pub(crate) struct Settling<'a> {
    leases: &'a Leases,
    token: &'a str,
}

impl Drop for Settling<'_> {
    fn drop(&mut self) {
        if let Some(held) = self.leases.lock().get_mut(self.token) {
            held.settlements = held.settlements.saturating_sub(1);
        }
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
        leases.extend("a", Queue::Work, asked_at, 10 * SECOND);
        assert_eq!(leases.left("a"), Some(9 * SECOND));
        leases.extend("a", Queue::Work, asked_at, SECOND);
        assert_eq!(leases.left("a"), Some(9 * SECOND), "never shorter");
        tokio::time::advance(20 * SECOND).await;
        assert_eq!(leases.left("a"), Some(Duration::ZERO));
        leases.end("a");
        assert_eq!(leases.left("a"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn lease_of_several_days_is_known_until_it_ends() {
        let (leases, day) = (Leases::default(), 24 * 60 * 60 * SECOND);
        leases.begin("a", Queue::Work, "order", Instant::now(), 3 * day);
        leases.begin("b", Queue::Work, "order", Instant::now(), SECOND);
        leases.extend("b", Queue::Work, Instant::now(), 4 * day);
        tokio::time::advance(2 * day).await;
        leases.begin("c", Queue::Work, "", Instant::now(), SECOND);
        assert_eq!(leases.left("a"), Some(day));
        assert_eq!(leases.left("b"), Some(2 * day));
    }

    /// A renewal may be answered after the end of the lease as it was known.
    #[tokio::test(start_paused = true)]
    async fn lease_that_was_taken_for_ended_is_known_again_when_it_was_extended() {
        let leases = Leases::default();
        leases.begin("a", Queue::Work, "order", Instant::now(), SECOND);
        let asked_at = Instant::now();
        tokio::time::advance(2 * SECOND).await;
        leases.begin("b", Queue::Work, "", Instant::now(), SECOND);
        assert_eq!(leases.left("a"), None, "forgotten");
        leases.extend("a", Queue::Work, asked_at, 10 * SECOND);
        assert_eq!(leases.left("a"), Some(8 * SECOND));
    }

    /// Other fetches forget leases that are over, but not what is in doubt.
    #[tokio::test(start_paused = true)]
    async fn doubt_is_remembered_beyond_the_lease() {
        let leases = Leases::default();
        leases.begin("a", Queue::Work, "order", Instant::now(), SECOND);
        assert!(!leases.is_in_doubt("a"));
        leases.doubt("a");
        leases.doubt("forgotten");
        tokio::time::advance(60 * SECOND).await;
        leases.begin("b", Queue::Work, "", Instant::now(), SECOND);
        assert!(leases.is_in_doubt("a") && leases.is_in_doubt("forgotten"));
        assert_eq!(leases.left("a"), Some(Duration::ZERO));
        leases.extend("a", Queue::Work, Instant::now(), SECOND);
        assert!(!leases.is_in_doubt("a"), "the server has answered");
        assert_eq!(leases.take_all().len(), 3);
        leases.doubt("a");
        tokio::time::advance(DOUBT).await;
        leases.begin("c", Queue::Work, "", Instant::now(), SECOND);
        assert!(!leases.is_in_doubt("a"), "not for ever");
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

    /// Nobody may take a lease for over that the server still grants.
    #[tokio::test(start_paused = true)]
    async fn lease_may_last_for_as_long_as_a_renewal_without_an_answer_adds() {
        let leases = Leases::default();
        let asked_at = Instant::now();
        tokio::time::advance(SECOND).await;
        leases.begin("a", Queue::Work, "order", asked_at, 5 * SECOND);
        assert_eq!(leases.left("a"), Some(4 * SECOND));
        assert_eq!(
            leases.may_be_left("a"),
            5 * SECOND,
            "given at the last moment"
        );
        let renewing = leases.renewing("a", 10 * SECOND);
        tokio::time::advance(60 * SECOND).await;
        assert_eq!(leases.left("a"), Some(Duration::ZERO));
        assert_eq!(leases.may_be_left("a"), 10 * SECOND, "it may come yet");
        drop(renewing);
        tokio::time::advance(4 * SECOND).await;
        assert_eq!(leases.may_be_left("a"), 6 * SECOND);
        leases.begin("b", Queue::Work, "", Instant::now(), SECOND);
        assert_eq!(leases.may_be_left("a"), 6 * SECOND, "not forgotten");
        leases.renewing("a", 20 * SECOND).answered();
        assert_eq!(leases.may_be_left("a"), 6 * SECOND);
        leases.extend("a", Queue::Work, Instant::now(), 8 * SECOND);
        assert_eq!(leases.may_be_left("a"), 8 * SECOND);
        leases.end("a");
        assert_eq!(leases.may_be_left("a"), Duration::ZERO);
    }

    /// What a renewal is told of a lease that its caller gives up at the same time says nothing of a loss.
    #[test]
    fn renewal_is_overtaken_by_whoever_settles_the_lease() {
        let leases = Leases::default();
        let hold = |token| leases.begin(token, Queue::Work, "", Instant::now(), SECOND);
        assert!(!leases.renewing("unknown", SECOND).is_overtaken());
        hold("a");
        let renewing = leases.renewing("a", SECOND);
        assert!(!renewing.is_overtaken());
        let settling = leases.settling("a");
        assert!(renewing.is_overtaken(), "under way");
        drop(settling);
        assert!(!renewing.is_overtaken(), "it failed");
        leases.end("a");
        assert!(renewing.is_overtaken(), "done");
    }
}
