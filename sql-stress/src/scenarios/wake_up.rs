//! Wake-ups: how soon a waiting fetch has work that this or another process brings, and what waiting
//! costs the database.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use duroxide::providers::{Provider, TagFilter};

use super::items::{LEASE, metadata, start, started};
use crate::random::Random;
use crate::recorder::{End, Times};
use crate::scenario::{Run, Scenario, pause};

/// Longer than any wait in this scenario.
const WAIT: Duration = Duration::from_secs(60);
/// Fetches that wait at the same time while the idle cost is counted: a default runtime's.
const WAITING: usize = 2;

pub(super) struct WakeUp;

#[async_trait::async_trait]
impl Scenario for WakeUp {
    fn name(&self) -> &'static str {
        "wake-up"
    }

    fn about(&self) -> &'static str {
        "how soon waiting fetches have new work of this and of another process; idle query rate"
    }

    fn needs_runtime(&self) -> bool {
        false
    }

    async fn drive(&self, run: &Run<'_>) -> Result<()> {
        let third = run.settings.duration / 3;
        let here = wake_ups(run, "here", run.store.clone(), third).await?;
        tell(run, "wake-up within the process", &here);
        if let Some(other) = run.backend.open_second().await? {
            let there = wake_ups(run, "there", other, third).await?;
            tell(run, "wake-up by another process", &there);
        }
        idle_cost(run, third).await
    }
}

fn tell(run: &Run<'_>, name: &str, times: &Times) {
    for (percentile, quantile) in [("p50", 0.5), ("p99", 0.99), ("max", 1.0)] {
        let name = format!("{name}, {percentile}");
        run.recorder.fact(&name, times.quantile_ms(quantile), "ms");
    }
}

/// Lets a fetch wait, brings work through `bringer`, and times from the end of bringing to the end of
/// the fetch.
async fn wake_ups(
    run: &Run<'_>,
    label: &str,
    bringer: Arc<dyn Provider>,
    time: Duration,
) -> Result<Times> {
    let deadline = Instant::now() + time;
    let mut random = Random::new(run.settings.seed);
    let mut times = Times::default();
    for n in 0.. {
        let store = run.store.clone();
        let waiting = tokio::spawn(async move {
            let fetched = store.fetch_orchestration_item(LEASE, WAIT, None).await;
            (fetched, Instant::now())
        });
        let rest = Duration::from_millis(5 + random.below(50));
        if !pause(run, rest).await || Instant::now() >= deadline {
            waiting.abort();
            break;
        }
        let instance = format!("{label}-{n}");
        run.recorder.launched();
        bringer
            .enqueue_for_orchestrator(start(&instance), None)
            .await?;
        let brought = Instant::now();
        let (fetched, woken) = waiting.await?;
        // The fetch may have its work before the bringer has heard of his success.
        let took = woken.saturating_duration_since(brought);
        times.add(took);
        run.recorder.ended(End::Completed, took, 0);
        let (item, token, _) = fetched?.context("the fetch ended without its work")?;
        let history = vec![started(&item.instance)];
        let store = &run.store;
        let ack =
            store.ack_orchestration_item(&token, 1, history, vec![], vec![], metadata(), vec![]);
        ack.await?;
    }
    Ok(times)
}

/// Counts the requests of a runtime's worth of fetches that wait in vain.
async fn idle_cost(run: &Run<'_>, time: Duration) -> Result<()> {
    let mut waiting = Vec::new();
    for _ in 0..WAITING {
        let (turns, work) = (run.store.clone(), run.store.clone());
        waiting.push(tokio::spawn(async move {
            drop(turns.fetch_orchestration_item(LEASE, WAIT, None).await);
        }));
        waiting.push(tokio::spawn(async move {
            let any = TagFilter::default();
            drop(work.fetch_work_item(LEASE, WAIT, None, &any).await);
        }));
    }
    // The intervals grow at first; what counts is an idle night.
    let goes_on = pause(run, time / 2).await;
    let (before, begun) = (run.backend.requests(), Instant::now());
    let goes_on = goes_on && pause(run, time / 2).await;
    let after = run.backend.requests();
    for fetch in &waiting {
        fetch.abort();
    }
    if let (Some(before), Some(after), true) = (before, after, goes_on) {
        let rate = (after - before) as f64 / begun.elapsed().as_secs_f64();
        run.recorder
            .fact("requests of an idle 2:2 runtime", rate, "/s");
    }
    Ok(())
}
