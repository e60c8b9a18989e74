//! The patterns of orchestrations: sequence, fan-out, timers, events, children, renewal.

use std::time::Duration;

use duroxide::runtime::registry::OrchestrationRegistry;
use duroxide::{Either2, OrchestrationContext};

use crate::support::runtime::{App, PATIENCE, echo_activities};

/// One activity after the other, each with the result of the one before.
#[tokio::test]
async fn sequence_of_activities_passes_results_on() {
    let orchestrations = OrchestrationRegistry::builder()
        .register(
            "Sequence",
            |ctx: OrchestrationContext, input: String| async move {
                let mut text = input;
                for step in 0..5 {
                    text = ctx
                        .schedule_activity("Echo", format!("{text}{step}"))
                        .await?;
                }
                ctx.schedule_activity("Upper", text).await
            },
        )
        .build();
    let app = App::start(echo_activities(), orchestrations).await;
    assert_eq!(app.run("order-1", "Sequence", "x").await, "X01234");
    app.stop().await;
}

/// Many activities at once; every one of them arrives exactly once.
#[tokio::test]
async fn fan_out_collects_every_result() {
    let orchestrations = OrchestrationRegistry::builder()
        .register(
            "FanOut",
            |ctx: OrchestrationContext, _: String| async move {
                let parts: Vec<_> = (0..20)
                    .map(|n| ctx.schedule_activity("Echo", n.to_string()))
                    .collect();
                let results: Result<Vec<String>, String> =
                    ctx.join(parts).await.into_iter().collect();
                Ok(results?.join(","))
            },
        )
        .build();
    let app = App::start(echo_activities(), orchestrations).await;
    let expected: Vec<_> = (0..20).map(|n| n.to_string()).collect();
    assert_eq!(app.run("order-1", "FanOut", "").await, expected.join(","));
    app.stop().await;
}

/// A timer fires after its delay, not before.
#[tokio::test]
async fn timer_fires_after_its_delay() {
    let orchestrations = OrchestrationRegistry::builder()
        .register("Timer", |ctx: OrchestrationContext, _: String| async move {
            ctx.schedule_timer(Duration::from_millis(300)).await;
            Ok("fired".into())
        })
        .build();
    let app = App::start(echo_activities(), orchestrations).await;
    let begun = std::time::Instant::now();
    assert_eq!(app.run("order-1", "Timer", "").await, "fired");
    assert!(begun.elapsed() >= Duration::from_millis(300));
    app.stop().await;
}

/// An event that the client raises reaches the instance that waits for it; the timer loses.
#[tokio::test]
async fn external_event_wins_against_a_long_timer() {
    let orchestrations = OrchestrationRegistry::builder()
        .register(
            "Approval",
            |ctx: OrchestrationContext, _: String| async move {
                ctx.set_custom_status("waiting");
                let approval = ctx.schedule_wait("approval");
                let deadline = ctx.schedule_timer(Duration::from_secs(3600));
                match ctx.select2(approval, deadline).await {
                    Either2::First(who) => Ok(format!("approved by {who}")),
                    Either2::Second(()) => Ok("expired".into()),
                }
            },
        )
        .build();
    let app = App::start(echo_activities(), orchestrations).await;
    app.client
        .start_orchestration("order-1", "Approval", "")
        .await
        .unwrap();
    let poll = Duration::from_millis(5);
    app.client
        .wait_for_status_change("order-1", 0, poll, PATIENCE)
        .await
        .unwrap();
    app.client
        .raise_event("order-1", "approval", "mia")
        .await
        .unwrap();
    assert_eq!(app.output("order-1").await, "approved by mia");
    app.stop().await;
}

/// Queued events are kept in order, also those sent before anybody waited.
#[tokio::test]
async fn queued_events_arrive_in_order() {
    let orchestrations = OrchestrationRegistry::builder()
        .register("Inbox", |ctx: OrchestrationContext, _: String| async move {
            let mut all = Vec::new();
            for _ in 0..3 {
                all.push(ctx.dequeue_event("inbox").await);
            }
            Ok(all.join(","))
        })
        .build();
    let app = App::start(echo_activities(), orchestrations).await;
    app.client
        .start_orchestration("order-1", "Inbox", "")
        .await
        .unwrap();
    for message in ["a", "b", "c"] {
        app.client
            .enqueue_event("order-1", "inbox", message)
            .await
            .unwrap();
    }
    assert_eq!(app.output("order-1").await, "a,b,c");
    app.stop().await;
}

/// Children of children; each level's result reaches its parent.
#[tokio::test]
async fn sub_orchestrations_nest() {
    let orchestrations = OrchestrationRegistry::builder()
        .register(
            "Root",
            |ctx: OrchestrationContext, input: String| async move {
                let children: Vec<_> = (0..2)
                    .map(|n| ctx.schedule_sub_orchestration("Middle", format!("{input}{n}")))
                    .collect();
                let results: Result<Vec<String>, String> =
                    ctx.join(children).await.into_iter().collect();
                Ok(results?.join("+"))
            },
        )
        .register(
            "Middle",
            |ctx: OrchestrationContext, input: String| async move {
                let leaf = ctx.schedule_sub_orchestration("Leaf", input).await?;
                Ok(format!("<{leaf}>"))
            },
        )
        .register(
            "Leaf",
            |ctx: OrchestrationContext, input: String| async move {
                ctx.schedule_activity("Upper", input).await
            },
        )
        .build();
    let app = App::start(echo_activities(), orchestrations).await;
    assert_eq!(app.run("order-1", "Root", "x").await, "<X0>+<X1>");
    let tree = app.client.get_instance_tree("order-1").await.unwrap();
    assert_eq!(tree.size(), 5);
    app.stop().await;
}

/// A renewed instance keeps what was queued for it and not yet taken.
#[tokio::test]
async fn continue_as_new_carries_queued_events_forward() {
    let orchestrations = OrchestrationRegistry::builder()
        .register(
            "Counter",
            |ctx: OrchestrationContext, input: String| async move {
                let count: u32 = input.parse().map_err(|_| "not a number".to_owned())?;
                let message = ctx.dequeue_event("numbers").await;
                let count = count
                    + message
                        .parse::<u32>()
                        .map_err(|_| "not a number".to_owned())?;
                if message == "3" {
                    return Ok(count.to_string());
                }
                ctx.continue_as_new(count.to_string()).await
            },
        )
        .build();
    let app = App::start(echo_activities(), orchestrations).await;
    app.client
        .start_orchestration("order-1", "Counter", "0")
        .await
        .unwrap();
    for number in ["1", "2", "3"] {
        app.client
            .enqueue_event("order-1", "numbers", number)
            .await
            .unwrap();
    }
    assert_eq!(app.output("order-1").await, "6");
    assert_eq!(
        app.client.list_executions("order-1").await.unwrap(),
        [1, 2, 3]
    );
    app.stop().await;
}

/// The version that a client asks for is the version that runs.
#[tokio::test]
async fn versions_of_an_orchestration_run_side_by_side() {
    let orchestrations = OrchestrationRegistry::builder()
        .register_versioned("Greet", "1.0.0", |_, _: String| async move {
            Ok("hello".into())
        })
        .register_versioned(
            "Greet",
            "2.0.0",
            |_, _: String| async move { Ok("hi".into()) },
        )
        .build();
    let app = App::start(echo_activities(), orchestrations).await;
    app.client
        .start_orchestration_versioned("old", "Greet", "1.0.0", "")
        .await
        .unwrap();
    assert_eq!(app.output("old").await, "hello");
    assert_eq!(app.run("new", "Greet", "").await, "hi");
    let info = app.client.get_instance_info("old").await.unwrap();
    assert_eq!(info.orchestration_version, "1.0.0");
    app.stop().await;
}
