//! Long histories: what a turn costs when the history has 10 to 10,000 events.

use anyhow::Result;
use duroxide::EventKind;
use duroxide::providers::{ExecutionMetadata, Provider, WorkItem};

use super::items::{Growth, Timed, event, fetch, metadata, start, started};
use crate::scenario::{Run, Scenario};

const SIZES: [u64; 4] = [10, 100, 1_000, 10_000];
/// Events that one call appends while the history is built.
const APPEND: u64 = 1_000;

pub(super) struct LongHistory;

#[async_trait::async_trait]
impl Scenario for LongHistory {
    fn name(&self) -> &'static str {
        "long-history"
    }

    fn about(&self) -> &'static str {
        "cost of a turn with 10 to 10k events (--sizes); fetch and read grow, ack must be flat"
    }

    fn needs_runtime(&self) -> bool {
        false
    }

    async fn drive(&self, run: &Run<'_>) -> Result<()> {
        let sizes: &[u64] = match run.settings.sizes.as_slice() {
            [] => &SIZES,
            sizes => sizes,
        };
        let mut growth = Growth::new("events in the history");
        for &size in sizes {
            if run.stop.is_cancelled() {
                break;
            }
            run.progress
                .note(&format!("long-history: writing {size} events"));
            let instance = format!("history-{size}");
            build(run.store.as_ref(), &instance, size).await?;
            growth.begin(run);
            let calls = sample(run, &instance, size).await?;
            let flat = ["enqueue_for_orchestrator", "ack_orchestration_item"];
            growth.end(run, size, &calls, &flat);
        }
        growth.finish(run);
        Ok(())
    }
}

/// An activity of a kind that every workflow is full of.
fn scheduled(instance: &str, id: u64) -> duroxide::Event {
    let kind = EventKind::ActivityScheduled {
        name: "ProcessTask".to_owned(),
        input: format!("task-{id}"),
        session_id: None,
        tag: None,
    };
    event(instance, id, kind)
}

async fn build(store: &dyn Provider, instance: &str, size: u64) -> Result<()> {
    store
        .enqueue_for_orchestrator(start(instance), None)
        .await?;
    let (_, token) = fetch(store).await?;
    let history = vec![started(instance)];
    let ack = store.ack_orchestration_item(&token, 1, history, vec![], vec![], metadata(), vec![]);
    ack.await?;
    let mut next = 2;
    while next <= size {
        let end = (next + APPEND).min(size + 1);
        let events = (next..end).map(|id| scheduled(instance, id)).collect();
        store.append_with_execution(instance, 1, events).await?;
        next = end;
    }
    Ok(())
}

async fn sample(run: &Run<'_>, instance: &str, size: u64) -> Result<[Timed; 4]> {
    let store = run.store.as_ref();
    let mut enqueue = Timed::new("enqueue_for_orchestrator");
    let mut fetch_turn = Timed::new("fetch_orchestration_item");
    let mut ack_turn = Timed::new("ack_orchestration_item");
    let mut read = Timed::new("read");
    for n in 0..run.settings.samples as u64 {
        if run.stop.is_cancelled() {
            break;
        }
        let message = WorkItem::ExternalRaised {
            instance: instance.to_owned(),
            name: "go".to_owned(),
            data: n.to_string(),
        };
        let call = async { Ok(store.enqueue_for_orchestrator(message, None).await?) };
        enqueue.call(run, call).await?;
        let (item, token) = fetch_turn.call(run, fetch(store)).await?;
        let wanted = size + n;
        anyhow::ensure!(
            item.history.len() as u64 == wanted,
            "a history of {wanted} events came back with {}",
            item.history.len()
        );
        let history = vec![scheduled(instance, wanted + 1)];
        let none = ExecutionMetadata::default();
        let ack = store.ack_orchestration_item(&token, 1, history, vec![], vec![], none, vec![]);
        ack_turn.call(run, async { Ok(ack.await?) }).await?;
        read.call(run, async { Ok(store.read(instance).await?) })
            .await?;
    }
    Ok([enqueue, fetch_turn, ack_turn, read])
}
