//! What the provider tells those who run it: spans, events and metrics, each in one file.
//!
//! `docs/observability.md` lists their names, levels, fields and units, and tests compare the list
//! with what is sent. Payloads and secrets never come here: the functions take names, ids, numbers
//! and errors only.

pub(crate) mod events;
pub(crate) mod metrics;
mod operation;
mod tally;

pub(crate) use operation::{Operation, operation};
pub(crate) use tally::Tally;

use std::future::Future;
use std::time::Duration;

use tracing::Dispatch;
use tracing::instrument::{WithDispatch, WithSubscriber as _};

/// Whole milliseconds, as every duration in a span or an event is given.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Runs a request of the driver without a word of the driver's own: at TRACE it shows the rows that it
/// receives, payloads included, and it calls routine refusals errors. What matters is told by us.
pub(crate) fn quiet<F: Future>(request: F) -> WithDispatch<F> {
    request.with_subscriber(Dispatch::none())
}

/// Runs `work`, and says so once when it takes longer than `limit`, while it still goes on.
pub(crate) async fn notice_after<T>(
    limit: Duration,
    work: impl Future<Output = T>,
    notice: impl FnOnce(),
) -> T {
    tokio::pin!(work);
    match tokio::time::timeout(limit, &mut work).await {
        Ok(done) => done,
        Err(_) => {
            notice();
            work.await
        }
    }
}
