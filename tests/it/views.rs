//! What the views tell about instances in every state.

mod operators;

use std::time::Duration;

use duroxide::providers::{
    DispatcherCapabilityFilter, ExecutionMetadata, Provider, SemverRange, TagFilter, WorkItem,
    current_build_version,
};
use duroxide::{ErrorDetails, Event, EventKind, PoisonMessageType};
use duroxide_sql::MssqlProvider;
use mssql_embedded::Server;

use crate::support::database::{TestSchema, own_server};
use crate::support::items::{LEASE, create, event, fetch, fetch_work, metadata, start, started};

/// What one turn leaves behind.
#[derive(Default)]
struct Turn {
    events: Vec<Event>,
    activities: Vec<WorkItem>,
    messages: Vec<WorkItem>,
    metadata: ExecutionMetadata,
}

/// Starts an instance and commits its first turn with what it leaves behind.
async fn begin(provider: &MssqlProvider, instance: &str, turn: Turn) {
    let message = provider.enqueue_for_orchestrator(start(instance), None);
    message.await.expect("enqueue");
    let (item, token, _) = fetch(provider).await.expect("the start message is ready");
    assert_eq!(item.instance, instance);
    let mut history = vec![started(instance, "{}")];
    history.extend(turn.events);
    let metadata = ExecutionMetadata {
        orchestration_name: metadata().orchestration_name,
        orchestration_version: metadata().orchestration_version,
        ..turn.metadata
    };
    let ack = provider.ack_orchestration_item(
        &token,
        1,
        history,
        turn.activities,
        turn.messages,
        metadata,
        vec![],
    );
    ack.await.expect("ack_orchestration_item");
}

fn ended(instance: &str, status: &str, kind: EventKind) -> Turn {
    Turn {
        events: vec![event(instance, 2, kind)],
        metadata: ExecutionMetadata {
            status: Some(status.into()),
            output: Some("the outcome".into()),
            ..ExecutionMetadata::default()
        },
        ..Turn::default()
    }
}

fn activity(instance: &str, id: u64, tag: Option<&str>) -> Turn {
    let scheduled = EventKind::ActivityScheduled {
        name: "Charge".into(),
        input: "secret".into(),
        session_id: None,
        tag: tag.map(Into::into),
    };
    let item = WorkItem::ActivityExecute {
        instance: instance.into(),
        execution_id: 1,
        id,
        name: "Charge".into(),
        input: "secret".into(),
        session_id: None,
        tag: tag.map(Into::into),
    };
    Turn {
        events: vec![event(instance, id, scheduled)],
        activities: vec![item],
        ..Turn::default()
    }
}

fn raised(instance: &str) -> WorkItem {
    WorkItem::ExternalRaised {
        instance: instance.into(),
        name: "Approval".into(),
        data: "{}".into(),
    }
}

/// The rows of a query whose only column is a text.
async fn lines(schema: &TestSchema, query: &str) -> Vec<String> {
    let rows = schema.sql(query).await;
    rows.iter()
        .map(|row| row.get::<&str, _>(0).expect("a text").to_owned())
        .collect()
}

const STATES: &str = "SELECT CONCAT(instance_id, N' ', status, N' ', state, N' ', \
    COALESCE(failure_kind, N'-'), N' ', current_execution_id) FROM [$(schema)].v_instances \
    ORDER BY instance_id;";

const REASONS: &str = "SELECT CONCAT(instance_id, N' ', waits_for, N' ', COALESCE(name, N'-'), N' ', \
    reason) COLLATE DATABASE_DEFAULT FROM [$(schema)].v_waiting ORDER BY instance_id, waits_for, name;";

async fn on_own_server() -> (Server, TestSchema, MssqlProvider) {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let provider = schema.provider().await;
    (server, schema, provider)
}

/// Every state that an instance can be in has its own word.
#[tokio::test]
async fn instances_in_every_state_are_told_apart() {
    let (server, schema, provider) = on_own_server().await;
    let poison = EventKind::OrchestrationFailed {
        details: ErrorDetails::Poison {
            attempt_count: 11,
            max_attempts: 10,
            message_type: PoisonMessageType::Orchestration {
                instance: "poisoned".into(),
                execution_id: 1,
            },
            message: "{}".into(),
        },
    };
    begin(&provider, "poisoned", ended("poisoned", "Failed", poison)).await;
    let done = EventKind::OrchestrationCompleted { output: "1".into() };
    begin(&provider, "finished", ended("finished", "Completed", done)).await;
    begin(&provider, "waiting", activity("waiting", 2, None)).await;
    create(&provider, "stuck").await;
    create(&provider, "running").await;
    continue_as_new(&provider, "continued").await;

    create(&provider, "ready").await;
    for (instance, lease) in [("stuck", LEASE), ("running", LEASE * 10)] {
        let message = provider.enqueue_for_orchestrator(raised(instance), None);
        message.await.expect("enqueue");
        let fetched = provider.fetch_orchestration_item(lease, Duration::ZERO, None);
        let (item, _, _) = fetched.await.expect("fetch").expect("the event is ready");
        assert_eq!(item.instance, instance);
    }
    server.controls().advance(LEASE + Duration::from_secs(1));
    let message = provider.enqueue_for_orchestrator(raised("ready"), None);
    message.await.expect("enqueue");

    assert_eq!(
        lines(&schema, STATES).await,
        [
            "continued Running Waiting - 2",
            "finished Completed Completed - 1",
            "poisoned Failed Failed Poison 1",
            "ready Running Ready - 1",
            "running Running Executing - 1",
            "stuck Running LeaseExpired - 1",
            "waiting Running Waiting - 1",
        ]
    );
    let executions = "SELECT CONCAT(execution_id, N' ', status, N' ', is_current, N' ', event_count) \
                      FROM [$(schema)].v_executions WHERE instance_id = N'continued' ORDER BY execution_id;";
    assert_eq!(
        lines(&schema, executions).await,
        ["1 ContinuedAsNew 0 2", "2 Running 1 1"]
    );
}

async fn continue_as_new(provider: &MssqlProvider, instance: &str) {
    let again = EventKind::OrchestrationContinuedAsNew { input: "{}".into() };
    let mut turn = ended(instance, "ContinuedAsNew", again);
    turn.messages = vec![WorkItem::ContinueAsNew {
        instance: instance.into(),
        orchestration: "Orchestration".into(),
        input: "{}".into(),
        version: Some("1.0.0".into()),
        parent_instance: None,
        parent_id: None,
        parent_execution_id: None,
        carry_forward_events: vec![],
        initial_custom_status: None,
    }];
    begin(provider, instance, turn).await;
    let (_, token, _) = fetch(provider).await.expect("the next execution is ready");
    let mut first = started(instance, "{}");
    first.execution_id = 2;
    let ack =
        provider.ack_orchestration_item(&token, 2, vec![first], vec![], vec![], metadata(), vec![]);
    ack.await.expect("ack_orchestration_item");
}

/// What an instance waits for, and why it has not come, in each way that there is.
#[tokio::test]
async fn every_reason_for_waiting_is_named() {
    let (server, schema, provider) = on_own_server().await;
    begin(&provider, "a-untaken", activity("a-untaken", 2, None)).await;
    begin(&provider, "b-tagged", activity("b-tagged", 2, Some("gpu"))).await;
    begin(&provider, "c-held", activity("c-held", 2, Some("cpu"))).await;
    let cpu = TagFilter::Tags(["cpu".to_owned()].into());
    let held = provider.fetch_work_item(LEASE, Duration::ZERO, None, &cpu);
    held.await.expect("fetch").expect("the activity is ready");

    let mut unsupported = current_build_version();
    unsupported.major += 9;
    let pinned = Turn {
        metadata: ExecutionMetadata {
            pinned_duroxide_version: Some(unsupported.clone()),
            ..ExecutionMetadata::default()
        },
        ..Turn::default()
    };
    begin(&provider, "d-pinned", pinned).await;
    let pinned = format!(
        "{}.{}.{}",
        unsupported.major, unsupported.minor, unsupported.patch
    );

    let subscribed = |id, name: &str| {
        event(
            "e-event",
            id,
            EventKind::ExternalSubscribed { name: name.into() },
        )
    };
    let answered = EventKind::ExternalEvent {
        name: "Approval".into(),
        data: "{}".into(),
    };
    let waits = Turn {
        events: vec![
            // Another name, whatever the database's collation says.
            subscribed(2, "approval"),
            subscribed(3, "Payment"),
            subscribed(4, "Approval"),
            event("e-event", 5, answered),
        ],
        ..Turn::default()
    };
    begin(&provider, "e-event", waits).await;

    let fire_at_ms = u64::try_from(server.controls().now_ms()).expect("after 1970") + 3_600_000;
    let timer = Turn {
        events: vec![event("f-timer", 2, EventKind::TimerCreated { fire_at_ms })],
        messages: vec![WorkItem::TimerFired {
            instance: "f-timer".into(),
            execution_id: 1,
            id: 2,
            fire_at_ms,
        }],
        ..Turn::default()
    };
    begin(&provider, "f-timer", timer).await;

    create(&provider, "g-parent").await;
    let child = Turn {
        metadata: ExecutionMetadata {
            parent_instance_id: Some("g-parent".into()),
            ..ExecutionMetadata::default()
        },
        ..Turn::default()
    };
    begin(&provider, "g-parent::child", child).await;

    let message = provider.enqueue_for_orchestrator(raised("d-pinned"), None);
    message.await.expect("enqueue");
    let orphan = WorkItem::CancelInstance {
        instance: "h-orphan".into(),
        reason: "x".into(),
    };
    provider
        .enqueue_for_orchestrator(orphan, None)
        .await
        .expect("enqueue");
    let ours = SemverRange::new(current_build_version(), current_build_version());
    let version = Some(&DispatcherCapabilityFilter {
        supported_duroxide_versions: vec![ours],
    });
    let nothing = provider
        .fetch_orchestration_item(LEASE, Duration::ZERO, version)
        .await;
    assert!(nothing.expect("fetch").is_none(), "the orphan is parked");

    assert_eq!(
        lines(&schema, REASONS).await,
        [
            "a-untaken activity Charge not_taken",
            "b-tagged activity Charge tag_without_worker",
            "c-held activity Charge running",
            "d-pinned turn Orchestration version_without_runtime",
            "e-event event approval not_raised",
            "e-event event Payment not_raised",
            "f-timer timer - delayed",
            "g-parent child g-parent::child child_running",
            "h-orphan start CancelInstance never_started",
        ]
    );
    for view in ["v_instances", "v_executions", "v_waiting"] {
        let version = format!(
            "SELECT duroxide_version FROM [$(schema)].{view} WHERE instance_id = N'd-pinned';"
        );
        assert_eq!(lines(&schema, &version).await, [pinned.as_str()], "{view}");
    }
    server.controls().advance(LEASE + Duration::from_secs(1));
    let later = lines(&schema, REASONS).await;
    assert!(
        later.contains(&"c-held activity Charge lease_expired".to_owned()),
        "{later:?}"
    );

    let queue = "SELECT CONCAT(instance_id, N' ', queue, N' ', kind, N' ', COALESCE(tag, N'-'), N' ', state, N' ', \
                 is_orphan) FROM [$(schema)].v_queue ORDER BY instance_id;";
    assert_eq!(
        lines(&schema, queue).await,
        [
            "a-untaken activities ActivityExecute - Ready 0",
            "b-tagged activities ActivityExecute gpu Ready 0",
            "c-held activities ActivityExecute cpu LeaseExpired 0",
            "d-pinned orchestrations ExternalRaised - Ready 0",
            "f-timer orchestrations TimerFired - Delayed 0",
            "h-orphan orchestrations CancelInstance - Ready 1",
        ]
    );
    let depth = "SELECT CONCAT(queue, N' ', tag, N' ', ready_items, N' ', held_items) \
                 FROM [$(schema)].v_queue_depth ORDER BY queue, tag;";
    assert_eq!(
        lines(&schema, depth).await,
        [
            "activities  1 0",
            "activities cpu 1 0",
            "activities gpu 1 0",
            "orchestrations  1 0"
        ]
    );
}

/// A lease says which process took it and when, and history says what happened without payloads.
#[tokio::test]
async fn holders_and_events_are_named_without_payloads() {
    let (_server, schema, provider) = on_own_server().await;
    begin(&provider, "order", activity("order", 2, None)).await;
    let (_, token, _) = fetch_work(&provider).await.expect("the activity is ready");
    let message = provider.enqueue_for_orchestrator(raised("order"), None);
    message.await.expect("enqueue");
    fetch(&provider).await.expect("the event is ready");

    let worker = token
        .split(':')
        .next()
        .expect("a UUID")
        .split('-')
        .next_back();
    let workers = "SELECT CONCAT(worker_id, N' ', turns_held, N' ', activities_held, N' ', sessions_held, N' ', \
                   leases_expired) FROM [$(schema)].v_workers;";
    let expected = format!("{} 1 1 0 0", worker.expect("a last part"));
    assert_eq!(lines(&schema, workers).await, [expected]);

    // The claims were made now, by the clock of this process, which is the server's as well.
    let age = "SELECT ABS(DATEDIFF(SECOND, oldest_claim_at_utc, SYSUTCDATETIME())) FROM [$(schema)].v_workers;";
    assert!(schema.number(age).await < 600);

    let history = "SELECT CONCAT(event_id, N' ', event_kind, N' ', name, N' ', payload_bytes / 1000) \
                   FROM [$(schema)].v_history ORDER BY event_id;";
    assert_eq!(
        lines(&schema, history).await,
        [
            "1 OrchestrationStarted Orchestration 0",
            "2 ActivityScheduled Charge 0"
        ]
    );
    // Both events were recorded by one turn, and what the activity's event asked for is in the queue.
    let turns =
        "SELECT COUNT(DISTINCT turn_id) * 1000 + LEN(MIN(turn_id)) FROM [$(schema)].v_history;";
    assert_eq!(schema.number(turns).await, 1036);
    let turn_worker = "SELECT MAX(RIGHT(turn_id, 12)) FROM [$(schema)].v_history;";
    assert_eq!(
        lines(&schema, turn_worker).await,
        [worker.expect("a last part")]
    );
    let asked_by =
        "SELECT scheduled_by_event_id FROM [$(schema)].v_waiting WHERE waits_for = N'activity';";
    assert_eq!(schema.number(asked_by).await, 2);
    let secret = "SELECT payload FROM [$(schema)].v_history_payloads WHERE event_id = 2;";
    assert!(lines(&schema, secret).await[0].contains("secret"));
}

/// A lease or a delay that ends beyond the last date there is has no date, and hides nothing else.
#[tokio::test]
async fn times_beyond_the_calendar_are_shown_as_none() {
    let (_server, schema, provider) = on_own_server().await;
    let message = provider.enqueue_for_orchestrator(start("i"), None);
    message.await.expect("enqueue");
    let activities = ["held", "delayed"].map(|_| {
        let item = WorkItem::ActivityExecute {
            instance: "i".into(),
            execution_id: 1,
            id: 1,
            name: "Charge".into(),
            input: String::new(),
            session_id: None,
            tag: None,
        };
        provider.enqueue_for_worker(item)
    });
    for activity in activities {
        activity.await.expect("enqueue");
    }
    schema
        .sql(
            "UPDATE [$(schema)].worker_queue SET not_before_ms = 9000000000000000000;
             UPDATE TOP (1) [$(schema)].worker_queue SET lock_token = NEWID();
             UPDATE [$(schema)].instance_locks SET lock_token = 0x01, not_before_ms = 9000000000000000000;
             UPDATE [$(schema)].orchestrator_queue SET lock_token = 0x01;",
        )
        .await;
    for view in ["v_queue", "v_waiting", "v_workers", "v_queue_depth"] {
        let shown = format!("SELECT COUNT(*) AS n FROM (SELECT * FROM [$(schema)].{view}) AS v;");
        assert!(schema.number(&shown).await > 0, "{view}");
    }
    let queue = "SELECT CONCAT(queue, N' ', state, N' ', COALESCE(CONVERT(NVARCHAR(30), lease_until_utc), N'-')) \
                 FROM [$(schema)].v_queue ORDER BY queue, state;";
    assert_eq!(
        lines(&schema, queue).await,
        [
            "activities Delayed -",
            "activities Held -",
            "orchestrations Held -"
        ]
    );
}
