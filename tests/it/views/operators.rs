//! What the operators' procedures do, and how the tools' questions are asked.

use duroxide_sql::{Question, View};
use mssql_embedded::{SqlError, Trigger};

use super::*;
use crate::support::wait::until;

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

/// A question that is told that the database has moved tells the others: no connection to the old server is used again.
#[tokio::test]
async fn question_that_meets_a_moved_database_gives_its_connections_up() {
    let (server, schema, _provider) = on_own_server().await;
    let operator = schema.builder().operator().await.expect("it connects");
    let all = Question::of(View::Instances);
    let read = || Trigger::statement().containing("v_instances");
    let pause = server.controls().pause(read().times(2));
    let both = async {
        until("both ask", || async { pause.sessions().len() == 2 }).await;
        pause.release();
    };
    let (first, second, ()) = tokio::join!(operator.rows(&all), operator.rows(&all), both);
    first.and(second).expect("two connections are open");
    let pool = || operator.provider().pool_status();
    assert_eq!((pool().open, pool().idle), (2, 2));
    let moved = SqlError::with(976, 14, 1, "Not accessible on this replica.");
    server.controls().fail(read(), moved);
    operator.rows(&all).await.expect("another connection");
    assert_eq!((pool().open, pool().idle), (1, 1), "a new one");
}
