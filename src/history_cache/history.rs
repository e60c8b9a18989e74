//! One execution's history in memory, and the proof of what it is.

use std::sync::Arc;

use duroxide::Event;
use tokio::time::Instant;
use uuid::Uuid;

/// What an event needs besides the text of its payload; a list that grows has room for half as many again.
const EVENT_OVERHEAD: usize = size_of::<Event>() * 3 / 2 + 64;

/// Which history it is, and how far it goes.
///
/// Turns are unique for ever and write only at the end of a history. Two histories of one execution
/// that name the same turn for their first event, and the same turn for event `last_event_id`, are
/// therefore the same up to there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) execution_id: u64,
    pub(crate) first_turn: Uuid,
    pub(crate) last_event_id: u64,
    pub(crate) last_turn: Uuid,
}

impl Extent {
    /// True when these are states of one history.
    pub(crate) fn is_same_history(&self, other: &Self) -> bool {
        (self.execution_id, self.first_turn) == (other.execution_id, other.first_turn)
    }

    /// True when this is the same history and goes at least as far. Both states were true at some
    /// time, and the longer one was true later, unless the database lost commits (see [`History::is_refuted_by`]).
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.is_same_history(other) && (self == other || self.last_event_id > other.last_event_id)
    }
}

/// Decoded events of one execution, from the first to the one its extent ends with.
#[derive(Debug, Clone)]
pub(crate) struct History {
    extent: Extent,
    /// A longer history shares the parts of a shorter one that somebody still holds.
    parts: Vec<Arc<Vec<Event>>>,
    bytes: usize,
    /// The database had all of it then.
    seen_at: Instant,
}

impl History {
    /// As an answer said that was just read. `payload_bytes` is the length of all events as they are stored.
    pub(crate) fn new(extent: Extent, events: Vec<Event>, payload_bytes: usize) -> Self {
        let bytes = payload_bytes + events.len() * EVENT_OVERHEAD;
        Self {
            extent,
            parts: vec![Arc::new(events)],
            bytes,
            seen_at: Instant::now(),
        }
    }

    /// Whether a database that answers a question of that moment with less than this has lost commits.
    pub(crate) fn is_refuted_by(&self, extent: &Extent, asked_at: Instant) -> bool {
        self.extent.covers(extent) && self.extent != *extent && self.seen_at < asked_at
    }

    pub(crate) fn extent(&self) -> &Extent {
        &self.extent
    }

    /// About what it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The events as a provider returns them: copies, if others remember them.
    pub(crate) fn into_events(self: Arc<Self>) -> Vec<Event> {
        match Arc::try_unwrap(self) {
            Ok(mut alone) if alone.parts.len() == 1 => alone
                .parts
                .pop()
                .map(Arc::unwrap_or_clone)
                .unwrap_or_default(),
            Ok(several) => several.copied(),
            Err(shared) => shared.copied(),
        }
    }

    fn copied(&self) -> Vec<Event> {
        let mut events = Vec::with_capacity(self.parts.iter().map(|part| part.len()).sum());
        for part in &self.parts {
            events.extend_from_slice(part);
        }
        events
    }

    /// Continues with events that come after all of these. They join the last part when nobody else holds it: a
    /// history that grows turn by turn stays in one piece, which is copied as fast as any.
    pub(crate) fn append(&mut self, newer: Self) {
        self.extent.last_event_id = newer.extent.last_event_id;
        self.extent.last_turn = newer.extent.last_turn;
        self.bytes += newer.bytes;
        self.seen_at = newer.seen_at;
        for part in newer.parts {
            match self.parts.last_mut().and_then(Arc::get_mut) {
                Some(last) => last.append(&mut Arc::unwrap_or_clone(part)),
                None => self.parts.push(part),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use duroxide::EventKind;

    fn history(ids: std::ops::RangeInclusive<u64>) -> History {
        let turn = |event_id: u64| Uuid::from_u128(u128::from(event_id));
        let extent = Extent {
            execution_id: 1,
            first_turn: turn(1),
            last_event_id: *ids.end(),
            last_turn: turn(*ids.end()),
        };
        let event = |id| Event::with_event_id(id, "i", 1, None, EventKind::KeyValuesCleared);
        History::new(extent, ids.map(event).collect(), 0)
    }

    /// What grows turn by turn is in one piece; what somebody holds meanwhile stays what it was.
    #[test]
    fn histories_that_grow_stay_in_one_piece() {
        let mut grown = history(1..=2);
        for last in 2..100 {
            grown.append(history(2 * last - 1..=2 * last));
        }
        assert_eq!(grown.parts.len(), 1);
        let held = grown.clone();
        grown.append(history(199..=200));
        grown.append(history(201..=202));
        assert_eq!(grown.parts.len(), 2, "one is held");
        let ids = |history: History| -> Vec<u64> {
            let events = Arc::new(history).into_events();
            events.iter().map(|event| event.event_id).collect()
        };
        assert!(ids(grown).into_iter().eq(1..=202));
        assert!(ids(held).into_iter().eq(1..=198));
    }

    /// A history that nobody remembers is handed out as it is; one that somebody remembers is copied and
    /// stays what it was.
    #[test]
    fn events_are_copied_only_from_histories_that_are_remembered() {
        let fresh = Arc::new(history(1..=3));
        let at = fresh.parts[0].as_ptr();
        let copied = Arc::clone(&fresh).into_events();
        assert_ne!(copied.as_ptr(), at, "somebody has it still");
        let events = fresh.into_events();
        assert_eq!(events.as_ptr(), at, "nobody else has it");
        let mut grown = history(1..=3);
        grown.append(history(4..=5));
        let remembered = Arc::new(grown);
        for _ in 0..2 {
            let events = Arc::clone(&remembered).into_events();
            assert!(events.iter().map(|event| event.event_id).eq(1..=5));
        }
    }
}
