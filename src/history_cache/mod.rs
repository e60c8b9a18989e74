//! What this provider remembers of histories, so that a history crosses the network once.
//!
//! Nothing here is believed without proof. Every event in the database carries the token of the turn
//! that wrote it; a memory is used when the server's answer names the same turns at the beginning and
//! at the end of the history ([`Extent`]). Deleting and making an instance anew, continuing as new, a
//! turn of another process, an ack whose outcome is unknown or a database that lost its last commits
//! all show themselves as other turns, and then what is missing is read again.

mod ended;
mod expected;
mod history;
mod lru;
mod sent;

pub(crate) use ended::Status;
pub(crate) use history::{Extent, History};
pub(crate) use sent::{Sent, Whole};

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;
use uuid::Uuid;

use ended::EndedStatuses;
use expected::ExpectedReads;
use lru::Lru;

/// Decoded histories of the instances that were used last, bounded in bytes.
pub(crate) struct HistoryCache {
    /// `None`: nothing is remembered.
    process_id: Option<Uuid>,
    histories: Mutex<Lru>,
    expected: ExpectedReads,
    ended: EndedStatuses,
}

impl HistoryCache {
    /// Zero bytes switch it off.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self {
            process_id: (bytes_max > 0).then(Uuid::new_v4),
            histories: Mutex::new(Lru::new(bytes_max)),
            expected: ExpectedReads::default(),
            ended: EndedStatuses::default(),
        }
    }

    /// How this provider names itself to the database, which then leaves out what it wrote itself.
    /// `None` when nothing is remembered: everything has to be sent.
    pub(crate) fn process_id(&self) -> Option<Uuid> {
        self.process_id
    }

    pub(crate) fn remembers(&self) -> bool {
        self.process_id.is_some()
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

    /// To a question of that moment the database says that the history goes so far. What is remembered and goes
    /// further, and was there before, was lost with the commits that wrote it.
    pub(crate) fn found(&self, instance: &str, extent: &Extent, asked_at: Instant) {
        let mut histories = self.lock();
        if histories
            .get(instance)
            .is_some_and(|known| known.is_refuted_by(extent, asked_at))
        {
            histories.take(instance);
        }
    }

    /// A turn of this provider was committed: `history` is what it wrote, and `before` how far the
    /// history went when it did so.
    pub(crate) fn appended(&self, instance: &str, before: Option<&Extent>, written: History) {
        self.ended.take(instance);
        let mut histories = self.lock();
        // Taken out, so that nobody else holds it and it can grow where it is.
        match (histories.take(instance), before) {
            (Some(known), Some(before)) if known.extent() == before => {
                let mut known = Arc::unwrap_or_clone(known);
                known.append(written);
                histories.put(instance, Arc::new(known));
            }
            // Somebody fetched and read before the answer to the ack was here, and has all of this; or this
            // continues what is not remembered to its end, and the next read brings what is between.
            (Some(known), _) if known.extent().is_same_history(written.extent()) => {
                histories.put(instance, known);
            }
            (_, None) => histories.put(instance, Arc::new(written)),
            (_, Some(_)) => {}
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

    /// A client has read the end of `instance`, and will ask for its custom status.
    pub(crate) fn remember_ended(&self, instance: &str, status: Status) {
        if self.remembers() {
            self.ended.remember(instance, status);
        }
    }

    /// The custom status that came with the end of `instance`, at most once for each read.
    pub(crate) fn take_ended(&self, instance: &str) -> Option<Status> {
        self.ended.take(instance)
    }

    /// Something was deleted. Old executions that are pruned are not what is read without asking.
    pub(crate) fn forget_deleted(&self) {
        self.ended.clear();
        self.expected.clear();
    }

    /// This task has written to a history, or tried to: it wants to read what became of that.
    pub(crate) fn expect_no_read(&self) {
        self.expected.forget();
    }

    fn lock(&self) -> MutexGuard<'_, Lru> {
        self.histories
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use duroxide::{Event, EventKind};

    fn extent(last_event_id: u64) -> Extent {
        Extent {
            execution_id: 1,
            first_turn: Uuid::from_u128(1),
            last_event_id,
            last_turn: Uuid::from_u128(u128::from(last_event_id)),
        }
    }

    /// Events up to `last`, from `first` on.
    fn history(first: u64, last: u64) -> History {
        let event = |id| Event::with_event_id(id, "i", 1, None, EventKind::KeyValuesCleared);
        History::new(extent(last), (first..=last).map(event).collect(), 0)
    }

    fn remembered(cache: &HistoryCache) -> Vec<u64> {
        let events = cache.get("i").map(History::into_events).unwrap_or_default();
        events.iter().map(|event| event.event_id).collect()
    }

    /// A worker may fetch the activity, and read as far as it, before the answer to the ack that scheduled it is
    /// read. What is remembered then goes as far as the ack, and must not be forgotten over it.
    #[test]
    fn a_history_that_was_read_before_the_ack_was_answered_is_kept() {
        let cache = HistoryCache::new(1 << 20);
        cache.appended("i", None, history(1, 2));
        cache.remember("i", Arc::new(history(1, 4)));
        cache.appended("i", Some(&extent(2)), history(3, 4));
        assert_eq!(remembered(&cache), [1, 2, 3, 4]);
        cache.appended("i", Some(&extent(4)), history(5, 5));
        assert_eq!(remembered(&cache), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_turn_that_is_read_before_its_first_ack_was_answered_is_kept() {
        let cache = HistoryCache::new(1 << 20);
        cache.remember("i", Arc::new(history(1, 3)));
        cache.appended("i", None, history(1, 2));
        assert_eq!(remembered(&cache), [1, 2, 3]);
    }

    /// What lies between is not there: the end must not be put behind the beginning.
    #[test]
    fn a_turn_after_a_gap_adds_nothing() {
        let cache = HistoryCache::new(1 << 20);
        cache.appended("i", None, history(1, 2));
        cache.appended("i", Some(&extent(4)), history(5, 6));
        assert_eq!(remembered(&cache), [1, 2]);
    }

    #[test]
    fn another_history_takes_the_place_of_the_old_one() {
        let cache = HistoryCache::new(1 << 20);
        cache.appended("i", None, history(1, 2));
        let first_turn = Uuid::from_u128(99);
        let again = Extent {
            first_turn,
            ..extent(1)
        };
        let event = Event::with_event_id(1, "i", 1, None, EventKind::KeyValuesCleared);
        cache.appended("i", None, History::new(again, vec![event], 0));
        assert_eq!(remembered(&cache), [1]);
        let before = Extent {
            first_turn: Uuid::from_u128(98),
            ..extent(3)
        };
        let written = Extent {
            last_event_id: 4,
            ..before
        };
        cache.appended("i", Some(&before), History::new(written, vec![], 0));
        assert!(cache.get("i").is_none(), "of another history");
    }
}
