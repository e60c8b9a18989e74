//! Clients that poll never keep dispatchers from the database.

use std::sync::Arc;
use std::time::Duration;

use duroxide::providers::Provider;

use crate::support::database::{SnapshotReads, TestSchema, connect};
use crate::support::items::{create, fetch, start};

/// More clients than connections, all of them held up by a lock: the dispatchers go on.
#[tokio::test]
async fn blocked_clients_leave_connections_for_dispatchers() {
    let schema = TestSchema::on(SnapshotReads::Off);
    let provider = Arc::new(schema.builder().pool_max(4).build().await.unwrap());
    create(&*provider, "order").await;
    let mut other = connect(schema.url()).await;
    let lock = format!(
        "BEGIN TRANSACTION; UPDATE {}.history SET payload = payload WHERE instance_id = N'order';",
        schema.name().quoted()
    );
    other
        .simple_query(lock)
        .await
        .unwrap()
        .into_results()
        .await
        .unwrap();
    let clients: Vec<_> = (0..20)
        .map(|_| {
            let provider = provider.clone();
            tokio::spawn(async move { provider.read("order").await })
        })
        .collect();
    let work = async {
        for n in 0..10 {
            provider
                .enqueue_for_orchestrator(start(&format!("new-{n}")), None)
                .await
                .unwrap();
            assert!(fetch(&*provider).await.is_some());
        }
    };
    tokio::time::timeout(Duration::from_secs(20), work)
        .await
        .expect("dispatchers are not starved");
    other
        .simple_query("ROLLBACK;")
        .await
        .unwrap()
        .into_results()
        .await
        .unwrap();
    for client in clients {
        assert_eq!(client.await.unwrap().unwrap().len(), 1);
    }
}

/// A pool that is used up is a passing failure that says what to do.
#[tokio::test]
async fn exhausted_pool_is_a_retryable_error() {
    let schema = TestSchema::on(SnapshotReads::Off);
    let builder = schema
        .builder()
        .pool_max(1)
        .acquire_timeout(Duration::from_millis(50));
    let provider = Arc::new(builder.build().await.unwrap());
    create(&*provider, "order").await;
    let mut other = connect(schema.url()).await;
    let lock = format!(
        "BEGIN TRANSACTION; UPDATE {}.instance_locks WITH (TABLOCKX) SET lane = lane;",
        schema.name().quoted()
    );
    other
        .simple_query(lock)
        .await
        .unwrap()
        .into_results()
        .await
        .unwrap();
    let blocked = {
        let provider = provider.clone();
        tokio::spawn(async move {
            provider
                .enqueue_for_orchestrator(start("order"), None)
                .await
        })
    };
    tokio::task::yield_now().await;
    let mut error = None;
    while error.is_none() {
        error = provider
            .abandon_work_item("no such token", None, false)
            .await
            .err();
        // Until the other call has the connection, this one is merely refused.
        error = error.filter(|error| error.is_retryable());
    }
    let error = error.unwrap();
    assert!(error.message.contains("connection pool timeout"), "{error}");
    other
        .simple_query("ROLLBACK;")
        .await
        .unwrap()
        .into_results()
        .await
        .unwrap();
    blocked.await.unwrap().unwrap();
}
