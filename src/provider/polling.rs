//! The one loop of both fetches: ask, and wait for a reason to ask again.

use std::future::Future;
use std::time::Duration;

use super::claims::Polled;
use crate::error::CallError;
use crate::time::after;
use crate::wakeup::{Interest, Line, Repoll, Woken};

/// Asks until something is found or `poll_timeout` is over. Without `repoll` it asks once.
pub(super) async fn until_found<I, T, F, Fut>(
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
        return Ok(match ask().await? {
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
