//! Clients that poll never keep dispatchers from the database.

use std::sync::Arc;
use std::time::Duration;

use duroxide::providers::Provider;
use tiberius::Client;
use tokio::net::TcpStream;
use tokio_util::compat::Compat;

use crate::support::database::{SnapshotReads, TestSchema, connect};
use crate::support::items::{activity, create, fetch, fetch_work, start};

async fn run(connection: &mut Client<Compat<TcpStream>>, sql: &str) {
    let answer = connection.simple_query(sql).await.unwrap();
    answer.into_results().await.unwrap();
}

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
    run(&mut other, &lock).await;
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
    run(&mut other, "ROLLBACK;").await;
    for client in clients {
        assert_eq!(client.await.unwrap().unwrap().len(), 1);
    }
}

/// The runtime reads a history for every activity it has fetched, with the call that clients use as
/// well. That read does not queue behind the clients.
#[tokio::test]
async fn blocked_clients_do_not_hold_up_the_read_of_a_worker() {
    let schema = TestSchema::on(SnapshotReads::Off);
    // Without a cache the worker has to ask.
    let builder = schema.builder().pool_max(4).history_cache_bytes(0);
    let provider = Arc::new(builder.build().await.unwrap());
    create(&*provider, "order").await;
    create(&*provider, "other").await;
    provider
        .enqueue_for_worker(activity("other", 2, ""))
        .await
        .unwrap();
    let mut other = connect(schema.url()).await;
    let lock = format!(
        "BEGIN TRANSACTION; UPDATE {}.history SET payload = payload WHERE instance_id = N'order';",
        schema.name().quoted()
    );
    run(&mut other, &lock).await;
    let clients: Vec<_> = (0..20)
        .map(|_| {
            let provider = provider.clone();
            tokio::spawn(async move { provider.read("order").await })
        })
        .collect();
    // In a task, as the runtime's workers are.
    let worker = provider.clone();
    let work = tokio::spawn(async move {
        assert!(fetch_work(&*worker).await.is_some());
        assert_eq!(worker.read("other").await.unwrap().len(), 1);
    });
    tokio::time::timeout(Duration::from_secs(5), work)
        .await
        .expect("the worker is not starved")
        .unwrap();
    run(&mut other, "ROLLBACK;").await;
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
    run(&mut other, &lock).await;
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
    run(&mut other, "ROLLBACK;").await;
    blocked.await.unwrap().unwrap();
}
