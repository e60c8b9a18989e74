//! What the operators' procedures do, and how the tools' questions are asked.

use duroxide_sql::{Question, View};
use mssql_embedded::{SqlError, Trigger};

use super::*;

/// A DBA who has only SQL cancels and raises what a client would, and mistakes are refused.
#[tokio::test]
async fn cancel_and_raise_reach_running_instances_only() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    create(&provider, "order \"1\"").await;
    schema
        .sql("EXEC [$(schema)].cancel_instance @instance_id = N'order \"1\"', @reason = N'a/b \"c\" \\';")
        .await;
    schema
        .sql("EXEC [$(schema)].raise_event @instance_id = N'order \"1\"', @name = N'Approval', @data = N'{\"by\":\"Mia\"}';")
        .await;
    let (item, _, _) = fetch(&provider).await.expect("the messages are ready");
    assert_eq!(
        item.messages,
        [
            WorkItem::CancelInstance {
                instance: "order \"1\"".into(),
                reason: "a/b \"c\" \\".into()
            },
            WorkItem::ExternalRaised {
                instance: "order \"1\"".into(),
                name: "Approval".into(),
                data: "{\"by\":\"Mia\"}".into()
            },
        ]
    );
    let done = EventKind::OrchestrationCompleted { output: "1".into() };
    begin(&provider, "finished", ended("finished", "Completed", done)).await;
    for (instance, number) in [("finished", 51020), ("nowhere", 51007)] {
        for call in ["cancel_instance", "raise_event @name = N'x',"] {
            let statement = format!("EXEC [$(schema)].{call} @instance_id = N'{instance}';");
            assert_eq!(schema.error(&statement).await, number, "{statement}");
        }
    }
}

/// Messages of instances that never existed go when they are old enough; what was started stays.
#[tokio::test]
async fn orphan_messages_are_purged_by_age() {
    let (server, schema, provider) = on_own_server().await;
    let cancel = |instance: &str| WorkItem::CancelInstance {
        instance: instance.into(),
        reason: "x".into(),
    };
    for instance in ["old-1", "old-2"] {
        let message = provider.enqueue_for_orchestrator(cancel(instance), None);
        message.await.expect("enqueue");
    }
    let message = provider.enqueue_for_orchestrator(start("started"), None);
    message.await.expect("enqueue");
    server.controls().advance(Duration::from_secs(3600));
    let message = provider.enqueue_for_orchestrator(cancel("young"), None);
    message.await.expect("enqueue");

    let purge = "EXEC [$(schema)].purge_orphan_messages @older_than_ms = 60000;";
    let rows = schema.sql(purge).await;
    let counts = |row: &tiberius::Row| {
        (
            row.get::<i64, _>("instances_purged").expect("a count"),
            row.get::<i64, _>("messages_deleted").expect("a count"),
        )
    };
    assert_eq!(counts(&rows[0]), (2, 2));
    let left = "SELECT instance_id FROM [$(schema)].v_queue ORDER BY instance_id;";
    assert_eq!(lines(&schema, left).await, ["started", "young"]);
    let locks = "SELECT COUNT(*) FROM [$(schema)].instance_locks;";
    assert_eq!(schema.number(locks).await, 2);
}

/// Retention in days.
#[tokio::test]
async fn finished_instances_are_purged_by_days() {
    let (server, schema, provider) = on_own_server().await;
    let done = || EventKind::OrchestrationCompleted { output: "1".into() };
    begin(&provider, "old", ended("old", "Completed", done())).await;
    create(&provider, "running").await;
    server.controls().advance(Duration::from_secs(31 * 86_400));
    begin(&provider, "young", ended("young", "Completed", done())).await;
    let rows = schema
        .sql("EXEC [$(schema)].purge_instances @older_than_days = 30;")
        .await;
    assert_eq!(rows[0].get::<i64, _>("instances_deleted"), Some(1));
    let left = "SELECT instance_id FROM [$(schema)].v_instances ORDER BY instance_id;";
    assert_eq!(lines(&schema, left).await, ["running", "young"]);
    let wrong = "EXEC [$(schema)].purge_instances @older_than_days = -1;";
    assert_eq!(schema.error(wrong).await, 51021);
}

/// A view reads what turns write. Whoever looks at it must not see the errors of meetings that pass by themselves; others are told at once.
#[tokio::test]
async fn questions_that_gave_way_are_asked_again() {
    let (server, schema, provider) = on_own_server().await;
    create(&provider, "order").await;
    let builder = MssqlProvider::builder(server.connection_string()).schema(schema.name().as_str());
    let operator = builder.operator().await.expect("connects");
    let question = Question::of(View::Instances);
    let asked = || Trigger::statement().containing("v_instances");
    let victim = SqlError::with(1205, 13, 45, "Transaction was deadlocked. Rerun it.");
    let rule = server.controls().fail(asked().times(2), victim);
    assert_eq!(operator.rows(&question).await.unwrap().len(), 1);
    assert_eq!(rule.fired(), 2);
    let denied = SqlError::with(229, 14, 5, "The SELECT permission was denied.");
    let rule = server.controls().fail(asked().times(2), denied);
    let error = operator.rows(&question).await.unwrap_err();
    assert!(error.message.contains("229"), "{error}");
    assert_eq!(rule.fired(), 1);
    rule.disarm();
}

/// Why a backlog waits costs as much for each that waits as why a few do: who could take it is sought, not looked for
/// among all.
#[tokio::test]
async fn what_waits_is_explained_at_the_cost_of_what_waits() {
    let (server, schema, _provider) = on_own_server().await;
    let controls = server.controls();
    controls.watch_statements(true);
    for (reason, into, select) in [
        (
            "tag_without_worker",
            "worker_queue (instance_id, execution_id, activity_id, session_key, tag_key, not_before_ms, enqueued_at_ms, attempt_count, payload)",
            "N'i', 1, i, N'', N'[gpu]', 0, 0, 0, N'x'",
        ),
        (
            "version_without_runtime",
            "instance_locks (instance_id, lane, not_before_ms, pinned_version)",
            "CONCAT(N'i', i), 5, 0, 5",
        ),
    ] {
        let mut costs = Vec::new();
        for (from, to) in [(0, 200), (200, 800)] {
            let fill = format!(
                "WITH n AS (SELECT {from} + 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < {to})
                 INSERT INTO [$(schema)].{into} SELECT {select} FROM n OPTION (MAXRECURSION 0);"
            );
            schema.sql(&fill).await;
            controls.reset_counters();
            let waiting = format!(
                "SELECT COUNT(*) AS n FROM [$(schema)].v_waiting WHERE reason = N'{reason}';"
            );
            assert_eq!(schema.number(&waiting).await, to, "{reason}");
            let cost = controls.counters().statement(reason);
            costs.push(cost.stats.rows_read / u64::try_from(to).unwrap());
        }
        assert!(
            costs[1] <= costs[0] + 1,
            "{reason}: rows read for each: {costs:?}"
        );
    }
}

/// A tag has a worker as long as a lease on work of it has not ended, be it of a session or not.
#[tokio::test]
async fn tag_has_a_worker_while_somebody_has_a_lease_on_it() {
    let (_server, schema, provider) = on_own_server().await;
    for session_id in [None, Some("s".to_owned())] {
        let item = |id| WorkItem::ActivityExecute {
            instance: "i".into(),
            execution_id: 1,
            id,
            name: "Charge".into(),
            input: String::new(),
            session_id: session_id.clone(),
            tag: Some("gpu".into()),
        };
        for id in [1, 2] {
            let enqueued = provider.enqueue_for_worker(item(id)).await;
            enqueued.expect("enqueue");
        }
        let take = "DECLARE @until_ms BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) + 60000;
             UPDATE [$(schema)].worker_queue SET lock_token = NEWID(), not_before_ms = @until_ms WHERE activity_id = 1;";
        schema.sql(take).await;
        let reasons = "SELECT reason FROM [$(schema)].v_waiting ORDER BY reason;";
        assert_eq!(lines(&schema, reasons).await, ["not_taken", "running"]);
        let lose = "UPDATE [$(schema)].worker_queue SET not_before_ms = 1 WHERE activity_id = 1;";
        schema.sql(lose).await;
        let expected = ["lease_expired", "tag_without_worker"];
        assert_eq!(lines(&schema, reasons).await, expected);
        schema.sql("DELETE FROM [$(schema)].worker_queue;").await;
    }
}

/// A subscription that was cancelled neither waits nor takes the answer to a later one; a persistent one waits for events of its own.
#[tokio::test]
async fn open_subscriptions_are_told_from_cancelled_and_answered_ones() {
    let (_server, schema, provider) = on_own_server().await;
    create(&provider, "i").await;
    let events = [
        r#""type":"ExternalSubscribed","name":"A""#,
        r#""type":"ExternalSubscribed","name":"A""#,
        r#""type":"ExternalSubscribedCancelled","reason":"r","source_event_id":10"#,
        r#""type":"ExternalEvent","name":"A","data":"d""#,
        r#""type":"ExternalSubscribedPersistent","name":"A""#,
        r#""type":"ExternalSubscribedPersistent","name":"B""#,
        r#""type":"ExternalSubscribedPersistentCancelled","reason":"r","source_event_id":15"#,
        r#""type":"ExternalSubscribed","name":"C""#,
        r#""type":"ExternalEventPersistent","name":"C","data":"d""#,
    ];
    for (n, event) in events.iter().enumerate() {
        let insert = format!(
            "INSERT INTO [$(schema)].history (instance_id, execution_id, event_id, appended_by, payload_bytes, payload)
             VALUES (N'i', 1, {}, NEWID(), 1, N'{{\"timestamp_ms\":{},{event}}}');",
            10 + n,
            10 + n,
        );
        schema.sql(&insert).await;
    }
    let waiting = "SELECT CONCAT(name, N' ', since_utc) FROM [$(schema)].v_waiting WHERE waits_for = N'event' ORDER BY name;";
    assert_eq!(
        lines(&schema, waiting).await,
        ["A 1970-01-01 00:00:00.014", "C 1970-01-01 00:00:00.017"]
    );
}

/// Each event of a history is read once, however many subscriptions there are.
#[tokio::test]
async fn subscriptions_are_told_at_the_cost_of_the_history() {
    let (server, schema, provider) = on_own_server().await;
    create(&provider, "i").await;
    let controls = server.controls();
    controls.watch_statements(true);
    let mut costs = Vec::new();
    for (from, to) in [(10, 100), (100, 400)] {
        let fill = format!(
            "WITH n AS (SELECT {from} AS i UNION ALL SELECT i + 1 FROM n WHERE i < {to} - 1)
             INSERT INTO [$(schema)].history (instance_id, execution_id, event_id, appended_by, payload_bytes, payload)
             SELECT N'i', 1, i, NEWID(), 1, N'{{\"type\":\"ExternalSubscribed\",\"name\":\"A\",\"timestamp_ms\":1}}' FROM n OPTION (MAXRECURSION 0);"
        );
        schema.sql(&fill).await;
        controls.reset_counters();
        let waiting = "SELECT COUNT(*) AS n FROM [$(schema)].v_waiting WHERE waits_for = N'event';";
        assert_eq!(schema.number(waiting).await, to - 10);
        let cost = controls.counters().statement("N'event'");
        costs.push(cost.stats.rows_read / u64::try_from(to).unwrap());
    }
    assert!(
        costs[1] <= costs[0] + 1,
        "rows read for each event: {costs:?}"
    );
}
