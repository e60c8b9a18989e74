//! What a call has read in order to decide stays as it is until the call has written; and what somebody is about to
//! change is waited for, not read as it was.

use std::time::Duration;

use mssql_embedded::Trigger;

use super::bench::{Bench, turn};
use super::failures::twice;
use super::fenced;
use super::pairs::{ack, enqueue_work, fetch, fetch_work, post, token, weighty};
use crate::support::database::SnapshotReads;
use crate::support::mutants;
use crate::support::session::Session;
use crate::support::setting::Setting;

/// A call, stopped behind the statement that locks, and who must not get at what it has locked.
struct Kept {
    setup: Vec<String>,
    call: String,
    /// The procedure and the statement before which it is stopped.
    at: (&'static str, &'static str),
    intruder: &'static str,
}

/// Whoever writes.
const LANES: &str = "UPDATE [$(schema)].session_lanes SET not_before_ms = 1;";
const ITEMS: &str = "UPDATE [$(schema)].worker_queue SET attempt_count = 9;";
const TURNS: &str =
    "UPDATE [$(schema)].instance_locks SET pinned_version = 9 WHERE instance_id = N'i';";
/// Whoever shares, as those do who post without moving the row.
const POSTER: &str = "SELECT l.pinned_version FROM [$(schema)].instance_locks AS l WITH (INDEX(pk_instance_locks), FORCESEEK, ROWLOCK, REPEATABLEREAD) WHERE l.instance_id = N'i';";

fn kept(
    setup: Vec<String>,
    call: String,
    at: (&'static str, &'static str),
    intruder: &'static str,
) -> Kept {
    Kept {
        setup,
        call,
        at,
        intruder,
    }
}

fn large(calls: &[String]) -> Vec<String> {
    let calls = weighty(&calls.join("\n"));
    calls.split('\n').map(str::to_owned).collect()
}

/// The session has ended and its item is still leased.
fn brief() -> Vec<String> {
    let fetch =
        fetch_work("aa", "w1").replace("@session_timeout_ms = 60000", "@session_timeout_ms = 0");
    vec![enqueue_work(1, Some("s")), fetch]
}

fn all() -> Vec<Kept> {
    let held = || vec![post("i", "m1"), fetch("aa")];
    let leased = || vec![enqueue_work(1, None), fetch_work("aa", "w1")];
    let of_turn =
        |name: &str, more: &str| format!("{name} @lock_token = N'{}:i'{more}", token("aa"));
    let of_work = |name: &str, more: &str| format!("{name} @lock_token = N'$(work)'{more}");
    let sends = ", @orchestrator_items = N'[{\"ord\":0,\"instance_id\":\"child\",\"kind\":\"StartOrchestration\",\"payload\":\"m9\"}]'";
    let completes = ", @instance_id = N'i', @kind = N'ActivityCompleted', @payload = N'c1'";
    let orphan = post("i", "m1").replace("StartOrchestration", "ExternalRaised");
    let prune = || "prune_executions @instance_id = N'i', @keep_last = 1".to_owned();
    vec![
        kept(
            vec![enqueue_work(1, Some("s"))],
            enqueue_work(2, Some("s")),
            ("_add_work_items", "INSERT INTO"),
            LANES,
        ),
        kept(
            brief(),
            fetch_work("bb", "w2"),
            ("_settle_session_lane", "SELECT TOP (1) @next_ms"),
            LANES,
        ),
        kept(
            twice(),
            prune(),
            ("_prune_executions", "SELECT @current_execution_id"),
            TURNS,
        ),
        kept(
            large(&twice()),
            prune(),
            ("_delete_events", "UPDATE e"),
            TURNS,
        ),
        kept(
            leased(),
            of_work("ack_work_item", completes),
            ("ack_work_item", "DELETE q"),
            ITEMS,
        ),
        kept(
            vec![enqueue_work(1, None)],
            fetch_work("aa", "w1"),
            ("fetch_work_item", "UPDATE q"),
            ITEMS,
        ),
        kept(
            vec![post("i", "m1")],
            fetch("aa"),
            ("fetch_orchestration_item", "SET lock_token = @token"),
            TURNS,
        ),
        kept(
            leased(),
            of_work("renew_work_item_lock", ", @extend_ms = 90000"),
            ("renew_work_item_lock", "UPDATE q"),
            ITEMS,
        ),
        kept(
            held(),
            ack("aa", "i", sends),
            ("ack_orchestration_item", "SELECT @lease_end_ms"),
            POSTER,
        ),
        kept(
            held(),
            ack("aa", "i", ""),
            ("ack_orchestration_item", "DELETE q"),
            POSTER,
        ),
        kept(
            vec![post("i", "m1")],
            post("i", "m2"),
            ("_post_message", "orchestrator_queue WITH (ROWLOCK)"),
            TURNS,
        ),
        kept(
            turn("i", "aa", ""),
            post("i", "m2"),
            ("_post_message", "UPDATE l"),
            POSTER,
        ),
        kept(
            held(),
            of_turn("abandon_orchestration_item", ""),
            ("abandon_orchestration_item", "UPDATE q"),
            POSTER,
        ),
        kept(
            held(),
            of_turn("renew_orchestration_item_lock", ", @extend_ms = 90000"),
            ("renew_orchestration_item_lock", "UPDATE l"),
            POSTER,
        ),
        kept(
            vec![orphan],
            "purge_orphan_messages @older_than_ms = 0".to_owned(),
            ("purge_orphan_messages", "DELETE q"),
            POSTER,
        ),
        kept(
            fenced::setup(),
            "delete_instance @instance_id = N'i', @force = 1".to_owned(),
            ("_delete_events", "UPDATE e"),
            POSTER,
        ),
    ]
}

#[tokio::test]
async fn what_is_read_under_a_lock_stays_locked() {
    for setting in Setting::each(0..4, &[]).map(Setting::with_adversary) {
        let mut bench = Bench::new(setting).await;
        let mut intruder = Session::open(&bench.schema).await;
        for case in all() {
            if !mutants::concerns(&[&case.call]) {
                continue;
            }
            bench.prepare(&case.setup).await;
            bench.controls.advance(Duration::from_millis(5));
            let call = bench.named(&case.call).await;
            let mut caller = Session::open(&bench.schema).await;
            let (procedure, text) = case.at;
            let pause = bench
                .controls
                .pause(Trigger::statement().of(procedure).containing(text).times(1));
            let running = tokio::spawn(async move {
                caller
                    .run(&format!("EXEC [$(schema)].{call};"))
                    .await
                    .map(drop)
            });
            let stopped = tokio::time::timeout(Duration::from_secs(20), pause.paused()).await;
            let what = format!("{setting:?}: {} before {text} of {procedure}", case.call);
            stopped.unwrap_or_else(|_| panic!("{what}: it never came there"));
            let answer = intruder
                .run(&format!("SET LOCK_TIMEOUT 0; {}", case.intruder))
                .await;
            assert_eq!(answer.err(), Some(1222), "{what}: {}", case.intruder);
            drop(pause);
            running
                .await
                .unwrap()
                .unwrap_or_else(|number| panic!("{what}: {number}"));
        }
    }
}

/// What is there, a change that is under way, a call that has to know what comes of it, and its error when it must not wait.
fn awaited() -> [(Vec<String>, &'static str, String, Option<u32>); 3] {
    let item = "INSERT INTO [$(schema)].worker_queue (instance_id, execution_id, activity_id, session_key, tag_key, not_before_ms, enqueued_at_ms, attempt_count, payload)
        VALUES (N'i', 1, 5, N'', N'', 0, 0, 0, N'x');";
    let cancels = ", @cancelled_activities = N'[{\"instance_id\":\"i\",\"execution_id\":1,\"activity_id\":5}]'";
    let child = "INSERT INTO [$(schema)].instances (instance_id, orchestration_name, orchestration_version, parent_instance_id, status, current_execution_id, custom_status_version, created_at_ms, updated_at_ms)
        VALUES (N'late', N'o', N'1', N'i', N'Running', 1, 0, 0, 0);";
    let claim =
        "UPDATE [$(schema)].worker_queue WITH (ROWLOCK) SET not_before_ms = not_before_ms + 60000;";
    [
        (
            vec![post("i", "m1"), fetch("aa")],
            item,
            ack("aa", "i", cancels),
            Some(1222),
        ),
        (
            turn("i", "aa", ""),
            child,
            "delete_instance @instance_id = N'i', @force = 1".to_owned(),
            Some(1222),
        ),
        (
            vec![enqueue_work(1, Some("s"))],
            claim,
            fetch_work("bb", "w2"),
            // Waits for a moment of its own, and then leaves the lane as it is.
            None,
        ),
    ]
}

#[tokio::test]
async fn what_is_about_to_change_is_waited_for() {
    for seed in [1, 3] {
        let setting = Setting::each(seed..seed + 1, &[])
            .next()
            .expect("a setting");
        let setting = Setting {
            reads: SnapshotReads::On,
            ..setting.with_adversary()
        };
        let mut bench = Bench::new(setting).await;
        let mut caller = Session::open(&bench.schema).await;
        let mut writer = Session::open(&bench.schema).await;
        caller
            .run("SET LOCK_TIMEOUT 0;")
            .await
            .expect("nothing is waited for");
        for (setup, change, call, number) in awaited() {
            if !mutants::concerns(&[&call]) {
                continue;
            }
            bench.prepare(&setup).await;
            let begun = writer.run(&format!("BEGIN TRANSACTION; {change}")).await;
            begun.expect("it is under way");
            let text = format!("EXEC [$(schema)].{call};");
            let answer = tokio::time::timeout(Duration::from_secs(20), caller.run(&text)).await;
            let answer = answer.unwrap_or_else(|_| panic!("{setting:?}: {call} goes on for ever"));
            assert_eq!(answer.err(), number, "{setting:?}: {call} beside {change}");
            writer.run("ROLLBACK;").await.expect("nothing has happened");
        }
    }
}
