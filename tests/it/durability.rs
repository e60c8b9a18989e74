//! Claims need no durable commit: what a crash forgets of them is a lease that has ended.

use std::time::Duration;

use duroxide::providers::{ExecutionMetadata, Provider, WorkItem};
use mssql_embedded::Server;

use crate::support::database::{TestSchema, own_server};
use crate::support::items::{
    LEASE, activity, completed, create, fetch, fetch_work, metadata, start, started,
};

/// Everything that the schema holds, as text.
async fn contents(schema: &TestSchema) -> Vec<String> {
    let mut all = Vec::new();
    for (table, order) in [
        ("instance_locks", "instance_id"),
        ("orchestrator_queue", "instance_id, queue_id"),
        ("instances", "instance_id"),
        ("executions", "instance_id, execution_id"),
        ("history", "instance_id, execution_id, event_id"),
        ("worker_queue", "work_id"),
        ("sessions", "session_key"),
    ] {
        let query = format!(
            "SELECT (SELECT * FROM [$(schema)].{table} ORDER BY {order} FOR JSON PATH) AS j;"
        );
        let rows = schema.sql(&query).await;
        let text = rows[0].get::<&str, _>("j").unwrap_or_default();
        all.push(format!("{table}: {text}"));
    }
    all
}

fn server(allowed: bool) -> Server {
    let server = own_server();
    let controls = server.controls();
    controls
        .allow_delayed_durability("master", allowed)
        .unwrap();
    server
}

/// A crash right after two claims: everything is as it was before them, and both can be claimed again.
#[tokio::test]
async fn a_crash_forgets_claims_and_nothing_else() {
    let server = server(true);
    let schema = TestSchema::at(server.connection_string());
    let provider = schema.provider().await;
    create(&provider, "order").await;
    provider
        .enqueue_for_worker(activity("order", 2, ""))
        .await
        .unwrap();
    provider
        .enqueue_for_orchestrator(start("order"), None)
        .await
        .unwrap();
    let before = contents(&schema).await;

    let (_, turn, _) = fetch(&provider).await.expect("the message");
    let (_, work, _) = fetch_work(&provider).await.expect("the activity");
    provider
        .renew_orchestration_item_lock(&turn, LEASE)
        .await
        .unwrap();
    provider.renew_work_item_lock(&work, LEASE).await.unwrap();
    assert_ne!(contents(&schema).await, before);
    let controls = server.controls();
    assert!(
        tokio::task::spawn_blocking(move || controls.crash())
            .await
            .unwrap()
    );

    assert_eq!(contents(&schema).await, before);
    let refused = provider
        .ack_work_item(&work, Some(completed("order", 2, "")))
        .await;
    assert!(!refused.unwrap_err().is_retryable(), "the lease is lost");
    let (_, _, attempts) = fetch(&provider).await.expect("the message again");
    assert_eq!(attempts, 1);
    let (_, _, attempts) = fetch_work(&provider).await.expect("the activity again");
    assert_eq!(attempts, 1);
}

/// A durable commit hardens the claims before it; and where nobody allowed it, no claim is forgotten.
#[tokio::test]
async fn a_hardened_claim_survives_a_crash() {
    for allowed in [true, false] {
        let server = server(allowed);
        let schema = TestSchema::at(server.connection_string());
        let provider = schema.provider().await;
        provider
            .enqueue_for_orchestrator(start("order"), None)
            .await
            .unwrap();
        let (_, turn, _) = fetch(&provider).await.expect("the message");
        if allowed {
            provider
                .enqueue_for_orchestrator(start("other"), None)
                .await
                .unwrap();
        }
        let controls = server.controls();
        assert!(
            tokio::task::spawn_blocking(move || controls.crash())
                .await
                .unwrap()
        );
        let history = vec![started("order", "")];
        let ack =
            provider.ack_orchestration_item(&turn, 1, history, vec![], vec![], metadata(), vec![]);
        ack.await.expect("the lease is still held");
    }
}

/// What an ack wrote survives, with the claims before it, whatever is forgotten after it.
#[tokio::test]
async fn acknowledged_work_is_never_forgotten() {
    let server = server(true);
    let schema = TestSchema::at(server.connection_string());
    let provider = schema.provider().await;
    for n in 0..5 {
        let name = format!("order-{n}");
        create(&provider, &name).await;
        let durable = contents(&schema).await;
        provider
            .enqueue_for_orchestrator(start(&name), None)
            .await
            .unwrap();
        fetch(&provider).await.expect("a claim that is forgotten");
        let controls = server.controls();
        assert!(
            tokio::task::spawn_blocking(move || controls.crash())
                .await
                .unwrap()
        );
        assert_eq!(provider.read(&name).await.unwrap().len(), 1);
        let (item, token, _) = fetch(&provider).await.expect("the message again");
        assert_eq!(item.instance, name);
        let ack =
            provider.ack_orchestration_item(&token, 1, vec![], vec![], vec![], metadata(), vec![]);
        ack.await.unwrap();
        let acked = contents(&schema).await;
        assert_eq!(acked[4], durable[4], "the history");
    }
}

/// The log is waited for seven times by an orchestration of one activity, and four times where claims
/// need not wait.
#[tokio::test]
async fn one_activity_orchestration_waits_for_four_flushes() {
    for (allowed, flushes) in [(false, 7), (true, 4)] {
        let server = server(allowed);
        let schema = TestSchema::at(server.connection_string());
        let provider = schema.provider().await;
        let before = server.controls().flushes();
        provider
            .enqueue_for_orchestrator(start("order"), None)
            .await
            .unwrap();
        let (_, token, _) = fetch(&provider).await.unwrap();
        let (history, work) = (vec![started("order", "")], vec![activity("order", 2, "")]);
        let ack =
            provider.ack_orchestration_item(&token, 1, history, work, vec![], metadata(), vec![]);
        ack.await.unwrap();
        let (_, token, _) = fetch_work(&provider).await.unwrap();
        let done = Some(completed("order", 2, ""));
        provider.ack_work_item(&token, done).await.unwrap();
        let (_, token, _) = fetch(&provider).await.unwrap();
        let ack =
            provider.ack_orchestration_item(&token, 1, vec![], vec![], vec![], metadata(), vec![]);
        ack.await.unwrap();
        assert_eq!(
            server.controls().flushes() - before,
            flushes,
            "allowed: {allowed}"
        );
    }
}

/// How many completions of activities of one instance arrive at once.
const COMPLETIONS: u64 = 48;
/// How long the log takes then: what arrives meanwhile shares the next flush, however slowly a busy machine sends it.
const FLUSH: Duration = Duration::from_millis(200);

/// Completions for one instance become durable together: they share the instance's row, whether it is idle
/// when they come or held by a turn, and none of them is lost.
#[tokio::test]
async fn completions_for_one_instance_share_flushes() {
    for (in_a_turn, snapshot_reads) in [(false, false), (true, false), (false, true), (true, true)]
    {
        let builder = Server::builder().read_committed_snapshot(snapshot_reads);
        let server = builder.start().expect("the embedded server starts");
        let schema = TestSchema::at(server.connection_string());
        let builder = schema.builder().pool_max(24).wait_for_work(false);
        let provider = builder.build().await.expect("the provider starts");
        create(&provider, "order").await;
        let mut held = Vec::new();
        for id in 0..COMPLETIONS {
            let work = activity("order", id + 2, "");
            provider.enqueue_for_worker(work).await.unwrap();
            let (_, token, _) = fetch_work(&provider).await.expect("the activity");
            held.push((id + 2, token));
        }
        let mut turn = None;
        if in_a_turn {
            let message = start("order");
            provider
                .enqueue_for_orchestrator(message, None)
                .await
                .unwrap();
            turn = fetch(&provider).await;
        }
        server.controls().set_commit_latency(FLUSH);
        let before = server.controls().flushes();
        let acks = held
            .iter()
            .map(|(id, token)| provider.ack_work_item(token, Some(completed("order", *id, ""))));
        for ack in futures_util::future::join_all(acks).await {
            ack.expect("the completion is posted");
        }
        let flushes = server.controls().flushes() - before;
        server.controls().set_commit_latency(Duration::ZERO);
        println!(
            "{COMPLETIONS} completions, in a turn: {in_a_turn}, snapshot reads: {snapshot_reads}: {flushes} flushes"
        );
        assert!(flushes * 4 <= COMPLETIONS, "{flushes} flushes");

        if let Some((_, token, _)) = turn {
            let ack = provider.ack_orchestration_item(
                &token,
                1,
                vec![],
                vec![],
                vec![],
                metadata(),
                vec![],
            );
            ack.await.unwrap();
        }
        let (item, ..) = fetch(&provider).await.expect("the completions are ready");
        assert_eq!(item.messages.len() as u64, COMPLETIONS);
    }
}

/// The same for sub-orchestrations of one parent, whose last turns send to it.
#[tokio::test]
async fn children_of_one_parent_share_flushes() {
    for (in_a_turn, snapshot_reads) in [(false, false), (true, false), (false, true), (true, true)]
    {
        let builder = Server::builder().read_committed_snapshot(snapshot_reads);
        let server = builder.start().expect("the embedded server starts");
        let schema = TestSchema::at(server.connection_string());
        let builder = schema.builder().pool_max(24).wait_for_work(false);
        let provider = builder.build().await.expect("the provider starts");
        create(&provider, "order").await;
        let mut held = Vec::new();
        for id in 0..COMPLETIONS {
            let child = start(&format!("order::{id}"));
            provider
                .enqueue_for_orchestrator(child, None)
                .await
                .unwrap();
            let (_, token, _) = fetch(&provider).await.expect("the child");
            held.push((id + 2, token));
        }
        let mut turn = None;
        if in_a_turn {
            let message = start("order");
            provider
                .enqueue_for_orchestrator(message, None)
                .await
                .unwrap();
            turn = fetch(&provider).await;
        }
        server.controls().set_commit_latency(FLUSH);
        let before = server.controls().flushes();
        let acks = held.iter().map(|(id, token)| {
            let done = WorkItem::SubOrchCompleted {
                parent_instance: "order".into(),
                parent_execution_id: 1,
                parent_id: *id,
                result: String::new(),
            };
            let metadata = ExecutionMetadata {
                status: Some("Completed".into()),
                ..metadata()
            };
            provider.ack_orchestration_item(token, 1, vec![], vec![], vec![done], metadata, vec![])
        });
        for ack in futures_util::future::join_all(acks).await {
            ack.expect("the child has ended");
        }
        let flushes = server.controls().flushes() - before;
        server.controls().set_commit_latency(Duration::ZERO);
        println!(
            "{COMPLETIONS} children, in a turn: {in_a_turn}, snapshot reads: {snapshot_reads}: {flushes} flushes"
        );
        assert!(flushes * 3 <= COMPLETIONS, "{flushes} flushes");

        if let Some((_, token, _)) = turn {
            let ack = provider.ack_orchestration_item(
                &token,
                1,
                vec![],
                vec![],
                vec![],
                metadata(),
                vec![],
            );
            ack.await.unwrap();
        }
        let (item, ..) = fetch(&provider)
            .await
            .expect("the children's ends are ready");
        assert_eq!(item.messages.len() as u64, COMPLETIONS);
    }
}
