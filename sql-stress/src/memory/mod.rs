//! A provider that keeps everything in memory and costs next to nothing: what a load takes on it is the
//! runtime's own share.
//!
//! Even it must hand out a copy of the history with every turn and every read, because the trait demands
//! one; that is part of the share. It has no sessions, no key-values and no management, and refuses
//! work that needs them.

mod queues;
mod turns;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use duroxide::providers::{
    DispatcherCapabilityFilter, ExecutionMetadata, OrchestrationItem, Provider, ProviderError,
    ScheduledActivityIdentifier, SessionFetchConfig, TagFilter, WorkItem,
};
use duroxide::{Event, EventKind, SystemStats};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::backend::Backend;
use queues::Queues;

type Answer<T> = Result<T, ProviderError>;

/// The provider.
#[derive(Debug, Default)]
pub struct Memory {
    queues: Mutex<Queues>,
    /// Rung when a turn may have become ready.
    turn_bell: Notify,
    /// Rung when a work item has been added or given back.
    work_bell: Notify,
}

/// The provider as a place for loads.
#[derive(Debug, Default)]
pub struct MemoryBackend;

#[async_trait::async_trait]
impl Backend for MemoryBackend {
    fn describe(&self) -> String {
        "memory".to_owned()
    }

    async fn open(&self) -> Result<Arc<dyn Provider>> {
        Ok(Arc::new(Memory::default()))
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }
}

/// Asks again and again: at once, whenever the bell rings, and when something becomes due.
async fn wait_for<T>(
    bell: &Notify,
    poll_timeout: Duration,
    ask: impl Fn() -> (Option<T>, Option<Instant>),
) -> Option<T> {
    let deadline = Instant::now() + poll_timeout;
    loop {
        let mut rung = std::pin::pin!(bell.notified());
        // From here on a ring is not missed.
        rung.as_mut().enable();
        let (found, due) = ask();
        let now = Instant::now();
        if found.is_some() || now >= deadline {
            return found;
        }
        let wake = due.filter(|due| *due > now).unwrap_or(deadline);
        let wake = tokio::time::sleep_until(wake.min(deadline).into());
        tokio::select! {
            () = &mut rung => {}
            () = wake => {}
        }
    }
}

pub(super) fn lost(operation: &str) -> ProviderError {
    ProviderError::permanent(operation, "the lock is no longer held")
}

/// Refuses what this provider does not have.
fn refuse_session(operation: &str, item: &WorkItem) -> Answer<()> {
    match item {
        WorkItem::ActivityExecute {
            session_id: Some(_),
            ..
        } => Err(ProviderError::permanent(
            operation,
            "the provider in memory has no sessions",
        )),
        _ => Ok(()),
    }
}

#[async_trait::async_trait]
impl Provider for Memory {
    fn name(&self) -> &str {
        "memory"
    }

    async fn fetch_orchestration_item(
        &self,
        lock_timeout: Duration,
        poll_timeout: Duration,
        filter: Option<&DispatcherCapabilityFilter>,
    ) -> Answer<Option<(OrchestrationItem, String, u32)>> {
        // Everything here was started by the runtime that asks, so it supports all of it or nothing.
        if filter.is_some_and(|filter| filter.supported_duroxide_versions.is_empty()) {
            return Ok(None);
        }
        let ask = || {
            let mut queues = self.queues.lock();
            (queues.begin_turn(lock_timeout), queues.next_turn())
        };
        Ok(wait_for(&self.turn_bell, poll_timeout, ask).await)
    }

    async fn ack_orchestration_item(
        &self,
        lock_token: &str,
        execution_id: u64,
        history_delta: Vec<Event>,
        worker_items: Vec<WorkItem>,
        orchestrator_items: Vec<WorkItem>,
        metadata: ExecutionMetadata,
        cancelled_activities: Vec<ScheduledActivityIdentifier>,
    ) -> Answer<()> {
        for item in &worker_items {
            refuse_session("ack_orchestration_item", item)?;
        }
        let work = worker_items.len();
        let mut queues = self.queues.lock();
        let is_ready = queues.end_turn(lock_token, execution_id, history_delta, metadata)?;
        for item in worker_items {
            queues.add_work(item);
        }
        queues.cancel(&cancelled_activities);
        let mut turns = usize::from(is_ready);
        for item in orchestrator_items {
            turns += usize::from(queues.post(item, None));
        }
        drop(queues);
        for _ in 0..work {
            self.work_bell.notify_one();
        }
        for _ in 0..turns {
            self.turn_bell.notify_one();
        }
        Ok(())
    }

    async fn abandon_orchestration_item(
        &self,
        lock_token: &str,
        delay: Option<Duration>,
        ignore_attempt: bool,
    ) -> Answer<()> {
        let abandoned = self
            .queues
            .lock()
            .abandon_turn(lock_token, delay, ignore_attempt);
        self.turn_bell.notify_waiters();
        abandoned
    }

    async fn renew_orchestration_item_lock(&self, token: &str, extend_for: Duration) -> Answer<()> {
        self.queues.lock().renew_turn(token, extend_for)
    }

    async fn enqueue_for_orchestrator(
        &self,
        item: WorkItem,
        delay: Option<Duration>,
    ) -> Answer<()> {
        if self.queues.lock().post(item, delay) {
            self.turn_bell.notify_one();
        } else {
            // Whoever waits must learn when it is due.
            self.turn_bell.notify_waiters();
        }
        Ok(())
    }

    async fn read(&self, instance: &str) -> Answer<Vec<Event>> {
        let queues = self.queues.lock();
        let found = queues.instances.get(instance);
        Ok(found.map_or_else(Vec::new, |found| found.history().to_vec()))
    }

    async fn read_with_execution(&self, instance: &str, execution_id: u64) -> Answer<Vec<Event>> {
        let queues = self.queues.lock();
        let found = queues.instances.get(instance);
        let found = found.and_then(|found| found.executions.get(&execution_id));
        Ok(found.cloned().unwrap_or_default())
    }

    async fn append_with_execution(
        &self,
        instance: &str,
        execution_id: u64,
        new_events: Vec<Event>,
    ) -> Answer<()> {
        let mut queues = self.queues.lock();
        let found = queues.instances.entry(instance.to_owned()).or_default();
        let history = found.executions.entry(execution_id).or_default();
        history.extend(new_events);
        Ok(())
    }

    async fn enqueue_for_worker(&self, item: WorkItem) -> Answer<()> {
        refuse_session("enqueue_for_worker", &item)?;
        self.queues.lock().add_work(item);
        self.work_bell.notify_one();
        Ok(())
    }

    async fn fetch_work_item(
        &self,
        lock_timeout: Duration,
        poll_timeout: Duration,
        _session: Option<&SessionFetchConfig>,
        tag_filter: &TagFilter,
    ) -> Answer<Option<(WorkItem, String, u32)>> {
        let ask = || {
            let mut queues = self.queues.lock();
            (
                queues.claim_work(lock_timeout, tag_filter),
                queues.next_work(),
            )
        };
        Ok(wait_for(&self.work_bell, poll_timeout, ask).await)
    }

    async fn ack_work_item(&self, token: &str, completion: Option<WorkItem>) -> Answer<()> {
        let mut queues = self.queues.lock();
        queues.take_held("ack_work_item", token)?;
        let is_ready = completion.is_some_and(|completion| queues.post(completion, None));
        drop(queues);
        if is_ready {
            self.turn_bell.notify_one();
        }
        Ok(())
    }

    async fn renew_work_item_lock(&self, token: &str, extend_for: Duration) -> Answer<()> {
        self.queues.lock().renew_work(token, extend_for)
    }

    async fn abandon_work_item(
        &self,
        token: &str,
        delay: Option<Duration>,
        ignore_attempt: bool,
    ) -> Answer<()> {
        let abandoned = self
            .queues
            .lock()
            .abandon_work(token, delay, ignore_attempt);
        self.work_bell.notify_waiters();
        abandoned
    }

    async fn renew_session_lock(&self, _: &[&str], _: Duration, _: Duration) -> Answer<usize> {
        Ok(0)
    }

    async fn cleanup_orphaned_sessions(&self, _: Duration) -> Answer<usize> {
        Ok(0)
    }

    async fn get_custom_status(
        &self,
        instance: &str,
        last_seen_version: u64,
    ) -> Answer<Option<(Option<String>, u64)>> {
        let queues = self.queues.lock();
        let found = queues.instances.get(instance);
        let newer = found.filter(|found| found.custom_status_version > last_seen_version);
        Ok(newer.map(|found| (found.custom_status.clone(), found.custom_status_version)))
    }

    async fn get_kv_value(&self, _: &str, _: &str) -> Answer<Option<String>> {
        Ok(None)
    }

    async fn get_kv_all_values(&self, _: &str) -> Answer<HashMap<String, String>> {
        Ok(HashMap::new())
    }

    async fn get_instance_stats(&self, instance: &str) -> Answer<Option<SystemStats>> {
        let queues = self.queues.lock();
        let found = queues.instances.get(instance);
        Ok(found.map(|found| SystemStats {
            history_event_count: found.history().len() as u64,
            history_size_bytes: 0,
            queue_pending_count: 0,
            kv_user_key_count: 0,
            kv_total_value_bytes: 0,
        }))
    }
}

/// Whether an event needs something that this provider does not have.
pub(super) fn needs_key_values(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::KeyValueSet { .. }
            | EventKind::KeyValueCleared { .. }
            | EventKind::KeyValuesCleared
    )
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
