//! Without snapshot reads, rows with large values stay locked until the statement that reads them ends. No call
//! waits for a row while it has others in that way, and none sends what a turn may write while it has it.

use std::sync::Arc;
use std::time::Duration;

use duroxide::providers::Provider;
use duroxide_sql::MssqlProvider;
use mssql_embedded::{Server, Trigger};

use super::Session;
use super::purging::NUMBERS;
use crate::support::database::{SnapshotReads, TestSchema, connect, own_server_with};
use crate::support::items::{LEASE, create, start};
use crate::support::proxy::Proxy;
use crate::support::wait::until;

struct Setup {
    schema: TestSchema,
    provider: Arc<MssqlProvider>,
    writer: Session,
    turn: Session,
    // Stops when everything that uses it is gone.
    server: Server,
}

/// Another turn could have come as far as this: it has a row, and wants others.
const TURN: &str = "SET LOCK_TIMEOUT 0; BEGIN TRANSACTION;";

impl Setup {
    /// An instance with keys in that order, in both tables.
    async fn new() -> Self {
        let server = own_server_with(SnapshotReads::Off);
        let schema = TestSchema::at(server.connection_string());
        let provider = schema.provider().await;
        create(&provider, "order").await;
        let (mut writer, turn) = (Session::open(&schema).await, Session::open(&schema).await);
        for table in ["kv_delta", "kv_store"] {
            let insert = format!(
                "INSERT INTO [$(schema)].{table} (instance_id, kv_key, value_bytes, updated_at_ms, kv_value)
                 VALUES (N'order', N'b', 1, 0, N'x'), (N'order', N'a', 1, 0, N'x');"
            );
            writer.run(&insert).await.unwrap();
        }
        Self {
            schema,
            provider: Arc::new(provider),
            writer,
            turn,
            server,
        }
    }
}

fn touch(table: &str, key: &str) -> String {
    format!(
        "UPDATE [$(schema)].{table} SET updated_at_ms = 1 WHERE instance_id = N'order' AND kv_key = N'{key}';"
    )
}

/// A turn has the last row that the reader wants, and then wants the first one, which the reader has had.
#[tokio::test]
async fn readers_of_key_values_do_not_deadlock_with_turns() {
    for table in ["kv_delta", "kv_store"] {
        for key in [None, Some("a"), Some("b")] {
            let mut setup = Setup::new().await;
            if table == "kv_store" {
                let empty = "DELETE FROM [$(schema)].kv_delta;";
                setup.writer.run(empty).await.unwrap();
            }
            let begin = format!("{TURN} {}", touch(table, "a"));
            setup.turn.run(&begin).await.unwrap();
            let provider = setup.provider.clone();
            let mut reader = tokio::spawn(async move {
                match key {
                    None => provider.get_kv_all_values("order").await.unwrap().len(),
                    Some(key) => {
                        let value = provider.get_kv_value("order", key).await.unwrap();
                        usize::from(value.is_some())
                    }
                }
            });
            let expected = if key.is_none() { 2 } else { 1 };
            if key == Some("b") {
                // It comes first, and that is as far as the search goes.
                let read = tokio::time::timeout(Duration::from_secs(10), &mut reader).await;
                assert_eq!(read.expect("no wait").unwrap(), expected, "{table}");
                setup.turn.run("ROLLBACK;").await.unwrap();
                continue;
            }
            let controls = setup.server.controls();
            until("the reader to wait", || async { controls.blocked() == 1 }).await;
            // A deadlock would end one of them. The reader is told of none, whatever becomes of it: it would be repeated.
            let go_on = format!("SET LOCK_TIMEOUT 20000; {} COMMIT;", touch(table, "b"));
            setup.turn.run(&go_on).await.expect("no deadlock");
            assert_eq!(reader.await.unwrap(), expected, "{table} {key:?}");
            let report = controls.deadlocks();
            assert!(report.is_empty(), "{table} {key:?}: {report:?}");
        }
    }
}

/// A worker is suspended while it receives the key-values of its turn. When its lease is over, somebody else can end the
/// execution and write them.
#[tokio::test]
async fn key_values_that_are_being_sent_can_be_written() {
    let mut setup = Setup::new().await;
    let large = "UPDATE [$(schema)].kv_store SET kv_value = REPLICATE(CAST(N'x' AS NVARCHAR(MAX)), 8000000);";
    setup.writer.run(large).await.unwrap();
    let proxy = Proxy::start(setup.schema.url()).await;
    let slow = MssqlProvider::builder(proxy.url(setup.schema.url()))
        .schema(setup.schema.name().as_str())
        .command_timeout(LEASE);
    let slow = Arc::new(slow.build().await.unwrap());
    let (message, all) = (start("order"), slow.clone());
    slow.enqueue_for_orchestrator(message, None).await.unwrap();
    proxy.narrow(Some(1_000));
    let fetching = tokio::spawn(async move {
        all.fetch_orchestration_item(LEASE, Duration::ZERO, None)
            .await
    });
    let claimed = "SELECT COUNT(*) FROM [$(schema)].instance_locks WHERE lock_token IS NOT NULL;";
    while setup.writer.number(claimed).await == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // More comes at once than the network takes.
    tokio::time::sleep(Duration::from_millis(500)).await;
    for key in ["a", "b"] {
        let write = format!("SET LOCK_TIMEOUT 5000; {}", touch("kv_store", key));
        setup.writer.run(&write).await.expect("nobody has the row");
    }
    assert!(!fetching.is_finished(), "it is still being sent");
    fetching.abort();
}

/// A client calls a procedure and hardly reads the answer. Whether what the call has read can be written meanwhile.
async fn is_writable_while_sent(setup: &mut Setup, call: &str, write: &str) -> bool {
    let proxy = Proxy::start(setup.schema.url()).await;
    let mut client = connect(&proxy.url(setup.schema.url())).await;
    proxy.narrow(Some(1_000));
    proxy.take_reply_bytes();
    let quoted = setup.schema.name().quoted();
    let text = format!("EXEC {quoted}.{call};");
    let reading = tokio::spawn(async move {
        let stream = client.simple_query(text).await;
        stream.expect("an answer").into_results().await.map(drop)
    });
    until("an answer", || async { proxy.take_reply_bytes() > 0 }).await;
    // More comes at once than the network takes.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let write = format!("SET LOCK_TIMEOUT 5000; {write}");
    let written = setup.writer.run(&write).await.map(drop);
    assert!(!reading.is_finished(), "{call}: it is still being sent");
    reading.abort();
    assert!(matches!(written, Ok(()) | Err(1222)), "{call}: {written:?}");
    written.is_ok()
}

/// The custom status and the output of an instance, which its turns write.
#[tokio::test]
async fn texts_that_are_being_sent_can_be_written() {
    let mut setup = Setup::new().await;
    let large = "REPLICATE(CAST(N'x' AS NVARCHAR(MAX)), 8000000)";
    let fill = format!(
        "UPDATE [$(schema)].instances SET status = N'Completed', custom_status = {large}, custom_status_version = 1;
         UPDATE [$(schema)].executions SET status = N'Completed', output = {large};"
    );
    setup.writer.run(&fill).await.unwrap();
    let mut locked = Vec::new();
    for (call, table) in [
        (
            "get_custom_status @instance_id = N'order', @last_seen_version = 0",
            "instances",
        ),
        (
            "[read] @instance_id = N'order', @known_event_id = 0",
            "instances",
        ),
        ("get_instance_info @instance_id = N'order'", "executions"),
        (
            "get_execution_info @instance_id = N'order', @execution_id = 1",
            "executions",
        ),
    ] {
        let write = format!("UPDATE [$(schema)].{table} SET status = status;");
        if !is_writable_while_sent(&mut setup, call, &write).await {
            locked.push(call);
        }
    }
    assert!(locked.is_empty(), "under a lock: {locked:?}");
}

/// A turn that continues as new writes the entries that lists are made of.
#[tokio::test]
async fn instances_that_are_being_listed_can_be_written() {
    let mut setup = Setup::new().await;
    let fill = format!(
        "INSERT INTO [$(schema)].instances (instance_id, orchestration_name, status, current_execution_id, custom_status_version, created_at_ms, updated_at_ms)
         SELECT CONCAT(REPLICATE(N'x', 390), x.n), N'o', N'Running', 1, 0, x.n, 0 FROM {NUMBERS};"
    );
    setup.writer.run(&fill).await.unwrap();
    let mut locked = Vec::new();
    for call in [
        "list_instances",
        "list_instances_by_status @status = N'Running'",
    ] {
        let write =
            "UPDATE [$(schema)].instances SET current_execution_id = current_execution_id + 1;";
        if !is_writable_while_sent(&mut setup, call, write).await {
            locked.push(call);
        }
    }
    assert!(locked.is_empty(), "under a lock: {locked:?}");
}

/// A prune has deleted the events of an execution and then deletes the execution itself, which somebody is looking at
/// who counts the events.
#[tokio::test]
async fn readers_of_executions_do_not_deadlock_with_prunes() {
    let mut setup = Setup::new().await;
    // More than one transaction bears, in the first of two executions, so that the second one goes later, whole.
    let fill = "INSERT INTO [$(schema)].executions (instance_id, execution_id, status, output, event_count, started_at_ms, completed_at_ms)
         VALUES (N'order', 2, N'ContinuedAsNew', N'x', 1, 0, 1), (N'order', 3, N'Running', NULL, 0, 0, NULL);
         INSERT INTO [$(schema)].history (instance_id, execution_id, event_id, appended_by, payload_bytes, payload)
         VALUES (N'order', 1, 100, NEWID(), 5000000, N'x'), (N'order', 2, 1, NEWID(), 1, N'x');
         UPDATE [$(schema)].executions SET status = N'ContinuedAsNew', completed_at_ms = 1 WHERE execution_id = 1;
         UPDATE [$(schema)].instances SET current_execution_id = 3;";
    setup.writer.run(fill).await.unwrap();
    let controls = setup.server.controls();
    let second = Trigger::statement().containing("DELETE e").after(1);
    let emptied = controls.pause(second);
    let mut session = Session::open(&setup.schema).await;
    let prune = tokio::spawn(async move {
        let call = "EXEC [$(schema)].prune_executions @instance_id = N'order';";
        session.run(call).await.map(drop)
    });
    emptied.paused().await;
    let read = "EXEC [$(schema)].get_execution_info @instance_id = N'order', @execution_id = 2;";
    let mut reader = setup.turn;
    let reading = tokio::spawn(async move { reader.run(read).await.map(drop) });
    until("the reader to wait", || async { controls.blocked() == 1 }).await;
    emptied.release();
    assert_eq!(prune.await.unwrap(), Ok(()));
    assert_eq!(reading.await.unwrap(), Err(51008), "it is gone");
    let report = controls.deadlocks();
    assert!(report.is_empty(), "{report:?}");
}
