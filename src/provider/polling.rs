//! The one loop of both fetches: ask, and wait for a reason to ask again.

use std::future::Future;
use std::time::Duration;

use super::claims::{Claims, Polled};
use crate::error::CallError;
use crate::time::after;
use crate::wakeup::{Interest, Line, Repoll, Woken};

/// Asks until something is found or `poll_timeout` is over. Without `repoll` it asks once, or twice if a claim of
/// another fetch was given back meanwhile.
pub(super) async fn until_found<I, T, F, Fut>(
    claims: &Claims,
    line: &Line<I>,
    interest: I,
    repoll: Option<Repoll>,
    poll_timeout: Duration,
    ask: F,
) -> Result<Option<T>, CallError>
where
    I: Interest,
    F: Fn() -> Fut,
    Fut: Future<Output = Result<Polled<T>, CallError>>,
{
    let deadline = after(poll_timeout);
    let Some(repoll) = repoll else {
        let polled = match ask().await? {
            Polled::Empty(_) if claims.others_settled().await => ask().await?,
            polled => polled,
        };
        return Ok(match polled {
            Polled::Found(found) => Some(found),
            Polled::Empty(_) => None,
        });
    };
    let mut place = line.join(interest, repoll);
    if place.is_answered() && place.wait(deadline).await == Woken::TimedOut {
        return Ok(None);
    }
    loop {
        match ask().await? {
            Polled::Found(found) => {
                place.found();
                return Ok(Some(found));
            }
            Polled::Empty(next_ready) => {
                place.found_nothing(next_ready);
                if place.wait(deadline).await == Woken::TimedOut {
                    return Ok(None);
                }
            }
        }
    }
}
