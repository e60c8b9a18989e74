//! The moment between an execution that continued as new and its successor: messages that arrive wait for
//! the successor's start, and never become it.
//!
//! duroxide's runtime counts on the provider here: an abandoned batch keeps its attempt and its delay, and
//! is joined by what arrives meanwhile.

use std::sync::Arc;
use std::time::Duration;

use duroxide::providers::{ExecutionMetadata, Provider, WorkItem};
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::runtime::{Runtime, RuntimeOptions, UnregisteredBackoffConfig};
use duroxide::{Client, ErrorDetails, EventKind, OrchestrationContext, OrchestrationStatus};

use crate::support::database::TestSchema;
use crate::support::items::{event, fetch, metadata, start, started};
use crate::support::runtime::PATIENCE;

const INSTANCE: &str = "order";

fn waiting() -> WorkItem {
    WorkItem::QueueMessage {
        instance: INSTANCE.to_owned(),
        name: "parcels".to_owned(),
        data: "late".to_owned(),
    }
}

fn successor() -> WorkItem {
    WorkItem::ContinueAsNew {
        instance: INSTANCE.to_owned(),
        orchestration: "Orchestration".to_owned(),
        input: "next".to_owned(),
        version: Some("1.0.0".to_owned()),
        parent_instance: None,
        parent_id: None,
        parent_execution_id: None,
        carry_forward_events: vec![],
        initial_custom_status: None,
    }
}

/// An instance whose first execution has continued as new, a message that waits, and no successor yet.
async fn continued(store: &dyn Provider) {
    store
        .enqueue_for_orchestrator(start(INSTANCE), None)
        .await
        .unwrap();
    let (_, token, _) = fetch(store).await.expect("the start message is ready");
    let input = "next".to_owned();
    let end = event(
        INSTANCE,
        2,
        EventKind::OrchestrationContinuedAsNew { input },
    );
    let history = vec![started(INSTANCE, "{}"), end];
    let metadata = ExecutionMetadata {
        status: Some("ContinuedAsNew".to_owned()),
        ..metadata()
    };
    store
        .ack_orchestration_item(
            &token,
            1,
            history,
            vec![],
            vec![waiting()],
            metadata,
            vec![],
        )
        .await
        .unwrap();
}

async fn run(store: &Arc<dyn Provider>, max_attempts: u32) -> (Arc<Runtime>, OrchestrationStatus) {
    let orchestrations = OrchestrationRegistry::builder()
        .register(
            "Orchestration",
            |ctx: OrchestrationContext, input: String| async move {
                let parcel = ctx.dequeue_event("parcels").await;
                Ok(format!("{} {input} {parcel}", ctx.execution_id()))
            },
        )
        .build();
    let options = RuntimeOptions {
        max_attempts,
        unregistered_backoff: UnregisteredBackoffConfig {
            base_delay: Duration::from_millis(50),
            max_delay: Duration::from_millis(100),
        },
        ..RuntimeOptions::default()
    };
    let activities = ActivityRegistry::builder().build();
    let runtime =
        Runtime::start_with_options(store.clone(), activities, orchestrations, options).await;
    let client = Client::new(store.clone());
    let ended = client.wait_for_orchestration(INSTANCE, PATIENCE).await;
    (runtime, ended.expect("the instance ends"))
}

/// The start of the successor is late: the message waits for it, and nothing is written meanwhile.
#[tokio::test]
async fn message_waits_for_the_start_of_the_successor() {
    let schema = TestSchema::new();
    let store: Arc<dyn Provider> = Arc::new(schema.provider().await);
    continued(&*store).await;
    let late = Duration::from_millis(700);
    let enqueued = store
        .enqueue_for_orchestrator(successor(), Some(late))
        .await;
    enqueued.unwrap();
    let (runtime, ended) = run(&store, 100).await;
    assert!(
        matches!(&ended, OrchestrationStatus::Completed { output, .. } if output == "2 next late"),
        "{ended:?}"
    );
    assert_eq!(
        store.read_with_execution(INSTANCE, 1).await.unwrap().len(),
        2
    );
    runtime.shutdown(None).await;
}

/// The start of the successor was lost: a client's start does not take its place, and the attempts that
/// the message has had are counted until the instance ends as poisoned, in an execution of its own.
#[tokio::test]
async fn message_whose_successor_never_starts_is_poisoned() {
    let schema = TestSchema::new();
    let store: Arc<dyn Provider> = Arc::new(schema.provider().await);
    continued(&*store).await;
    let enqueued = store.enqueue_for_orchestrator(start(INSTANCE), None).await;
    enqueued.unwrap();
    let (runtime, ended) = run(&store, 3).await;
    assert!(
        matches!(
            &ended,
            OrchestrationStatus::Failed {
                details: ErrorDetails::Poison { .. },
                ..
            }
        ),
        "{ended:?}"
    );
    let first = store.read_with_execution(INSTANCE, 1).await.unwrap();
    assert_eq!(first.len(), 2, "{first:?}");
    let second = store.read_with_execution(INSTANCE, 2).await.unwrap();
    assert!(
        matches!(
            second.iter().map(|event| &event.kind).collect::<Vec<_>>()[..],
            [
                EventKind::OrchestrationStarted { .. },
                EventKind::OrchestrationFailed { .. }
            ]
        ),
        "{second:?}"
    );
    // What comes later is taken and dropped: nothing waits, and nothing is written.
    let enqueued = store.enqueue_for_orchestrator(waiting(), None).await;
    enqueued.unwrap();
    let drained = "SELECT COUNT(*) FROM [$(schema)].orchestrator_queue;";
    crate::support::wait::until("the message is taken", || async {
        schema.number(drained).await == 0
    })
    .await;
    assert_eq!(store.read(INSTANCE).await.unwrap(), second);
    runtime.shutdown(None).await;
}
