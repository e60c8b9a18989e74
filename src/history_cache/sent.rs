//! What the database sent of a history, and how it completes what is remembered.

use std::sync::Arc;

use duroxide::Event;
use uuid::Uuid;

use super::history::{Extent, History};
use crate::codec;
use crate::error::CallError;
use crate::procedure::{Record, ResultSets};

/// To a provider that remembers, two result sets: how far the history goes, and its events after some event. To
/// another one the events alone.
pub(crate) struct Sent {
    /// `None`: the history has no events, or nobody asked how far it goes.
    extent: Option<Extent>,
    after_event_id: u64,
    rows: Vec<Record>,
}

/// A whole history.
pub(crate) enum Whole {
    /// Proven to be what the database has; worth remembering.
    Proven(Arc<History>),
    /// It changed while it was read, is empty, or nothing is remembered. As good as any read, but not to be remembered.
    Fleeting(Vec<Event>),
}

impl Whole {
    /// The events. They are not copied unless the history is remembered.
    pub(crate) fn events(self) -> Vec<Event> {
        match self {
            Self::Proven(history) => history.into_events(),
            Self::Fleeting(events) => events,
        }
    }
}

impl Sent {
    /// Takes the next two result sets, or the next one when nothing is remembered.
    pub(crate) fn take(sets: &mut ResultSets, remembers: bool) -> Result<Self, CallError> {
        if !remembers {
            return Ok(Self {
                extent: None,
                after_event_id: 0,
                rows: sets.next_set()?,
            });
        }
        let header = sets.row()?;
        let last_event_id = header.opt_count("last_event_id")?;
        let extent = match last_event_id {
            None => None,
            Some(last_event_id) => header
                .opt_guid("first_turn")?
                .zip(header.opt_guid("last_turn")?)
                .map(|(first_turn, last_turn)| -> Result<Extent, CallError> {
                    Ok(Extent {
                        execution_id: header.count("execution_id")?,
                        first_turn,
                        last_event_id,
                        last_turn,
                    })
                })
                .transpose()?,
        };
        Ok(Self {
            extent,
            after_event_id: header.opt_count("after_event_id")?.unwrap_or(0),
            rows: sets.next_set()?,
        })
    }

    pub(crate) fn extent(&self) -> Option<&Extent> {
        self.extent.as_ref()
    }

    /// The events that can be read, for those who must make do with them.
    pub(crate) fn readable_events(&self) -> Vec<Event> {
        let decoded = self
            .rows
            .iter()
            .map(|row| codec::decode_event(row.text("payload")?));
        decoded.filter_map(Result::ok).collect()
    }

    /// The whole history, from what was sent and what is remembered; `None` when that does not
    /// suffice. `claimed` is what the call said it had, and the server has compared.
    ///
    /// An event that cannot be read is an error: leaving it out would change the story.
    pub(crate) fn complete(
        &self,
        known: Option<&Arc<History>>,
        claimed: Option<&Extent>,
    ) -> Result<Option<Whole>, CallError> {
        let Some(extent) = self.extent else {
            let (events, _) = self.decode(0)?;
            return Ok(Some(Whole::Fleeting(events)));
        };
        if self.after_event_id == 0 {
            let (events, bytes) = self.decode(0)?;
            let whole = if self.reaches(&extent)? {
                Whole::Proven(Arc::new(History::new(extent, events, bytes)))
            } else {
                Whole::Fleeting(events)
            };
            return Ok(Some(whole));
        }
        let Some(known) = known.filter(|known| known.extent().is_same_history(&extent)) else {
            return Ok(None);
        };
        if *known.extent() == extent {
            return Ok(Some(Whole::Proven(known.clone())));
        }
        let end = known.extent().last_event_id;
        let continues = claimed == Some(known.extent()) && self.after_event_id == end
            || self.has_event(end, known.extent().last_turn)?;
        if !continues || !self.reaches(&extent)? {
            return Ok(None);
        }
        let (events, bytes) = self.decode(end)?;
        let mut history = History::clone(known);
        history.append(History::new(extent, events, bytes));
        Ok(Some(Whole::Proven(Arc::new(history))))
    }

    /// True when the last event sent is the one that the header announced. Otherwise the history was
    /// replaced in between.
    fn reaches(&self, extent: &Extent) -> Result<bool, CallError> {
        match self.rows.last() {
            None => Ok(false),
            Some(row) => Ok(row.count("event_id")? == extent.last_event_id
                && row.opt_guid("appended_by")? == Some(extent.last_turn)),
        }
    }

    fn has_event(&self, event_id: u64, turn: Uuid) -> Result<bool, CallError> {
        for row in &self.rows {
            if row.count("event_id")? == event_id {
                return Ok(row.opt_guid("appended_by")? == Some(turn));
            }
        }
        Ok(false)
    }

    /// The events after `after`, and the length of their payloads.
    fn decode(&self, after: u64) -> Result<(Vec<Event>, usize), CallError> {
        let mut events = Vec::with_capacity(self.rows.len());
        let mut bytes = 0;
        for row in &self.rows {
            if row.count("event_id")? > after {
                let payload = row.text("payload")?;
                bytes += payload.len();
                events.push(codec::decode_event(payload)?);
            }
        }
        Ok((events, bytes))
    }
}
