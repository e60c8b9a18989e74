//! Claims whose attempt counts although nobody had the item.
//!
//! A claim that nobody takes is given back, its attempt undone. When its lease is over by then, as it is when the commit took
//! longer, another fetch may have the item already, and has counted the attempt with its own. The database is told to take it off,
//! which may take as long as the commit did; so whoever has the item is told a number without it.
//!
//! Nobody else knows of these: the fetch of another process may count one that is still to be taken off, and that
//! only until it is.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::leases::Queue;
use crate::time::lease_end;

/// How long a claim is remembered of which nobody knows whether its attempt still counts.
const REMEMBERED: Duration = Duration::from_secs(10 * 60);
/// So many of them at most: more than a pool of connections leaves behind.
const MOST: usize = 10_000;

/// The claims in vain of one provider.
#[derive(Default)]
pub(super) struct InVain(Mutex<Ledger>);

#[derive(Default)]
struct Ledger {
    begun: u64,
    claims: Vec<Entry>,
}

struct Entry {
    number: u64,
    queue: Queue,
    item: String,
    noted_at: Instant,
    /// Nobody could take the item over before.
    lease_ended_at: Instant,
    /// When it was known that the attempt no longer counts.
    uncounted_at: Option<Instant>,
}

impl Entry {
    fn is_remembered(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.noted_at) < REMEMBERED
    }
}

/// One claim, from the moment it is known to be in vain.
pub(super) struct Noted(u64);

/// What a token says of its item: the id of an instance, or the number of an activity.
fn item(token: &str) -> &str {
    token.split_once(':').map_or(token, |(_, item)| item)
}

impl InVain {
    fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A claim is in vain, with so much left of its lease.
    pub(super) fn note(&self, queue: Queue, token: &str, left: Duration) -> Noted {
        let now = Instant::now();
        let mut ledger = self.lock();
        ledger.claims.retain(|entry| entry.is_remembered(now));
        if ledger.claims.len() >= MOST {
            ledger.claims.remove(0);
        }
        ledger.begun += 1;
        let number = ledger.begun;
        ledger.claims.push(Entry {
            number,
            queue,
            item: item(token).to_owned(),
            noted_at: now,
            lease_ended_at: lease_end(now, left),
            uncounted_at: None,
        });
        Noted(number)
    }

    /// It was given back before anybody took it over.
    pub(super) fn undone(&self, noted: &Noted) {
        self.lock().claims.retain(|entry| entry.number != noted.0);
    }

    /// Whoever claims the item from now on does not count it.
    pub(super) fn uncounted(&self, noted: &Noted) {
        let mut ledger = self.lock();
        let entry = ledger
            .claims
            .iter_mut()
            .find(|entry| entry.number == noted.0);
        if let Some(entry) = entry {
            entry.uncounted_at = Some(Instant::now());
        }
    }

    /// How many of the attempts of an item, which a fetch of that moment has brought, were made in vain.
    pub(super) fn among(&self, queue: Queue, token: &str, asked_at: Instant) -> u32 {
        let (item, now) = (item(token), Instant::now());
        let ledger = self.lock();
        let counted = ledger.claims.iter().filter(|entry| {
            entry.queue == queue
                && entry.item == item
                && entry.is_remembered(now)
                && entry.lease_ended_at <= now
                && entry.uncounted_at.is_none_or(|at| at > asked_at)
        });
        u32::try_from(counted.count()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const TURNS: Queue = Queue::Orchestrations;

    #[tokio::test(start_paused = true)]
    async fn attempt_in_vain_does_not_count_until_it_is_taken_off() {
        let in_vain = InVain::default();
        let before = Instant::now();
        let first = in_vain.note(TURNS, "a1:order", Duration::ZERO);
        let second = in_vain.note(TURNS, "a2:order", Duration::ZERO);
        let among = |token, asked_at| in_vain.among(TURNS, token, asked_at);
        assert_eq!(among("b:order", before), 2);
        assert_eq!(among("b:other", before), 0);
        assert_eq!(in_vain.among(Queue::Work, "b:order", before), 0);
        tokio::time::advance(SECOND).await;
        in_vain.uncounted(&first);
        assert_eq!(among("b:order", before), 2, "claimed before");
        tokio::time::advance(SECOND).await;
        assert_eq!(among("c:order", Instant::now()), 1, "claimed afterwards");
        in_vain.undone(&second);
        assert_eq!(among("c:order", Instant::now()), 0);
        assert_eq!(among("b:order", before), 1);
        tokio::time::advance(REMEMBERED).await;
        assert_eq!(among("b:order", before), 0, "not for ever");
    }

    /// Whoever has an item while the lease of an earlier claim lasts has it because that was given back.
    #[tokio::test(start_paused = true)]
    async fn attempt_under_a_lease_that_holds_is_undone_when_the_item_is_there_again() {
        let in_vain = InVain::default();
        let asked_at = Instant::now();
        in_vain.note(TURNS, "a:order", SECOND);
        assert_eq!(in_vain.among(TURNS, "b:order", asked_at), 0);
        tokio::time::advance(SECOND).await;
        assert_eq!(in_vain.among(TURNS, "b:order", asked_at), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_are_remembered_than_there_can_be() {
        let in_vain = InVain::default();
        for _ in 0..=MOST {
            in_vain.note(TURNS, "a:order", Duration::ZERO);
        }
        let counted = in_vain.among(TURNS, "b:order", Instant::now());
        assert_eq!(counted as usize, MOST);
    }
}
