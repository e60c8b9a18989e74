//! Shutdowns: what a process had fetched is free for the others at once.

use std::sync::Arc;
use std::time::Duration;

use duroxide::providers::{Provider, TagFilter};
use duroxide::runtime::registry::OrchestrationRegistry;
use duroxide::runtime::{Runtime, RuntimeOptions};
use duroxide::{Client, OrchestrationContext};
use duroxide_sql::MssqlProvider;

use crate::support::database::{SnapshotReads, TestSchema, in_both_settings, own_server_with};
use crate::support::items::{LEASE, activity, create, fetch, fetch_work, start};
use crate::support::proxy::Proxy;
use crate::support::random::Random;
use crate::support::runtime::echo_activities;

/// Leases that are held in the schema.
async fn leases(schema: &TestSchema) -> i64 {
    let sql = "SELECT (SELECT COUNT(*) FROM [$(schema)].instance_locks WHERE lock_token IS NOT NULL)
                    + (SELECT COUNT(*) FROM [$(schema)].worker_queue WHERE lock_token IS NOT NULL)
                    + (SELECT COUNT(*) FROM [$(schema)].sessions
                       WHERE locked_until_ms > DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()));";
    schema.number(sql).await
}

/// How many shutdowns to try for each delay of the network, half of them in each setting; more with
/// `SHUTDOWNS`.
fn shutdowns() -> u32 {
    let wanted = std::env::var("SHUTDOWNS").ok();
    wanted.map_or(8, |text| text.parse().expect("SHUTDOWNS is a number"))
}

in_both_settings! {
    busy_runtime_leaves_no_lease_behind,
    dropped_fetch_gives_its_claim_back,
    closed_provider_gives_its_leases_back,
}

fn fan_out() -> OrchestrationRegistry {
    OrchestrationRegistry::builder()
        .register(
            "FanOut",
            |ctx: OrchestrationContext, _: String| async move {
                for _ in 0..50 {
                    // Half of them in sessions, whose owners do not come back either.
                    let all = (0..4).map(|n| match n % 2 {
                        0 => ctx.schedule_activity("Echo", n.to_string()),
                        _ => ctx.schedule_activity_on_session("Echo", n.to_string(), "s"),
                    });
                    ctx.join(all.collect()).await;
                }
                Ok(String::new())
            },
        )
        .build()
}

/// A busy runtime is shut down at random moments: no lease is left behind.
async fn busy_runtime_leaves_no_lease_behind(reads: SnapshotReads) {
    let schema = TestSchema::on(reads);
    let proxy = Proxy::start(schema.url()).await;
    let mut random = Random::new(0x2545_F491_4F6C_DD1D);
    for round_trip in [Duration::ZERO, Duration::from_millis(10)] {
        proxy.delay(round_trip);
        for n in 0..shutdowns() / 2 {
            let builder = MssqlProvider::builder(proxy.url(schema.url()));
            let builder = builder.schema(schema.name().as_str());
            let store = Arc::new(builder.build().await.unwrap());
            let options = RuntimeOptions {
                orchestration_concurrency: 4,
                worker_concurrency: 4,
                ..RuntimeOptions::default()
            };
            let runtime =
                Runtime::start_with_options(store.clone(), echo_activities(), fan_out(), options)
                    .await;
            let client = Client::new(store.clone());
            for m in 0..4 {
                let instance = format!("order-{}-{n}-{m}", round_trip.as_millis());
                client
                    .start_orchestration(&instance, "FanOut", "")
                    .await
                    .unwrap();
            }
            // The moment is what the test is about.
            tokio::time::sleep(Duration::from_micros(random.below(150_000))).await;
            runtime.shutdown(None).await;
            store.close().await;
            assert_eq!(leases(&schema).await, 0, "shutdown {n} at {round_trip:?}");
        }
    }
}

/// A fetch that is dropped while its answer is on its way, or has just arrived, gives its claim
/// back with the attempt undone.
async fn dropped_fetch_gives_its_claim_back(reads: SnapshotReads) {
    let server = own_server_with(reads);
    let schema = TestSchema::at(server.connection_string());
    let provider = Arc::new(schema.provider().await);
    create(&*provider, "order").await;
    provider
        .enqueue_for_orchestrator(start("order"), None)
        .await
        .unwrap();
    provider
        .enqueue_for_worker(activity("order", 2, ""))
        .await
        .unwrap();
    let held = |procedure| {
        let trigger = mssql_embedded::Trigger::response().of(procedure);
        server.controls().pause(trigger)
    };
    let pause = held("fetch_orchestration_item");
    let store = provider.clone();
    let turn = tokio::spawn(async move { fetch(&*store).await.map(drop) });
    pause.paused().await;
    turn.abort();
    assert!(turn.await.unwrap_err().is_cancelled());
    pause.release();

    let pause = held("fetch_work_item");
    let store = provider.clone();
    let work = tokio::spawn(async move { fetch_work(&*store).await.map(drop) });
    pause.paused().await;
    work.abort();
    assert!(work.await.unwrap_err().is_cancelled());
    pause.release();

    provider.close().await;
    assert_eq!(leases(&schema).await, 0);
    let (_, _, attempts) = fetch(&*provider).await.expect("the message is free");
    assert_eq!(attempts, 1);
    let (_, _, attempts) = fetch_work(&*provider).await.expect("the activity is free");
    assert_eq!(attempts, 1);
}

/// A provider that is closed gives back what its owner had fetched and not settled.
async fn closed_provider_gives_its_leases_back(reads: SnapshotReads) {
    let schema = TestSchema::on(reads);
    let provider = schema.provider().await;
    create(&provider, "order").await;
    provider
        .enqueue_for_orchestrator(start("order"), None)
        .await
        .unwrap();
    for id in 2..5 {
        provider
            .enqueue_for_worker(activity("order", id, ""))
            .await
            .unwrap();
    }
    fetch(&provider).await.expect("the message");
    for _ in 0..2 {
        fetch_work(&provider).await.expect("an activity");
    }
    let (_, settled, _) = fetch_work(&provider).await.expect("an activity");
    provider.ack_work_item(&settled, None).await.unwrap();
    assert_eq!(leases(&schema).await, 3);
    provider.close().await;
    assert_eq!(leases(&schema).await, 0);
    let filter = TagFilter::default();
    let again = provider
        .fetch_work_item(LEASE, Duration::ZERO, None, &filter)
        .await;
    assert_eq!(again.unwrap().expect("it is free").2, 1, "first attempt");
}
