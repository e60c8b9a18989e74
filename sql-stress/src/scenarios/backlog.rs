//! Backlog growth: what fetch, ack and enqueue cost with more and more rows waiting.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use duroxide::providers::{Provider, TagFilter, WorkItem};

use super::items::{Growth, LEASE, Timed, activity, completion, fetch, metadata, start, started};
use crate::scenario::{Run, Scenario};

const SIZES: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// Rows that one ack adds to each queue while the backlog is built.
const FILL: u64 = 1_000;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

pub(super) struct Backlog;

#[async_trait::async_trait]
impl Scenario for Backlog {
    fn name(&self) -> &'static str {
        "backlog"
    }

    fn about(&self) -> &'static str {
        "cost of calls with 1k to 1m rows waiting in each queue (--sizes); all must be flat"
    }

    fn needs_runtime(&self) -> bool {
        false
    }

    async fn drive(&self, run: &Run<'_>) -> Result<()> {
        let sizes: &[u64] = match run.settings.sizes.as_slice() {
            [] => &SIZES,
            sizes => sizes,
        };
        let store = run.store.as_ref();
        store.enqueue_for_orchestrator(start("first"), None).await?;
        let mut growth = Growth::new("waiting rows in each queue");
        let mut waiting = 0;
        for &size in sizes {
            run.progress
                .note(&format!("backlog: filling to {size} rows"));
            while waiting < size && !run.stop.is_cancelled() {
                let more = FILL.min(size - waiting);
                fill(store, waiting, more).await?;
                waiting += more;
            }
            if run.stop.is_cancelled() {
                break;
            }
            growth.begin(run);
            let calls = sample(run, size).await?;
            let all = calls.each_ref().map(Timed::procedure);
            growth.end(run, size, &calls, &all);
        }
        growth.finish(run);
        Ok(())
    }
}

/// Adds rows to both queues with one turn. Half of the messages are timers that are due tomorrow: the
/// fetch has to pass them by.
async fn fill(store: &dyn Provider, from: u64, count: u64) -> Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let tomorrow_ms = now.as_millis() as u64 + DAY_MS;
    let message = |n: u64| match n % 2 {
        0 => start(&format!("ready-{n:09}")),
        _ => WorkItem::TimerFired {
            instance: format!("timer-{n:09}"),
            execution_id: 1,
            id: 2,
            fire_at_ms: tomorrow_ms,
        },
    };
    let messages = (from..from + count).map(message).collect();
    let work = (from..from + count)
        .map(|n| activity(&format!("busy-{n:09}"), 2))
        .collect();
    let (item, token) = fetch(store).await?;
    let history = vec![started(&item.instance)];
    let ack = store.ack_orchestration_item(&token, 1, history, work, messages, metadata(), vec![]);
    Ok(ack.await?)
}

/// What a running system does, call by call.
async fn sample(run: &Run<'_>, size: u64) -> Result<[Timed; 5]> {
    let store = run.store.as_ref();
    let mut enqueue = Timed::new("enqueue_for_orchestrator");
    let mut fetch_turn = Timed::new("fetch_orchestration_item");
    let mut ack_turn = Timed::new("ack_orchestration_item");
    let mut fetch_work = Timed::new("fetch_work_item");
    let mut ack_work = Timed::new("ack_work_item");
    let any = TagFilter::default();
    for n in 0..run.settings.samples {
        if run.stop.is_cancelled() {
            break;
        }
        let new = start(&format!("new-{size}-{n}"));
        let call = async { Ok(store.enqueue_for_orchestrator(new, None).await?) };
        enqueue.call(run, call).await?;
        let (item, token) = fetch_turn.call(run, fetch(store)).await?;
        let (history, work) = (
            vec![started(&item.instance)],
            vec![activity(&item.instance, 2)],
        );
        let ack =
            store.ack_orchestration_item(&token, 1, history, work, vec![], metadata(), vec![]);
        ack_turn.call(run, async { Ok(ack.await?) }).await?;
        let call = async {
            let fetched = store.fetch_work_item(LEASE, Duration::ZERO, None, &any);
            fetched
                .await?
                .context("a work item is ready and is not given out")
        };
        let (work, token, _) = fetch_work.call(run, call).await?;
        let completion = completion(&work)?;
        let call = async { Ok(store.ack_work_item(&token, Some(completion)).await?) };
        ack_work.call(run, call).await?;
    }
    Ok([enqueue, fetch_turn, ack_turn, fetch_work, ack_work])
}
