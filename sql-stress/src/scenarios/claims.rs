//! Claims: what a fetch costs after more and more claims that nobody has cleaned up after.
//!
//! Every claim moves an index entry and every ack deletes one. SQL Server leaves such entries as ghosts
//! until a background task removes them, and not at all while a long snapshot or a readable secondary
//! needs them; they lie where the next fetch begins to look.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use duroxide::providers::{ExecutionMetadata, Provider, TagFilter, WorkItem};
use mssql_embedded::GhostCleanup;
use tokio::task::JoinSet;

use super::items::{Growth, LEASE, Timed, activity, completion, fetch, metadata, start, started};
use crate::scenario::{Run, Scenario};

const SIZES: [u64; 3] = [1_000, 10_000, 100_000];
/// Turns and work items that one message brings, and instances that they belong to.
const FILL: u64 = 500;
/// Claimers at the same time.
const AT_A_TIME: usize = 4;

pub(super) struct Claims;

#[async_trait::async_trait]
impl Scenario for Claims {
    fn name(&self) -> &'static str {
        "claims"
    }

    fn about(&self) -> &'static str {
        "cost of a fetch after 1k to 100k claims without ghost clean-up (--sizes); must be flat"
    }

    fn needs_runtime(&self) -> bool {
        false
    }

    async fn drive(&self, run: &Run<'_>) -> Result<()> {
        let sizes: &[u64] = match run.settings.sizes.as_slice() {
            [] => &SIZES,
            sizes => sizes,
        };
        let controls = run.backend.target().and_then(|target| target.controls);
        if let Some(controls) = &controls {
            controls.set_ghost_cleanup(GhostCleanup::Never);
        }
        let done = grow(run, sizes).await;
        if let Some(controls) = &controls {
            run.recorder
                .fact("ghosts in the end", controls.ghosts() as f64, "entries");
            controls.set_ghost_cleanup(GhostCleanup::AtOnce);
        }
        done
    }
}

async fn grow(run: &Run<'_>, sizes: &[u64]) -> Result<()> {
    prepare(run.store.as_ref()).await?;
    let mut growth = Growth::new("claims before");
    let mut claimed = 0;
    for &size in sizes {
        run.progress.note(&format!("claims: claiming up to {size}"));
        // What is counted is an average of all fetches on the way: single ones look far back, and the hundred that are
        // timed in the end may have one of them or none.
        growth.begin(run);
        while claimed < size && !run.stop.is_cancelled() {
            let more = (2 * FILL).min(size - claimed);
            claim(&run.store, more.div_ceil(2)).await?;
            claimed += more;
        }
        if run.stop.is_cancelled() {
            break;
        }
        let calls = sample(run).await?;
        let flat = ["fetch_orchestration_item", "fetch_work_item"];
        growth.end(run, size, &calls, &flat);
    }
    growth.finish(run);
    Ok(())
}

fn worker(n: u64) -> String {
    format!("claimed-{n:09}")
}

fn event(n: u64) -> WorkItem {
    WorkItem::ExternalRaised {
        instance: worker(n),
        name: "go".to_owned(),
        data: "x".to_owned(),
    }
}

/// Makes the instances whose turns are claimed, and the one that brings work for them.
async fn prepare(store: &dyn Provider) -> Result<()> {
    for n in 0..FILL {
        let instance = worker(n);
        store
            .enqueue_for_orchestrator(start(&instance), None)
            .await?;
        turn(store, vec![], vec![]).await?;
    }
    Ok(())
}

/// Takes the next turn and ends it.
async fn turn(store: &dyn Provider, work: Vec<WorkItem>, messages: Vec<WorkItem>) -> Result<()> {
    let (item, token) = fetch(store).await?;
    let is_new = item.history.is_empty();
    let (history, metadata) = match is_new {
        true => (vec![started(&item.instance)], metadata()),
        false => (vec![], ExecutionMetadata::default()),
    };
    let ack = store.ack_orchestration_item(&token, 1, history, work, messages, metadata, vec![]);
    Ok(ack.await?)
}

/// Takes the next work item and completes it without a message.
async fn work(store: &dyn Provider) -> Result<()> {
    let any = TagFilter::default();
    let fetched = store.fetch_work_item(LEASE, Duration::ZERO, None, &any);
    let (_, token, _) = fetched
        .await?
        .context("a work item is ready and is not given out")?;
    Ok(store.ack_work_item(&token, None).await?)
}

/// Claims and completes this many turns and as many work items.
async fn claim(store: &Arc<dyn Provider>, count: u64) -> Result<()> {
    store.enqueue_for_orchestrator(event(0), None).await?;
    let items = (0..count).map(|n| activity(&worker(n), 2)).collect();
    let messages = (1..count).map(event).collect();
    turn(store.as_ref(), items, messages).await?;
    let mut claimers = JoinSet::new();
    for claimer in 0..AT_A_TIME as u64 {
        let store = store.clone();
        let share = |all: u64| all / AT_A_TIME as u64 + u64::from(claimer < all % AT_A_TIME as u64);
        let (turns, works) = (share(count - 1), share(count));
        claimers.spawn(async move {
            for _ in 0..turns {
                turn(store.as_ref(), vec![], vec![]).await?;
            }
            for _ in 0..works {
                work(store.as_ref()).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(done) = claimers.join_next().await {
        done??;
    }
    Ok(())
}

async fn sample(run: &Run<'_>) -> Result<[Timed; 2]> {
    let store = run.store.as_ref();
    let mut fetch_turn = Timed::new("fetch_orchestration_item");
    let mut fetch_work = Timed::new("fetch_work_item");
    let any = TagFilter::default();
    for n in 0..run.settings.samples as u64 {
        if run.stop.is_cancelled() {
            break;
        }
        store
            .enqueue_for_orchestrator(event(n % FILL), None)
            .await?;
        let (item, token) = fetch_turn.call(run, fetch(store)).await?;
        let work = vec![activity(&item.instance, 2)];
        let none = ExecutionMetadata::default();
        store
            .ack_orchestration_item(&token, 1, vec![], work, vec![], none, vec![])
            .await?;
        let call = async {
            let fetched = store.fetch_work_item(LEASE, Duration::ZERO, None, &any);
            fetched
                .await?
                .context("a work item is ready and is not given out")
        };
        let (item, token, _) = fetch_work.call(run, call).await?;
        // Completed with a message, so that both queues take part; its turn is taken at once.
        store
            .ack_work_item(&token, Some(completion(&item)?))
            .await?;
        turn(store, vec![], vec![]).await?;
    }
    Ok([fetch_turn, fetch_work])
}
