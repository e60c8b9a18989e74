//! Rows that cannot be read back are reported, never dropped, and hold nothing up for ever.

use duroxide::providers::{ExecutionMetadata, InstanceFilter, Provider, ProviderAdmin, WorkItem};
use duroxide::runtime::registry::OrchestrationRegistry;
use duroxide::runtime::{OrchestrationStatus, Runtime, RuntimeOptions};
use duroxide::{Client, ErrorDetails, EventKind, OrchestrationContext};

use crate::support::database::TestSchema;
use crate::support::items::{activity, create, event, fetch, fetch_work, metadata, start, started};
use crate::support::runtime::{PATIENCE, echo_activities};
use crate::support::wait;

/// A message that is not JSON, or JSON of no known kind, arrives as an error in the item: the
/// attempts are counted, so that the runtime ends the instance as poisoned, and nothing is lost.
#[tokio::test]
async fn undecodable_message_is_reported_with_the_item() {
    for damage in ["not JSON", "{\"NoSuchItem\":{}}"] {
        let schema = TestSchema::new();
        let provider = schema.provider().await;
        create(&provider, "order").await;
        provider
            .enqueue_for_orchestrator(start("order"), None)
            .await
            .unwrap();
        schema
            .sql(&format!(
                "UPDATE [$(schema)].orchestrator_queue SET payload = N'{damage}';"
            ))
            .await;
        for attempt in 1..=3 {
            let (item, token, attempts) = fetch(&provider).await.expect("the item, not an error");
            assert_eq!((item.instance.as_str(), attempts), ("order", attempt));
            let reason = item.history_error.expect("the reason");
            assert!(!reason.is_empty());
            provider
                .abandon_orchestration_item(&token, None, false)
                .await
                .unwrap();
        }
        let left = "SELECT COUNT(*) FROM [$(schema)].orchestrator_queue;";
        assert_eq!(schema.number(left).await, 1, "the message is still there");
    }
}

/// An event that cannot be decoded is an error of the reads, not a gap in the history.
#[tokio::test]
async fn undecodable_event_fails_the_reads() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    create(&provider, "order").await;
    schema
        .sql("UPDATE [$(schema)].history SET payload = N'{\"type\":\"NoSuchEvent\"}', appended_by = NEWID();")
        .await;
    for result in [
        provider.read("order").await,
        provider.read_with_execution("order", 1).await,
        provider.read_history("order").await,
    ] {
        assert!(!result.expect_err("an error").is_retryable());
    }
}

/// Half of a character, as LEFT leaves it at the end of an event's data, costs that character and nothing else: the message, the activity
/// and the history that have it arrive.
#[tokio::test]
async fn halved_character_is_replaced_and_holds_nothing_up() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    create(&provider, "order").await;
    schema
        .sql(
            "DECLARE @half NVARCHAR(3) = LEFT(N'ab' + NCHAR(0xD83D) + NCHAR(0xDE00), 3);
             EXEC [$(schema)].raise_event @instance_id = N'order', @name = N'Note', @data = @half;",
        )
        .await;
    let (item, token, _) = fetch(&provider).await.expect("the event");
    assert_eq!(item.history_error, None);
    let [WorkItem::ExternalRaised { data, .. }] = &item.messages[..] else {
        panic!("{:?}", item.messages);
    };
    assert_eq!(data, "ab\u{FFFD}");
    provider
        .abandon_orchestration_item(&token, None, false)
        .await
        .unwrap();
    provider
        .enqueue_for_worker(activity("order", 1, ""))
        .await
        .unwrap();
    let damage = "SET payload = REPLACE(payload, N'\"input\":\"', N'\"input\":\"' + NCHAR(0xD800))";
    schema
        .sql(&format!(
            "UPDATE [$(schema)].worker_queue {damage};
             UPDATE [$(schema)].history {damage}, appended_by = NEWID();"
        ))
        .await;
    let (item, ..) = fetch_work(&provider).await.expect("the activity");
    let WorkItem::ActivityExecute { input, .. } = &item else {
        panic!("{item:?}");
    };
    assert!(input.starts_with('\u{FFFD}'), "{input}");
    for history in [
        provider.read("order").await,
        provider.read_with_execution("order", 1).await,
    ] {
        let history = history.expect("the history");
        let EventKind::OrchestrationStarted { input, .. } = &history[0].kind else {
            panic!("{history:?}");
        };
        assert!(input.starts_with('\u{FFFD}'), "{input}");
    }
}

/// An activity that cannot be decoded is an error, and the others are fetched all the same. So is what is no activity: the runtime's worker
/// would end for good over it.
#[tokio::test]
async fn undecodable_activity_does_not_hold_up_the_others() {
    for damage in [
        "not JSON",
        r#"{"CancelInstance":{"instance":"order","reason":"x"}}"#,
    ] {
        let schema = TestSchema::new();
        let provider = schema.provider().await;
        for id in [1, 2] {
            provider
                .enqueue_for_worker(activity("order", id, ""))
                .await
                .unwrap();
        }
        schema
            .sql(&format!(
                "UPDATE [$(schema)].worker_queue SET payload = N'{damage}' WHERE activity_id = 1;"
            ))
            .await;
        let (item, _, attempts) = fetch_work(&provider).await.expect("the first");
        let WorkItem::ActivityExecute {
            instance, id, name, ..
        } = item
        else {
            panic!("{item:?}");
        };
        assert_eq!((instance.as_str(), id, attempts), ("order", 1, 1));
        assert!(name.contains("unreadable"), "{name}");
        let (item, ..) = fetch_work(&provider).await.expect("the second");
        assert_eq!(item, activity("order", 2, ""));
    }
}

/// An activity that nobody can read is tried for a while and then fails, and its orchestration with it.
#[tokio::test]
async fn undecodable_activity_ends_its_orchestration() {
    let schema = TestSchema::new();
    let store = std::sync::Arc::new(schema.provider().await);
    let orchestrations = OrchestrationRegistry::builder()
        .register("One", |ctx: OrchestrationContext, _: String| async move {
            ctx.schedule_activity("Echo", "x").await
        })
        .build();
    let options = RuntimeOptions {
        max_attempts: 2,
        // Activities are left alone until the one in question has been damaged.
        worker_concurrency: 0,
        ..RuntimeOptions::default()
    };
    let registry = || orchestrations.clone();
    let runtime = Runtime::start_with_options(
        store.clone(),
        echo_activities(),
        registry(),
        options.clone(),
    )
    .await;
    let client = Client::new(store.clone());
    client
        .start_orchestration("order", "One", "")
        .await
        .unwrap();
    wait::until("the activity is scheduled", || async {
        let items = "SELECT COUNT(*) FROM [$(schema)].worker_queue;";
        schema.number(items).await == 1
    })
    .await;
    runtime.shutdown(None).await;
    schema
        .sql("UPDATE [$(schema)].worker_queue SET payload = N'not JSON';")
        .await;
    let options = RuntimeOptions {
        worker_concurrency: 1,
        ..options
    };
    let runtime = Runtime::start_with_options(store, echo_activities(), registry(), options).await;
    let ended = client
        .wait_for_orchestration("order", PATIENCE)
        .await
        .unwrap();
    let OrchestrationStatus::Failed { details, .. } = &ended else {
        panic!("{ended:?}");
    };
    assert!(
        matches!(details, ErrorDetails::Poison { .. }),
        "{details:?}"
    );
    runtime.shutdown(None).await;
}

/// An execution is completed when it ends in any way, and not while it is running.
#[tokio::test]
async fn every_end_of_an_execution_is_stamped() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    for status in ["Running", "Completed", "Failed", "ContinuedAsNew"] {
        provider
            .enqueue_for_orchestrator(start(status), None)
            .await
            .unwrap();
        let (_, token, _) = fetch(&provider).await.expect("the start");
        let ended = ExecutionMetadata {
            status: Some(status.into()),
            ..metadata()
        };
        let history = vec![started(status, "{}")];
        provider
            .ack_orchestration_item(&token, 1, history, vec![], vec![], ended, vec![])
            .await
            .unwrap();
        let info = provider.get_execution_info(status, 1).await.unwrap();
        assert_eq!(info.status, status);
        assert_eq!(info.completed_at.is_some(), status != "Running", "{status}");
    }
}

/// A purge takes what has ended and leaves alone what goes on at the same time.
#[tokio::test]
async fn purge_and_work_go_on_side_by_side() {
    const INSTANCES: usize = 60;
    let schema = TestSchema::new();
    let provider = std::sync::Arc::new(schema.provider().await);
    let worker = {
        let provider = provider.clone();
        tokio::spawn(async move {
            for number in 0..INSTANCES {
                let name = format!("order-{number}");
                create(&*provider, &name).await;
                provider
                    .enqueue_for_orchestrator(start(&name), None)
                    .await
                    .unwrap();
                let (item, token, _) = fetch(&*provider).await.expect("its own message");
                assert_eq!(item.instance, name);
                let kind = EventKind::OrchestrationCompleted {
                    output: String::new(),
                };
                let ended = ExecutionMetadata {
                    status: Some("Completed".into()),
                    ..metadata()
                };
                let history = vec![event(&name, 2, kind)];
                provider
                    .ack_orchestration_item(&token, 1, history, vec![], vec![], ended, vec![])
                    .await
                    .expect("a purge does not disturb a turn");
            }
        })
    };
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(120);
    let mut purged = 0;
    while purged < INSTANCES as u64 {
        let filter = InstanceFilter {
            instance_ids: None,
            completed_before: None,
            limit: Some(5),
        };
        let result = provider.delete_instance_bulk(filter).await;
        purged += result.expect("a purge").instances_deleted;
        assert!(std::time::Instant::now() < deadline, "only {purged} purged");
    }
    worker.await.expect("the worker finished its work");
    assert_eq!(purged, INSTANCES as u64);
    assert!(provider.list_instances().await.unwrap().is_empty());
}
