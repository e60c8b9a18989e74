//! Events, work items and metadata as the procedures take and return them.
//!
//! Lists travel as one JSON array whose members carry the columns that the database needs and
//! the item itself as a string. The database stores that string and never looks into it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use duroxide::providers::{ScheduledActivityIdentifier, WorkItem};
use duroxide::{Event, EventKind};
use serde::Serialize;

pub(crate) use crate::decode::{decode_activity, decode_event, decode_work_item};
use crate::error::CallError;

/// Largest time that is sent: far beyond any calendar, and sums of two still fit a BIGINT.
const MS_MAX: u64 = 9_000_000_000_000_000;
/// Largest part of a packed version.
const VERSION_PART_MAX: u64 = 999_999;

/// An event as it is stored.
#[derive(Serialize)]
pub(crate) struct HistoryRow {
    pub(crate) event_id: u64,
    payload_bytes: usize,
    pub(crate) payload: String,
}

#[derive(Serialize)]
struct WorkerRow<'a> {
    ord: usize,
    instance_id: &'a str,
    execution_id: u64,
    activity_id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tag: Option<&'a str>,
    payload: &'a str,
}

#[derive(Serialize)]
struct MessageRow<'a> {
    ord: usize,
    instance_id: &'a str,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    visible_at_ms: Option<u64>,
    payload: &'a str,
}

#[derive(Serialize)]
struct CancelledRow<'a> {
    instance_id: &'a str,
    execution_id: u64,
    activity_id: u64,
}

#[derive(Serialize)]
struct KvRow<'a> {
    key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at_ms: Option<u64>,
}

/// What the events of a turn do to the instance's key-value store.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct KvChanges {
    pub(crate) clear_all: bool,
    pub(crate) changes: Option<String>,
}

/// A message for the orchestrator queue, taken apart.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    pub(crate) instance: Cow<'a, str>,
    pub(crate) payload: String,
    pub(crate) visible_at_ms: Option<i64>,
}

impl Message<'_> {
    /// The variant's name, which is the first key of the externally tagged JSON.
    pub(crate) fn kind(&self) -> &str {
        self.payload
            .trim_start_matches(['{', '"'])
            .split('"')
            .next()
            .unwrap_or_default()
    }
}

/// The instance that a message is for; `None` for work items, which no orchestration takes.
#[allow(
    unreachable_patterns,
    reason = "duroxide has more variants under its test features"
)]
pub(crate) fn routing_key(item: &WorkItem) -> Option<Cow<'_, str>> {
    match item {
        WorkItem::StartOrchestration { instance, .. }
        | WorkItem::ActivityCompleted { instance, .. }
        | WorkItem::ActivityFailed { instance, .. }
        | WorkItem::TimerFired { instance, .. }
        | WorkItem::ExternalRaised { instance, .. }
        | WorkItem::CancelInstance { instance, .. }
        | WorkItem::ContinueAsNew { instance, .. }
        | WorkItem::QueueMessage { instance, .. } => Some(instance.into()),
        WorkItem::SubOrchCompleted {
            parent_instance, ..
        }
        | WorkItem::SubOrchFailed {
            parent_instance, ..
        } => Some(parent_instance.into()),
        WorkItem::ActivityExecute { .. } => None,
        other => named_instance(other).map(Cow::Owned),
    }
}

/// The instance that an item of a kind we do not know says it is for, as its JSON has it. Such an item
/// is passed on as it is.
fn named_instance<T: Serialize>(item: &T) -> Option<String> {
    let json = serde_json::to_value(item).ok()?;
    let fields = json.as_object()?.values().next()?;
    let instance = fields.get("instance").or(fields.get("parent_instance"))?;
    instance.as_str().map(ToOwned::to_owned)
}

/// Takes a message apart.
pub(crate) fn message(item: &WorkItem) -> Result<Message<'_>, CallError> {
    let instance = routing_key(item).ok_or_else(|| {
        CallError::Data("this work item is not a message for an orchestration".to_owned())
    })?;
    let visible_at_ms = match item {
        WorkItem::TimerFired { fire_at_ms, .. } if *fire_at_ms > 0 => {
            Some(fire_at_ms.min(&MS_MAX).cast_signed())
        }
        _ => None,
    };
    Ok(Message {
        instance,
        payload: to_json(item)?,
        visible_at_ms,
    })
}

/// The events as they are to be stored.
pub(crate) fn history_rows(events: &[Event]) -> Result<Vec<HistoryRow>, CallError> {
    let rows = events.iter().map(|event| {
        let payload = to_json(event)?;
        Ok(HistoryRow {
            event_id: event.event_id,
            payload_bytes: payload.len(),
            payload,
        })
    });
    rows.collect()
}

/// `@history`.
pub(crate) fn history(rows: &[HistoryRow]) -> Result<Option<String>, CallError> {
    list(rows, |_, row| Ok(row))
}

/// `@worker_items`.
pub(crate) fn worker_items(items: &[WorkItem]) -> Result<Option<String>, CallError> {
    let mut rows = List::default();
    // A turn may schedule thousands of activities; their payloads take turns in one buffer.
    let mut payload = Vec::new();
    for (ord, item) in items.iter().enumerate() {
        let WorkItem::ActivityExecute {
            instance,
            execution_id,
            id,
            session_id,
            tag,
            ..
        } = item
        else {
            let reason = "only ActivityExecute belongs in the worker queue";
            return Err(CallError::Data(reason.to_owned()));
        };
        payload.clear();
        append_json(&mut payload, item)?;
        rows.push(&WorkerRow {
            ord,
            instance_id: instance,
            execution_id: *execution_id,
            activity_id: *id,
            session_id: session_id.as_deref(),
            tag: tag.as_deref(),
            payload: text(&payload)?,
        })?;
    }
    rows.finish()
}

/// `@orchestrator_items`.
pub(crate) fn orchestrator_items(items: &[WorkItem]) -> Result<Option<String>, CallError> {
    let messages = items.iter().map(message).collect::<Result<Vec<_>, _>>()?;
    list(&messages, |ord, message| {
        Ok(MessageRow {
            ord,
            instance_id: &message.instance,
            kind: message.kind(),
            visible_at_ms: message.visible_at_ms.map(i64::cast_unsigned),
            payload: &message.payload,
        })
    })
}

/// `@cancelled_activities`.
pub(crate) fn cancelled_activities(
    activities: &[ScheduledActivityIdentifier],
) -> Result<Option<String>, CallError> {
    list(activities, |_, activity| {
        Ok(CancelledRow {
            instance_id: &activity.instance,
            execution_id: activity.execution_id,
            activity_id: activity.activity_id,
        })
    })
}

/// Folds the key-value events of a turn: only the last change of each key counts, and nothing
/// from before the last clearing of all keys.
pub(crate) fn kv_changes(events: &[Event]) -> Result<KvChanges, CallError> {
    let mut clear_all = false;
    let mut last: BTreeMap<&str, KvRow<'_>> = BTreeMap::new();
    for event in events {
        match &event.kind {
            EventKind::KeyValueSet {
                key,
                value,
                last_updated_at_ms,
            } => {
                let row = KvRow {
                    key,
                    value: Some(value),
                    value_bytes: Some(value.len()),
                    updated_at_ms: Some((*last_updated_at_ms).min(MS_MAX)),
                };
                last.insert(key, row);
            }
            EventKind::KeyValueCleared { key } => {
                let row = KvRow {
                    key,
                    value: None,
                    value_bytes: None,
                    updated_at_ms: None,
                };
                last.insert(key, row);
            }
            EventKind::KeyValuesCleared => {
                clear_all = true;
                last.clear();
            }
            _ => {}
        }
    }
    let rows: Vec<_> = last.into_values().collect();
    Ok(KvChanges {
        clear_all,
        changes: if rows.is_empty() {
            None
        } else {
            Some(to_json(&rows)?)
        },
    })
}

/// The custom status after these events: `None` when they do not touch it, `Some(None)` when
/// they clear it.
pub(crate) fn custom_status(events: &[Event]) -> Option<Option<&str>> {
    events.iter().rev().find_map(|event| match &event.kind {
        EventKind::CustomStatusUpdated { status } => Some(status.as_deref()),
        _ => None,
    })
}

/// A version as one number that sorts like the version.
pub(crate) fn packed_version(major: u64, minor: u64, patch: u64) -> i64 {
    let part = |value: u64| value.min(VERSION_PART_MAX).cast_signed();
    part(major) * 1_000_000_000_000 + part(minor) * 1_000_000 + part(patch)
}

/// `["a","b"]`.
pub(crate) fn texts<S: Serialize>(items: &[S]) -> Result<String, CallError> {
    to_json(items)
}

/// A number of ours as the BIGINT that the procedures take.
pub(crate) fn bigint(what: &str, value: u64) -> Result<i64, CallError> {
    i64::try_from(value).map_err(|_| CallError::Data(format!("{what} {value} exceeds a BIGINT")))
}

/// An absolute time as the BIGINT that the procedures take.
pub(crate) fn time_ms(value: u64) -> i64 {
    value.min(MS_MAX).cast_signed()
}

/// The stored form of an item.
pub(crate) fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<String, CallError> {
    serde_json::to_string(value).map_err(unwritable)
}

fn append_json<T: Serialize>(json: &mut Vec<u8>, value: &T) -> Result<(), CallError> {
    serde_json::to_writer(json, value).map_err(unwritable)
}

fn text(json: &[u8]) -> Result<&str, CallError> {
    std::str::from_utf8(json).map_err(unwritable)
}

fn unwritable(error: impl std::fmt::Display) -> CallError {
    CallError::Data(format!("item cannot be written as JSON: {error}"))
}

/// A JSON array that grows row by row.
#[derive(Default)]
struct List(Vec<u8>);

impl List {
    fn push<R: Serialize>(&mut self, row: &R) -> Result<(), CallError> {
        self.0.push(if self.0.is_empty() { b'[' } else { b',' });
        append_json(&mut self.0, row)
    }

    /// Nothing for an empty list: the parameter is left out then.
    fn finish(mut self) -> Result<Option<String>, CallError> {
        if self.0.is_empty() {
            return Ok(None);
        }
        self.0.push(b']');
        String::from_utf8(self.0).map(Some).map_err(unwritable)
    }
}

/// A [`List`] with a row for each item.
fn list<'a, T, R: Serialize>(
    items: &'a [T],
    row: impl Fn(usize, &'a T) -> Result<R, CallError>,
) -> Result<Option<String>, CallError> {
    let mut rows = List::default();
    for (ord, item) in items.iter().enumerate() {
        rows.push(&row(ord, item)?)?;
    }
    rows.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn event(kind: EventKind) -> Event {
        Event::with_event_id(7, "i", 1, None, kind)
    }
    fn set(key: &str, value: &str) -> Event {
        event(EventKind::KeyValueSet {
            key: key.into(),
            value: value.into(),
            last_updated_at_ms: 5,
        })
    }
    /// As duroxide's test features add them.
    #[test]
    fn messages_of_unknown_kinds_are_routed_by_their_json() {
        let item = json!({"ExternalRaised2": {"instance": "i", "name": "n", "topic": "t"}});
        assert_eq!(named_instance(&item).as_deref(), Some("i"));
        let item = json!({"Later": {"parent_instance": "p"}});
        assert_eq!(named_instance(&item).as_deref(), Some("p"));
        assert_eq!(named_instance(&json!({"Later": {"other": 1}})), None);
        assert_eq!(named_instance(&json!("Later")), None);
    }

    fn cleared(key: &str) -> Event {
        event(EventKind::KeyValueCleared { key: key.into() })
    }
    fn parsed(text: Option<String>) -> Value {
        serde_json::from_str(&text.unwrap()).unwrap()
    }

    #[test]
    fn only_the_last_change_of_a_key_counts() {
        let kv = kv_changes(&[set("a", "1"), cleared("b"), set("a", "€"), set("b", "")]).unwrap();
        assert!(!kv.clear_all);
        let expected = json!([
            {"key": "a", "value": "€", "value_bytes": 3, "updated_at_ms": 5},
            {"key": "b", "value": "", "value_bytes": 0, "updated_at_ms": 5},
        ]);
        assert_eq!(parsed(kv.changes), expected);
    }

    #[test]
    fn clearing_all_forgets_what_came_before_it() {
        let all = event(EventKind::KeyValuesCleared);
        let kv = kv_changes(&[set("a", "1"), all, cleared("c"), set("b", "2")]).unwrap();
        assert!(kv.clear_all);
        let expected = json!([
            {"key": "b", "value": "2", "value_bytes": 1, "updated_at_ms": 5},
            {"key": "c"},
        ]);
        assert_eq!(parsed(kv.changes), expected);
        assert_eq!(kv_changes(&[]).unwrap(), KvChanges::default());
    }

    #[test]
    fn last_custom_status_wins() {
        let status = |s: Option<&str>| {
            event(EventKind::CustomStatusUpdated {
                status: s.map(Into::into),
            })
        };
        assert_eq!(custom_status(&[set("a", "b")]), None);
        assert_eq!(
            custom_status(&[status(None), status(Some("x"))]),
            Some(Some("x"))
        );
        assert_eq!(
            custom_status(&[status(Some("x")), status(None)]),
            Some(None)
        );
    }

    #[test]
    fn messages_carry_kind_routing_key_and_exact_payload() {
        let items = [
            WorkItem::TimerFired {
                instance: "i".into(),
                execution_id: 1,
                id: 2,
                fire_at_ms: 9,
            },
            WorkItem::SubOrchCompleted {
                parent_instance: "parent".into(),
                parent_execution_id: 1,
                parent_id: 2,
                result: "\"\u{1}😀".into(),
            },
        ];
        let rows = parsed(orchestrator_items(&items).unwrap());
        assert_eq!(rows[0]["kind"], "TimerFired");
        assert_eq!(rows[0]["visible_at_ms"], 9);
        assert_eq!(rows[1]["instance_id"], "parent");
        assert_eq!(rows[1]["kind"], "SubOrchCompleted");
        assert!(rows[1].get("visible_at_ms").is_none());
        let back = decode_work_item(rows[1]["payload"].as_str().unwrap()).unwrap();
        assert_eq!(back, items[1]);
        assert_eq!(orchestrator_items(&[]).unwrap(), None);
    }

    #[test]
    fn items_in_the_wrong_queue_are_refused() {
        let activity = WorkItem::ActivityExecute {
            instance: "i".into(),
            execution_id: 1,
            id: 2,
            name: "a".into(),
            input: String::new(),
            session_id: None,
            tag: None,
        };
        assert!(orchestrator_items(std::slice::from_ref(&activity)).is_err());
        let cancel = WorkItem::CancelInstance {
            instance: "i".into(),
            reason: String::new(),
        };
        assert!(worker_items(&[cancel]).is_err());
        let rows = parsed(worker_items(&[activity]).unwrap());
        assert_eq!(rows[0]["activity_id"], 2);
        assert!(rows[0].get("tag").is_none());
    }

    #[test]
    fn packed_versions_sort_like_versions() {
        let versions = [
            (0, 0, 0),
            (0, 1, 32),
            (0, 2, 0),
            (1, 0, 0),
            (1, 0, 1),
            (1, 10, 0),
        ];
        let packed: Vec<_> = versions.map(|(a, b, c)| packed_version(a, b, c)).to_vec();
        assert!(packed.is_sorted());
        assert_eq!(packed_version(1, 2, 3), 1_000_002_000_003);
        assert!(packed_version(u64::MAX, u64::MAX, u64::MAX) > 0);
    }
}
