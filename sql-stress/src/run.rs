//! One scenario with one pair of concurrencies: set up, driven, counted, cleaned up.

use std::sync::Arc;

use anyhow::Result;
use duroxide::Client;
use duroxide::providers::Provider;
use duroxide::runtime::{Runtime, RuntimeOptions};
use mssql_embedded::Snapshot;
use tokio_util::sync::CancellationToken;

use crate::backend::Backend;
use crate::meter::Meter;
use crate::model::{Procedure, RoundTrips, RunResult, ServerCost};
use crate::progress::Progress;
use crate::recorder::Recorder;
use crate::scenario::{Run, Scenario};
use crate::settings::{Pair, Settings};

/// How long the runtime may finish what it has begun.
const SHUTDOWN_MS: u64 = 2_000;

/// Keeps the runtime from installing a log of its own, which would write between the results. What
/// goes wrong is counted instead.
pub fn silence_logs() {
    // Somebody else's subscriber is as good.
    drop(tracing::subscriber::set_global_default(
        tracing::subscriber::NoSubscriber::new(),
    ));
}

/// Runs a scenario on an empty store.
///
/// # Errors
///
/// When the store cannot be opened. What goes wrong later is part of the result.
pub async fn run(
    scenario: &dyn Scenario,
    pair: Pair,
    backend: &dyn Backend,
    settings: &Settings,
    stop: &CancellationToken,
    quiet: bool,
) -> Result<RunResult> {
    let store = backend.open().await?;
    let result = measure(scenario, pair, backend, settings, stop, quiet, store).await;
    if let Err(error) = backend.close().await {
        eprintln!("warning: {error:#}");
    }
    Ok(result)
}

async fn measure(
    scenario: &dyn Scenario,
    pair: Pair,
    backend: &dyn Backend,
    settings: &Settings,
    stop: &CancellationToken,
    quiet: bool,
    store: Arc<dyn Provider>,
) -> RunResult {
    let recorder = Arc::new(Recorder::default());
    let for_runtime = Arc::new(Meter::new(store.clone(), "runtime", recorder.clone()));
    let for_client = Arc::new(Meter::new(store.clone(), "client", recorder.clone()));
    let runtime = match scenario.needs_runtime() {
        false => None,
        true => Some(
            Runtime::start_with_options(
                for_runtime.clone(),
                scenario.activities(settings),
                scenario.orchestrations(settings),
                RuntimeOptions {
                    orchestration_concurrency: pair.orchestrations,
                    worker_concurrency: pair.workers,
                    ..RuntimeOptions::default()
                },
            )
            .await,
        ),
    };
    let title = format!("{} {pair}", scenario.name());
    let length = settings.duration;
    let run = Run {
        settings,
        backend,
        store,
        client: Arc::new(Client::new(for_client.clone())),
        recorder: recorder.clone(),
        stop: stop.clone(),
        progress: Progress::start(&title, length, recorder.clone(), quiet),
    };
    let before = (backend.counters(), backend.requests());
    let flushes = backend.flushes();
    if let Err(error) = scenario.drive(&run).await {
        recorder.error(
            format!("{} broke off", scenario.name()),
            format!("{error:#}"),
        );
        recorder.broken_promise("scenario broke off", 1.0, "times");
    }
    let after = (backend.counters(), backend.requests());
    let flushes = flushes
        .zip(backend.flushes())
        .map(|(before, after)| after - before);
    drop(run);
    if let Some(runtime) = runtime {
        runtime.shutdown(Some(SHUTDOWN_MS)).await;
    }
    let mut result = recorder.finish();
    scenario.name().clone_into(&mut result.scenario);
    result.pair = pair.to_string();
    result.operations = for_runtime.operations();
    result.operations.extend(for_client.operations());
    if let (Some(before), Some(after)) = (before.0, after.0) {
        let counted = after.since(&before);
        result.procedures = procedures(&counted);
        result.server = server_cost(&counted, flushes, result.completed);
    }
    let requests = before.1.zip(after.1).map(|(before, after)| after - before);
    result.round_trips = round_trips(
        (&for_runtime, &for_client),
        &result.procedures,
        requests,
        result.completed,
    );
    result
}

/// What the engine counted, one line per procedure.
fn procedures(counted: &Snapshot) -> Vec<Procedure> {
    let line = |(name, c): (&String, &mssql_embedded::Counters)| {
        let calls = c.calls.max(1) as f64;
        let name = name.rsplit('.').next().unwrap_or(name);
        Procedure {
            name: name.trim_matches(['[', ']']).to_owned(),
            calls: c.calls,
            mean_ms: c.server_time.as_secs_f64() * 1e3 / calls,
            rows_read: c.stats.rows_read as f64 / calls,
            rows_written: c.stats.rows_written as f64 / calls,
            locks: c.stats.locks_taken as f64 / calls,
            lock_waits: c.stats.lock_waits,
            bytes_sent: c.traffic.sent as f64 / calls,
        }
    };
    let mut lines: Vec<_> = counted.procedures.iter().map(line).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.calls));
    lines
}

/// What one orchestration cost the server.
#[must_use]
pub fn server_cost(counted: &Snapshot, flushes: Option<u64>, completed: u64) -> Option<ServerCost> {
    if completed == 0 {
        return None;
    }
    let total = counted.total();
    let each = |count: u64| count as f64 / completed as f64;
    Some(ServerCost {
        calls: each(total.calls),
        flushes: each(flushes?),
        log_bytes: each(total.stats.log_bytes),
        bytes_received: each(total.traffic.received),
        bytes_sent: each(total.traffic.sent),
        rows_read: each(total.stats.rows_read),
        rows_written: each(total.stats.rows_written),
        locks: each(total.stats.locks_taken),
        server_ms: total.server_time.as_secs_f64() * 1e3 / completed as f64,
    })
}

/// A provider answers many reads from its memory, and asks several times for one fetch that waits. What callers
/// have seen is corrected by what the server counted, where it counts.
fn round_trips(
    (runtime, client): (&Meter, &Meter),
    counted: &[Procedure],
    requests: Option<u64>,
    completed: u64,
) -> Option<RoundTrips> {
    let work = runtime.productive_calls();
    if completed == 0 || work == 0 {
        return None;
    }
    let each = |calls: u64| calls as f64 / completed as f64;
    let on_server = |names: &[&str]| -> Option<u64> {
        let lines = counted.iter().filter(|line| names.contains(&&*line.name));
        (!counted.is_empty()).then(|| lines.map(|line| line.calls).sum())
    };
    let client_reads = client.tally("read").calls;
    let polls = client_reads + client.tally("get_custom_status").calls;
    let reads = runtime.tally("read").calls;
    let from_memory = on_server(&["read"]).map_or(0, |counted| {
        (reads + client_reads).saturating_sub(counted).min(reads)
    });
    let fetches = ["fetch_orchestration_item", "fetch_work_item"];
    let found: u64 = fetches
        .iter()
        .filter_map(|name| runtime.tally(name).found)
        .sum();
    let empty = on_server(&fetches).map_or(runtime.empty_fetches(), |counted| {
        counted.saturating_sub(found)
    });
    // Sessions are renewed by the clock, whatever the orchestrations do.
    let renewals = runtime.tally("renew_session_lock").calls
        + runtime.tally("cleanup_orphaned_sessions").calls;
    Some(RoundTrips {
        work: each(work - renewals - from_memory + client.productive_calls() - polls),
        client_polls: each(polls),
        empty_fetches: each(empty),
        requests: requests.map(each),
    })
}
