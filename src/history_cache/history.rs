//! One execution's history in memory, and the proof of what it is.

use std::sync::Arc;

use duroxide::Event;
use uuid::Uuid;

/// What an event needs besides the text of its payload.
const EVENT_OVERHEAD: usize = size_of::<Event>() + 64;

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
    /// time, and the longer one was true later.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.is_same_history(other) && (self == other || self.last_event_id > other.last_event_id)
    }
}

/// Decoded events of one execution, from the first to the one its extent ends with.
#[derive(Debug, Clone)]
pub(crate) struct History {
    extent: Extent,
    events: Vec<Arc<Event>>,
    bytes: usize,
}

impl History {
    /// `payload_bytes` is the length of all events as they are stored.
    pub(crate) fn new(extent: Extent, events: Vec<Arc<Event>>, payload_bytes: usize) -> Self {
        let bytes = payload_bytes + events.len() * EVENT_OVERHEAD;
        Self {
            extent,
            events,
            bytes,
        }
    }

    pub(crate) fn extent(&self) -> &Extent {
        &self.extent
    }

    /// About what it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The events as a provider returns them.
    pub(crate) fn events(&self) -> Vec<Event> {
        self.events.iter().map(|event| (**event).clone()).collect()
    }

    /// Continues with events that come after all of these.
    pub(crate) fn append(&mut self, newer: Self) {
        self.extent.last_event_id = newer.extent.last_event_id;
        self.extent.last_turn = newer.extent.last_turn;
        self.events.extend(newer.events);
        self.bytes += newer.bytes;
    }
}
