//! The provider's contract as a small program: what is stored, and which answers are right.
//!
//! Where the contract leaves a choice (which of several ready instances is fetched) the model accepts
//! any that is right, and goes on from there.

use std::collections::{BTreeMap, BTreeSet};

use duroxide::providers::{TagFilter, WorkItem};
use duroxide::{Event, EventKind};

/// A time in milliseconds of the server's clock.
pub type Ms = i64;

#[derive(Clone, Debug)]
pub struct Message {
    pub instance: String,
    pub item: WorkItem,
    pub visible: Ms,
    pub attempts: u32,
    pub token: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Work {
    pub instance: String,
    pub activity: u64,
    pub item: WorkItem,
    pub session: Option<String>,
    pub tag: Option<String>,
    /// While free, when it becomes visible; while held, the end of the lease.
    pub not_before: Ms,
    pub enqueued: Ms,
    pub attempts: u32,
    pub token: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Execution {
    pub status: String,
    pub events: Vec<Event>,
}

#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// Its row exists: an ack has named it.
    pub is_known: bool,
    pub current: u64,
    pub executions: BTreeMap<u64, Execution>,
    pub custom_status: Option<String>,
    pub custom_version: u64,
    pub store: BTreeMap<String, String>,
    pub delta: BTreeMap<String, Option<String>>,
    /// Token and end of the lease.
    pub lock: Option<(String, Ms)>,
}

#[derive(Clone, Debug)]
pub struct Session {
    pub owner: String,
    pub until: Ms,
    pub last_activity: Ms,
}

#[derive(Default)]
pub struct Model {
    /// In the order of arrival.
    pub messages: Vec<Message>,
    pub work: Vec<Work>,
    pub instances: BTreeMap<String, Instance>,
    pub sessions: BTreeMap<String, Session>,
}

/// What an ack brings.
pub struct Turn {
    pub execution: u64,
    pub events: Vec<Event>,
    pub status: Option<String>,
    pub messages: Vec<(String, WorkItem, Ms)>,
    pub work: Vec<Work>,
    pub cancelled: Option<(String, u64)>,
}

impl Model {
    pub fn send(&mut self, instance: &str, item: WorkItem, visible: Ms) {
        let (attempts, token) = (0, None);
        let instance = instance.to_owned();
        self.messages.push(Message {
            instance,
            item,
            visible,
            attempts,
            token,
        });
    }

    fn visible(&self, instance: &str, now: Ms) -> impl Iterator<Item = &Message> {
        let of = instance.to_owned();
        let messages = self.messages.iter();
        messages.filter(move |m| m.instance == of && m.visible <= now)
    }

    /// Whether a fetch may return a turn of this instance: it has visible messages, nobody holds it,
    /// and it has begun or is about to.
    pub fn is_ready(&self, instance: &str, now: Ms) -> bool {
        let state = self.instances.get(instance);
        let held = state
            .and_then(|s| s.lock.as_ref())
            .is_some_and(|(_, until)| *until > now);
        let begun = state.is_some_and(|s| s.is_known || !s.executions.is_empty());
        let starts = |m: &Message| matches!(m.item, WorkItem::StartOrchestration { .. });
        !held
            && self.visible(instance, now).next().is_some()
            && (begun || self.visible(instance, now).any(starts))
    }

    pub fn ready_instances(&self, now: Ms) -> BTreeSet<String> {
        let names: BTreeSet<_> = self.messages.iter().map(|m| m.instance.clone()).collect();
        names
            .into_iter()
            .filter(|name| self.is_ready(name, now))
            .collect()
    }

    /// Claims a turn: its messages in the order of arrival, and its number of attempts.
    pub fn claim(
        &mut self,
        instance: &str,
        token: &str,
        now: Ms,
        until: Ms,
    ) -> (Vec<WorkItem>, u32) {
        let (mut items, mut attempts) = (Vec::new(), 0);
        for message in &mut self.messages {
            if message.instance == instance && message.visible <= now {
                message.attempts += 1;
                message.token = Some(token.to_owned());
                attempts = attempts.max(message.attempts);
                items.push(message.item.clone());
            }
        }
        let state = self.instances.entry(instance.to_owned()).or_default();
        state.lock = Some((token.to_owned(), until));
        (items, attempts)
    }

    /// The instance whose lock has this token; with `now`, only while its lease lasts.
    pub fn holder(&self, token: &str, now: Option<Ms>) -> Option<String> {
        let mut held = self.instances.iter().filter(|(_, state)| {
            let lock = state.lock.as_ref();
            lock.is_some_and(|(held, until)| held == token && now.is_none_or(|now| *until > now))
        });
        held.next().map(|(name, _)| name.clone())
    }

    /// Ends a turn; false when it must be refused, and nothing has changed then.
    pub fn ack(&mut self, token: &str, turn: Turn, now: Ms) -> bool {
        let Some(name) = self.holder(token, Some(now)) else {
            return false;
        };
        let state = self.instances.get_mut(&name).expect("the holder");
        let stored = state.executions.get(&turn.execution);
        let is_taken = |id: u64| stored.is_some_and(|e| e.events.iter().any(|s| s.event_id == id));
        if turn.events.iter().any(|event| is_taken(event.event_id())) {
            return false;
        }
        self.messages.retain(|m| m.token.as_deref() != Some(token));
        state.apply(&turn);
        state.lock = None;
        for (instance, item, visible) in turn.messages {
            self.send(&instance, item, visible.max(now));
        }
        self.work.extend(turn.work);
        if let Some((instance, activity)) = turn.cancelled {
            self.work
                .retain(|w| w.instance != instance || w.activity != activity);
        }
        true
    }

    pub fn abandon(&mut self, token: &str, visible: Option<Ms>, ignore_attempt: bool) -> bool {
        let Some(name) = self.holder(token, None) else {
            return false;
        };
        self.instances.get_mut(&name).expect("the holder").lock = None;
        let mine = self.messages.iter_mut();
        for message in mine.filter(|m| m.token.as_deref() == Some(token)) {
            message.token = None;
            message.visible = visible.unwrap_or(message.visible);
            message.attempts = message.attempts.saturating_sub(u32::from(ignore_attempt));
        }
        true
    }

    pub fn renew(&mut self, token: &str, now: Ms, until: Ms) -> bool {
        let Some(name) = self.holder(token, Some(now)) else {
            return false;
        };
        let state = self.instances.get_mut(&name).expect("the holder");
        if let Some((_, end)) = &mut state.lock {
            *end = until.max(*end);
        }
        true
    }

    /// Whether a work fetch may return this item.
    pub fn may_take(&self, work: &Work, owner: Option<&str>, filter: &TagFilter, now: Ms) -> bool {
        let session = match (&work.session, owner) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(session), Some(owner)) => {
                let lease = self.sessions.get(session);
                lease.is_none_or(|lease| lease.owner == owner || lease.until <= now)
            }
        };
        work.not_before <= now && filter.matches(work.tag.as_deref()) && session
    }

    /// Deletes an instance with everything it has; false when it must be refused.
    pub fn delete(&mut self, instance: &str, force: bool) -> bool {
        let Some(state) = self.instances.get(instance).filter(|state| state.is_known) else {
            return false;
        };
        if !force && state.status() == "Running" {
            return false;
        }
        self.instances.remove(instance);
        self.messages.retain(|m| m.instance != instance);
        self.work.retain(|w| w.instance != instance);
        true
    }

    /// How many executions go; `None` when the instance is unknown.
    pub fn prune(&mut self, instance: &str, keep_last: usize) -> Option<u64> {
        let state = self
            .instances
            .get_mut(instance)
            .filter(|state| state.is_known)?;
        let kept: Vec<u64> = state
            .executions
            .keys()
            .rev()
            .take(keep_last)
            .copied()
            .collect();
        let (before, current) = (state.executions.len(), state.current);
        state.executions.retain(|id, execution| {
            *id == current || execution.status == "Running" || kept.contains(id)
        });
        Some((before - state.executions.len()) as u64)
    }
}

impl Instance {
    pub fn status(&self) -> &str {
        let current = self.executions.get(&self.current);
        current.map_or("Running", |execution| &execution.status)
    }

    /// The execution that a turn continues, and its events.
    pub fn history(&self) -> (u64, Vec<Event>) {
        let latest = self
            .executions
            .iter()
            .rev()
            .find(|(_, e)| !e.events.is_empty());
        let id = if self.is_known {
            self.current
        } else {
            latest.map_or(1, |(id, _)| *id)
        };
        let events = self.executions.get(&id).map(|e| e.events.clone());
        (id, events.unwrap_or_default())
    }

    /// Key-values as the running execution left them.
    pub fn values(&self) -> BTreeMap<String, String> {
        let mut values = self.store.clone();
        for (key, value) in &self.delta {
            match value {
                Some(value) => drop(values.insert(key.clone(), value.clone())),
                None => drop(values.remove(key)),
            }
        }
        values
    }

    fn apply(&mut self, turn: &Turn) {
        self.current = if self.is_known {
            self.current.max(turn.execution)
        } else {
            turn.execution
        };
        self.is_known = true;
        let execution = self.executions.entry(turn.execution).or_default();
        if execution.status.is_empty() {
            "Running".clone_into(&mut execution.status);
        }
        execution.events.extend(turn.events.iter().cloned());
        if let Some(status) = &turn.status {
            execution.status.clone_from(status);
        }
        let mut custom = None;
        for event in &turn.events {
            match &event.kind {
                EventKind::CustomStatusUpdated { status } => custom = Some(status.clone()),
                EventKind::KeyValueSet { key, value, .. } => {
                    self.delta.insert(key.clone(), Some(value.clone()));
                }
                EventKind::KeyValueCleared { key } => drop(self.delta.insert(key.clone(), None)),
                EventKind::KeyValuesCleared => {
                    let keys: Vec<_> = self
                        .store
                        .keys()
                        .chain(self.delta.keys())
                        .cloned()
                        .collect();
                    self.delta.extend(keys.into_iter().map(|key| (key, None)));
                }
                _ => {}
            }
        }
        if let Some(status) = custom {
            self.custom_status = status;
            self.custom_version += 1;
        }
        if matches!(
            turn.status.as_deref(),
            Some("Completed" | "Failed" | "ContinuedAsNew")
        ) {
            self.store = self.values();
            self.delta.clear();
        }
    }
}
