//! Commits that take longer than a fetch waits for its answer, as while a replica or a disk is behind: workflows
//! are delayed, and nothing else.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::runtime::{OrchestrationStatus, Runtime, RuntimeOptions};
use duroxide::{ActivityContext, Client, OrchestrationContext};

use crate::support::database::{SnapshotReads, TestSchema, in_both_settings, own_server_with};
use crate::support::runtime::PATIENCE;
use crate::support::wait;

/// Longer than the three seconds of a fetch.
const LATENCY: Duration = Duration::from_secs(4);
/// How long the commits are slow; long enough for a few of them one after the other.
const SLOW: Duration = Duration::from_secs(14);
const KINDS: [&str; 6] = ["One", "FanOut", "Parent", "Timer", "Event", "Again"];

in_both_settings! {
    slow_commits_only_delay_workflows_of_every_kind,
    commits_slower_than_the_leases_only_delay_workflows_of_every_kind,
}

/// How often each activity was run.
type Runs = Arc<Mutex<BTreeMap<String, u32>>>;

fn activities(runs: &Runs) -> ActivityRegistry {
    let runs = runs.clone();
    let count = move |ctx: ActivityContext, input: String| {
        let name = format!("{} {input}", ctx.instance_id());
        *runs.lock().unwrap().entry(name).or_default() += 1;
        async move { Ok(input) }
    };
    ActivityRegistry::builder().register("Count", count).build()
}

fn orchestrations() -> OrchestrationRegistry {
    let one = |ctx: OrchestrationContext, input: String| async move {
        ctx.set_kv_value("k", input.as_str());
        ctx.set_custom_status("begun");
        ctx.schedule_activity("Count", input).await
    };
    let fan_out = |ctx: OrchestrationContext, input: String| async move {
        let all = (0..4).map(|n| {
            let session = format!("s{}", n % 2);
            ctx.schedule_activity_on_session("Count", n.to_string(), session)
        });
        ctx.join(all.collect()).await;
        Ok(input)
    };
    let parent = |ctx: OrchestrationContext, input: String| async move {
        ctx.schedule_sub_orchestration("One", input).await
    };
    let timer = |ctx: OrchestrationContext, input: String| async move {
        ctx.schedule_timer(Duration::from_millis(50)).await;
        ctx.schedule_activity("Count", input).await
    };
    let event =
        |ctx: OrchestrationContext, _: String| async move { Ok(ctx.dequeue_event("go").await) };
    let again = |ctx: OrchestrationContext, input: String| async move {
        ctx.schedule_activity("Count", input.as_str()).await?;
        match input.as_str() {
            "xxx" => Ok("x".to_owned()),
            _ => ctx.continue_as_new(format!("{input}x")).await,
        }
    };
    OrchestrationRegistry::builder()
        .register("One", one)
        .register("FanOut", fan_out)
        .register("Parent", parent)
        .register("Timer", timer)
        .register("Event", event)
        .register("Again", again)
        .build()
}

/// Starts one of each kind, whatever it takes.
async fn start_all(client: &Client, name: &str) {
    let starts = KINDS.map(|kind| async move {
        let instance = format!("{kind}-{name}");
        wait::until(&instance, || async {
            match client.start_orchestration(&instance, kind, "x").await {
                Ok(()) => true,
                Err(error) if error.is_retryable() => false,
                Err(error) => panic!("{instance}: {error}"),
            }
        })
        .await;
    });
    futures_util::future::join_all(starts).await;
}

/// Some workflows are under way when the commits become slow, others begin meanwhile. All complete, and no
/// activity is run more than once more.
async fn slow_commits_only_delay_workflows_of_every_kind(reads: SnapshotReads) {
    complete_all(reads, LATENCY, SLOW, RuntimeOptions::default()).await;
}

/// A claim is leased before it is committed, so that every turn would begin when its lease is over. The runtime gives up what
/// was tried too often, by default ten times: a turn that was handed out and came too late to store it counts, as it must. Each of these
/// dispatchers may do that once while the leases follow the server, at worst all four to the same instance.
async fn commits_slower_than_the_leases_only_delay_workflows_of_every_kind(reads: SnapshotReads) {
    let options = RuntimeOptions {
        orchestrator_lock_timeout: Duration::from_secs(1),
        worker_lock_timeout: Duration::from_secs(2),
        // Each fetch that is under way when the commits become slow might claim in vain.
        orchestration_concurrency: 4,
        worker_concurrency: 4,
        ..RuntimeOptions::default()
    };
    complete_all(reads, Duration::from_millis(3500), 2 * SLOW, options).await;
}

async fn complete_all(
    reads: SnapshotReads,
    latency: Duration,
    slow: Duration,
    options: RuntimeOptions,
) {
    let server = own_server_with(reads);
    let schema = TestSchema::at(server.connection_string());
    let store = Arc::new(schema.provider().await);
    let runs = Runs::default();
    let (activities, orchestrations) = (activities(&runs), orchestrations());
    let runtime =
        Runtime::start_with_options(store.clone(), activities, orchestrations, options).await;
    // A client of its own, so that it takes no connection from the runtime.
    let client = Client::new(Arc::new(schema.provider().await));
    start_all(&client, "before").await;
    server.controls().set_commit_latency(latency);
    tokio::join!(start_all(&client, "during"), async {
        // How long it lasts is what the test is about.
        tokio::time::sleep(slow).await;
        server.controls().set_commit_latency(Duration::ZERO);
    });
    start_all(&client, "after").await;
    for name in ["before", "during", "after"] {
        let instance = format!("Event-{name}");
        client.enqueue_event(&instance, "go", "x").await.unwrap();
    }
    for name in ["before", "during", "after"] {
        for kind in KINDS {
            let instance = format!("{kind}-{name}");
            let ended = client.wait_for_orchestration(&instance, PATIENCE).await;
            let is_completed = matches!(&ended, Ok(OrchestrationStatus::Completed { output, .. }) if output == "x");
            assert!(is_completed, "{instance}: {ended:?}");
        }
    }
    let runs = runs.lock().unwrap().clone();
    let again: Vec<_> = runs.iter().filter(|(_, times)| **times > 1).collect();
    println!("{reads:?}: {} activities, run again: {again:?}", runs.len());
    // One, four, one of the child, one, and three of the executions, in three instances each.
    assert_eq!(runs.len(), 3 * (1 + 4 + 1 + 1 + 3));
    assert!(again.iter().all(|(_, times)| **times == 2), "{again:?}");
    runtime.shutdown(None).await;
}
