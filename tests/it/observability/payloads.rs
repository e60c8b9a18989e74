//! What work carries is in no log line and no metric, at any level, whatever goes wrong.

use std::sync::Arc;
use std::time::Duration;

use duroxide::providers::{Provider, WorkItem};
use duroxide::runtime::Runtime;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::{ActivityContext, Client, OrchestrationContext};

use tracing::Dispatch;
use tracing::instrument::WithSubscriber as _;

use super::Setup;
use crate::support::items::{create, fetch};
use crate::support::log::Log;
use crate::support::proxy::Fault;
use crate::support::runtime::PATIENCE;
use crate::support::wait;

/// In every payload, and in nothing else.
const WORD: &str = "Xqzkawvjyb";

/// All of the log but what duroxide's own runtime writes, which is not ours to decide.
fn ours(log: &Log) -> String {
    let text = log.text();
    let lines = text.lines().filter(|line| !line.contains(" duroxide::"));
    lines.map(|line| format!("{line}\n")).collect()
}

fn assert_clean(log: &Log) {
    let text = ours(log);
    let at = text.find(WORD);
    let around = at.map(|at| text[..at + WORD.len()].lines().last().unwrap_or_default());
    assert_eq!(around, None, "a payload is logged");
    let lines = text.lines().count();
    assert!(lines > 20 && text.contains("call{"), "{lines} lines");
}

/// A whole workflow with input, output, activity, event, key-value and status, with calls that fail.
#[tokio::test]
async fn no_payload_is_logged_by_a_workflow() {
    let (log, _guard) = Log::catch();
    let setup = Setup::plain().await;
    for procedure in [
        "fetch_orchestration_item",
        "ack_orchestration_item",
        "fetch_work_item",
        "ack_work_item",
        "enqueue_for_orchestrator",
        "read",
    ] {
        setup.proxy.spoil(procedure, Fault::Error(1205, 13));
    }
    let Setup {
        provider,
        proxy: _proxy,
        schema,
    } = setup;
    let store = Arc::new(provider);
    let activities = ActivityRegistry::builder()
        .register("Fail", |_: ActivityContext, input: String| async move {
            Err::<String, _>(format!("failed with {input}"))
        })
        .register("Echo", |_: ActivityContext, input: String| async move {
            Ok(input)
        })
        .build();
    let work = |ctx: OrchestrationContext, input: String| async move {
        ctx.set_custom_status(format!("status {WORD}"));
        ctx.set_kv_value("key", &input);
        let approval = ctx.schedule_wait("Approval").await;
        let failed = ctx.schedule_activity("Fail", &input).await;
        let echoed = ctx.schedule_activity("Echo", &input).await?;
        Ok(format!("{approval} {failed:?} {echoed}"))
    };
    let orchestrations = OrchestrationRegistry::builder()
        .register("Work", work)
        .build();
    let runtime = Runtime::start_with_store(store.clone(), activities, orchestrations).await;
    let client = Client::new(store.clone());
    let begun = client.start_orchestration("order", "Work", WORD).await;
    begun.expect("the instance starts");
    // An event that comes before anybody waits for it is dropped.
    wait::until("the instance waits for its event", || async {
        let history = store.read("order").await.expect("a history");
        format!("{history:?}").contains("ExternalSubscribed")
    })
    .await;
    let raised = client
        .raise_event("order", "Approval", format!("yes {WORD}"))
        .await;
    raised.expect("the event is taken");
    let ended = client.wait_for_orchestration("order", PATIENCE).await;
    let status = format!("{:?}", ended.expect("the instance ends"));
    assert!(
        status.contains(WORD) && status.contains("Completed"),
        "{status}"
    );
    runtime.shutdown(None).await;
    store.close().await;
    assert_clean(&log);
    drop((client, store));
    drop(schema);
}

/// Rows that cannot be read: what is in them is not shown by the complaint.
#[tokio::test]
async fn no_payload_is_logged_when_rows_cannot_be_read() {
    let (log, _guard) = Log::catch();
    let setup = Setup::plain().await;
    let provider = &setup.provider;
    for (number, text) in [
        format!("{WORD} is not JSON"),
        format!("\"{WORD}\""),
        format!("[\"{WORD}\", 1]"),
        format!("{{\"event_id\": \"{WORD}, expected \", \"instance_id\": [\"{WORD}\"]}}"),
    ]
    .iter()
    .enumerate()
    {
        let instance = format!("order-{number}");
        create(provider, &instance).await;
        let spoil = format!(
            "UPDATE [$(schema)].history SET payload = N'{text}', appended_by = NEWID() \
             WHERE instance_id = N'{instance}';"
        );
        // Not the provider's connection, but one of the test's own.
        setup
            .schema
            .sql(&spoil)
            .with_subscriber(Dispatch::none())
            .await;
        let error = provider.read(&instance).await.expect_err("it is damaged");
        assert!(!error.to_string().contains(WORD), "{error}");
        let event = WorkItem::ExternalRaised {
            instance: instance.clone(),
            name: "event".into(),
            data: WORD.into(),
        };
        let sent = provider.enqueue_for_orchestrator(event, None).await;
        sent.expect("the message is taken");
        let (item, token, _) = fetch(provider).await.expect("the message is ready");
        let complaint = item.history_error.expect("a complaint");
        assert!(!complaint.contains(WORD), "{complaint}");
        let later = Some(Duration::from_secs(3600));
        let given_back = provider.abandon_orchestration_item(&token, later, false);
        given_back.await.expect("given back");
    }
    assert!(ours(&log).contains("stored history or messages cannot be read"));
    assert_clean(&log);
}
