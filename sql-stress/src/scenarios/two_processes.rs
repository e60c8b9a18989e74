//! Two processes: one starts work, the other runs it, and nothing else is going on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use duroxide::runtime::Runtime;

use super::idle_latency::one_at_a_time;
use super::kill::{program, start};
use crate::every_kind::{self, Runs};
use crate::recorder::Times;
use crate::scenario::{Run, Scenario, pause};

/// Long enough for a process that found nothing to have slowed down its questions.
const REST: std::ops::Range<Duration> = Duration::from_millis(100)..Duration::from_millis(400);
/// Longest time for a process to start and to run its first orchestration.
const START: Duration = Duration::from_secs(30);
const SHUTDOWN_MS: u64 = 2_000;
/// What the other process may add to the median, without network delay.
const GOAL_MS: f64 = 40.0;

pub(super) struct TwoProcesses;

#[async_trait::async_trait]
impl Scenario for TwoProcesses {
    fn name(&self) -> &'static str {
        "two-processes"
    }

    fn about(&self) -> &'static str {
        "one activity at a time, started here and run in another process; idle requests"
    }

    /// It has one of its own for a part of the time, and the other process has one.
    fn needs_runtime(&self) -> bool {
        false
    }

    async fn drive(&self, run: &Run<'_>) -> Result<()> {
        let part = run.settings.duration / 6;
        let here = within(run, part).await?;
        let there = elsewhere(run, part, "waiting in the database", &[]).await?;
        let more = there - here;
        let name = format!("another process adds at p50 (at most {GOAL_MS} wanted without delay)");
        run.recorder.fact(&name, more, "ms");
        elsewhere(run, part, "asking at intervals", &["--no-wait-for-work"]).await?;
        Ok(())
    }
}

/// Starts and runs in this process; returns the median.
async fn within(run: &Run<'_>, part: Duration) -> Result<f64> {
    let activities = every_kind::activities(Duration::ZERO, Arc::new(Runs::default()));
    let runtime = Runtime::start_with_options(
        run.store.clone(),
        activities,
        every_kind::orchestrations(),
        every_kind::options(),
    )
    .await;
    let times = one_at_a_time(run, ("Probe", "here"), part, REST).await;
    tell(run, "within one process", &times);
    idle(run, "within one process", part).await;
    runtime.shutdown(Some(SHUTDOWN_MS)).await;
    Ok(times.quantile_ms(0.5))
}

/// Starts here and lets a process of its own run it; returns the median.
async fn elsewhere(run: &Run<'_>, part: Duration, how: &str, more: &[&str]) -> Result<f64> {
    let target = run.backend.target();
    let target = target.context("only a SQL Server can be shared by processes")?;
    let more = [&["--activity-delay", "0"], more].concat();
    let mut process = start(&program(run)?, &target, &more)?;
    let names = format!("there-{}", more.len());
    let first = format!("{names}-first");
    let started = every_kind::probe(&run.client, &first, START).await;
    started.map_err(|end| anyhow::anyhow!("the other process does not work: {end:?}"))?;
    let times = one_at_a_time(run, ("Probe", &names), part, REST).await;
    let name = format!("another process, {how}");
    tell(run, &name, &times);
    idle(run, &name, part).await;
    process.kill().await.context("a process does not end")?;
    Ok(times.quantile_ms(0.5))
}

fn tell(run: &Run<'_>, how: &str, times: &Times) {
    for (percentile, quantile) in [("p50", 0.5), ("p90", 0.9), ("max", 1.0)] {
        let name = format!("one activity, {how}, {percentile}");
        run.recorder.fact(&name, times.quantile_ms(quantile), "ms");
    }
}

/// Counts the requests while there is nothing to do.
async fn idle(run: &Run<'_>, how: &str, part: Duration) {
    // The intervals grow at first; what counts is an idle night.
    let goes_on = pause(run, part / 2).await;
    let (before, begun) = (run.backend.requests(), Instant::now());
    let goes_on = goes_on && pause(run, part / 2).await;
    if let (Some(before), Some(after), true) = (before, run.backend.requests(), goes_on) {
        let rate = (after - before) as f64 / begun.elapsed().as_secs_f64();
        let name = format!("requests of an idle process, {how}");
        run.recorder.fact(&name, rate, "/s");
    }
}
