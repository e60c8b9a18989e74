//! Failures in the middle of a procedure: all of its work is there afterwards, or none of it.

use std::sync::Arc;
use std::time::Duration;

use duroxide::providers::{Provider, ProviderError};
use duroxide_sql::MssqlProvider;
use mssql_embedded::{Server, SqlError, Trigger};

use crate::support::database::{TestSchema, own_server};
use crate::support::items::{
    activity, completed, create, fetch, fetch_work, metadata, start, started,
};

struct Setup {
    provider: MssqlProvider,
    schema: TestSchema,
    server: Server,
}

async fn setup() -> Setup {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    Setup {
        provider: schema.provider().await,
        schema,
        server,
    }
}

impl Setup {
    /// Commits the first turn of `order`, with two events, two work items and a message.
    async fn ack(&self) -> Result<(), ProviderError> {
        let provider = &self.provider;
        provider
            .enqueue_for_orchestrator(start("order"), None)
            .await
            .unwrap();
        let (_, token, _) = fetch(provider).await.expect("the message is ready");
        let set = duroxide::EventKind::KeyValueSet {
            key: "k".into(),
            value: "v".into(),
            last_updated_at_ms: 1,
        };
        let history = vec![
            started("order", ""),
            crate::support::items::event("order", 2, set),
        ];
        let work = vec![activity("order", 3, ""), activity("order", 4, "")];
        let messages = vec![start("child")];
        provider
            .ack_orchestration_item(&token, 1, history, work, messages, metadata(), vec![])
            .await
    }

    /// The rows of every table that the turn touches.
    async fn rows(&self) -> Vec<i64> {
        let mut counts = Vec::new();
        for table in [
            "history",
            "worker_queue",
            "orchestrator_queue",
            "instances",
            "executions",
            "kv_delta",
        ] {
            let query = format!("SELECT COUNT(*) FROM [$(schema)].{table};");
            counts.push(self.schema.number(&query).await);
        }
        counts
    }
}

/// After the ack: two events, two items, the child's message, and one row of each kind.
const AFTER: [i64; 6] = [2, 2, 1, 1, 1, 1];

/// However far the procedure got, a deadlock undoes it, and the repetition does it.
#[tokio::test]
async fn deadlock_at_any_statement_of_an_ack_is_repeated() {
    let mut spoilt = 0;
    for statement in (0..60).step_by(4) {
        let setup = setup().await;
        let controls = setup.server.controls();
        let deadlock = SqlError::with(1205, 13, 51, "deadlocked on lock resources");
        let trigger = Trigger::statement()
            .of("ack_orchestration_item")
            .after(statement);
        let _rule = controls.fail(trigger, deadlock);
        let done = setup.ack().await;
        done.unwrap_or_else(|error| panic!("statement {statement}: {error}"));
        assert_eq!(setup.rows().await, AFTER, "statement {statement}");
        spoilt += u32::from(controls.counters().of("ack_orchestration_item").calls == 2);
    }
    assert!(spoilt >= 5, "only {spoilt} acks were spoilt");
}

/// The connection breaks when everything is written and nothing committed: repeated, done once.
#[tokio::test]
async fn ack_cut_right_before_the_commit_is_repeated() {
    let setup = setup().await;
    let trigger = Trigger::commit().of("ack_orchestration_item");
    let _rule = setup.server.controls().cut(trigger);
    setup.ack().await.unwrap();
    assert_eq!(setup.rows().await, AFTER);
}

/// The connection breaks right after the commit: the turn counts, and the caller hears that its
/// lease is gone.
#[tokio::test]
async fn ack_cut_right_after_the_commit_counts_once() {
    let setup = setup().await;
    let trigger = Trigger::committed().of("ack_orchestration_item");
    let _rule = setup.server.controls().cut(trigger);
    let error = setup.ack().await.unwrap_err();
    assert!(!error.is_retryable(), "{error}");
    assert_eq!(setup.rows().await, AFTER);
}

/// A failure that is certainly ours undoes everything and leaves the lease with the caller.
#[tokio::test]
async fn permanent_failure_of_an_ack_leaves_the_turn_as_it_was() {
    let setup = setup().await;
    let refused = SqlError::with(51001, 16, 1, "identifier too long");
    let trigger = Trigger::commit().of("ack_orchestration_item");
    let _rule = setup.server.controls().fail(trigger, refused);
    let error = setup.ack().await.unwrap_err();
    assert!(!error.is_retryable(), "{error}");
    assert_eq!(setup.rows().await, [0, 0, 1, 0, 0, 0]);
    assert!(
        fetch(&setup.provider).await.is_none(),
        "the lease is still held"
    );
}

/// The same for the completion of an activity.
#[tokio::test]
async fn worker_ack_is_all_or_nothing_around_its_commit() {
    for is_committed in [false, true] {
        let setup = setup().await;
        let provider = &setup.provider;
        create(provider, "order").await;
        provider
            .enqueue_for_worker(activity("order", 2, ""))
            .await
            .unwrap();
        let (_, token, _) = fetch_work(provider).await.unwrap();
        let trigger = if is_committed {
            Trigger::committed()
        } else {
            Trigger::commit()
        };
        let _rule = setup.server.controls().cut(trigger.of("ack_work_item"));
        let done = provider
            .ack_work_item(&token, Some(completed("order", 2, "")))
            .await;
        assert_eq!(done.is_err(), is_committed, "{done:?}");
        let (turn, _, _) = fetch(provider).await.expect("the completion is there");
        assert_eq!(turn.messages.len(), 1);
        assert!(fetch_work(provider).await.is_none());
    }
}

/// A dropped call leaves its connection to the server: the next one does not wait for its end,
/// even when there is only one connection to have.
#[tokio::test]
async fn call_after_a_dropped_one_does_not_wait_for_it() {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let provider = Arc::new(schema.builder().pool_max(1).build().await.unwrap());
    let pause = server
        .controls()
        .pause(Trigger::request().of("fetch_work_item"));
    let dropped = {
        let provider = provider.clone();
        tokio::spawn(async move { fetch_work(&*provider).await })
    };
    pause.paused().await;
    dropped.abort();
    let next = tokio::time::timeout(Duration::from_secs(10), create(&*provider, "order")).await;
    next.expect("the next call is not held up");
    pause.release();
}
