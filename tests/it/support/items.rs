//! Messages, work items and events as the tests need them.

use std::time::Duration;

use duroxide::providers::{ExecutionMetadata, OrchestrationItem, Provider, TagFilter, WorkItem};
use duroxide::{Event, EventKind};

/// A lease that no test outlives.
pub const LEASE: Duration = Duration::from_secs(60);

pub fn start(instance: &str) -> WorkItem {
    WorkItem::StartOrchestration {
        instance: instance.into(),
        orchestration: "Orchestration".into(),
        input: "{}".into(),
        version: Some("1.0.0".into()),
        parent_instance: None,
        parent_id: None,
        parent_execution_id: None,
        execution_id: 1,
    }
}

pub fn activity(instance: &str, id: u64, input: &str) -> WorkItem {
    WorkItem::ActivityExecute {
        instance: instance.into(),
        execution_id: 1,
        id,
        name: "Activity".into(),
        input: input.into(),
        session_id: None,
        tag: None,
    }
}

pub fn completed(instance: &str, id: u64, result: &str) -> WorkItem {
    WorkItem::ActivityCompleted {
        instance: instance.into(),
        execution_id: 1,
        id,
        result: result.into(),
    }
}

pub fn event(instance: &str, event_id: u64, kind: EventKind) -> Event {
    Event::with_event_id(event_id, instance, 1, None, kind)
}

pub fn started(instance: &str, input: &str) -> Event {
    let kind = EventKind::OrchestrationStarted {
        name: "Orchestration".into(),
        version: "1.0.0".into(),
        input: input.into(),
        parent_instance: None,
        parent_id: None,
        parent_execution_id: None,
        carry_forward_events: None,
        initial_custom_status: None,
    };
    event(instance, 1, kind)
}

/// What the runtime sends with the first ack of an instance.
pub fn metadata() -> ExecutionMetadata {
    ExecutionMetadata {
        orchestration_name: Some("Orchestration".into()),
        orchestration_version: Some("1.0.0".into()),
        ..ExecutionMetadata::default()
    }
}

pub async fn fetch(provider: &dyn Provider) -> Option<(OrchestrationItem, String, u32)> {
    let fetched = provider
        .fetch_orchestration_item(LEASE, Duration::ZERO, None)
        .await;
    fetched.expect("fetch_orchestration_item")
}

pub async fn fetch_work(provider: &dyn Provider) -> Option<(WorkItem, String, u32)> {
    let filter = TagFilter::default();
    let fetched = provider
        .fetch_work_item(LEASE, Duration::ZERO, None, &filter)
        .await;
    fetched.expect("fetch_work_item")
}

/// Starts an instance and commits its first turn.
pub async fn create(provider: &dyn Provider, instance: &str) {
    provider
        .enqueue_for_orchestrator(start(instance), None)
        .await
        .expect("enqueue");
    let (_, token, _) = fetch(provider).await.expect("the start message is ready");
    let history = vec![started(instance, "{}")];
    provider
        .ack_orchestration_item(&token, 1, history, vec![], vec![], metadata(), vec![])
        .await
        .expect("ack_orchestration_item");
}
