//! Soak: a mixture of everything, to be run for long; nothing may be left behind or pile up.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use duroxide::provider_stress_tests::create_default_orchestrations;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};

use super::{sequence, timers, tree};
use crate::pump::{Job, Watch, pump};
use crate::random::Random;
use crate::scenario::{Run, Scenario};
use crate::settings::Settings;

/// How long messages may still lie in the queues when the last orchestration has ended.
const DRAIN: Duration = Duration::from_secs(10);

pub(super) struct Soak;

#[async_trait::async_trait]
impl Scenario for Soak {
    fn name(&self) -> &'static str {
        "soak"
    }

    fn about(&self) -> &'static str {
        "fan-outs, sequences, timers and trees mixed, for as long as --duration says"
    }

    fn activities(&self, settings: &Settings) -> ActivityRegistry {
        let delay = settings.activity_delay;
        let process = move |_, input: String| async move {
            tokio::time::sleep(delay).await;
            Ok(format!("processed: {input}"))
        };
        ActivityRegistry::builder()
            .register("ProcessTask", process)
            .register("Clock", timers::clock)
            .build()
    }

    fn orchestrations(&self, _: &Settings) -> OrchestrationRegistry {
        OrchestrationRegistry::builder_from(&create_default_orchestrations())
            .register("Sequence", sequence::sequence)
            .register("Timer", timers::timer)
            .register("Tree", tree::tree)
            .build()
    }

    async fn drive(&self, run: &Run<'_>) -> Result<()> {
        let memory_before = memory_mb();
        let mut random = Random::new(run.settings.seed);
        let count = run.settings.activities;
        pump(run, Watch::default(), |_| mixed(&mut random, count)).await;
        if let (Some(before), Some(after)) = (memory_before, memory_mb()) {
            run.recorder
                .fact("memory of this process before", before, "MB");
            run.recorder
                .fact("memory of this process after", after, "MB");
        }
        let left = drained(run).await?;
        if left > 0 {
            run.recorder
                .broken_promise("left in the queues", left as f64, "messages");
        }
        Ok(())
    }
}

fn mixed(random: &mut Random, count: usize) -> Job {
    let job = |orchestration, input, activities| Job {
        orchestration,
        input,
        activities,
    };
    match random.below(10) {
        0..5 => job(
            "FanoutOrchestration",
            format!("{{\"task_count\":{count}}}"),
            count as u64,
        ),
        5..7 => job("Sequence", count.to_string(), count as u64),
        7..9 => job("Timer", timers::length(random).to_string(), 2),
        _ => job("Tree", "1".to_owned(), 3),
    }
}

/// Waits until the queues are empty, and returns what stays in them.
pub(super) async fn drained(run: &Run<'_>) -> Result<usize> {
    let deadline = Instant::now() + DRAIN;
    loop {
        let depths = run.client.get_queue_depths().await;
        let depths = depths.context("the queues cannot be looked at")?;
        let left = depths.orchestrator_queue + depths.worker_queue + depths.timer_queue;
        if left == 0 || Instant::now() >= deadline || run.stop.is_cancelled() {
            return Ok(left);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Resident memory, where the system tells.
fn memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes / 1e3)
}
