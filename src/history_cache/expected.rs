//! The reads that workers are about to make.
//!
//! The runtime reads an instance's history whenever it has fetched an activity of it: in the same
//! task, before anything else, and with the very call that clients use. The fetch has brought what is
//! needed, so that this one read asks nobody; and if it has to ask, it must not queue behind the
//! clients. Reads by other tasks, which may want to know what has happened since, are never taken
//! for it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::task;

use super::history::Extent;

/// A task that reads later than this after its fetch is not the runtime's worker.
const PATIENCE: Duration = Duration::from_secs(5);
/// More than any process has workers that have fetched and not yet read. What is forgotten is still
/// read, by asking the database.
const REMEMBERED_MAX: usize = 1024;

struct Expected {
    instance: String,
    extent: Option<Extent>,
    since: Instant,
}

/// At most one read for each task: the one that follows its last fetch.
#[derive(Default)]
pub(super) struct ExpectedReads(Mutex<HashMap<task::Id, Expected>>);

impl ExpectedReads {
    pub(super) fn expect(&self, instance: &str, extent: Option<Extent>) {
        let Some(task) = task::try_id() else {
            return;
        };
        let mut reads = self.lock();
        if reads.len() >= REMEMBERED_MAX {
            reads.retain(|_, expected| expected.since.elapsed() < PATIENCE);
        }
        if reads.len() < REMEMBERED_MAX {
            let expected = Expected {
                instance: instance.to_owned(),
                extent,
                since: Instant::now(),
            };
            reads.insert(task, expected);
        }
    }

    /// How far the history went at the fetch, if this task's last fetch was of `instance`.
    pub(super) fn take(&self, instance: &str) -> Option<Option<Extent>> {
        let expected = self.lock().remove(&task::try_id()?)?;
        let fits = expected.instance == instance && expected.since.elapsed() < PATIENCE;
        fits.then_some(expected.extent)
    }

    /// The next read of this task is not the one that its fetch announced.
    pub(super) fn forget(&self) {
        if let Some(task) = task::try_id() {
            self.lock().remove(&task);
        }
    }

    /// No read is.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<task::Id, Expected>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[tokio::test]
    async fn each_fetch_accounts_for_one_read_of_its_own_task() {
        let reads = Arc::new(ExpectedReads::default());
        let other = reads.clone();
        let worker = task::spawn(async move {
            reads.expect("a", None);
            let stranger = reads.clone();
            let by_another = task::spawn(async move { stranger.take("a") });
            assert_eq!(by_another.await.unwrap(), None, "of another task");
            assert_eq!(reads.take("a"), Some(None));
            assert_eq!(reads.take("a"), None, "only once");
            reads.expect("a", None);
            assert_eq!(reads.take("b"), None, "another instance");
            assert_eq!(reads.take("a"), None, "the first read decides");
            reads.expect("a", None);
            reads.forget();
            assert_eq!(reads.take("a"), None, "the task has done something else");
            reads.expect("a", None);
            reads.clear();
            assert_eq!(reads.take("a"), None, "something was deleted");
        });
        worker.await.unwrap();
        assert!(other.0.lock().unwrap().is_empty());
    }
}
