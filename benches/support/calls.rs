//! The calls that are measured, and what each of them allocates.

use std::alloc::System;
use std::hint::black_box;
use std::time::Duration;

use duroxide::providers::{ExecutionMetadata, Provider, ProviderError, TagFilter, WorkItem};
use duroxide_sql::MssqlProvider;
use mssql_embedded::{Encryption, Server};
use stats_alloc::{Region, StatsAlloc};

use super::items::{activity, completed, metadata, scheduled, start, started};
use super::replay::Replay;

const LEASE: Duration = Duration::from_secs(600);
/// Calls of which the one that allocates least is counted: what other threads allocate meanwhile is not its own,
/// nor is what a call allocates for being repeated.
const REPEATS: u32 = 50;
/// Any token will do: the recorded answer does not depend on it.
const TOKEN: &str = "00000000-0000-4000-8000-000000000000";

/// A provider whose server only repeats what was recorded.
pub struct Client {
    pub provider: MssqlProvider,
    pub replay: Replay,
}

/// The calls that are measured.
#[derive(Clone, Copy)]
pub enum Call {
    CustomStatus,
    Enqueue,
    AckWork,
    AckTurn,
    FetchTurn,
    Read,
}

impl Call {
    pub const ALL: [Self; 6] = [
        Self::CustomStatus,
        Self::Enqueue,
        Self::AckWork,
        Self::AckTurn,
        Self::FetchTurn,
        Self::Read,
    ];

    pub fn procedure(self) -> &'static str {
        match self {
            Self::CustomStatus => "get_custom_status",
            Self::Enqueue => "enqueue_for_orchestrator",
            Self::AckWork => "ack_work_item",
            Self::AckTurn => "ack_orchestration_item",
            Self::FetchTurn => "fetch_orchestration_item",
            Self::Read => "read",
        }
    }

    /// Whether its cost depends on the history.
    pub fn reads_history(self) -> bool {
        matches!(self, Self::FetchTurn | Self::Read)
    }

    /// Makes it once. It fails only on a machine that stands still for seconds, when the provider takes the silence
    /// for a dead connection.
    pub async fn run(self, provider: &MssqlProvider) -> Result<(), ProviderError> {
        match self {
            Self::CustomStatus => provider.get_custom_status("a", 0).await.map(drop),
            Self::Enqueue => provider.enqueue_for_orchestrator(start("a"), None).await,
            Self::AckWork => {
                let completion = completed("a", 2);
                provider.ack_work_item(TOKEN, Some(completion)).await
            }
            Self::AckTurn => ack_turn(provider, TOKEN, 2).await,
            Self::FetchTurn => {
                let fetched = provider.fetch_orchestration_item(LEASE, Duration::ZERO, None);
                fetched.await.map(|turn| {
                    assert!(turn.is_some(), "the recorded turn");
                    drop(black_box(turn));
                })
            }
            Self::Read => provider.read("a").await.map(|history| {
                assert!(!history.is_empty(), "the recorded history");
                drop(black_box(history));
            }),
        }
    }
}

/// A turn as the fan-out of five activities produces it.
async fn ack_turn(
    provider: &MssqlProvider,
    token: &str,
    first_id: u64,
) -> Result<(), ProviderError> {
    let ids = first_id..first_id + 5;
    let history = ids.clone().map(|id| scheduled("a", id)).collect();
    let work: Vec<WorkItem> = ids.map(|id| activity("a", id)).collect();
    let metadata = ExecutionMetadata::default();
    let ack = provider.ack_orchestration_item(token, 1, history, work, vec![], metadata, vec![]);
    ack.await
}

/// Runs every call once against the embedded server, with a history of `events`, and keeps the answers.
pub async fn record(events: u64) -> Client {
    let server = Server::builder().encryption(Encryption::Off);
    let server = server.start().expect("the embedded server");
    let replay = Replay::start(server.address()).expect("a free port");
    let url = replay.url(&server.connection_string());
    // Without its memory of histories every answer carries the whole history, whoever wrote it, and can
    // be repeated.
    let builder = MssqlProvider::builder(url)
        .pool_max(1)
        .pool_min_idle(1)
        .history_cache_bytes(0);
    let provider = builder.build().await.expect("an empty database");
    let p: &dyn Provider = &provider;
    let take = || p.fetch_orchestration_item(LEASE, Duration::ZERO, None);
    p.enqueue_for_orchestrator(start("a"), None)
        .await
        .expect("enqueue");
    let (_, token, _) = take().await.expect("fetch").expect("the start");
    let first = vec![started("a")];
    let ack = p.ack_orchestration_item(&token, 1, first, vec![], vec![], metadata(), vec![]);
    ack.await.expect("ack");
    let history = (2..=events).map(|id| scheduled("a", id)).collect();
    p.append_with_execution("a", 1, history)
        .await
        .expect("append");
    let go = WorkItem::ExternalRaised {
        instance: "a".into(),
        name: "go".into(),
        data: String::new(),
    };
    p.enqueue_for_orchestrator(go, None).await.expect("enqueue");
    let (turn, token, _) = take().await.expect("fetch").expect("the event");
    assert_eq!(turn.history.len() as u64, events);
    p.read("a").await.expect("read");
    p.get_custom_status("a", 0).await.expect("status");
    ack_turn(&provider, &token, events + 1).await.expect("ack");
    let any = TagFilter::default();
    let work = p.fetch_work_item(LEASE, Duration::ZERO, None, &any);
    let (_, token, _) = work.await.expect("fetch").expect("work");
    let completion = completed("a", events + 1);
    p.ack_work_item(&token, Some(completion))
        .await
        .expect("ack");
    replay.detach();
    Client { provider, replay }
}

/// What one call allocates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Allocated {
    pub blocks: usize,
    pub bytes: usize,
}

/// Counts what a call allocates, its arguments included, when it has been made before. The calls are made in one
/// task, as a dispatcher makes them: what the scheduler sets up for a task is not counted.
pub async fn allocated(allocator: &StatsAlloc<System>, client: &Client, call: Call) -> Allocated {
    let mut least = None;
    for _ in 0..REPEATS {
        let region = Region::new(allocator);
        let done = call.run(&client.provider).await;
        let spent = region.change();
        if done.is_err() {
            continue;
        }
        let once = Allocated {
            blocks: spent.allocations,
            bytes: spent.bytes_allocated,
        };
        least = Some(least.map_or(once, |least: Allocated| least.min(once)));
    }
    least.expect("a call that is answered")
}
