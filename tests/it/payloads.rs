//! Texts come back byte for byte from every place that stores them, and ids are never confused.

use std::time::Duration;

use duroxide::EventKind;
use duroxide::providers::{Provider, ProviderAdmin, WorkItem};

use crate::support::database::TestSchema;
use crate::support::items::{
    activity, completed, create, event, fetch, fetch_work, metadata, start, started,
};

/// Awkward in JSON, in T-SQL and in UTF-16: quotes, control characters, a character beyond the
/// basic plane, the last code point of the basic plane, a trailing space.
const AWKWARD: &str = "'\"\\[$(schema)]\u{1}\u{7f}\r\n\t😀\u{ffff}é日本 ";

/// A text of about `chars` characters with all of that in it.
fn text(chars: usize) -> String {
    AWKWARD.chars().cycle().take(chars).collect()
}

/// Around the limit of JSON_VALUE, then large.
fn sizes() -> Vec<usize> {
    vec![0, 1, 4_000, 4_001, 1_000_000, 4_000_000]
}

/// Messages and histories.
#[tokio::test]
async fn messages_and_events_come_back_unchanged() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    for (n, size) in sizes().into_iter().enumerate() {
        let (instance, text) = (format!("order-{n}"), text(size));
        let mut message = start(&instance);
        if let WorkItem::StartOrchestration { input, .. } = &mut message {
            *input = text.clone();
        }
        provider
            .enqueue_for_orchestrator(message.clone(), None)
            .await
            .unwrap();
        let (item, token, _) = fetch(&provider).await.expect("the message is ready");
        assert!(item.messages == [message], "message of {size} characters");
        let history = vec![started(&instance, &text)];
        let ack = provider.ack_orchestration_item(
            &token,
            1,
            history.clone(),
            vec![],
            vec![],
            metadata(),
            vec![],
        );
        ack.await.unwrap();
        assert!(
            provider.read(&instance).await.unwrap() == history,
            "event of {size} characters"
        );
    }
}

/// Work items and their completions.
#[tokio::test]
async fn work_items_come_back_unchanged() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    create(&provider, "order").await;
    for (n, size) in sizes().into_iter().enumerate() {
        let text = text(size);
        let item = activity("order", n as u64 + 2, &text);
        provider.enqueue_for_worker(item.clone()).await.unwrap();
        let (fetched, token, _) = fetch_work(&provider).await.expect("the item is ready");
        assert!(fetched == item, "work item of {size} characters");
        let completion = completed("order", n as u64 + 2, &text);
        provider
            .ack_work_item(&token, Some(completion.clone()))
            .await
            .unwrap();
        let (turn, token, _) = fetch(&provider).await.expect("the completion is ready");
        assert!(
            turn.messages == [completion],
            "completion of {size} characters"
        );
        let ack =
            provider.ack_orchestration_item(&token, 1, vec![], vec![], vec![], metadata(), vec![]);
        ack.await.unwrap();
    }
}

/// Key-values, custom status and output.
#[tokio::test]
async fn values_status_and_output_come_back_unchanged() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    for (n, size) in sizes().into_iter().enumerate() {
        let (instance, text) = (format!("order-{n}"), text(size));
        create(&provider, &instance).await;
        let wake = WorkItem::ExternalRaised {
            instance: instance.clone(),
            name: "go".into(),
            data: String::new(),
        };
        provider.enqueue_for_orchestrator(wake, None).await.unwrap();
        let (_, token, _) = fetch(&provider).await.expect("the event is ready");
        let key = "schlüssel 😀 '[]";
        let set = EventKind::KeyValueSet {
            key: key.into(),
            value: text.clone(),
            last_updated_at_ms: 1,
        };
        let status = EventKind::CustomStatusUpdated {
            status: Some(text.clone()),
        };
        let history = vec![event(&instance, 2, set), event(&instance, 3, status)];
        let mut ended = metadata();
        (ended.status, ended.output) = (Some("Completed".into()), Some(text.clone()));
        let ack =
            provider.ack_orchestration_item(&token, 1, history, vec![], vec![], ended, vec![]);
        ack.await.unwrap();
        assert!(
            provider
                .get_kv_value(&instance, key)
                .await
                .unwrap()
                .as_ref()
                == Some(&text)
        );
        let (status, version) = provider
            .get_custom_status(&instance, 0)
            .await
            .unwrap()
            .unwrap();
        assert!(
            (status.as_ref(), version) == (Some(&text), 1),
            "status of {size} characters"
        );
        let info = provider.get_instance_info(&instance).await.unwrap();
        assert!(
            info.output.as_ref() == Some(&text),
            "output of {size} characters"
        );
        let stats = provider
            .get_instance_stats(&instance)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(stats.kv_total_value_bytes, text.len() as u64);
    }
}

/// Ids that differ only in case are different instances.
#[tokio::test]
async fn ids_that_differ_in_case_are_different() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    for instance in ["order", "Order", "ORDER", "ordér"] {
        create(&provider, instance).await;
    }
    assert_eq!(provider.list_instances().await.unwrap().len(), 4);
    provider.delete_instance("Order", true).await.unwrap();
    assert_eq!(provider.read("order").await.unwrap().len(), 1);
    assert_eq!(provider.read("Order").await.unwrap().len(), 0);
}

/// An id that SQL Server would confuse or cut is refused by name, everywhere.
#[tokio::test]
async fn ids_that_cannot_be_kept_apart_are_refused() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    let too_long = "x".repeat(401);
    let much_too_long = "y".repeat(5_000);
    for (id, reason) in [
        ("order ", "space"),
        (too_long.as_str(), "400"),
        (much_too_long.as_str(), "400"),
        ("", "empty"),
    ] {
        let errors = [
            provider
                .enqueue_for_orchestrator(start(id), None)
                .await
                .unwrap_err(),
            provider
                .enqueue_for_worker(activity(id, 1, ""))
                .await
                .unwrap_err(),
            provider.read(id).await.unwrap_err(),
            provider
                .append_with_execution(id, 1, vec![started("i", "")])
                .await
                .unwrap_err(),
            provider.get_custom_status(id, 0).await.unwrap_err(),
            provider.get_kv_value(id, "key").await.unwrap_err(),
            provider.get_instance_info(id).await.unwrap_err(),
            provider.delete_instance(id, true).await.unwrap_err(),
        ];
        for error in errors {
            assert!(!error.is_retryable(), "{error}");
            assert!(
                error.message.contains(reason),
                "{error} does not mention {reason}"
            );
        }
    }
    let longest = "z".repeat(400);
    create(&provider, &longest).await;
    assert_eq!(provider.list_instances().await.unwrap(), [longest]);
}

/// A timer far in the future is stored as it is and never becomes visible by overflow.
#[tokio::test]
async fn timers_and_delays_beyond_any_calendar_stay_in_the_future() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    create(&provider, "order").await;
    let timer = WorkItem::TimerFired {
        instance: "order".into(),
        execution_id: 1,
        id: 2,
        fire_at_ms: u64::MAX,
    };
    provider
        .enqueue_for_orchestrator(start("order"), None)
        .await
        .unwrap();
    let (_, token, _) = fetch(&provider).await.expect("a turn that sets the timer");
    let ack =
        provider.ack_orchestration_item(&token, 1, vec![], vec![], vec![timer], metadata(), vec![]);
    ack.await.unwrap();
    provider
        .enqueue_for_orchestrator(start("other"), Some(Duration::MAX))
        .await
        .unwrap();
    assert!(fetch(&provider).await.is_none());
}
