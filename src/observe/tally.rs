//! What the calls of one operation add up to, for the operation's span.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

tokio::task_local! {
    static CURRENT: Arc<Tally>;
}

/// The sums of one operation, whose calls may run in tasks of their own.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    rows: AtomicU64,
    retries: AtomicU64,
}

impl Tally {
    /// The tally of the operation that this task works for, if its span is looked at.
    pub(crate) fn current() -> Option<Arc<Self>> {
        CURRENT.try_with(Arc::clone).ok()
    }

    /// Lets `work` count for `tally`, also in a task of its own.
    pub(crate) async fn scope<T>(tally: Option<Arc<Self>>, work: impl Future<Output = T>) -> T {
        match tally {
            Some(tally) => CURRENT.scope(tally, work).await,
            None => work.await,
        }
    }

    /// A call ended.
    pub(crate) fn add(rows: u64, retries: u64) {
        // Nobody counts outside of an operation.
        let _ = CURRENT.try_with(|tally| {
            tally.rows.fetch_add(rows, Ordering::Relaxed);
            tally.retries.fetch_add(retries, Ordering::Relaxed);
        });
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    pub(super) fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }
}
