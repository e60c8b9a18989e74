//! What a server may do at the worst moment: fail after a commit, keep a row locked, lock a whole
//! table, hand over a session with another isolation level.

mod busy;
mod lanes;

use std::time::Duration;

use mssql_embedded::{Controls, Server, SqlError, Trigger};
use tokio::task::JoinHandle;

use super::{Session, public_procedures};
use crate::support::database::{TestSchema, own_server};
use crate::support::wait::until;

struct Bench {
    schema: TestSchema,
    controls: Controls,
    // Stops when everything that uses it is gone.
    _server: Server,
}

impl Bench {
    async fn new() -> Self {
        let server = own_server();
        let schema = TestSchema::at(server.connection_string());
        schema.provider().await;
        Self {
            schema,
            controls: server.controls(),
            _server: server,
        }
    }

    async fn session(&self) -> Session {
        Session::open(&self.schema).await
    }

    async fn exec(&self, call: &str) -> Vec<Vec<tiberius::Row>> {
        let text = format!("EXEC [$(schema)].{call};");
        self.session()
            .await
            .run(&text)
            .await
            .expect("the call succeeds")
    }

    /// Runs a call through a connection of its own.
    async fn spawn(&self, call: &str) -> JoinHandle<Result<Vec<Vec<tiberius::Row>>, u32>> {
        let mut session = self.session().await;
        let text = format!("EXEC [$(schema)].{call};");
        tokio::spawn(async move { session.run(&text).await })
    }

    async fn blocked(&self, sessions: usize) {
        until("the sessions to wait", || async {
            self.controls.blocked() == sessions
        })
        .await;
    }
}

/// A call that must not wait for anybody.
async fn at_once<T>(call: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(Duration::from_secs(20), call).await;
    done.expect("nobody waits for what is not theirs")
}

fn deadlock() -> SqlError {
    SqlError::with(1205, 13, 51, "deadlocked on lock resources")
}

fn enqueue(session: &str) -> String {
    format!(
        r#"enqueue_for_worker @worker_items = N'[{{"ord":0,"instance_id":"i","execution_id":1,"activity_id":1,"session_id":"{session}","payload":"x"}}]'"#
    )
}

fn fetch_work(owner: &str) -> String {
    format!(
        "fetch_work_item @lock_token = N'{}', @lock_timeout_ms = 60000, @include_untagged = 1, @session_owner = N'{owner}', @session_timeout_ms = 60000",
        uuid::Uuid::new_v4()
    )
}

fn fetch_turn() -> String {
    let token = uuid::Uuid::new_v4();
    format!("fetch_orchestration_item @lock_token = N'{token}', @lock_timeout_ms = 60000")
}

fn post(instance: &str) -> String {
    format!(
        "enqueue_for_orchestrator @instance_id = N'{instance}', @kind = N'StartOrchestration', @payload = N'x'"
    )
}

fn found(sets: &[Vec<tiberius::Row>]) -> bool {
    sets[0][0].get("found") == Some(true)
}

fn token(sets: &[Vec<tiberius::Row>]) -> String {
    let token: &str = sets[0][0].get("lock_token").expect("a token");
    token.to_owned()
}

/// The worker has its item whatever becomes of the lane, which is written after the commit.
#[tokio::test]
async fn work_fetch_that_is_committed_does_not_fail_with_its_lane() {
    let bench = Bench::new().await;
    bench.exec(&enqueue("s")).await;
    let committed = Trigger::committed().of("fetch_work_item");
    let pause = bench.controls.pause(committed);
    let fetch = bench.spawn(&fetch_work("w")).await;
    let spid = pause.paused().await;
    let lane = Trigger::statement().by(spid).containing("session_lanes");
    let rule = bench.controls.fail(lane, deadlock());
    pause.release();
    let sets = fetch.await.unwrap().expect("the item is leased");
    assert!(found(&sets));
    assert_eq!(rule.fired(), 1, "the lane was to be written");
}

/// The same for a renewal.
#[tokio::test]
async fn renewed_sessions_are_reported_whatever_becomes_of_their_lanes() {
    let bench = Bench::new().await;
    bench.exec(&enqueue("s")).await;
    assert!(found(&bench.exec(&fetch_work("w")).await));
    let lanes = Trigger::statement()
        .of("renew_session_lock")
        .containing("session_lanes");
    let rule = bench.controls.fail(lanes, deadlock());
    let renew =
        r#"renew_session_lock @owner_ids = N'["w"]', @extend_ms = 90000, @idle_timeout_ms = 60000"#;
    let sets = bench.exec(renew).await;
    assert_eq!(sets[0][0].get::<i64, _>("renewed"), Some(1));
    assert_eq!(rule.fired(), 1, "the lanes were to be written");
}

/// A turn that is claimed but cannot be read goes back as it was: the failure that is reported is one.
#[tokio::test]
async fn turn_that_cannot_be_read_is_given_back() {
    for table in ["].instances", "].history", "].kv_store"] {
        let bench = Bench::new().await;
        bench.exec(&post("order")).await;
        let pause = bench
            .controls
            .pause(Trigger::committed().of("fetch_orchestration_item"));
        let fetch = bench.spawn(&fetch_turn()).await;
        let spid = pause.paused().await;
        let read = Trigger::statement().by(spid).containing(table);
        let rule = bench.controls.fail(read, deadlock());
        pause.release();
        assert_eq!(fetch.await.unwrap().expect_err("the read fails"), 1205);
        assert_eq!(rule.fired(), 1, "{table}");
        drop(pause);
        let sets = bench.exec(&fetch_turn()).await;
        assert!(found(&sets), "{table}: nobody has the turn");
        assert_eq!(
            sets[0][0].get::<i32, _>("attempt_count"),
            Some(1),
            "{table}"
        );
    }
}

/// Whoever finds that another has created the row a moment before starts again and succeeds.
#[tokio::test]
async fn rows_created_by_another_at_the_same_moment_are_found() {
    let duplicate = || SqlError::with(2627, 14, 1, "Violation of UNIQUE KEY constraint");
    let bench = Bench::new().await;
    let lane = || Trigger::statement().containing("].session_lanes WITH (ROWLOCK) (session_key");
    let rule = bench.controls.fail(lane(), duplicate());
    bench.exec(&enqueue("a")).await;
    assert_eq!(rule.fired(), 1, "enqueue_for_worker");

    bench.exec(&post("i")).await;
    let turn = token(&bench.exec(&fetch_turn()).await);
    let rule = bench.controls.fail(lane(), duplicate());
    let ack = format!(
        r#"ack_orchestration_item @lock_token = N'{turn}', @execution_id = 1,
           @worker_items = N'[{{"ord":0,"instance_id":"i","execution_id":1,"activity_id":2,"session_id":"b","payload":"x"}}]'"#
    );
    bench.exec(&ack).await;
    assert_eq!(rule.fired(), 1, "ack_orchestration_item");

    let session = Trigger::statement().containing("].sessions WITH (ROWLOCK) (session_key");
    let rule = bench.controls.fail(session, duplicate());
    assert!(found(&bench.exec(&fetch_work("w")).await));
    assert_eq!(rule.fired(), 1, "fetch_work_item");
    let left = "SELECT COUNT(*) AS n FROM [$(schema)].worker_queue;";
    assert_eq!(bench.schema.number(left).await, 2, "each item once");
}

/// Several lanes are locked in the order of their keys, whatever the order of the items.
#[tokio::test]
async fn lanes_are_locked_in_the_order_of_their_keys() {
    let bench = Bench::new().await;
    for session in ["a", "b", "c"] {
        bench.exec(&enqueue(session)).await;
    }
    let mut holder = bench.session().await;
    holder
        .run("BEGIN TRANSACTION; UPDATE [$(schema)].session_lanes SET not_before_ms = 0 WHERE session_key = N'[b]';")
        .await
        .unwrap();
    let items: Vec<_> = ["c", "b", "a"]
        .iter()
        .map(|session| {
            format!(r#"{{"ord":0,"instance_id":"i","execution_id":1,"activity_id":1,"session_id":"{session}","payload":"x"}}"#)
        })
        .collect();
    let call = format!(
        "enqueue_for_worker @worker_items = N'[{}]'",
        items.join(",")
    );
    let call = bench.spawn(&call).await;
    bench.blocked(1).await;
    let mut probe = bench.session().await;
    for (session, is_locked) in [("a", true), ("c", false)] {
        let text = format!(
            "SET LOCK_TIMEOUT 0; UPDATE [$(schema)].session_lanes SET not_before_ms = 0 WHERE session_key = N'[{session}]';"
        );
        let refused = probe.run(&text).await.err();
        assert_eq!(refused, is_locked.then_some(1222), "{session}");
    }
    holder.run("ROLLBACK;").await.unwrap();
    call.await.unwrap().expect("the items go in");
}

/// Thousands of rows are locked one by one: nobody who steps over them meets a lock on the table.
#[tokio::test]
async fn large_turns_lock_rows_and_no_table() {
    let bench = Bench::new().await;
    let many = 6_000;
    bench.exec(&post("order")).await;
    bench.exec(&post("other")).await;
    let plain = r#"enqueue_for_worker @worker_items = N'[{"ord":0,"instance_id":"other","execution_id":1,"activity_id":1,"payload":"x"}]'"#;
    bench.exec(plain).await;
    let turn = token(&bench.exec(&fetch_turn()).await);
    let list = |item: &dyn Fn(usize) -> String| {
        let items: Vec<_> = (1..=many).map(item).collect();
        items.join(",")
    };
    let ack = format!(
        "ack_orchestration_item @lock_token = N'{turn}', @execution_id = 1, @history = N'[{}]', @worker_items = N'[{}]', @orchestrator_items = N'[{}]'",
        list(&|n| format!(r#"{{"event_id":{n},"payload":"x","payload_bytes":1}}"#)),
        list(&|n| format!(
            r#"{{"ord":{n},"instance_id":"order","execution_id":1,"activity_id":{n},"payload":"x"}}"#
        )),
        list(&|n| format!(
            r#"{{"ord":{n},"instance_id":"order","kind":"TimerFired","payload":"x"}}"#
        )),
    );
    let pause = bench
        .controls
        .pause(Trigger::commit().of("ack_orchestration_item"));
    let ack = bench.spawn(&ack).await;
    pause.paused().await;
    assert!(found(&at_once(bench.exec(&fetch_work("w"))).await));
    assert!(found(&at_once(bench.exec(&fetch_turn())).await));
    at_once(bench.exec("append_with_execution @instance_id = N'other', @execution_id = 1, @history = N'[{\"event_id\":1,\"payload\":\"x\",\"payload_bytes\":1}]'")).await;
    pause.release();
    ack.await.unwrap().expect("the turn ends");
    // The next turn takes six thousand messages at once.
    assert!(found(&bench.exec(&fetch_turn()).await));
    assert_eq!(bench.controls.counters().total().stats.escalations, 0);
}

/// A ready row that somebody keeps locked does not hide what becomes ready behind it.
#[tokio::test]
async fn fetches_do_not_wait_for_a_locked_row_when_there_is_other_work() {
    let bench = Bench::new().await;
    let plain = |instance: &str| {
        format!(
            r#"enqueue_for_worker @worker_items = N'[{{"ord":0,"instance_id":"{instance}","execution_id":1,"activity_id":1,"payload":"{instance}"}}]'"#
        )
    };
    bench.exec(&post("first")).await;
    bench.exec(&plain("first")).await;
    let mut holder = bench.session().await;
    holder
        .run(
            "BEGIN TRANSACTION;
             UPDATE [$(schema)].instance_locks SET pinned_version = -1;
             UPDATE [$(schema)].worker_queue SET attempt_count = 0;",
        )
        .await
        .expect("both rows are locked");
    let turn = bench.spawn(&fetch_turn()).await;
    let work = bench.spawn(&fetch_work("w")).await;
    bench.blocked(2).await;
    bench.exec(&post("second")).await;
    bench.exec(&plain("second")).await;
    // Time passes for them, and the row stays locked.
    bench.controls.advance(Duration::from_secs(1));
    let turn = at_once(turn)
        .await
        .unwrap()
        .expect("fetch_orchestration_item");
    assert_eq!(turn[0][0].get("instance_id"), Some("second"));
    let work = at_once(work).await.unwrap().expect("fetch_work_item");
    assert_eq!(work[0][0].get("payload"), Some("second"));
    holder.run("ROLLBACK;").await.unwrap();
    let turn = bench.exec(&fetch_turn()).await;
    assert_eq!(turn[0][0].get("instance_id"), Some("first"));
}

/// The wait leaves the connection's own LOCK_TIMEOUT as it was.
#[tokio::test]
async fn bounded_wait_leaves_the_lock_timeout_alone() {
    let bench = Bench::new().await;
    bench.exec(&post("first")).await;
    let mut session = bench.session().await;
    for wait in [
        "_await_instance @instance_id = N'first'",
        "_await_work_item @work_id = 1",
    ] {
        let text =
            format!("SET LOCK_TIMEOUT 77; EXEC [$(schema)].{wait}; SELECT @@LOCK_TIMEOUT AS n;");
        assert_eq!(session.number(&text).await, 77, "{wait}");
    }
}

/// Keys that move from the running execution to the store while they are being read stay in sight.
#[tokio::test]
async fn key_values_are_complete_while_an_execution_ends() {
    for (call, column) in [
        ("get_kv_all_values @instance_id = N'order'", None),
        (
            "get_instance_stats @instance_id = N'order'",
            Some("kv_user_key_count"),
        ),
    ] {
        let bench = Bench::new().await;
        bench.exec(&post("order")).await;
        let turn = token(&bench.exec(&fetch_turn()).await);
        let ack = |turn: &str, more: &str| {
            format!(
                r#"ack_orchestration_item @lock_token = N'{turn}', @execution_id = 1, @orchestration_name = N'o', @orchestration_version = N'1', {more}
                   @kv_changes = N'[{{"key":"k","value":"v","value_bytes":1,"updated_at_ms":1}}]'"#
            )
        };
        bench.exec(&ack(&turn, "")).await;
        bench.exec(&post("order")).await;
        let turn = token(&bench.exec(&fetch_turn()).await);
        // The key has been written again and is about to be moved.
        let pause = bench.controls.pause(
            Trigger::statement()
                .of("_apply_kv_changes")
                .containing("IF @merge = 1"),
        );
        let end = bench.spawn(&ack(&turn, "@status = N'Completed',")).await;
        pause.paused().await;
        let read = bench.spawn(call).await;
        bench.blocked(1).await;
        pause.release();
        end.await.unwrap().expect("the execution ends");
        let sets = read.await.unwrap().expect("the keys are read");
        let keys = match column {
            None => i64::try_from(sets[0].len()).unwrap(),
            Some(column) => sets[0][0].get(column).expect("a number"),
        };
        assert_eq!(keys, 1, "{call}");
    }
}

/// A connection that was left with another isolation level gets the same answers, and keeps its level.
#[tokio::test]
async fn procedures_run_under_their_own_isolation_level() {
    let bench = Bench::new().await;
    bench.exec(&post("order")).await;
    bench.exec(&enqueue("s")).await;
    let read_past = "SELECT COUNT(*) AS n FROM [$(schema)].sessions WITH (READPAST);";
    for level in ["READ UNCOMMITTED", "SERIALIZABLE"] {
        for procedure in public_procedures() {
            let mut session = bench.session().await;
            let set = format!("SET TRANSACTION ISOLATION LEVEL {level};");
            session.run(&set).await.unwrap();
            let token = format!("N'{}'", uuid::Uuid::new_v4());
            let call = procedure.call("@lock_token", &token);
            let refused = session.run(&call).await.err();
            assert_ne!(refused, Some(650), "{} under {level}", procedure.name);
            let kept = session.run(read_past).await.err();
            assert_eq!(kept, Some(650), "{} leaves {level}", procedure.name);
        }
    }
}

/// Nor does it lock ranges that others need: a fetch under SERIALIZABLE would keep the gap in which
/// it found no instance.
#[tokio::test]
async fn fetch_on_a_serializable_connection_locks_no_range() {
    let bench = Bench::new().await;
    bench.exec(&post("a")).await;
    let turn = token(&bench.exec(&fetch_turn()).await);
    bench.exec(&post("b")).await;
    let pause = bench
        .controls
        .pause(Trigger::commit().of("fetch_orchestration_item"));
    let mut session = bench.session().await;
    let level = "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;";
    session.run(level).await.unwrap();
    let fetch = format!("EXEC [$(schema)].{};", fetch_turn());
    let fetch = tokio::spawn(async move { session.run(&fetch).await });
    pause.paused().await;
    let ack = format!(
        "ack_orchestration_item @lock_token = N'{turn}', @execution_id = 1, @orchestration_name = N'o', @orchestration_version = N'1'"
    );
    at_once(bench.exec(&ack)).await;
    pause.release();
    assert!(found(&fetch.await.unwrap().unwrap()));
}

/// A search for what can be deleted or pruned reads one index and no row: a turn that ends has its
/// instance's row and wants the entry, and the two would meet half-way.
#[tokio::test]
async fn purge_searches_without_touching_the_rows() {
    let bench = Bench::new().await;
    bench.exec(&post("child")).await;
    let turn = token(&bench.exec(&fetch_turn()).await);
    let ack = format!(
        "ack_orchestration_item @lock_token = N'{turn}', @execution_id = 1, @orchestration_name = N'o', @orchestration_version = N'1', @parent_instance_id = N'parent', @status = N'Completed'"
    );
    bench.exec(&ack).await;
    let mut writer = bench.session().await;
    writer
        .run("BEGIN TRANSACTION; UPDATE [$(schema)].instances SET custom_status = N'x' WHERE instance_id = N'child';")
        .await
        .unwrap();
    let sets = at_once(bench.exec("delete_instance_bulk")).await;
    assert_eq!(sets[0][0].get::<i64, _>("instances_deleted"), Some(0));
    writer.run("ROLLBACK;").await.unwrap();
}
