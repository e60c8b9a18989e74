//! One orchestration that grows: what each of its activities costs, by how many there are.
//!
//! The same load runs on several providers, one of which costs nothing, so that the runtime's own share is
//! known.

mod load;
mod verdict;

use std::time::Duration;

use anyhow::{Context as _, Result};
use duroxide::providers::Provider;
use duroxide::runtime::{Runtime, RuntimeOptions};

use crate::backend::Backend;
use crate::compare::median;
use crate::model::{Curve, Point, RunResult};
use crate::settings::Pair;
use load::Load;
pub use verdict::{goals, table};

/// How long the runtime may finish what it has begun.
const SHUTDOWN_MS: u64 = 2_000;
/// A size is measured this often, unless it takes long.
const RUNS: usize = 3;
/// What takes longer than this is measured once.
const LONG: Duration = Duration::from_secs(5);

/// How the activities of the orchestration stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Side by side, awaited together.
    FanIn,
    /// One after the other.
    Sequence,
    /// One after the other, behind a history of as many activities; only the later ones count.
    LongHistory,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::FanIn, Self::Sequence, Self::LongHistory];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::FanIn => "fan-in",
            Self::Sequence => "sequence",
            Self::LongHistory => "long-history",
        }
    }

    /// Activities that are measured when there are `size` of them in all, or before.
    #[must_use]
    pub fn measured(self, size: u64) -> u64 {
        match self {
            Self::FanIn | Self::Sequence => size,
            Self::LongHistory => load::LATER,
        }
    }
}

impl std::str::FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|shape| shape.name() == text);
        found.ok_or_else(|| "expected fan-in, sequence or long-history".to_owned())
    }
}

/// What to measure.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Numbers of activities, from small to large.
    pub sizes: Vec<u64>,
    /// Dispatchers and workers.
    pub pair: Pair,
    /// A size that would take longer is left out.
    pub budget: Duration,
}

/// Measures one shape on one provider at every size.
///
/// # Errors
///
/// When the store cannot be opened or an orchestration fails.
pub async fn measure(shape: Shape, backend: &dyn Backend, plan: &Plan) -> Result<Curve> {
    let mut curve = Curve {
        name: backend.describe(),
        grows_with: "activities".to_owned(),
        title: "ms per activity".to_owned(),
        ..Curve::default()
    };
    for &size in &plan.sizes {
        let last: Option<&Point> = curve.points.last();
        if last.is_some_and(|last| expected(shape, last, size) > plan.budget) {
            break;
        }
        let store = backend.open().await?;
        let load = Load::new(shape);
        let options = RuntimeOptions {
            orchestration_concurrency: plan.pair.orchestrations,
            worker_concurrency: plan.pair.workers,
            ..RuntimeOptions::default()
        };
        let (activities, orchestrations) = (load.activities(), load.orchestrations());
        let runtime =
            Runtime::start_with_options(store.clone(), activities, orchestrations, options).await;
        let point = at_size(&load, store, backend, size).await;
        runtime.shutdown(Some(SHUTDOWN_MS)).await;
        backend.close().await?;
        let context = || format!("{} of {size} on {}", shape.name(), backend.describe());
        curve.points.push(point.with_context(context)?);
    }
    Ok(curve)
}

/// How long a size will take, if nothing grows.
fn expected(shape: Shape, last: &Point, size: u64) -> Duration {
    let activities = match shape {
        Shape::LongHistory => size + load::LATER,
        _ => size,
    };
    Duration::from_secs_f64(last.p50_ms * activities as f64 / 1e3)
}

async fn at_size(
    load: &Load,
    store: std::sync::Arc<dyn Provider>,
    backend: &dyn Backend,
    size: u64,
) -> Result<Point> {
    let client = duroxide::Client::new(store);
    // Connections, plans and caches of a first orchestration are not what is measured.
    load.run(&client, backend, "warm-up", size.min(10)).await?;
    let (mut times, mut costs) = (Vec::new(), Vec::new());
    for n in 0..RUNS {
        let run = load
            .run(&client, backend, &format!("run-{n}"), size)
            .await?;
        times.push(run.elapsed.as_secs_f64() * 1e3 / run.activities as f64);
        costs.push(run.cost);
        if run.elapsed > LONG {
            break;
        }
    }
    let of = |pick: fn(&load::Cost) -> f64| {
        let values: Option<Vec<f64>> = costs.iter().map(|cost| cost.as_ref().map(pick)).collect();
        values.and_then(|mut values| median(&mut values))
    };
    Ok(Point {
        x: size as f64,
        p50_ms: median(&mut times).unwrap_or_default(),
        p99_ms: times.last().copied().unwrap_or_default(),
        calls: of(|cost| cost.calls),
        bytes: of(|cost| cost.bytes),
        flushes: of(|cost| cost.flushes),
        rows_read: of(|cost| cost.rows_read),
        locks: of(|cost| cost.locks),
        ..Point::default()
    })
}

/// The curves of one shape as a run of a report.
#[must_use]
pub fn as_run(shape: Shape, plan: &Plan, curves: Vec<Curve>) -> RunResult {
    let points: usize = curves.iter().map(|curve| curve.points.len()).sum();
    RunResult {
        scenario: shape.name().to_owned(),
        pair: plan.pair.to_string(),
        launched: points as u64,
        completed: points as u64,
        curves,
        ..RunResult::default()
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
