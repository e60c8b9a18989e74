//! Fetches whose outcome is not known to anybody yet.
//!
//! A claim exists from the server's commit on, but whoever asked may go away before taking it, as the runtime does when
//! it is shut down, and then it is given back. Another fetch of the same provider that finds nothing meanwhile
//! cannot know which it will be; if it does not wait for work anyway, it waits for that.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

/// How long a fetch that found nothing waits for the others.
const PATIENCE: Duration = Duration::from_millis(100);

/// The fetches of one provider that are under way.
#[derive(Default)]
pub(super) struct UnderWay {
    begun: AtomicU64,
    given_back: AtomicU64,
    fetches: Mutex<BTreeSet<u64>>,
    ended: Notify,
}

/// One fetch, until its claim is taken or given back, or there is none.
pub(super) struct Ticket {
    under_way: Arc<UnderWay>,
    number: u64,
}

impl UnderWay {
    pub(super) fn begin(self: &Arc<Self>) -> Ticket {
        let number = self.begun.fetch_add(1, Ordering::SeqCst);
        self.lock().insert(number);
        Ticket {
            under_way: self.clone(),
            number,
        }
    }

    /// Waits, for a moment at most, until those that are under way now have ended. Whether a claim was given back
    /// meanwhile.
    pub(super) async fn settle(&self) -> bool {
        let given_back = self.given_back.load(Ordering::SeqCst);
        let last = self.begun.load(Ordering::SeqCst);
        let ended = async {
            loop {
                // Enabled before looking, so that no end is missed.
                let news = self.ended.notified();
                tokio::pin!(news);
                news.as_mut().enable();
                if self.lock().first().is_none_or(|first| *first >= last) {
                    return;
                }
                news.await;
            }
        };
        let _ = tokio::time::timeout(PATIENCE, ended).await;
        self.given_back.load(Ordering::SeqCst) != given_back
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.fetches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    /// The claim is in its queue again.
    pub(super) fn given_back(self) {
        self.under_way.given_back.fetch_add(1, Ordering::SeqCst);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.under_way.lock().remove(&self.number);
        self.under_way.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn fetch_that_found_nothing_waits_for_those_before_it() {
        let under_way = Arc::new(UnderWay::default());
        let start = Instant::now();
        assert!(!under_way.settle().await);
        assert_eq!(start.elapsed(), Duration::ZERO, "there are none");
        let (taken, returned) = (under_way.begin(), under_way.begin());
        let (is_given_back, later) = tokio::join!(under_way.settle(), async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            drop(taken);
            let later = under_way.begin();
            tokio::time::sleep(Duration::from_millis(10)).await;
            returned.given_back();
            later
        });
        assert!(is_given_back);
        assert_eq!(
            start.elapsed(),
            Duration::from_millis(20),
            "not for a later one"
        );
        assert!(!under_way.settle().await);
        assert_eq!(
            start.elapsed(),
            Duration::from_millis(20) + PATIENCE,
            "not for ever"
        );
        drop(later);
    }
}
