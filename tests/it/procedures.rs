//! The procedures, spoken to directly: how they refuse, and what they leave behind when they do.

use tiberius::Client;
use tokio::net::TcpStream;
use tokio_util::compat::Compat;

use crate::support::database::{TestSchema, connect};

type Connection = Client<Compat<TcpStream>>;

const TOKEN: &str = "N'00000000-0000-0000-0000-000000000000:order'";

/// Calls of every procedure that writes, in a form that would otherwise be accepted.
fn writing_calls() -> Vec<String> {
    let fetch = "@lock_token = N'00000000-0000-0000-0000-000000000000', @lock_timeout_ms = 1000";
    let item =
        r#"[{"ord":0,"instance_id":"order","execution_id":1,"activity_id":2,"payload":"{}"}]"#;
    let event = r#"[{"event_id":1,"payload":"{}","payload_bytes":2}]"#;
    vec![
        format!("fetch_orchestration_item {fetch}"),
        format!("ack_orchestration_item @lock_token = {TOKEN}, @execution_id = 1"),
        format!("abandon_orchestration_item @lock_token = {TOKEN}"),
        format!("renew_orchestration_item_lock @lock_token = {TOKEN}, @extend_ms = 1000"),
        "enqueue_for_orchestrator @instance_id = N'order', @kind = N'CancelInstance', \
         @payload = N'{}'"
            .into(),
        format!(
            "append_with_execution @instance_id = N'order', @execution_id = 1, @history = N'{event}'"
        ),
        format!("enqueue_for_worker @worker_items = N'{item}'"),
        format!("fetch_work_item {fetch}, @include_untagged = 1"),
        format!("ack_work_item @lock_token = {TOKEN}"),
        format!("renew_work_item_lock @lock_token = {TOKEN}, @extend_ms = 1000"),
        format!("abandon_work_item @lock_token = {TOKEN}"),
        "renew_session_lock @owner_ids = N'[\"w\"]', @extend_ms = 1, @idle_timeout_ms = 1".into(),
        "cleanup_orphaned_sessions".into(),
        "delete_instance @instance_id = N'order', @force = 1".into(),
        "delete_instances_atomic @instance_ids = N'[\"order\"]', @force = 1".into(),
        "delete_instance_bulk".into(),
        "prune_executions @instance_id = N'order'".into(),
        "prune_executions_bulk".into(),
    ]
}

/// The number of the error that a batch ends with; zero when it succeeds.
async fn error_number(client: &mut Connection, batch: &str) -> u32 {
    let result = match client.simple_query(batch).await {
        Ok(stream) => stream.into_results().await.map(drop),
        Err(error) => Err(error),
    };
    result
        .err()
        .map_or(0, |error| error.code().expect("an error of the server"))
}

async fn open_transactions(client: &mut Connection) -> i32 {
    let stream = client
        .simple_query("SELECT @@TRANCOUNT AS open_count;")
        .await
        .unwrap();
    stream
        .into_row()
        .await
        .unwrap()
        .unwrap()
        .get("open_count")
        .unwrap()
}

/// A transaction that somebody left open must not swallow the commit of a procedure.
#[tokio::test]
async fn procedures_that_write_refuse_the_callers_transaction() {
    let schema = TestSchema::new();
    schema.provider().await;
    let mut client = connect(schema.url()).await;
    for call in writing_calls() {
        let batch = format!("BEGIN TRANSACTION; EXEC {}.{call};", schema.name().quoted());
        assert_eq!(error_number(&mut client, &batch).await, 51000, "{call}");
        let end = "IF @@TRANCOUNT > 0 BEGIN ROLLBACK TRANSACTION; END;";
        assert_eq!(error_number(&mut client, end).await, 0, "{call}");
    }
}

/// Whatever a procedure refuses, it leaves no transaction behind on the connection.
#[tokio::test]
async fn refused_calls_leave_no_transaction_open() {
    let schema = TestSchema::new();
    schema.provider().await;
    let mut client = connect(schema.url()).await;
    let long = "x".repeat(500);
    let refused = [
        (
            format!("ack_orchestration_item @lock_token = {TOKEN}, @execution_id = 1"),
            51003,
        ),
        (
            format!("abandon_orchestration_item @lock_token = {TOKEN}"),
            51003,
        ),
        (
            format!("renew_orchestration_item_lock @lock_token = {TOKEN}, @extend_ms = 1"),
            51003,
        ),
        (format!("ack_work_item @lock_token = {TOKEN}"), 51004),
        ("ack_work_item @lock_token = N'nonsense'".into(), 51004),
        (
            format!("renew_work_item_lock @lock_token = {TOKEN}, @extend_ms = 1"),
            51004,
        ),
        (format!("abandon_work_item @lock_token = {TOKEN}"), 51004),
        (
            format!(
                "enqueue_for_orchestrator @instance_id = N'{long}', @kind = N'x', @payload = N''"
            ),
            51001,
        ),
        (
            "enqueue_for_orchestrator @instance_id = N'x ', @kind = N'x', @payload = N''".into(),
            51002,
        ),
        ("get_instance_info @instance_id = N'nobody'".into(), 51007),
        (
            "get_execution_info @instance_id = N'nobody', @execution_id = 1".into(),
            51008,
        ),
        ("delete_instance @instance_id = N'nobody'".into(), 51007),
        (
            "fetch_work_item @lock_token = N'short', @lock_timeout_ms = 1, @any_tag = 1".into(),
            51013,
        ),
        (
            "append_with_execution @instance_id = N'a', @execution_id = 1, \
          @history = N'[{\"event_id\":0,\"payload\":\"\",\"payload_bytes\":0}]'"
                .into(),
            51005,
        ),
    ];
    for (call, number) in refused {
        let batch = format!("EXEC {}.{call};", schema.name().quoted());
        for _ in 0..3 {
            assert_eq!(error_number(&mut client, &batch).await, number, "{call}");
            assert_eq!(open_transactions(&mut client).await, 0, "{call}");
        }
    }
}

/// A duplicate event undoes the whole call.
#[tokio::test]
async fn duplicate_event_undoes_the_append() {
    let schema = TestSchema::new();
    schema.provider().await;
    let mut client = connect(schema.url()).await;
    let append = |ids: &[u32]| {
        let events: Vec<_> = ids
            .iter()
            .map(|id| format!("{{\"event_id\":{id},\"payload\":\"e\",\"payload_bytes\":1}}"))
            .collect();
        format!(
            "EXEC {}.append_with_execution @instance_id = N'order', @execution_id = 1, \
             @history = N'[{}]';",
            schema.name().quoted(),
            events.join(",")
        )
    };
    assert_eq!(error_number(&mut client, &append(&[1, 2])).await, 0);
    assert_eq!(error_number(&mut client, &append(&[3, 2])).await, 51006);
    assert_eq!(error_number(&mut client, &append(&[4, 4])).await, 51006);
    assert_eq!(open_transactions(&mut client).await, 0);
    assert_eq!(
        schema
            .number("SELECT COUNT(*) FROM [$(schema)].history;")
            .await,
        2
    );
}
