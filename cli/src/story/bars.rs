//! What an execution began, and how it ended: one bar per activity, timer, wait and child.

use duroxide_sql::ViewRow;
use serde::Serialize;

use crate::instant;
use crate::output::{cell, number};

/// What a bar stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An execution of the instance itself.
    Execution,
    /// An activity, from the turn that scheduled it to the turn that took its result.
    Activity,
    /// A timer.
    Timer,
    /// A wait for an external event.
    Wait,
    /// A sub-orchestration.
    Child,
}

impl Kind {
    /// As people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Execution => "execution",
            Self::Activity => "activity",
            Self::Timer => "timer",
            Self::Wait => "wait",
            Self::Child => "child",
        }
    }
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It has not.
    Open,
    /// With a result; timers have fired, events have been raised.
    Completed,
    /// With an error.
    Failed,
    /// It was asked to stop, or nobody waits for it any more.
    Cancelled,
    /// The execution ended first.
    Dropped,
    /// The next execution goes on.
    Continued,
}

impl Ending {
    /// As people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Dropped => "dropped",
            Self::Continued => "continued as new",
        }
    }
}

/// Something that lasts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Bar {
    /// What it is.
    pub kind: Kind,
    /// Of the activity, event or orchestration; empty for timers.
    pub name: String,
    /// The event that began it.
    pub event_id: i64,
    /// That event's execution.
    pub execution_id: i64,
    /// When it began, in milliseconds since 1970.
    pub begun_ms: i64,
    /// When it ended.
    pub ended_ms: Option<i64>,
    /// When a timer fires.
    pub due_ms: Option<i64>,
    /// How it ended.
    pub outcome: Ending,
    /// 2 for an activity that is scheduled again after it failed, and so on.
    pub attempt: i64,
    /// How often a worker has taken an open activity; 0 when it is not in the queue.
    pub deliveries: i64,
    /// The worker that has an open activity now.
    pub worker_id: Option<String>,
    /// The tag that a worker must take.
    pub tag: Option<String>,
    /// The child's id.
    pub child_instance_id: Option<String>,
}

impl Bar {
    /// How long it took, or has lasted until now.
    pub fn duration_ms(&self, now_ms: i64) -> i64 {
        (self.ended_ms.unwrap_or(now_ms) - self.begun_ms).max(0)
    }
}

fn begins(kind: &str) -> Option<Kind> {
    Some(match kind {
        "OrchestrationStarted" => Kind::Execution,
        "ActivityScheduled" => Kind::Activity,
        "TimerCreated" => Kind::Timer,
        "ExternalSubscribed" | "ExternalSubscribedPersistent" => Kind::Wait,
        "SubOrchestrationScheduled" => Kind::Child,
        _ => return None,
    })
}

fn ends(kind: &str) -> Option<Ending> {
    Some(match kind {
        "ActivityCompleted"
        | "TimerFired"
        | "ExternalEvent"
        | "ExternalEventPersistent"
        | "SubOrchestrationCompleted"
        | "OrchestrationCompleted" => Ending::Completed,
        "ActivityFailed" | "SubOrchestrationFailed" | "OrchestrationFailed" => Ending::Failed,
        "ActivityCancelRequested"
        | "SubOrchestrationCancelRequested"
        | "ExternalSubscribedCancelled"
        | "ExternalSubscribedPersistentCancelled" => Ending::Cancelled,
        "OrchestrationContinuedAsNew" => Ending::Continued,
        _ => return None,
    })
}

/// The bars of recorded events, which are in their order; `waiting` tells about open activities.
pub fn bars(events: &[ViewRow], waiting: &[ViewRow]) -> Vec<Bar> {
    let mut found: Vec<Bar> = Vec::new();
    for event in events {
        let kind = cell(event, "event_kind");
        if let Some(kind) = begins(&kind) {
            let mut bar = begun(kind, event);
            if kind == Kind::Activity {
                bar.attempt = attempt(&found, &bar.name);
            }
            found.push(bar);
        } else if let Some(outcome) = ends(&kind) {
            end(&mut found, event, &kind, outcome);
        }
    }
    for row in waiting {
        let id = row.get("scheduled_by_event_id").and_then(|id| id.as_i64());
        let execution_id = number(row, "execution_id");
        let of_row = |bar: &&mut Bar| {
            bar.kind == Kind::Activity
                && Some(bar.event_id) == id
                && bar.execution_id == execution_id
        };
        if let Some(bar) = found.iter_mut().find(of_row) {
            bar.deliveries = number(row, "attempt_count");
            bar.worker_id = text(row, "worker_id");
        }
    }
    found
}

fn begun(kind: Kind, event: &ViewRow) -> Bar {
    Bar {
        kind,
        name: cell(event, "name"),
        event_id: number(event, "event_id"),
        execution_id: number(event, "execution_id"),
        begun_ms: at(event),
        ended_ms: None,
        due_ms: instant::parse(&cell(event, "fires_at_utc")),
        outcome: Ending::Open,
        attempt: 1,
        deliveries: 0,
        worker_id: None,
        tag: text(event, "tag"),
        child_instance_id: text(event, "child_instance_id"),
    }
}

/// A failed activity is tried again under its name: the last one before, if it failed, was the
/// attempt before.
fn attempt(found: &[Bar], name: &str) -> i64 {
    let before = found
        .iter()
        .rfind(|bar| bar.kind == Kind::Activity && bar.name == name);
    match before {
        Some(bar) if bar.outcome == Ending::Failed => bar.attempt + 1,
        _ => 1,
    }
}

/// Ends what this event answers: what it names, or for events from outside the first wait of that
/// name, or the execution with all that is open in it.
fn end(found: &mut [Bar], event: &ViewRow, kind: &str, outcome: Ending) {
    let (ended_ms, execution_id) = (at(event), number(event, "execution_id"));
    let source = event
        .get("scheduled_by_event_id")
        .and_then(|id| id.as_i64());
    let name = cell(event, "name");
    let of_execution =
        |bar: &&mut Bar| bar.execution_id == execution_id && bar.outcome == Ending::Open;
    if let Some(source) = source {
        let ended = found.iter_mut().filter(of_execution);
        if let Some(bar) = ended.into_iter().find(|bar| bar.event_id == source) {
            (bar.ended_ms, bar.outcome) = (Some(ended_ms), outcome);
        }
    } else if kind.starts_with("ExternalEvent") {
        let mut waits = found.iter_mut().filter(of_execution);
        if let Some(bar) = waits.find(|bar| bar.kind == Kind::Wait && bar.name == name) {
            (bar.ended_ms, bar.outcome) = (Some(ended_ms), outcome);
        }
    } else if kind.starts_with("Orchestration") {
        for bar in found.iter_mut().filter(of_execution) {
            bar.ended_ms = Some(ended_ms);
            bar.outcome = match bar.kind {
                Kind::Execution => outcome,
                Kind::Activity | Kind::Timer | Kind::Wait | Kind::Child => Ending::Dropped,
            };
        }
    }
}

fn at(event: &ViewRow) -> i64 {
    instant::parse(&cell(event, "event_at_utc")).unwrap_or(0)
}

fn text(row: &ViewRow, column: &str) -> Option<String> {
    Some(cell(row, column)).filter(|text| !text.is_empty())
}

#[cfg(test)]
#[path = "bars_tests.rs"]
mod tests;
