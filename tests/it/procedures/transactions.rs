//! Procedures own their transactions: they begin none that they leave open, and join nobody's.

use super::{Session, public_procedures};
use crate::support::database::TestSchema;
use crate::support::items::{create, start};
use duroxide::providers::Provider;

/// A commit inside somebody's transaction would be none.
#[tokio::test]
async fn writing_procedure_refuses_to_run_inside_a_transaction() {
    let schema = TestSchema::new();
    schema.provider().await;
    let mut session = Session::open(&schema).await;
    let mut checked = 0;
    for procedure in public_procedures() {
        if !procedure.text.contains("THROW 51000") {
            continue;
        }
        let batch = format!("BEGIN TRANSACTION; {}", procedure.call("", ""));
        assert_eq!(
            session.run(&batch).await.err(),
            Some(51000),
            "{}",
            procedure.name
        );
        assert_eq!(
            session.number("SELECT @@TRANCOUNT AS n;").await,
            0,
            "{}",
            procedure.name
        );
        checked += 1;
    }
    assert!(checked >= 16, "only {checked} procedures write");
}

/// A refusal a hundred times over leaves no transaction open and no lock behind.
#[tokio::test]
async fn refusals_leave_nothing_open() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    create(&provider, "order").await;
    let mut session = Session::open(&schema).await;
    let token = "@lock_token = N'00000000-0000-0000-0000-000000000000:order'";
    let failing = [
        (format!("ack_orchestration_item {token}, @execution_id = 1"), 51003),
        (format!("abandon_orchestration_item {token}"), 51003),
        (format!("renew_orchestration_item_lock {token}, @extend_ms = 1"), 51003),
        (format!("ack_work_item {token}, @instance_id = N'order', @kind = N'k', @payload = N'p'"), 51004),
        (format!("renew_work_item_lock {token}, @extend_ms = 1"), 51004),
        (format!("abandon_work_item {token}"), 51004),
        (r#"append_with_execution @instance_id = N'order', @execution_id = 1, @history = N'[{"event_id":1,"payload":"x","payload_bytes":1}]'"#.into(), 51006),
        (r#"append_with_execution @instance_id = N'order', @execution_id = 1, @history = N'[{"event_id":0,"payload":"x","payload_bytes":1}]'"#.into(), 51005),
        ("delete_instance @instance_id = N'order'".into(), 51009),
        ("delete_instance @instance_id = N'nobody'".into(), 51007),
        ("get_execution_info @instance_id = N'order', @execution_id = 7".into(), 51008),
        ("fetch_work_item @lock_token = N'short', @lock_timeout_ms = 1".into(), 51013),
        ("fetch_work_item @lock_token = NULL, @lock_timeout_ms = 1".into(), 51013),
        ("fetch_work_item @lock_token = N'thirty-six characters but not a uuid', @lock_timeout_ms = 1".into(), 51013),
        ("fetch_orchestration_item @lock_token = N'thirty-six characters but not a uuid', @lock_timeout_ms = 1".into(), 51013),
        ("fetch_orchestration_item @lock_token = N'00000000-0000-0000-0000-000000000000 and more', @lock_timeout_ms = 1".into(), 51013),
    ];
    for (call, number) in &failing {
        for _ in 0..100 {
            let result = session.run(&format!("EXEC [$(schema)].{call};")).await;
            assert_eq!(result.err(), Some(*number), "{call}");
        }
        assert_eq!(
            session.number("SELECT @@TRANCOUNT AS n;").await,
            0,
            "{call}"
        );
    }
    // Nothing is held: another connection writes to the same instance without waiting.
    let mut other = Session::open(&schema).await;
    let touch = "SET LOCK_TIMEOUT 0; UPDATE [$(schema)].instance_locks SET lock_token = NULL WHERE instance_id = N'order';";
    other.run(touch).await.expect("no lock is held");
    // Nothing was written either, in particular no completion of the lost work item.
    let waiting = "SELECT COUNT(*) AS n FROM [$(schema)].orchestrator_queue;";
    assert_eq!(session.number(waiting).await, 0);
}

/// A duplicate event undoes the whole ack, and the lease is still good for another try.
#[tokio::test]
async fn duplicate_event_undoes_the_ack_and_keeps_the_lease() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    create(&provider, "order").await;
    provider
        .enqueue_for_orchestrator(start("order"), None)
        .await
        .unwrap();
    let (_, token, _) = crate::support::items::fetch(&provider).await.unwrap();
    let mut session = Session::open(&schema).await;
    let ack = |event_id: u32| {
        format!(
            r#"EXEC [$(schema)].ack_orchestration_item @lock_token = N'{token}', @execution_id = 1, @status = N'Completed', @output = N'done',
               @history = N'[{{"event_id":{event_id},"payload":"x","payload_bytes":1}}]',
               @worker_items = N'[{{"ord":0,"instance_id":"order","execution_id":1,"activity_id":9,"payload":"p"}}]',
               @orchestrator_items = N'[{{"ord":0,"instance_id":"other","kind":"StartOrchestration","payload":"p"}}]';"#
        )
    };
    assert_eq!(session.run(&ack(1)).await.err(), Some(51006));
    let untouched = "SELECT (SELECT COUNT(*) FROM [$(schema)].worker_queue) + (SELECT COUNT(*) FROM [$(schema)].instance_locks WHERE instance_id = N'other')
        + (SELECT COUNT(*) FROM [$(schema)].executions WHERE status <> N'Running') AS n;";
    assert_eq!(session.number(untouched).await, 0);
    session.run(&ack(2)).await.expect("the lease is still held");
    assert_eq!(
        session.run(&ack(3)).await.err(),
        Some(51003),
        "and gone after the ack"
    );
}

/// A duplicate event undoes the whole append, whether it was there before or comes twice.
#[tokio::test]
async fn duplicate_event_undoes_the_append() {
    let schema = TestSchema::new();
    schema.provider().await;
    let mut session = Session::open(&schema).await;
    let append = |ids: &[u32]| {
        let events: Vec<_> = ids
            .iter()
            .map(|id| format!(r#"{{"event_id":{id},"payload":"e","payload_bytes":1}}"#))
            .collect();
        format!(
            "EXEC [$(schema)].append_with_execution @instance_id = N'order', @execution_id = 1, @history = N'[{}]';",
            events.join(",")
        )
    };
    session.run(&append(&[1, 2])).await.expect("new events");
    assert_eq!(session.run(&append(&[3, 2])).await.err(), Some(51006));
    assert_eq!(session.run(&append(&[4, 4])).await.err(), Some(51006));
    assert_eq!(session.number("SELECT @@TRANCOUNT AS n;").await, 0);
    let stored = "SELECT COUNT(*) AS n FROM [$(schema)].history;";
    assert_eq!(session.number(stored).await, 2);
}
