//! Claims and their ends.

use std::time::{Duration, Instant};

use duroxide::providers::{
    ExecutionMetadata, OrchestrationItem, ProviderError, ScheduledActivityIdentifier, TagFilter,
    WorkItem,
};
use duroxide::{Event, EventKind};

use super::queues::{Instance, Lock, Queues};
use super::{Answer, lost, needs_key_values};

/// The version that is told of an instance whose first turn has not ended.
const UNKNOWN: &str = "unknown";

impl Queues {
    /// Locks the first instance that is ready and gives out its visible messages.
    pub(super) fn begin_turn(
        &mut self,
        lock_timeout: Duration,
    ) -> Option<(OrchestrationItem, String, u32)> {
        let now = Instant::now();
        // A message that came before the start of its instance waits for it.
        let name = self.ready_turn(now, |instance| identity(instance).is_some())?;
        let token = format!("turn-{}", self.next_number());
        let instance = self.instances.get_mut(&name)?;
        let (orchestration_name, version) = identity(instance)?;
        if let Some(old) = instance.lock.take() {
            self.locked.remove(&old.token);
        }
        instance.lock = Some(Lock {
            token: token.clone(),
            until: now + lock_timeout,
        });
        let (mut messages, mut attempts) = (Vec::new(), 0);
        for message in &mut instance.messages {
            message.is_fetched = message.visible_at <= now;
            if message.is_fetched {
                message.attempts += 1;
                attempts = attempts.max(message.attempts);
                messages.push(message.item.clone());
            }
        }
        let item = OrchestrationItem {
            instance: name.clone(),
            orchestration_name,
            execution_id: instance.execution_id.max(1),
            version,
            history: instance.history().to_vec(),
            messages,
            history_error: None,
            kv_snapshot: std::collections::HashMap::new(),
        };
        self.locked.insert(token.clone(), name.clone());
        self.place(&name);
        Some((item, token, attempts))
    }

    /// The instance that a token has locked, if the lock has not ended.
    fn locked_instance(&mut self, operation: &str, token: &str) -> Answer<(String, &mut Instance)> {
        let name = self.locked.get(token).cloned();
        let name = name.ok_or_else(|| lost(operation))?;
        let instance = self.instances.get_mut(&name);
        let held = |instance: &&mut Instance| {
            let lock = instance.lock.as_ref();
            lock.is_some_and(|lock| lock.token == token && lock.until > Instant::now())
        };
        let instance = instance.filter(held).ok_or_else(|| lost(operation))?;
        Ok((name, instance))
    }

    /// Removes what was given out, appends, unlocks; says whether the next turn may begin at once.
    pub(super) fn end_turn(
        &mut self,
        token: &str,
        execution_id: u64,
        delta: Vec<Event>,
        metadata: ExecutionMetadata,
    ) -> Answer<bool> {
        if delta.iter().any(needs_key_values) {
            return Err(ProviderError::permanent(
                "ack_orchestration_item",
                "the provider in memory has no key-values",
            ));
        }
        let (name, instance) = self.locked_instance("ack_orchestration_item", token)?;
        let written = instance.executions.get(&execution_id);
        let last = written.and_then(|history| history.last());
        if last
            .zip(delta.first())
            .is_some_and(|(last, new)| new.event_id <= last.event_id)
        {
            return Err(ProviderError::permanent(
                "ack_orchestration_item",
                "an event of this number is there already",
            ));
        }
        instance.messages.retain(|message| !message.is_fetched);
        instance.lock = None;
        instance.execution_id = instance.execution_id.max(execution_id);
        if let (Some(orchestration), Some(version)) =
            (metadata.orchestration_name, metadata.orchestration_version)
        {
            instance.identity = Some((orchestration, version));
        }
        for event in &delta {
            if let EventKind::CustomStatusUpdated { status } = &event.kind {
                instance.custom_status.clone_from(status);
                instance.custom_status_version += 1;
            }
        }
        let history = instance.executions.entry(execution_id).or_default();
        history.extend(delta);
        self.locked.remove(token);
        self.place(&name);
        Ok(self.is_ready(&name, Instant::now()))
    }

    /// Unlocks, with the messages as they were.
    pub(super) fn abandon_turn(
        &mut self,
        token: &str,
        delay: Option<Duration>,
        ignore_attempt: bool,
    ) -> Answer<()> {
        let (name, instance) = self.locked_instance("abandon_orchestration_item", token)?;
        let now = Instant::now();
        instance.lock = None;
        for message in &mut instance.messages {
            if message.is_fetched {
                message.is_fetched = false;
                message.attempts -= u32::from(ignore_attempt && message.attempts > 0);
                message.visible_at = now + delay.unwrap_or_default();
            }
        }
        self.locked.remove(token);
        self.place(&name);
        Ok(())
    }

    pub(super) fn renew_turn(&mut self, token: &str, extend_for: Duration) -> Answer<()> {
        let (name, instance) = self.locked_instance("renew_orchestration_item_lock", token)?;
        if let Some(lock) = &mut instance.lock {
            lock.until = Instant::now() + extend_for;
        }
        self.place(&name);
        Ok(())
    }

    /// Gives out the first work item that is ready.
    pub(super) fn claim_work(
        &mut self,
        lock_timeout: Duration,
        tags: &TagFilter,
    ) -> Option<(WorkItem, String, u32)> {
        let now = Instant::now();
        let place = self.ready_work(now, tags)?;
        let mut work = self.work.remove(&place)?;
        if let Some(old) = work.token.take() {
            self.held.remove(&old);
        }
        let number = self.next_number();
        let token = format!("work-{number}");
        work.attempts += 1;
        work.token = Some(token.clone());
        let given = (work.item.clone(), token.clone(), work.attempts);
        let place = (now + lock_timeout, number);
        self.held.insert(token, place);
        self.work.insert(place, work);
        Some(given)
    }

    /// Removes a work item whose lock has not ended.
    pub(super) fn take_held(
        &mut self,
        operation: &str,
        token: &str,
    ) -> Answer<super::queues::Work> {
        let place = self.held.get(token).copied();
        let place = place.filter(|(until, _)| *until > Instant::now());
        let place = place.ok_or_else(|| lost(operation))?;
        self.held.remove(token);
        self.work.remove(&place).ok_or_else(|| lost(operation))
    }

    pub(super) fn renew_work(&mut self, token: &str, extend_for: Duration) -> Answer<()> {
        let work = self.take_held("renew_work_item_lock", token)?;
        let place = (Instant::now() + extend_for, self.next_number());
        self.held.insert(token.to_owned(), place);
        self.work.insert(place, work);
        Ok(())
    }

    pub(super) fn abandon_work(
        &mut self,
        token: &str,
        delay: Option<Duration>,
        ignore_attempt: bool,
    ) -> Answer<()> {
        let mut work = self.take_held("abandon_work_item", token)?;
        work.token = None;
        work.attempts -= u32::from(ignore_attempt && work.attempts > 0);
        let place = (
            Instant::now() + delay.unwrap_or_default(),
            self.next_number(),
        );
        self.work.insert(place, work);
        Ok(())
    }

    /// Removes activities, held or not.
    pub(super) fn cancel(&mut self, activities: &[ScheduledActivityIdentifier]) {
        if activities.is_empty() {
            return;
        }
        let is_cancelled = |item: &WorkItem| match item {
            WorkItem::ActivityExecute {
                instance,
                execution_id,
                id,
                ..
            } => activities.iter().any(|activity| {
                activity.instance == *instance
                    && activity.execution_id == *execution_id
                    && activity.activity_id == *id
            }),
            _ => false,
        };
        self.work.retain(|_, work| !is_cancelled(&work.item));
        let work = &self.work;
        self.held.retain(|_, place| work.contains_key(place));
    }
}

/// Name and version: those of the last turn, of the history, or of the message that starts the instance.
fn identity(instance: &Instance) -> Option<(String, String)> {
    if instance.identity.is_some() {
        return instance.identity.clone();
    }
    if let Some(EventKind::OrchestrationStarted { name, version, .. }) =
        instance.history().first().map(|event| &event.kind)
    {
        return Some((name.clone(), version.clone()));
    }
    instance
        .messages
        .iter()
        .find_map(|message| match &message.item {
            WorkItem::StartOrchestration {
                orchestration,
                version,
                ..
            }
            | WorkItem::ContinueAsNew {
                orchestration,
                version,
                ..
            } => {
                let version = version.clone();
                Some((
                    orchestration.clone(),
                    version.unwrap_or_else(|| UNKNOWN.to_owned()),
                ))
            }
            _ => None,
        })
}
