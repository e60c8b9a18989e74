//! Items on their way to their callers: their leases are kept alive.
//!
//! A history may take longer to arrive than its turn is leased for, and nobody renews a lease but who has the item. Handed out with its lease
//! over, the turn would be decided in vain, its attempt would count, and where that happens each time the runtime would
//! fail the workflow as poisoned.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

use super::leases::Leases;
use crate::error::CallError;
use crate::server_errors::says_lease_lost;
use crate::time::FARTHEST;

/// Shorter leases are not kept: a renewal takes about as long.
const SHORTEST: Duration = Duration::from_secs(1);
/// While an item is read, so much of its lease is enough, if half of what the caller wants is more.
const ENOUGH: Duration = Duration::from_secs(60);
/// What may be gone of a lease at most when its item is handed out, if a quarter of what the caller wants is more. The caller counts from then
/// on, and mostly renews some seconds before the end; of a long lease it renews no sooner.
const LATE: Duration = Duration::from_secs(1);

/// Reads an item whose lease was to last for as long as its caller wants, and renews the lease whenever less than half of that is left while it
/// reads, and when the caller would get too little of it. That is no call at all unless something took long.
pub(super) async fn kept<T, Renewal>(
    leases: &Leases,
    token: &str,
    wanted: Duration,
    read: impl Future<Output = Result<T, CallError>>,
    renew: impl Fn() -> Renewal,
) -> Result<T, CallError>
where
    Renewal: Future<Output = Result<(), CallError>>,
{
    if wanted < SHORTEST {
        return read.await;
    }
    let begun = Instant::now();
    let wanted = wanted.min(FARTHEST);
    let half = (wanted / 2).min(ENOUGH);
    let whole = wanted - (wanted / 4).min(LATE);
    let left = || leases.left(token).unwrap_or_default();
    // Boxed, because it is large and hardly ever made.
    let renew = || async {
        Box::pin(renew())
            .await
            .map_err(|error| match error.number() {
                // To whoever fetches this is no mistake, but one of the things that pass.
                Some(number) if says_lease_lost(number) => CallError::Timeout {
                    after: begun.elapsed(),
                },
                _ => error,
            })
    };
    let failed = async {
        loop {
            tokio::time::sleep(left().saturating_sub(half)).await;
            if let Err(error) = renew().await {
                return error;
            }
        }
    };
    let item = tokio::select! {
        biased;
        item = read => item?,
        error = failed => return Err(error),
    };
    if left() < whole {
        renew().await?;
    }
    Ok(item)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::provider::leases::Queue;

    const SECOND: Duration = Duration::from_secs(1);

    /// How often a lease is renewed while an item of it is read for so long.
    async fn renewals(wanted: Duration, takes: Duration) -> u32 {
        let leases = Leases::default();
        leases.begin("a", Queue::Work, "", Instant::now(), wanted);
        let renewals = Cell::new(0);
        let read = async {
            tokio::time::sleep(takes).await;
            Ok(())
        };
        let renew = || async {
            renewals.set(renewals.get() + 1);
            leases.extend("a", Queue::Work, Instant::now(), wanted);
            Ok(())
        };
        kept(&leases, "a", wanted, read, renew).await.unwrap();
        renewals.get()
    }

    #[tokio::test(start_paused = true)]
    async fn lease_is_renewed_when_half_of_it_is_gone() {
        assert_eq!(renewals(4 * SECOND, Duration::ZERO).await, 0);
        assert_eq!(renewals(4 * SECOND, SECOND).await, 0);
        assert_eq!(renewals(4 * SECOND, 9 * SECOND).await, 4, "and at the end");
        assert_eq!(renewals(SECOND / 2, 9 * SECOND).await, 0, "too short");
    }

    /// The caller renews by its own clock, which begins when it has the item: of 300 seconds maybe after 295.
    #[tokio::test(start_paused = true)]
    async fn lease_is_whole_when_its_item_is_handed_out() {
        for wanted in [4 * SECOND, 30 * SECOND, 300 * SECOND, 3600 * SECOND] {
            assert_eq!(renewals(wanted, SECOND).await, 0, "{wanted:?}");
            assert_eq!(renewals(wanted, SECOND * 3 / 2).await, 1, "{wanted:?}");
        }
        assert_eq!(renewals(2 * SECOND, SECOND / 2).await, 0);
        assert_eq!(renewals(2 * SECOND, SECOND * 3 / 4).await, 1);
        assert_eq!(renewals(Duration::MAX, SECOND).await, 0, "of any size");
    }

    /// Whoever lost the lease must not hand the item out, and is asked to fetch again.
    #[tokio::test(start_paused = true)]
    async fn lost_lease_ends_the_reading() {
        let leases = Leases::default();
        leases.begin("a", Queue::Work, "", Instant::now(), 2 * SECOND);
        let lost = || async { Err(CallError::server(51_003, 16, "lost")) };
        let read = std::future::pending::<Result<(), _>>();
        let read = kept(&leases, "a", 2 * SECOND, read, lost).await;
        assert_eq!(read, Err(CallError::Timeout { after: SECOND }));
    }
}
