//! The orchestration that grows, and one run of it.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use duroxide::runtime::OrchestrationStatus;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::{Client, OrchestrationContext};
use tokio::sync::watch;

use super::Shape;
use crate::backend::Backend;

/// Activities that follow a long history.
pub(super) const LATER: u64 = 20;
/// Between two questions whether the orchestration has ended, once its last turn has begun.
const POLL: Duration = Duration::from_micros(500);
/// What the last turn of the history's part takes at most, to be over before the clock starts.
const REST: Duration = Duration::from_millis(100);
/// Nothing here takes that long.
const PATIENCE: Duration = Duration::from_secs(600);
const EVENT: &str = "go";

/// The orchestration, and how it tells this process where it is: waiting for it with a client would
/// send questions that are counted and cost time.
pub(super) struct Load {
    shape: Shape,
    built: watch::Sender<String>,
    ended: watch::Sender<String>,
}

/// One run.
pub(super) struct Ran {
    pub(super) elapsed: Duration,
    /// How many activities were run in that time.
    pub(super) activities: u64,
    pub(super) cost: Option<Cost>,
}

/// What the server did, per activity.
#[derive(Debug, Clone, Default)]
pub(super) struct Cost {
    pub(super) calls: f64,
    pub(super) bytes: f64,
    pub(super) flushes: f64,
    pub(super) rows_read: f64,
    pub(super) locks: f64,
}

impl Load {
    pub(super) fn new(shape: Shape) -> Self {
        Self {
            shape,
            built: watch::Sender::default(),
            ended: watch::Sender::default(),
        }
    }

    pub(super) fn activities(&self) -> ActivityRegistry {
        ActivityRegistry::builder()
            .register("Nothing", |_, input: String| async move { Ok(input) })
            .build()
    }

    pub(super) fn orchestrations(&self) -> OrchestrationRegistry {
        let (shape, built, ended) = (self.shape, self.built.clone(), self.ended.clone());
        let grow = move |ctx: OrchestrationContext, input: String| {
            let (built, ended) = (built.clone(), ended.clone());
            async move {
                let size: u64 = input.parse().map_err(|_| "input is not a number")?;
                match shape {
                    Shape::FanIn => side_by_side(&ctx, size).await?,
                    Shape::Sequence => one_after_the_other(&ctx, size).await?,
                    Shape::LongHistory => {
                        side_by_side(&ctx, size).await?;
                        built.send_replace(ctx.instance_id());
                        ctx.schedule_wait(EVENT).await;
                        one_after_the_other(&ctx, LATER).await?;
                    }
                }
                ended.send_replace(ctx.instance_id());
                Ok(input)
            }
        };
        OrchestrationRegistry::builder()
            .register("Grow", grow)
            .build()
    }

    /// Runs one orchestration and counts.
    pub(super) async fn run(
        &self,
        client: &Client,
        backend: &dyn Backend,
        name: &str,
        size: u64,
    ) -> Result<Ran> {
        let activities = self.shape.measured(size);
        let start = client.start_orchestration(name, "Grow", size.to_string());
        let (begun, before) = match self.shape {
            Shape::FanIn | Shape::Sequence => {
                let before = (backend.counters(), backend.flushes());
                let begun = Instant::now();
                start.await?;
                (begun, before)
            }
            Shape::LongHistory => {
                start.await?;
                told(&self.built, name).await?;
                tokio::time::sleep(REST).await;
                let before = (backend.counters(), backend.flushes());
                let begun = Instant::now();
                client.raise_event(name, EVENT, "").await?;
                (begun, before)
            }
        };
        told(&self.ended, name).await?;
        loop {
            match client.get_orchestration_status(name).await? {
                OrchestrationStatus::Completed { .. } => break,
                OrchestrationStatus::Failed { details, .. } => bail!(details.display_message()),
                _ => tokio::time::sleep(POLL).await,
            }
        }
        let elapsed = begun.elapsed();
        let flushes = before.1.zip(backend.flushes()).map(|(a, b)| b - a);
        let counted = before.0.zip(backend.counters()).map(|(a, b)| b.since(&a));
        let each = |count: u64| count as f64 / activities as f64;
        let cost = counted.zip(flushes).map(|(counted, flushes)| {
            let total = counted.total();
            Cost {
                calls: each(total.calls),
                bytes: each(total.traffic.received + total.traffic.sent),
                flushes: each(flushes),
                rows_read: each(total.stats.rows_read),
                locks: each(total.stats.locks_taken),
            }
        });
        Ok(Ran {
            elapsed,
            activities,
            cost,
        })
    }
}

async fn told(place: &watch::Sender<String>, name: &str) -> Result<()> {
    let mut place = place.subscribe();
    let reached = place.wait_for(|reached| reached == name);
    let reached = tokio::time::timeout(PATIENCE, reached).await;
    reached
        .with_context(|| format!("{name} did not end within {PATIENCE:?}"))?
        .context("the runtime is gone")?;
    Ok(())
}

async fn side_by_side(ctx: &OrchestrationContext, count: u64) -> Result<(), String> {
    let activities = (0..count).map(|n| ctx.schedule_activity("Nothing", n.to_string()));
    for result in ctx.join(activities.collect()).await {
        result?;
    }
    Ok(())
}

async fn one_after_the_other(ctx: &OrchestrationContext, count: u64) -> Result<(), String> {
    for n in 0..count {
        ctx.schedule_activity("Nothing", n.to_string()).await?;
    }
    Ok(())
}
