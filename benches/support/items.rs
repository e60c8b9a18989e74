//! Messages, work items and events as the runtime writes them.

use duroxide::providers::{ExecutionMetadata, WorkItem};
use duroxide::{Event, EventKind};

pub fn start(instance: &str) -> WorkItem {
    WorkItem::StartOrchestration {
        instance: instance.into(),
        orchestration: "Bench".into(),
        input: "{}".into(),
        version: Some("1.0.0".into()),
        parent_instance: None,
        parent_id: None,
        parent_execution_id: None,
        execution_id: 1,
    }
}

pub fn activity(instance: &str, id: u64) -> WorkItem {
    WorkItem::ActivityExecute {
        instance: instance.into(),
        execution_id: 1,
        id,
        name: "ProcessTask".into(),
        input: "task".into(),
        session_id: None,
        tag: None,
    }
}

pub fn completed(instance: &str, id: u64) -> WorkItem {
    WorkItem::ActivityCompleted {
        instance: instance.into(),
        execution_id: 1,
        id,
        result: "done".into(),
    }
}

fn event(instance: &str, id: u64, kind: EventKind) -> Event {
    Event::with_event_id(id, instance, 1, None, kind)
}

pub fn started(instance: &str) -> Event {
    let kind = EventKind::OrchestrationStarted {
        name: "Bench".into(),
        version: "1.0.0".into(),
        input: "{}".into(),
        parent_instance: None,
        parent_id: None,
        parent_execution_id: None,
        carry_forward_events: None,
        initial_custom_status: None,
    };
    event(instance, 1, kind)
}

pub fn scheduled(instance: &str, id: u64) -> Event {
    let kind = EventKind::ActivityScheduled {
        name: "ProcessTask".into(),
        input: format!("task-{id}"),
        session_id: None,
        tag: None,
    };
    event(instance, id, kind)
}

pub fn metadata() -> ExecutionMetadata {
    ExecutionMetadata {
        orchestration_name: Some("Bench".into()),
        orchestration_version: Some("1.0.0".into()),
        ..ExecutionMetadata::default()
    }
}
