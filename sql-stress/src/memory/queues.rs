//! What the provider keeps: instances with their messages, and work items, each in the order in which they
//! are due.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use duroxide::Event;
use duroxide::providers::{TagFilter, WorkItem};

/// When something is due, and in which order among equals.
pub(super) type Place = (Instant, u64);

/// A message of an instance.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) visible_at: Instant,
    pub(super) item: WorkItem,
    pub(super) attempts: u32,
    /// Given out with the lock that is held.
    pub(super) is_fetched: bool,
}

/// The current lock of an instance.
#[derive(Debug)]
pub(super) struct Lock {
    pub(super) token: String,
    pub(super) until: Instant,
}

/// One instance.
#[derive(Debug, Default)]
pub(super) struct Instance {
    /// Name and version, once the first turn has ended.
    pub(super) identity: Option<(String, String)>,
    pub(super) execution_id: u64,
    pub(super) executions: BTreeMap<u64, Vec<Event>>,
    pub(super) messages: Vec<Message>,
    pub(super) lock: Option<Lock>,
    pub(super) custom_status: Option<String>,
    pub(super) custom_status_version: u64,
    /// Where it stands in [`Queues::turns`].
    place: Option<Place>,
}

impl Instance {
    /// The history of the current execution.
    pub(super) fn history(&self) -> &[Event] {
        self.executions
            .get(&self.execution_id)
            .map_or(&[], Vec::as_slice)
    }
}

/// A work item.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) item: WorkItem,
    pub(super) attempts: u32,
    pub(super) token: Option<String>,
}

/// Everything.
#[derive(Debug, Default)]
pub(super) struct Queues {
    pub(super) instances: HashMap<String, Instance>,
    /// Instances with messages, by when their next turn may begin: when the first message is visible, or
    /// when the lock ends.
    turns: BTreeSet<(Place, String)>,
    /// Work items by when they may be given out: when they are visible, or when their lock ends.
    pub(super) work: BTreeMap<Place, Work>,
    /// Held work items by token.
    pub(super) held: HashMap<String, Place>,
    /// Locked instances by token.
    pub(super) locked: HashMap<String, String>,
    sequence: u64,
}

impl Queues {
    pub(super) fn next_number(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Adds a message to its instance; says whether its turn may begin at once.
    pub(super) fn post(&mut self, item: WorkItem, delay: Option<Duration>) -> bool {
        let now = Instant::now();
        let visible_at = match &item {
            WorkItem::TimerFired { fire_at_ms, .. } => {
                now + delay.unwrap_or_else(|| until(*fire_at_ms))
            }
            _ => now + delay.unwrap_or_default(),
        };
        let name = addressee(&item).to_owned();
        let message = Message {
            visible_at,
            item,
            attempts: 0,
            is_fetched: false,
        };
        let instance = self.instances.entry(name.clone()).or_default();
        instance.messages.push(message);
        self.place(&name);
        self.is_ready(&name, now)
    }

    /// Whether an instance's turn may begin now.
    pub(super) fn is_ready(&self, name: &str, now: Instant) -> bool {
        let place = self.instances.get(name).and_then(|instance| instance.place);
        place.is_some_and(|(at, _)| at <= now)
    }

    /// Adds a work item.
    pub(super) fn add_work(&mut self, item: WorkItem) {
        let place = (Instant::now(), self.next_number());
        let work = Work {
            item,
            attempts: 0,
            token: None,
        };
        self.work.insert(place, work);
    }

    /// The first instance whose turn may begin, if `may` agrees.
    pub(super) fn ready_turn(
        &self,
        now: Instant,
        may: impl Fn(&Instance) -> bool,
    ) -> Option<String> {
        let due = self.turns.iter().take_while(|((at, _), _)| *at <= now);
        let mut due = due.map(|(_, name)| name);
        let found = due.find(|name| self.instances.get(*name).is_some_and(&may));
        found.cloned()
    }

    /// The first work item that may be given out.
    pub(super) fn ready_work(&self, now: Instant, tags: &TagFilter) -> Option<Place> {
        let mut due = self.work.iter().take_while(|((at, _), _)| *at <= now);
        let found = due.find(|(_, work)| tags.matches(tag(&work.item)));
        found.map(|(place, _)| *place)
    }

    /// When something is due next.
    pub(super) fn next_turn(&self) -> Option<Instant> {
        self.turns.first().map(|((at, _), _)| *at)
    }

    /// When something is due next.
    pub(super) fn next_work(&self) -> Option<Instant> {
        self.work.first_key_value().map(|((at, _), _)| *at)
    }

    /// Puts an instance where its messages and its lock demand.
    pub(super) fn place(&mut self, name: &str) {
        let number = self.next_number();
        let Some(instance) = self.instances.get_mut(name) else {
            return;
        };
        let first = instance.messages.iter().map(|m| m.visible_at).min();
        let at = match (first, &instance.lock) {
            (Some(first), Some(lock)) => Some(first.max(lock.until)),
            (first, _) => first,
        };
        if at == instance.place.map(|(at, _)| at) {
            return;
        }
        if let Some(old) = instance.place.take() {
            self.turns.remove(&(old, name.to_owned()));
        }
        if let Some(at) = at {
            instance.place = Some((at, number));
            self.turns.insert(((at, number), name.to_owned()));
        }
    }
}

/// How long until a time of the wall clock.
fn until(at_ms: u64) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_ms = now.map_or(0, |now| now.as_millis() as u64);
    Duration::from_millis(at_ms.saturating_sub(now_ms))
}

/// The instance that a message is for.
pub(super) fn addressee(item: &WorkItem) -> &str {
    match item {
        WorkItem::StartOrchestration { instance, .. }
        | WorkItem::ActivityExecute { instance, .. }
        | WorkItem::ActivityCompleted { instance, .. }
        | WorkItem::ActivityFailed { instance, .. }
        | WorkItem::TimerFired { instance, .. }
        | WorkItem::ExternalRaised { instance, .. }
        | WorkItem::QueueMessage { instance, .. }
        | WorkItem::CancelInstance { instance, .. }
        | WorkItem::ContinueAsNew { instance, .. } => instance,
        WorkItem::SubOrchCompleted {
            parent_instance, ..
        }
        | WorkItem::SubOrchFailed {
            parent_instance, ..
        } => parent_instance,
    }
}

fn tag(item: &WorkItem) -> Option<&str> {
    match item {
        WorkItem::ActivityExecute { tag, .. } => tag.as_deref(),
        _ => None,
    }
}
