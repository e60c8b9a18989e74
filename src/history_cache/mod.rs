//! What this provider remembers of histories, so that a history crosses the network once.
//!
//! Nothing here is believed without proof. Every event in the database carries the token of the turn
//! that wrote it; a memory is used when the server's answer names the same turns at the beginning and
//! at the end of the history ([`Extent`]). Deleting and making an instance anew, continuing as new, a
//! turn of another process, an ack whose outcome is unknown or a database that lost its last commits
//! all show themselves as other turns, and then what is missing is read again.

mod expected;
mod history;
mod lru;
mod sent;

pub(crate) use history::{Extent, History};
pub(crate) use sent::{Sent, Whole};

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use expected::ExpectedReads;
use lru::Lru;

/// Decoded histories of the instances that were used last, bounded in bytes.
pub(crate) struct HistoryCache {
    /// `None`: nothing is remembered.
    process_id: Option<Uuid>,
    histories: Mutex<Lru>,
    expected: ExpectedReads,
}

impl HistoryCache {
    /// Zero bytes switch it off.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self {
            process_id: (bytes_max > 0).then(Uuid::new_v4),
            histories: Mutex::new(Lru::new(bytes_max)),
            expected: ExpectedReads::default(),
        }
    }

    /// How this provider names itself to the database, which then leaves out what it wrote itself.
    /// `None` when nothing is remembered: everything has to be sent.
    pub(crate) fn process_id(&self) -> Option<Uuid> {
        self.process_id
    }

    pub(crate) fn get(&self, instance: &str) -> Option<Arc<History>> {
        self.lock().get(instance)
    }

    /// Of two states of the same history the longer one is kept.
    pub(crate) fn remember(&self, instance: &str, history: Arc<History>) {
        let mut histories = self.lock();
        if histories
            .get(instance)
            .is_none_or(|known| !known.extent().covers(history.extent()))
        {
            histories.put(instance, history);
        }
    }

    /// A turn of this provider was committed: `history` is what it wrote, and `before` how far the
    /// history went when it did so.
    pub(crate) fn appended(&self, instance: &str, before: Option<&Extent>, written: History) {
        let mut histories = self.lock();
        let Some(before) = before else {
            histories.put(instance, Arc::new(written));
            return;
        };
        // Taken out, so that nobody else holds it and it can grow where it is.
        if let Some(known) = histories.take(instance)
            && known.extent() == before
        {
            let mut known = Arc::unwrap_or_clone(known);
            known.append(written);
            histories.put(instance, Arc::new(known));
        }
    }

    /// A worker fetched an activity of `instance`; its task reads the history next. `extent` is how
    /// far the history went at the fetch, if the fetch said so.
    pub(crate) fn expect_read(&self, instance: &str, extent: Option<Extent>) {
        self.expected.expect(instance, extent);
    }

    /// The read that a fetch of the same task announced, at most once.
    pub(crate) fn take_expected(&self, instance: &str) -> Option<Option<Extent>> {
        self.expected.take(instance)
    }

    fn lock(&self) -> MutexGuard<'_, Lru> {
        self.histories
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
