//! Retention: finished instances are purged while others run.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use duroxide::EventKind;
use duroxide::providers::{ExecutionMetadata, InstanceFilter, Provider};
use duroxide::runtime::Runtime;
use duroxide_sql::Pace;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::fan_out::FanOut;
use super::items::{event, fetch, metadata, start, started};
use crate::model::{Curve, Point};
use crate::pump::{Job, Until, Watch, pump_until};
use crate::recorder::Times;
use crate::scenario::{Run, Scenario, pause};
use crate::settings::Settings;

const SIZES: [u64; 2] = [1_000, 10_000];
/// Instances that one message starts while the finished ones are made.
const FILL: u64 = 1_000;
/// Those who finish them at the same time.
const AT_A_TIME: usize = 4;
/// Instances deleted by one call, as by the command-line tool.
const BATCH: u32 = 100;
/// The load has settled after this time.
const RAMP: Duration = Duration::from_millis(500);
/// Every so many calls one is given up in the middle.
const GIVE_UP_EVERY: u64 = 4;
const GIVE_UP_AFTER: Duration = Duration::from_millis(10);
/// Names looked up afterwards.
const LOOK_UP: u64 = 50;
const SHUTDOWN_MS: u64 = 2_000;
/// Throughput that workers must keep.
const KEPT_LEAST: f64 = 80.0;

pub(super) struct Retention;

#[async_trait::async_trait]
impl Scenario for Retention {
    fn name(&self) -> &'static str {
        "retention"
    }

    fn about(&self) -> &'static str {
        "purge of 1k to 10k finished instances (--sizes) beside fan-out, given up and resumed"
    }

    /// There is none while the finished instances are made.
    fn needs_runtime(&self) -> bool {
        false
    }

    async fn drive(&self, run: &Run<'_>) -> Result<()> {
        let sizes: &[u64] = match run.settings.sizes.as_slice() {
            [] => &SIZES,
            sizes => sizes,
        };
        let mut curve = Curve {
            name: "delete_instance_bulk, per deleted instance".to_owned(),
            grows_with: "finished instances".to_owned(),
            title: "ms per deleted instance".to_owned(),
            must_be_flat: true,
            ..Curve::default()
        };
        for (at, &size) in sizes.iter().enumerate() {
            run.progress
                .note(&format!("retention: finishing {size} instances"));
            let names = format!("done-{at}");
            fill(&run.store, &names, size).await?;
            if run.stop.is_cancelled() {
                break;
            }
            let cutoff_ms = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as u64 + 1;
            let purged = beside_load(run, at, cutoff_ms).await?;
            curve.points.push(purged.point(size));
            purged.tell(run, size);
            // What the load has finished is no part of the next size.
            purge(run, u64::MAX >> 1, Pace::of_percent(100)).await?;
            let left = look_up(run.store.as_ref(), &names, size).await?;
            if left > 0 {
                run.recorder.broken_promise(
                    "not deleted",
                    left as f64,
                    "instances of 50 looked up",
                );
            }
        }
        if curve.is_wrong() {
            let growth = curve.growth().unwrap_or_default();
            run.recorder
                .broken_promise("the cost of a deletion grows", growth, "fold");
        }
        run.recorder.curve(curve);
        Ok(())
    }
}

/// Makes finished instances, as the runtime would leave them.
async fn fill(store: &Arc<dyn Provider>, names: &str, count: u64) -> Result<()> {
    let mut made = 0;
    while made < count {
        let more = FILL.min(count - made);
        let first = format!("{names}-{made:09}");
        store.enqueue_for_orchestrator(start(&first), None).await?;
        let others = (made + 1..made + more).map(|n| start(&format!("{names}-{n:09}")));
        finish(store.as_ref(), others.collect()).await?;
        let mut finishers = JoinSet::new();
        for finisher in 0..AT_A_TIME as u64 {
            let store = store.clone();
            let (all, lanes) = (more - 1, AT_A_TIME as u64);
            let share = all / lanes + u64::from(finisher < all % lanes);
            finishers.spawn(async move {
                for _ in 0..share {
                    finish(store.as_ref(), vec![]).await?;
                }
                anyhow::Ok(())
            });
        }
        while let Some(done) = finishers.join_next().await {
            done??;
        }
        made += more;
    }
    Ok(())
}

/// Takes the first turn of an instance and makes it its last.
async fn finish(store: &dyn Provider, messages: Vec<duroxide::providers::WorkItem>) -> Result<()> {
    let (item, token) = fetch(store).await?;
    let output = EventKind::OrchestrationCompleted {
        output: "done".to_owned(),
    };
    let history = vec![started(&item.instance), event(&item.instance, 2, output)];
    let metadata = ExecutionMetadata {
        status: Some("Completed".to_owned()),
        output: Some("done".to_owned()),
        ..metadata()
    };
    let ack = store.ack_orchestration_item(&token, 1, history, vec![], messages, metadata, vec![]);
    Ok(ack.await?)
}

/// What a purge took.
struct Purged {
    deleted: u64,
    given_up: u64,
    times: Times,
    took: Duration,
    rows_read: Option<f64>,
    locks: Option<f64>,
    /// Orchestrations per second without it, and with it.
    alone: f64,
    beside: f64,
}

impl Purged {
    fn point(&self, size: u64) -> Point {
        let each = |total: Option<f64>| total.map(|total| total / size as f64);
        Point {
            x: size as f64,
            p50_ms: self.took.as_secs_f64() * 1e3 / size as f64,
            p99_ms: self.times.quantile_ms(0.99) / f64::from(BATCH),
            rows_read: each(self.rows_read),
            locks: each(self.locks),
            ..Point::default()
        }
    }

    fn tell(&self, run: &Run<'_>, size: u64) {
        let fact = |name: &str, value: f64, unit: &str| {
            run.recorder
                .fact(&format!("purge of {size}: {name}"), value, unit);
        };
        fact("took", self.took.as_secs_f64(), "s");
        fact(
            "deleted by calls that ended",
            self.deleted as f64,
            "instances",
        );
        fact("calls given up half-way", self.given_up as f64, "times");
        fact("longest call", self.times.quantile_ms(1.0), "ms");
        fact("orchestrations per second without it", self.alone, "/s");
        fact("orchestrations per second beside it", self.beside, "/s");
        let kept = 100.0 * self.beside / self.alone.max(1e-9);
        let name = format!("throughput kept (at least {KEPT_LEAST} wanted)");
        fact(&name, kept, "%");
    }
}

/// Purges beside a load, after a while of the load alone.
async fn beside_load(run: &Run<'_>, at: usize, cutoff_ms: u64) -> Result<Purged> {
    let runtime = Runtime::start_with_options(
        run.store.clone(),
        FanOut.activities(run.settings),
        FanOut.orchestrations(run.settings),
        duroxide::runtime::RuntimeOptions::default(),
    )
    .await;
    let names = format!("busy-{at}");
    let is_over = CancellationToken::new();
    let until = Until {
        deadline: None,
        is_over: is_over.clone(),
        names: &names,
    };
    let count = run.settings.activities;
    let job = |_| Job {
        orchestration: "FanoutOrchestration",
        input: format!("{{\"task_count\":{count}}}"),
        activities: count as u64,
    };
    let measured = async {
        let measured = alone_then_purging(run, cutoff_ms).await;
        is_over.cancel();
        measured
    };
    let ((), purged) = tokio::join!(pump_until(run, Watch::default(), until, job), measured);
    runtime.shutdown(Some(SHUTDOWN_MS)).await;
    purged
}

async fn alone_then_purging(run: &Run<'_>, cutoff_ms: u64) -> Result<Purged> {
    let completed = || run.recorder.live().completed;
    pause(run, RAMP).await;
    let (before, begun) = (completed(), Instant::now());
    pause(run, run.settings.duration).await;
    let alone = (completed() - before) as f64 / begun.elapsed().as_secs_f64();
    let counters = run.backend.counters();
    let (before, begun) = (completed(), Instant::now());
    let mut purged = purge(run, cutoff_ms, wanted(run.settings)).await?;
    purged.took = begun.elapsed();
    purged.beside = (completed() - before) as f64 / purged.took.as_secs_f64();
    purged.alone = alone;
    if let Some((before, after)) = counters.zip(run.backend.counters()) {
        let of = after.since(&before).of("delete_instance_bulk");
        purged.rows_read = Some(of.stats.rows_read as f64);
        purged.locks = Some(of.stats.locks_taken as f64);
    }
    Ok(purged)
}

/// The pace that the settings ask for.
fn wanted(settings: &Settings) -> Pace {
    let pace = Pace::of_percent(settings.purge_share);
    match settings.purge_per_second {
        Some(most) => pace.per_second(most),
        None => pace,
    }
}

/// Deletes in batches until nothing is left. Some calls are given up while they run, as by a purge that is
/// stopped; what they have done stays done, and the next call goes on.
async fn purge(run: &Run<'_>, cutoff_ms: u64, pace: Pace) -> Result<Purged> {
    let mut purged = Purged {
        deleted: 0,
        given_up: 0,
        times: Times::default(),
        took: Duration::ZERO,
        rows_read: None,
        locks: None,
        alone: 0.0,
        beside: 0.0,
    };
    for call in 1.. {
        if run.stop.is_cancelled() {
            break;
        }
        let filter = InstanceFilter {
            completed_before: Some(cutoff_ms),
            limit: Some(BATCH),
            ..InstanceFilter::default()
        };
        let begun = Instant::now();
        let deletion = run.client.delete_instance_bulk(filter);
        let limit = if call % GIVE_UP_EVERY == 1 {
            GIVE_UP_AFTER
        } else {
            Duration::MAX
        };
        match tokio::time::timeout(limit, deletion).await {
            Err(_) => purged.given_up += 1,
            Ok(result) => {
                let deleted = result.context("the purge failed")?.instances_deleted;
                purged.times.add(begun.elapsed());
                purged.deleted += deleted;
                if deleted == 0 {
                    break;
                }
            }
        }
        pause(run, pace.rest_after(begun.elapsed(), BATCH)).await;
    }
    Ok(purged)
}

/// How many of some names are still there.
async fn look_up(store: &dyn Provider, names: &str, size: u64) -> Result<u64> {
    let mut left = 0;
    for n in 0..LOOK_UP.min(size) {
        let name = format!("{names}-{:09}", n * size / LOOK_UP.min(size));
        left += u64::from(!store.read(&name).await?.is_empty());
    }
    Ok(left)
}
