//! Clients that poll never keep dispatchers from the database.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use duroxide::providers::Provider;
use duroxide_sql::MssqlProvider;
use tiberius::Client;
use tokio::net::TcpStream;
use tokio_util::compat::Compat;

use crate::support::database::{SnapshotReads, TestSchema, connect};
use crate::support::items::{activity, create, fetch, fetch_work, start};
use crate::support::proxy::Proxy;

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
    tokio::time::timeout(Duration::from_secs(10), work)
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

/// Logins that take longer than their callers wait end all at once when the network is well again. There are never more
/// connections than the pool may have, whoever wanted them.
#[tokio::test]
async fn connections_that_come_late_do_not_outgrow_the_pool() {
    let schema = TestSchema::new();
    let proxy = Proxy::start(schema.url()).await;
    let builder = MssqlProvider::builder(proxy.url(schema.url()));
    let builder = builder.schema(schema.name().as_str());
    let builder = builder.pool_max(4).pool_min_idle(1).wait_for_work(false);
    let builder = builder.acquire_timeout(Duration::from_millis(300));
    let provider = Arc::new(builder.build().await.unwrap());
    create(&*provider, "order").await;
    proxy.delay(Duration::from_secs(1));
    let is_over = Arc::new(AtomicBool::new(false));
    let work: Vec<_> = (0..12)
        .map(|_| {
            let (provider, is_over) = (provider.clone(), is_over.clone());
            tokio::spawn(async move {
                while !is_over.load(Ordering::Relaxed) {
                    // Many find no connection in time, which is what this is about.
                    let item = activity("order", 2, "");
                    let _ = provider.enqueue_for_worker(item).await;
                }
            })
        })
        .collect();
    let begun = Instant::now();
    let mut most = 0;
    while begun.elapsed() < Duration::from_secs(6) {
        if begun.elapsed() > Duration::from_secs(3) {
            proxy.delay(Duration::ZERO);
            is_over.store(true, Ordering::Relaxed);
        }
        most = most.max(provider.pool_status().open);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    for work in work {
        work.await.unwrap();
    }
    assert!(most <= 4, "{most} connections");
    assert!(fetch_work(&*provider).await.is_some(), "it works");
}
