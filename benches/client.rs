//! What a call costs on the client's side: taking a connection, encoding, sending, decoding.
//!
//! The server's answers are recorded once and then replayed, so no server works while time is taken.
//! The group `floor` moves the same bytes over the same socket without the provider; the difference is
//! the provider's and the driver's own cost. At the end follow the allocations of each call.

mod support;

use std::hint::black_box;
use std::time::Duration;

use criterion::Criterion;
use duroxide::providers::{ExecutionMetadata, Provider, TagFilter, WorkItem};
use duroxide_sql::MssqlProvider;
use mssql_embedded::{Encryption, Server};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use support::items::{activity, completed, metadata, scheduled, start, started};
use support::replay::Replay;
use tokio::runtime::Runtime;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

const LEASE: Duration = Duration::from_secs(600);
/// Histories that are fetched.
const SIZES: [u64; 3] = [10, 100, 1_000];
/// Calls over which allocations are averaged.
const REPEATS: u32 = 200;
/// Any token will do: the recorded answer does not depend on it.
const TOKEN: &str = "00000000-0000-4000-8000-000000000000";

/// A provider whose server only repeats what was recorded.
struct Client {
    provider: MssqlProvider,
    replay: Replay,
}

/// The calls that are measured.
#[derive(Clone, Copy)]
enum Call {
    CustomStatus,
    Enqueue,
    AckWork,
    AckTurn,
    FetchTurn,
    Read,
}

impl Call {
    const ALL: [Self; 6] = [
        Self::CustomStatus,
        Self::Enqueue,
        Self::AckWork,
        Self::AckTurn,
        Self::FetchTurn,
        Self::Read,
    ];

    fn procedure(self) -> &'static str {
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
    fn reads_history(self) -> bool {
        matches!(self, Self::FetchTurn | Self::Read)
    }

    async fn run(self, provider: &MssqlProvider) {
        let done = match self {
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
        };
        done.expect("the recorded answer");
    }
}

/// A turn as the fan-out of five activities produces it.
async fn ack_turn(
    provider: &MssqlProvider,
    token: &str,
    first_id: u64,
) -> Result<(), duroxide::providers::ProviderError> {
    let ids = first_id..first_id + 5;
    let history = ids.clone().map(|id| scheduled("a", id)).collect();
    let work: Vec<WorkItem> = ids.map(|id| activity("a", id)).collect();
    let metadata = ExecutionMetadata::default();
    let ack = provider.ack_orchestration_item(token, 1, history, work, vec![], metadata, vec![]);
    ack.await
}

/// Runs every call once against the embedded server, with a history of `events`, and keeps the answers.
async fn record(events: u64) -> Client {
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

fn time(criterion: &mut Criterion, runtime: &Runtime, clients: &[(u64, Client)]) {
    for (size, client) in clients {
        for call in Call::ALL {
            if !call.reads_history() && *size != SIZES[0] {
                continue;
            }
            let name = label(call, *size);
            let mut floor = runtime.block_on(client.replay.floor(call.procedure()));
            criterion
                .benchmark_group("floor")
                .bench_function(&name, |bencher| {
                    bencher.iter(|| runtime.block_on(floor.exchange()));
                });
            criterion
                .benchmark_group("call")
                .bench_function(&name, |bencher| {
                    bencher.iter(|| runtime.block_on(call.run(&client.provider)));
                });
        }
    }
}

fn allocations(runtime: &Runtime, clients: &[(u64, Client)]) {
    println!(
        "\n{:<36} {:>12} {:>14} {:>14}",
        "per call", "allocations", "bytes", "per event"
    );
    for (size, client) in clients {
        for call in Call::ALL {
            if !call.reads_history() && *size != SIZES[0] {
                continue;
            }
            runtime.block_on(call.run(&client.provider));
            let region = Region::new(ALLOCATOR);
            for _ in 0..REPEATS {
                runtime.block_on(call.run(&client.provider));
            }
            let spent = region.change();
            let each = spent.allocations as f64 / f64::from(REPEATS);
            let bytes = spent.bytes_allocated as f64 / f64::from(REPEATS);
            let per_event = match call.reads_history() {
                true => format!("{:.2}", each / *size as f64),
                false => "-".to_owned(),
            };
            let name = label(call, *size);
            println!("{name:<36} {each:>12.1} {bytes:>14.0} {per_event:>14}");
        }
    }
}

fn label(call: Call, size: u64) -> String {
    match call.reads_history() {
        true => format!("{}, {size} events", call.procedure()),
        false => call.procedure().to_owned(),
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let clients = SIZES.map(|size| (size, runtime.block_on(record(size))));
    let mut criterion = Criterion::default().configure_from_args();
    time(&mut criterion, &runtime, &clients);
    allocations(&runtime, &clients);
    criterion.final_summary();
}
