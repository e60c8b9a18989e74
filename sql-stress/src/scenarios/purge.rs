//! Purge under load: completed instances are deleted in bulk while others run.

use std::time::{Duration, Instant};

use anyhow::Result;
use duroxide::providers::InstanceFilter;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::fan_out::FanOut;
use crate::pump::{Job, Watch, pump};
use crate::recorder::Times;
use crate::scenario::{Run, Scenario};
use crate::settings::Settings;

/// Instances deleted by one call.
const BATCH: usize = 50;

pub(super) struct Purge;

#[async_trait::async_trait]
impl Scenario for Purge {
    fn name(&self) -> &'static str {
        "purge"
    }

    fn about(&self) -> &'static str {
        "fan-out, while everything that has completed is deleted in batches"
    }

    fn activities(&self, settings: &Settings) -> ActivityRegistry {
        FanOut.activities(settings)
    }

    fn orchestrations(&self, settings: &Settings) -> OrchestrationRegistry {
        FanOut.orchestrations(settings)
    }

    async fn drive(&self, run: &Run<'_>) -> Result<()> {
        let (sender, receiver) = unbounded_channel();
        let count = run.settings.activities;
        let watch = Watch {
            check: None,
            completed: Some(sender),
        };
        let job = |_| Job {
            orchestration: "FanoutOrchestration",
            input: format!("{{\"task_count\":{count}}}"),
            activities: count as u64,
        };
        // The pump drops its sender when it ends, and the purge follows.
        let ((), purged) = tokio::join!(pump(run, watch, job), purge(run, receiver));
        let (deleted, times, busy) = purged?;
        let completed = run.recorder.live().completed;
        run.recorder.fact("instances deleted", deleted as f64, "");
        let rate = deleted as f64 / busy.as_secs_f64().max(1e-9);
        run.recorder
            .fact("deleted per second of purging", rate, "/s");
        let name = format!("delete of up to {BATCH}, p99");
        run.recorder.fact(&name, times.quantile_ms(0.99), "ms");
        if deleted < completed {
            let left = (completed - deleted) as f64;
            run.recorder
                .broken_promise("not deleted", left, "instances");
        }
        Ok(())
    }
}

async fn purge(
    run: &Run<'_>,
    mut completed: UnboundedReceiver<String>,
) -> Result<(u64, Times, Duration)> {
    let (mut deleted, mut times, mut busy) = (0, Times::default(), Duration::ZERO);
    let mut batch = Vec::with_capacity(BATCH);
    while completed.recv_many(&mut batch, BATCH).await > 0 {
        let begun = Instant::now();
        let filter = InstanceFilter {
            instance_ids: Some(std::mem::take(&mut batch)),
            ..InstanceFilter::default()
        };
        let result = run.client.delete_instance_bulk(filter).await?;
        deleted += result.instances_deleted;
        times.add(begun.elapsed());
        busy += begun.elapsed();
    }
    Ok((deleted, times, busy))
}
