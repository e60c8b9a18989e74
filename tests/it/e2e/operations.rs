//! What surrounds instances: sessions, tags, key-values, status, deletion and pruning.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use duroxide::providers::{PruneOptions, TagFilter};
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::runtime::{OrchestrationStatus, Runtime, RuntimeOptions};
use duroxide::{ActivityContext, OrchestrationContext};

use crate::support::runtime::{App, PATIENCE, echo_activities};

/// All activities of a session run on one worker, although two take part.
#[tokio::test]
async fn session_stays_with_one_worker() {
    let workers: Arc<Mutex<HashSet<String>>> = Arc::default();
    let activities = |node: &'static str| {
        let workers = workers.clone();
        ActivityRegistry::builder()
            .register("Work", move |_: ActivityContext, input: String| {
                workers.lock().unwrap().insert(node.to_owned());
                async move { Ok(input) }
            })
            .build()
    };
    let orchestrations = || {
        OrchestrationRegistry::builder()
            .register(
                "Session",
                |ctx: OrchestrationContext, _: String| async move {
                    let mut log = String::new();
                    for step in 0..6 {
                        let input = step.to_string();
                        log += &ctx
                            .schedule_activity_on_session("Work", input, "session-1")
                            .await?;
                    }
                    Ok(log)
                },
            )
            .build()
    };
    let options = |node: &str| RuntimeOptions {
        worker_node_id: Some(node.to_owned()),
        ..RuntimeOptions::default()
    };
    let app = App::with_options(activities("a"), orchestrations(), options("a")).await;
    let store = Arc::new(app.schema.provider().await);
    let other =
        Runtime::start_with_options(store, activities("b"), orchestrations(), options("b")).await;
    assert_eq!(app.run("order-1", "Session", "").await, "012345");
    assert_eq!(workers.lock().unwrap().len(), 1);
    other.shutdown(None).await;
    app.stop().await;
}

/// A runtime may run one session at a time. A worker that won a second one in a race gives its item back and
/// goes on without sessions; when the first has ended, it comes back to its own at once.
#[tokio::test]
async fn sessions_beyond_the_limit_of_the_runtime_wait_for_their_turn_and_no_longer() {
    let running = Arc::new(AtomicUsize::new(0));
    let counter = running.clone();
    let activities = ActivityRegistry::builder()
        .register("Work", move |_: ActivityContext, input: String| {
            let counter = counter.clone();
            async move {
                assert_eq!(counter.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
                tokio::task::yield_now().await;
                counter.fetch_sub(1, Ordering::SeqCst);
                Ok(input)
            }
        })
        .build();
    let orchestrations = OrchestrationRegistry::builder()
        .register(
            "Sessions",
            |ctx: OrchestrationContext, _: String| async move {
                let session = |n: u32| {
                    let name = format!("session-{n}");
                    ctx.schedule_activity_on_session("Work", n.to_string(), name)
                };
                let results = ctx.join((0..6).map(session).collect()).await;
                results.into_iter().collect::<Result<String, _>>()
            },
        )
        .build();
    let options = RuntimeOptions {
        worker_concurrency: 4,
        max_sessions_per_runtime: 1,
        ..RuntimeOptions::default()
    };
    let app = App::with_options(activities, orchestrations, options).await;
    let begun = Instant::now();
    assert_eq!(app.run("order-1", "Sessions", "").await, "012345");
    // A fetch waits for 30 s at most, and so would every worker that is not told.
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(25), "{took:?}");
    app.stop().await;
}

/// A worker takes the tags it was given, and leaves other work to others.
#[tokio::test]
async fn tagged_activities_run_on_workers_for_that_tag() {
    let activities = |place: &'static str| {
        ActivityRegistry::builder()
            .register(
                "Work",
                move |_: ActivityContext, input: String| async move {
                    Ok(format!("{input} on {place}"))
                },
            )
            .build()
    };
    let orchestrations = || {
        OrchestrationRegistry::builder()
            .register("Tags", |ctx: OrchestrationContext, _: String| async move {
                let render = ctx
                    .schedule_activity("Work", "render")
                    .with_tag("gpu")
                    .await?;
                let send = ctx.schedule_activity("Work", "send").await?;
                Ok(format!("{render}, {send}"))
            })
            .build()
    };
    let app = App::start(activities("cpu"), orchestrations()).await;
    let store = Arc::new(app.schema.provider().await);
    let options = RuntimeOptions {
        worker_tag_filter: TagFilter::tags(["gpu"]),
        ..RuntimeOptions::default()
    };
    let gpu =
        Runtime::start_with_options(store, activities("gpu"), orchestrations(), options).await;
    assert_eq!(
        app.run("order-1", "Tags", "").await,
        "render on gpu, send on cpu"
    );
    gpu.shutdown(None).await;
    app.stop().await;
}

/// Key-values written by an instance can be read while it runs and after it ended.
#[tokio::test]
async fn key_values_are_visible_to_clients() {
    let orchestrations = OrchestrationRegistry::builder()
        .register(
            "Progress",
            |ctx: OrchestrationContext, _: String| async move {
                ctx.set_kv_value("state", "packing");
                ctx.set_kv_value("gone", "soon");
                // The empty key is a key like any other.
                ctx.set_kv_value("", "nameless");
                ctx.schedule_wait("continue").await;
                ctx.clear_kv_value("gone");
                ctx.set_kv_value(
                    "state",
                    format!("sent, was {:?}", ctx.get_kv_value("state")),
                );
                Ok("done".into())
            },
        )
        .build();
    let app = App::start(echo_activities(), orchestrations).await;
    app.client
        .start_orchestration("order-1", "Progress", "")
        .await
        .unwrap();
    let state = app
        .client
        .wait_for_kv_value("order-1", "state", PATIENCE)
        .await
        .unwrap();
    assert_eq!(state, "packing");
    app.client
        .raise_event("order-1", "continue", "")
        .await
        .unwrap();
    assert_eq!(app.output("order-1").await, "done");
    let all = app.client.get_kv_all_values("order-1").await.unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!(all["state"], "sent, was Some(\"packing\")");
    assert_eq!(all[""], "nameless");
    let nameless = app.client.get_kv_value("order-1", "").await.unwrap();
    assert_eq!(nameless.as_deref(), Some("nameless"));
    app.stop().await;
}

/// A client sees every change of the custom status it waits for.
#[tokio::test]
async fn custom_status_changes_reach_a_waiting_client() {
    let orchestrations = OrchestrationRegistry::builder()
        .register(
            "Status",
            |ctx: OrchestrationContext, _: String| async move {
                ctx.set_custom_status("first");
                ctx.schedule_wait("continue").await;
                ctx.set_custom_status("second");
                Ok("done".into())
            },
        )
        .build();
    let app = App::start(echo_activities(), orchestrations).await;
    app.client
        .start_orchestration("order-1", "Status", "")
        .await
        .unwrap();
    let poll = Duration::from_millis(5);
    let seen = app
        .client
        .wait_for_status_change("order-1", 0, poll, PATIENCE)
        .await
        .unwrap();
    let OrchestrationStatus::Running {
        custom_status,
        custom_status_version,
    } = seen
    else {
        panic!("{seen:?}");
    };
    assert_eq!(custom_status.as_deref(), Some("first"));
    app.client
        .raise_event("order-1", "continue", "")
        .await
        .unwrap();
    let seen = app
        .client
        .wait_for_status_change("order-1", custom_status_version, poll, PATIENCE)
        .await
        .unwrap();
    let OrchestrationStatus::Completed { custom_status, .. } = seen else {
        panic!("{seen:?}")
    };
    assert_eq!(custom_status.as_deref(), Some("second"));
    app.stop().await;
}

/// Old executions can be pruned and finished instances deleted, with their children.
#[tokio::test]
async fn executions_are_pruned_and_instances_deleted() {
    let orchestrations = OrchestrationRegistry::builder()
        .register(
            "Renewing",
            |ctx: OrchestrationContext, input: String| async move {
                match input.as_str() {
                    "3" => ctx.schedule_sub_orchestration("Child", "").await,
                    n => {
                        let next = n.parse::<u32>().unwrap_or(0) + 1;
                        ctx.continue_as_new(next.to_string()).await
                    }
                }
            },
        )
        .register("Child", |_, _: String| async move { Ok("grown".into()) })
        .build();
    let app = App::start(echo_activities(), orchestrations).await;
    assert_eq!(app.run("order-1", "Renewing", "0").await, "grown");
    assert_eq!(
        app.client.list_executions("order-1").await.unwrap(),
        [1, 2, 3, 4]
    );
    let options = PruneOptions {
        keep_last: Some(2),
        ..PruneOptions::default()
    };
    let pruned = app
        .client
        .prune_executions("order-1", options)
        .await
        .unwrap();
    assert_eq!(pruned.executions_deleted, 2);
    assert_eq!(app.client.list_executions("order-1").await.unwrap(), [3, 4]);
    let deleted = app.client.delete_instance("order-1", false).await.unwrap();
    assert_eq!(deleted.instances_deleted, 2);
    assert!(app.client.list_all_instances().await.unwrap().is_empty());
    app.stop().await;
}
