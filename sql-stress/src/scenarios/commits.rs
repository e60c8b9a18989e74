//! Commits: what waiting for the log costs one activity, with and without delayed durability for claims,
//! and how many completions of one instance share a flush.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use duroxide::providers::{Provider, TagFilter, WorkItem};
use duroxide::runtime::{Runtime, RuntimeOptions};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::idle_latency::{activities, one_at_a_time, orchestrations};
use super::items::{LEASE, activity, completion, fetch, metadata, start, started};
use crate::backend::Target;
use crate::recorder::End;
use crate::scenario::{Run, Scenario};

/// 1 to 5 ms are common on Azure.
const LATENCY: Duration = Duration::from_millis(3);
/// Completions that arrive for one instance, unless `--sizes` says otherwise.
const COMPLETIONS: u64 = 1_000;
/// Workers that complete at the same time.
const AT_A_TIME: usize = 32;
const REST: std::ops::Range<Duration> = Duration::ZERO..Duration::from_millis(20);
const SHUTDOWN_MS: u64 = 2_000;

pub(super) struct Commits;

#[async_trait::async_trait]
impl Scenario for Commits {
    fn name(&self) -> &'static str {
        "commits"
    }

    fn about(&self) -> &'static str {
        "one activity and a fan-in when commits wait for the log, with and without delayed claims"
    }

    /// Its first half has one; in the second it would take the work away.
    fn needs_runtime(&self) -> bool {
        false
    }

    async fn drive(&self, run: &Run<'_>) -> Result<()> {
        let target = run.backend.target();
        let target = target.filter(|target| target.controls.is_some());
        let target =
            target.context("only the embedded server can be told how long a flush takes")?;
        let latency = run.settings.commit_latency.unwrap_or(LATENCY);
        let before = Engine::set(&target, latency, false)?;
        let ms = latency.as_secs_f64() * 1e3;
        run.recorder.fact("a durable commit waits", ms, "ms");
        let idle = one_activity(run, &target, latency).await;
        let fan_in = fan_in(run, latency).await;
        before.restore(&target)?;
        idle.and(fan_in)
    }
}

/// What the server was told before.
struct Engine(Duration);

impl Engine {
    fn set(target: &Target, latency: Duration, is_delayed: bool) -> Result<Self> {
        if let Some(controls) = &target.controls {
            controls.set_commit_latency(latency);
            let allowed = controls.allow_delayed_durability(&target.database, is_delayed);
            allowed.map_err(|error| anyhow::anyhow!(error.message.clone()))?;
        }
        Ok(Self(Duration::ZERO))
    }

    fn restore(self, target: &Target) -> Result<()> {
        Self::set(target, self.0, false).map(drop)
    }
}

/// One one-activity orchestration at a time: everything it commits is on its way.
async fn one_activity(run: &Run<'_>, target: &Target, latency: Duration) -> Result<()> {
    let options = RuntimeOptions::default();
    let runtime =
        Runtime::start_with_options(run.store.clone(), activities(), orchestrations(), options)
            .await;
    for (is_delayed, how) in [
        (false, "all commits durable"),
        (true, "claims delayed-durable"),
    ] {
        Engine::set(target, latency, is_delayed)?;
        let names = format!("one-{is_delayed}");
        let before = run.backend.flushes();
        let part = run.settings.duration / 2;
        let times = one_at_a_time(run, ("One", &names), part, REST).await;
        let flushes = before.zip(run.backend.flushes()).map(|(a, b)| b - a);
        let name = format!("one activity, {how}, p50");
        run.recorder.fact(&name, times.quantile_ms(0.5), "ms");
        if let Some(flushes) = flushes {
            let each = flushes as f64 / times.count().max(1) as f64;
            let name = format!("one activity, {how}, flushes on its way");
            run.recorder.fact(&name, each, "");
        }
    }
    runtime.shutdown(Some(SHUTDOWN_MS)).await;
    Ok(())
}

/// Completions of many activities arrive for one instance. One after the other, each would wait for a
/// flush of its own.
async fn fan_in(run: &Run<'_>, latency: Duration) -> Result<()> {
    let count = run.settings.sizes.first().copied().unwrap_or(COMPLETIONS);
    let held = hold(run.store.as_ref(), count).await?;
    let (before, begun) = (run.backend.flushes(), Instant::now());
    let places = Arc::new(Semaphore::new(AT_A_TIME));
    let mut running = JoinSet::new();
    for (item, token) in held {
        let place = places.clone().acquire_owned().await?;
        let (store, recorder) = (run.store.clone(), run.recorder.clone());
        let completion = completion(&item)?;
        running.spawn(async move {
            recorder.launched();
            let begun = Instant::now();
            let end = match store.ack_work_item(&token, Some(completion)).await {
                Ok(()) => End::Completed,
                Err(error) => End::Failed("ack_work_item".to_owned(), error.to_string()),
            };
            recorder.ended(end, begun.elapsed(), 0);
            drop(place);
        });
    }
    while running.join_next().await.is_some() {}
    let took = begun.elapsed();
    let each = took.as_secs_f64() * 1e3 / count as f64;
    let name = format!("{count} completions for one instance, {AT_A_TIME} at a time");
    run.recorder.fact(&name, each, "ms each");
    if let (Some(before), Some(after)) = (before, run.backend.flushes()) {
        let shared = (after - before) as f64 / count as f64;
        run.recorder.fact("flushes per completion", shared, "");
    }
    let times = latency.as_secs_f64() * 1e3 / each;
    let name = "completions to one per commit (at least 5 times wanted)";
    run.recorder.fact(name, times, "times as fast");
    Ok(())
}

/// Claims the activities of one instance, all at once.
async fn hold(store: &dyn Provider, count: u64) -> Result<Vec<(WorkItem, String)>> {
    store
        .enqueue_for_orchestrator(start("fan-in"), None)
        .await?;
    let (item, token) = fetch(store).await?;
    let (history, work) = (
        vec![started(&item.instance)],
        (0..count)
            .map(|n| activity(&item.instance, n + 2))
            .collect(),
    );
    store
        .ack_orchestration_item(&token, 1, history, work, vec![], metadata(), vec![])
        .await?;
    let any = TagFilter::default();
    let mut held = Vec::new();
    for _ in 0..count {
        let fetched = store.fetch_work_item(LEASE, Duration::ZERO, None, &any);
        let (item, token, _) = fetched
            .await?
            .context("a work item is ready and is not given out")?;
        held.push((item, token));
    }
    Ok(held)
}
