//! What a call reads does not grow with what it cannot take. Counted by the embedded engine.

use std::time::Duration;

use duroxide::providers::{Provider, SessionFetchConfig, TagFilter};
use mssql_embedded::{Controls, Server};

use super::Session;
use crate::support::database::TestSchema;
use crate::support::items::{LEASE, activity, create, event, fetch, fetch_work, metadata, start};

const FEW: u32 = 100;
const MANY: u32 = 20_000;

/// A server of the test's own, because counters are the server's.
struct Bench {
    schema: TestSchema,
    provider: duroxide_sql::MssqlProvider,
    controls: Controls,
    _server: Server,
}

impl Bench {
    async fn new() -> Self {
        let server = Server::builder()
            .start()
            .expect("the embedded server starts");
        let schema = TestSchema::at(server.connection_string());
        Self {
            provider: schema.provider().await,
            schema,
            controls: server.controls(),
            _server: server,
        }
    }

    /// Inserts `rows` rows; `n.i` counts them from 1 in the select list.
    async fn insert(&self, rows: u32, into: &str, select: &str) {
        let text = format!(
            "WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
             INSERT INTO [$(schema)].{into} SELECT {select} FROM n OPTION (MAXRECURSION 0);"
        );
        self.schema.sql(&text).await;
    }

    /// Rows read by the calls of a procedure since the last question.
    fn rows_read(&self, procedure: &str) -> u64 {
        let read = self.controls.counters().of(procedure).stats.rows_read;
        self.controls.reset_counters();
        read
    }

    async fn instance_rows(&self, rows: u32, token: &str) {
        let into = "instance_locks (instance_id, lane, not_before_ms, lock_token, pinned_version)";
        let select = format!("CONCAT(N'waiting-', i), -1, 9000000000000 + i, {token}, -1");
        self.insert(rows, into, &select).await;
        let into = "orchestrator_queue (instance_id, visible_at_ms, kind, lock_token, attempt_count, payload)";
        let select =
            format!("CONCAT(N'waiting-', i), 9000000000000 + i, N'TimerFired', {token}, 0, N'x'");
        self.insert(rows, into, &select).await;
    }

    async fn work_rows(&self, rows: u32, session: &str, tag: &str, not_before: &str) {
        let into = "worker_queue (instance_id, execution_id, activity_id, session_key, tag_key, not_before_ms, enqueued_at_ms, lock_token, attempt_count, payload)";
        let select = format!("N'order', 1, i, {session}, {tag}, {not_before}, 0, NULL, 0, N'x'");
        self.insert(rows, into, &select).await;
    }

    async fn session_fetch(&self) -> bool {
        let session = SessionFetchConfig {
            owner_id: "newcomer".into(),
            lock_timeout: LEASE,
        };
        let fetched = self
            .provider
            .fetch_work_item(LEASE, Duration::ZERO, Some(&session), &TagFilter::default())
            .await;
        fetched.expect("fetch_work_item").is_some()
    }
}

/// Asserts that the numbers measured with few and with many rows are the same.
fn assert_flat(what: &str, few: &[u64], many: &[u64]) {
    assert_eq!(
        few, many,
        "{what}: rows read with {FEW} and with {MANY} rows in the way"
    );
    assert!(many.iter().all(|rows| *rows < 100), "{what}: {many:?}");
}

/// Timers of the future and instances that others hold, at the head of the queue.
#[tokio::test]
async fn instance_fetch_costs_the_same_behind_any_backlog() {
    for (what, token) in [("timers", "NULL"), ("held instances", "NEWID()")] {
        let mut measured = Vec::new();
        for rows in [FEW, MANY] {
            let bench = Bench::new().await;
            bench.instance_rows(rows, token).await;
            bench.controls.reset_counters();
            assert!(fetch(&bench.provider).await.is_none());
            let empty = bench.rows_read("fetch_orchestration_item");
            bench
                .provider
                .enqueue_for_orchestrator(start("ready"), None)
                .await
                .unwrap();
            let enqueue = bench.rows_read("enqueue_for_orchestrator");
            assert!(fetch(&bench.provider).await.is_some());
            measured.push([empty, enqueue, bench.rows_read("fetch_orchestration_item")]);
        }
        assert_flat(what, &measured[0], &measured[1]);
    }
}

/// One instance with a long history and many timers of its own: its turns read what they need.
#[tokio::test]
async fn turn_costs_the_same_for_any_history_and_number_of_timers() {
    let mut measured = Vec::new();
    for rows in [FEW, MANY] {
        let bench = Bench::new().await;
        create(&bench.provider, "order").await;
        let into = "orchestrator_queue (instance_id, visible_at_ms, kind, lock_token, attempt_count, payload)";
        bench
            .insert(
                rows,
                into,
                "N'order', 9000000000000 + i, N'TimerFired', NULL, 0, N'x'",
            )
            .await;
        bench
            .provider
            .enqueue_for_orchestrator(start("order"), None)
            .await
            .unwrap();
        bench.controls.reset_counters();
        let (item, token, _) = fetch(&bench.provider).await.expect("one message");
        assert_eq!(item.messages.len(), 1);
        let fetched = bench.rows_read("fetch_orchestration_item");

        // The history goes in after the fetch, which has to return all of it.
        let into =
            "history (instance_id, execution_id, event_id, appended_by, payload_bytes, payload)";
        bench
            .insert(rows, into, "N'order', 1, i + 10, NEWID(), 1, N'x'")
            .await;
        let kind = duroxide::EventKind::OrchestrationCompleted {
            output: String::new(),
        };
        let events = vec![event("order", 2, kind)];
        bench.controls.reset_counters();
        let ack = bench.provider.ack_orchestration_item(
            &token,
            1,
            events,
            vec![],
            vec![],
            metadata(),
            vec![],
        );
        ack.await.expect("ack_orchestration_item");
        measured.push([fetched, bench.rows_read("ack_orchestration_item")]);
    }
    assert_flat("history and timers", &measured[0], &measured[1]);
}

/// Items that wait, are held, carry other tags or belong to the sessions of others.
#[tokio::test]
async fn work_fetch_costs_the_same_behind_any_backlog() {
    let later = "9000000000000 + i";
    for (what, session, tag, not_before) in [
        ("waiting or held items", "N''", "N''", later),
        ("ready items with another tag", "N''", "N'[gpu]'", "i"),
        (
            "ready items of one leased session",
            "N'[leased]'",
            "N''",
            "i",
        ),
        (
            "ready items of many leased sessions",
            "CONCAT(N'[', i, N']')",
            "N''",
            "i",
        ),
    ] {
        let mut measured = Vec::new();
        for rows in [FEW, MANY] {
            let bench = Bench::new().await;
            bench.work_rows(rows, session, tag, not_before).await;
            if session != "N''" {
                bench.schema.sql(
                    "INSERT INTO [$(schema)].sessions (session_key, owner_id, locked_until_ms, last_activity_ms)
                     SELECT DISTINCT q.session_key, N'owner', 9000000000000, 0 FROM [$(schema)].worker_queue AS q;
                     INSERT INTO [$(schema)].session_lanes (session_key, tag_key, not_before_ms)
                     SELECT DISTINCT q.session_key, q.tag_key, 9000000000000 FROM [$(schema)].worker_queue AS q;",
                ).await;
            }
            bench.controls.reset_counters();
            assert!(fetch_work(&bench.provider).await.is_none(), "{what}");
            let plain = bench.rows_read("fetch_work_item");
            assert!(!bench.session_fetch().await, "{what}");
            let with_sessions = bench.rows_read("fetch_work_item");
            bench
                .provider
                .enqueue_for_worker(activity("order", 1, ""))
                .await
                .unwrap();
            let enqueue = bench.rows_read("enqueue_for_worker");
            assert!(bench.session_fetch().await, "{what}");
            measured.push([
                plain,
                with_sessions,
                enqueue,
                bench.rows_read("fetch_work_item"),
            ]);
        }
        assert_flat(what, &measured[0], &measured[1]);
    }
}

/// Acks, renewals and abandons find their row by the token, in any backlog.
#[tokio::test]
async fn holders_find_their_rows_by_key() {
    let mut measured = Vec::new();
    for rows in [FEW, MANY] {
        let bench = Bench::new().await;
        bench.instance_rows(rows, "NEWID()").await;
        bench
            .work_rows(rows, "N''", "N''", "9000000000000 + i")
            .await;
        create(&bench.provider, "order").await;
        bench
            .provider
            .enqueue_for_worker(activity("order", 1, ""))
            .await
            .unwrap();
        bench
            .provider
            .enqueue_for_orchestrator(start("order"), None)
            .await
            .unwrap();
        let (_, turn, _) = fetch(&bench.provider).await.expect("the turn");
        let (_, work, _) = fetch_work(&bench.provider).await.expect("the activity");
        bench.controls.reset_counters();
        bench
            .provider
            .renew_orchestration_item_lock(&turn, LEASE)
            .await
            .unwrap();
        let renew_turn = bench.rows_read("renew_orchestration_item_lock");
        bench
            .provider
            .abandon_orchestration_item(&turn, None, false)
            .await
            .unwrap();
        let abandon_turn = bench.rows_read("abandon_orchestration_item");
        bench
            .provider
            .renew_work_item_lock(&work, LEASE)
            .await
            .unwrap();
        let renew_work = bench.rows_read("renew_work_item_lock");
        let done = crate::support::items::completed("order", 1, "");
        bench
            .provider
            .ack_work_item(&work, Some(done))
            .await
            .unwrap();
        measured.push([
            renew_turn,
            abandon_turn,
            renew_work,
            bench.rows_read("ack_work_item"),
        ]);
    }
    assert_flat("backlog", &measured[0], &measured[1]);
}

/// What a prune reads does not grow with the square of what it keeps.
#[tokio::test]
async fn prunes_read_executions_and_not_pairs_of_them() {
    let kept = 200;
    for executions in [150, kept, kept + 1] {
        let bench = Bench::new().await;
        create(&bench.provider, "order").await;
        let into = "executions (instance_id, execution_id, status, event_count, started_at_ms, completed_at_ms)";
        let select = "N'order', i + 1, N'ContinuedAsNew', 0, 0, 1";
        bench.insert(executions - 1, into, select).await;
        let current = format!(
            "UPDATE [$(schema)].executions SET status = N'ContinuedAsNew', completed_at_ms = 1;
             UPDATE [$(schema)].instances SET current_execution_id = {executions};"
        );
        bench.schema.sql(&current).await;
        let mut old = i64::from(executions.saturating_sub(kept));
        for (procedure, instance) in [
            ("prune_executions_bulk", ""),
            ("prune_executions", "@instance_id = N'order', "),
        ] {
            bench.controls.reset_counters();
            let call = format!("EXEC [$(schema)].{procedure} {instance}@keep_last = {kept};");
            let row = bench.schema.sql(&call).await.pop().expect("a row");
            let deleted = row.get::<i64, _>("executions_deleted");
            assert_eq!(deleted, Some(old), "{procedure} of {executions}");
            let read = bench.rows_read(procedure);
            let most = u64::from(6 * executions);
            assert!(read <= most, "{procedure} of {executions}: {read} rows");
            old = 0;
        }
    }
}

/// Each session of a turn costs the same, however many sessions it schedules activities for.
#[tokio::test]
async fn turns_find_the_next_lane_without_reading_those_before() {
    let bench = Bench::new().await;
    let mut session = Session::open(&bench.schema).await;
    let mut costs = Vec::new();
    for (first, sessions) in [(0, 50), (50, 400)] {
        let item = |n: u32| {
            format!(
                r#"{{"ord":{n},"instance_id":"i","execution_id":1,"activity_id":{n},"session_id":"s{n}","payload":"x"}}"#
            )
        };
        let items: Vec<_> = (first..first + sessions).map(item).collect();
        let call = format!(
            "EXEC [$(schema)].enqueue_for_worker @worker_items = N'[{}]';",
            items.join(",")
        );
        bench.controls.reset_counters();
        session.run(&call).await.expect("they are scheduled");
        costs.push(bench.rows_read("enqueue_for_worker") / u64::from(sessions));
    }
    assert!(costs[1] <= costs[0] + 2, "rows read per session: {costs:?}");
}
