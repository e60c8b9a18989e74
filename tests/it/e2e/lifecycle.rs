//! What happens to instances: failures, cancellation, crashes, several runtimes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::runtime::{OrchestrationStatus, Runtime, RuntimeOptions};
use duroxide::{ActivityContext, BackoffStrategy, OrchestrationContext, RetryPolicy};

use crate::support::runtime::{App, echo_activities};
use crate::support::wait;

/// An activity that fails twice is tried three times, and its result counts once.
#[tokio::test]
async fn failing_activity_is_retried_until_it_succeeds() {
    let attempts = Arc::new(AtomicU32::new(0));
    let seen = attempts.clone();
    let activities = ActivityRegistry::builder()
        .register("Flaky", move |_, input: String| {
            let attempt = seen.fetch_add(1, Ordering::SeqCst);
            async move {
                if attempt < 2 {
                    Err("not yet".into())
                } else {
                    Ok(input)
                }
            }
        })
        .build();
    let orchestrations = OrchestrationRegistry::builder()
        .register(
            "Retry",
            |ctx: OrchestrationContext, input: String| async move {
                let backoff = BackoffStrategy::Fixed {
                    delay: Duration::from_millis(10),
                };
                let policy = RetryPolicy::new(5).with_backoff(backoff);
                ctx.schedule_activity_with_retry("Flaky", input, policy)
                    .await
            },
        )
        .build();
    let app = App::start(activities, orchestrations).await;
    assert_eq!(app.run("order-1", "Retry", "done").await, "done");
    assert_eq!(attempts.load(Ordering::SeqCst), 3);
    app.stop().await;
}

/// An instance that nobody can run is given up after the allowed attempts.
#[tokio::test]
async fn instance_without_a_handler_is_poisoned_in_the_end() {
    let options = RuntimeOptions {
        max_attempts: 2,
        unregistered_backoff: duroxide::runtime::UnregisteredBackoffConfig {
            base_delay: Duration::from_millis(10),
            max_delay: Duration::from_millis(20),
        },
        ..RuntimeOptions::default()
    };
    let orchestrations = OrchestrationRegistry::builder().build();
    let app = App::with_options(echo_activities(), orchestrations, options).await;
    app.client
        .start_orchestration("order-1", "NoSuchOrchestration", "")
        .await
        .unwrap();
    let ended = app.wait("order-1").await;
    assert!(
        matches!(ended, OrchestrationStatus::Failed { .. }),
        "{ended:?}"
    );
    app.stop().await;
}

/// Cancelling an instance reaches the activity that runs for it.
#[tokio::test]
async fn cancellation_reaches_a_running_activity() {
    let (begun, cancelled) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (saw_begin, saw_cancel) = (begun.clone(), cancelled.clone());
    let activities = ActivityRegistry::builder()
        .register("Endless", move |ctx: ActivityContext, _: String| {
            let (saw_begin, saw_cancel) = (saw_begin.clone(), saw_cancel.clone());
            async move {
                saw_begin.fetch_add(1, Ordering::SeqCst);
                ctx.cancelled().await;
                saw_cancel.fetch_add(1, Ordering::SeqCst);
                Err("cancelled".into())
            }
        })
        .build();
    let orchestrations = OrchestrationRegistry::builder()
        .register("Wait", |ctx: OrchestrationContext, _: String| async move {
            ctx.schedule_activity("Endless", "").await
        })
        .build();
    // The runtime learns of a cancellation when it renews the work item's lease.
    let options = RuntimeOptions {
        worker_lock_timeout: Duration::from_secs(2),
        ..RuntimeOptions::default()
    };
    let app = App::with_options(activities, orchestrations, options).await;
    app.client
        .start_orchestration("order-1", "Wait", "")
        .await
        .unwrap();
    wait::until("the activity began", || async {
        begun.load(Ordering::SeqCst) == 1
    })
    .await;
    app.client
        .cancel_instance("order-1", "no longer needed")
        .await
        .unwrap();
    let ended = app.wait("order-1").await;
    assert!(
        matches!(ended, OrchestrationStatus::Failed { .. }),
        "{ended:?}"
    );
    wait::until("the activity heard of it", || async {
        cancelled.load(Ordering::SeqCst) == 1
    })
    .await;
    app.stop().await;
}

fn slow_sequence() -> OrchestrationRegistry {
    OrchestrationRegistry::builder()
        .register(
            "Sequence",
            |ctx: OrchestrationContext, _: String| async move {
                let mut log = String::new();
                for step in 0..6 {
                    log += &ctx.schedule_activity("Step", step.to_string()).await?;
                }
                Ok(log)
            },
        )
        .build()
}

fn steps(count: &Arc<AtomicU32>) -> ActivityRegistry {
    let count = count.clone();
    ActivityRegistry::builder()
        .register("Step", move |_, input: String| {
            count.fetch_add(1, Ordering::SeqCst);
            async move { Ok(input) }
        })
        .build()
}

/// Two runtimes, each with a provider of its own, share the work of one schema.
#[tokio::test]
async fn two_runtimes_share_a_schema() {
    let (first, second) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let app = App::start(steps(&first), slow_sequence()).await;
    let other_store = Arc::new(app.schema.provider().await);
    let other = Runtime::start_with_store(other_store, steps(&second), slow_sequence()).await;
    for n in 0..8 {
        app.client
            .start_orchestration(&format!("order-{n}"), "Sequence", "")
            .await
            .unwrap();
    }
    for n in 0..8 {
        assert_eq!(app.output(&format!("order-{n}")).await, "012345");
    }
    assert_eq!(
        first.load(Ordering::SeqCst) + second.load(Ordering::SeqCst),
        48
    );
    other.shutdown(None).await;
    app.stop().await;
}

/// A runtime that dies in the middle leaves nothing behind that another cannot finish.
#[tokio::test]
async fn instance_outlives_the_runtime_that_started_it() {
    let count = Arc::new(AtomicU32::new(0));
    let options = RuntimeOptions {
        orchestrator_lock_timeout: Duration::from_secs(1),
        worker_lock_timeout: Duration::from_secs(1),
        ..RuntimeOptions::default()
    };
    let app = App::with_options(steps(&count), slow_sequence(), options.clone()).await;
    app.client
        .start_orchestration("order-1", "Sequence", "")
        .await
        .unwrap();
    wait::until("half of the steps ran", || async {
        count.load(Ordering::SeqCst) >= 3
    })
    .await;
    // A zero timeout aborts whatever is under way.
    app.runtime.clone().shutdown(Some(0)).await;
    let store = Arc::new(app.schema.provider().await);
    let second = Runtime::start_with_options(store, steps(&count), slow_sequence(), options).await;
    assert_eq!(app.output("order-1").await, "012345");
    second.shutdown(None).await;
}
