//! Messages, events and calls for the scenarios that speak to the provider themselves.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use duroxide::providers::{ExecutionMetadata, OrchestrationItem, Provider, WorkItem};
use duroxide::{Event, EventKind};

use crate::model::{Curve, Point};
use crate::recorder::{End, Times};
use crate::scenario::Run;

/// A lease that outlasts any of these scenarios.
pub(super) const LEASE: Duration = Duration::from_secs(600);
const NAME: &str = "Stress";
const VERSION: &str = "1.0.0";

pub(super) fn start(instance: &str) -> WorkItem {
    WorkItem::StartOrchestration {
        instance: instance.to_owned(),
        orchestration: NAME.to_owned(),
        input: "{}".to_owned(),
        version: Some(VERSION.to_owned()),
        parent_instance: None,
        parent_id: None,
        parent_execution_id: None,
        execution_id: 1,
    }
}

pub(super) fn activity(instance: &str, id: u64) -> WorkItem {
    WorkItem::ActivityExecute {
        instance: instance.to_owned(),
        execution_id: 1,
        id,
        name: "ProcessTask".to_owned(),
        input: "task".to_owned(),
        session_id: None,
        tag: None,
    }
}

pub(super) fn event(instance: &str, id: u64, kind: EventKind) -> Event {
    Event::with_event_id(id, instance, 1, None, kind)
}

pub(super) fn started(instance: &str) -> Event {
    let kind = EventKind::OrchestrationStarted {
        name: NAME.to_owned(),
        version: VERSION.to_owned(),
        input: "{}".to_owned(),
        parent_instance: None,
        parent_id: None,
        parent_execution_id: None,
        carry_forward_events: None,
        initial_custom_status: None,
    };
    event(instance, 1, kind)
}

/// What the runtime sends with the first turn.
pub(super) fn metadata() -> ExecutionMetadata {
    ExecutionMetadata {
        orchestration_name: Some(NAME.to_owned()),
        orchestration_version: Some(VERSION.to_owned()),
        ..ExecutionMetadata::default()
    }
}

/// A turn that must be there.
pub(super) async fn fetch(store: &dyn Provider) -> Result<(OrchestrationItem, String)> {
    let fetched = store.fetch_orchestration_item(LEASE, Duration::ZERO, None);
    let (item, token, _) = fetched
        .await?
        .context("a turn is ready and is not given out")?;
    Ok((item, token))
}

/// What the worker answers.
pub(super) fn completion(work: &WorkItem) -> Result<WorkItem> {
    match work {
        WorkItem::ActivityExecute {
            instance,
            execution_id,
            id,
            ..
        } => Ok(WorkItem::ActivityCompleted {
            instance: instance.clone(),
            execution_id: *execution_id,
            id: *id,
            result: "done".to_owned(),
        }),
        other => anyhow::bail!("a worker was given {other:?}"),
    }
}

/// Times one kind of call.
pub(super) struct Timed {
    procedure: &'static str,
    times: Times,
}

impl Timed {
    pub(super) fn new(procedure: &'static str) -> Self {
        Self {
            procedure,
            times: Times::default(),
        }
    }

    /// What is called.
    pub(super) fn procedure(&self) -> &'static str {
        self.procedure
    }

    /// Awaits a call, and counts it.
    pub(super) async fn call<T>(
        &mut self,
        run: &Run<'_>,
        call: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        run.recorder.launched();
        let begun = Instant::now();
        let answer = call.await;
        let took = begun.elapsed();
        self.times.add(took);
        let end = match &answer {
            Ok(_) => End::Completed,
            Err(error) => End::Failed(self.procedure.to_owned(), format!("{error:#}")),
        };
        run.recorder.ended(end, took, 0);
        answer
    }
}

/// The curves of a growth scenario, while it goes from size to size.
pub(super) struct Growth {
    grows_with: &'static str,
    curves: Vec<Curve>,
    before: Option<mssql_embedded::Snapshot>,
}

impl Growth {
    pub(super) fn new(grows_with: &'static str) -> Self {
        Self {
            grows_with,
            curves: Vec::new(),
            before: None,
        }
    }

    /// The calls that follow are of the next size.
    pub(super) fn begin(&mut self, run: &Run<'_>) {
        self.before = run.backend.counters();
    }

    /// Adds a point to the curve of each kind of call. `flat` lists those that must not grow.
    pub(super) fn end(&mut self, run: &Run<'_>, size: u64, calls: &[Timed], flat: &[&str]) {
        let counted = run.backend.counters();
        let counted = counted
            .zip(self.before.take())
            .map(|(now, before)| now.since(&before));
        for timed in calls {
            let of = counted.as_ref().map(|counted| counted.of(timed.procedure));
            let each = |total: u64, calls: u64| total as f64 / calls.max(1) as f64;
            let point = Point {
                x: size as f64,
                p50_ms: timed.times.quantile_ms(0.5),
                p99_ms: timed.times.quantile_ms(0.99),
                rows_read: of.map(|c| each(c.stats.rows_read, c.calls)),
                ghosts_read: of.map(|c| each(c.stats.ghosts_read, c.calls)),
                locks: of.map(|c| each(c.stats.locks_taken, c.calls)),
                ..Point::default()
            };
            let found = self.curves.iter().position(|c| c.name == timed.procedure);
            let at = found.unwrap_or_else(|| {
                self.curves.push(Curve {
                    name: timed.procedure.to_owned(),
                    grows_with: self.grows_with.to_owned(),
                    must_be_flat: flat.contains(&timed.procedure),
                    ..Curve::default()
                });
                self.curves.len() - 1
            });
            self.curves[at].points.push(point);
        }
    }

    /// Hands the curves over; one that rises and must not makes the run a failure.
    pub(super) fn finish(self, run: &Run<'_>) {
        for curve in self.curves {
            if curve.is_wrong() {
                let growth = curve.growth().unwrap_or_default();
                let name = format!("{} grows with {}", curve.name, curve.grows_with);
                run.recorder.broken_promise(&name, growth, "fold");
            }
            run.recorder.curve(curve);
        }
    }
}
