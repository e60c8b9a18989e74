//! A call that fails at any of its statements is undone, or it was done already.
//!
//! The failure is of the kind that ends the statement and nothing else, unless XACT_ABORT says more;
//! the connections here leave XACT_ABORT off, as those of any administrator.

use std::time::Duration;

use mssql_embedded::{SqlError, Trigger};

use super::bench::{Bench, turn};
use super::pairs::{ack, enqueue_work, fetch, fetch_work, post, token, work};
use crate::support::session::Session;
use crate::support::setting::Setting;

pub(super) struct Case {
    pub setup: Vec<String>,
    /// Whether the leases end between the setup and the call.
    pub is_late: bool,
    pub call: String,
}

pub(super) fn case(setup: Vec<String>, call: String) -> Case {
    Case {
        setup,
        is_late: false,
        call,
    }
}

pub(super) fn late(setup: Vec<String>, call: &str) -> Case {
    Case {
        is_late: true,
        ..case(setup, call.to_owned())
    }
}

/// Two executions of an instance, the second ended.
pub(super) fn twice() -> Vec<String> {
    let next = turn("i", "a1", ", @status = N'ContinuedAsNew'");
    let last = turn("i", "a2", ", @status = N'Completed'");
    let last = last.map_second_execution();
    [next, last].concat()
}

pub(super) fn cases() -> Vec<Case> {
    let held = || vec![post("i", "m1"), fetch("aa")];
    let leased = || vec![enqueue_work(1, Some("s")), fetch_work("aa", "w1")];
    let ended = || turn("i", "aa", ", @status = N'Completed'");
    let everything = format!(
        ", @status = N'Completed', @worker_items = N'[{},{}]', @orchestrator_items = N'[{{\"ord\":0,\"instance_id\":\"child\",\"kind\":\"StartOrchestration\",\"payload\":\"m9\"}}]', @kv_changes = N'[{{\"key\":\"k\",\"value\":\"v\",\"value_bytes\":1}}]', @set_custom_status = 1, @custom_status = N'c', @cancelled_activities = N'[{{\"instance_id\":\"i\",\"execution_id\":1,\"activity_id\":1}}]'",
        work(5, None),
        work(6, Some("s"))
    );
    let of_turn =
        |name: &str, more: &str| format!("{name} @lock_token = N'{}:i'{more}", token("aa"));
    vec![
        case(vec![], post("i", "m1")),
        case(vec![post("i", "m1")], post("i", "m2")),
        case(vec![post("i", "m1")], fetch("aa")),
        case([vec![enqueue_work(1, None)], held()].concat(), ack("aa", "i", &everything)),
        case(held(), of_turn("abandon_orchestration_item", ", @delay_ms = 60000, @ignore_attempt = 1")),
        case([held(), vec![of_turn("abandon_orchestration_item", "")]].concat(), of_turn("uncount_orchestration_item", "")),
        case(held(), of_turn("renew_orchestration_item_lock", ", @extend_ms = 90000")),
        case(vec![], enqueue_work(1, Some("s"))),
        case(vec![enqueue_work(1, Some("s"))], fetch_work("aa", "w1")),
        case(leased(), "ack_work_item @lock_token = N'$(work)', @instance_id = N'i', @kind = N'ActivityCompleted', @payload = N'c1'".to_owned()),
        case(leased(), "abandon_work_item @lock_token = N'$(work)', @delay_ms = 60000".to_owned()),
        case([leased(), vec!["abandon_work_item @lock_token = N'$(work)'".to_owned(), fetch_work("bb", "w1")]].concat(), "uncount_work_item @lock_token = N'$(work)'".to_owned()),
        case(leased(), "renew_work_item_lock @lock_token = N'$(work)', @extend_ms = 90000".to_owned()),
        case(leased(), "renew_session_lock @owner_ids = N'[\"w1\"]', @extend_ms = 90000, @idle_timeout_ms = 60000".to_owned()),
        case(leased(), "release_sessions @owner_ids = N'[\"w1\"]'".to_owned()),
        late([leased(), vec!["ack_work_item @lock_token = N'$(work)'".to_owned()]].concat(), "cleanup_orphaned_sessions"),
        case(ended(), "append_with_execution @instance_id = N'i', @execution_id = 1, @history = N'[{\"event_id\":2,\"payload\":\"x\",\"payload_bytes\":1}]'".to_owned()),
        case(ended(), "delete_instance @instance_id = N'i', @force = 1".to_owned()),
        case(ended(), "delete_instances_atomic @instance_ids = N'[\"i\"]', @force = 1".to_owned()),
        case(ended(), "delete_instance_bulk".to_owned()),
        case(twice(), "prune_executions @instance_id = N'i', @keep_last = 1".to_owned()),
        case(twice(), "prune_executions_bulk @keep_last = 1".to_owned()),
        case(turn("i", "aa", ""), "cancel_instance @instance_id = N'i'".to_owned()),
        case(turn("i", "aa", ""), "raise_event @instance_id = N'i', @name = N'n'".to_owned()),
        late(
            vec![post("i", "m1").replace("StartOrchestration", "ExternalRaised"), fetch("aa")],
            "purge_orphan_messages @older_than_ms = 1",
        ),
    ]
}

trait Turns {
    fn map_second_execution(self) -> Self;
}

impl Turns for Vec<String> {
    fn map_second_execution(self) -> Self {
        let second = |call: String| call.replace("@execution_id = 1", "@execution_id = 2");
        self.into_iter().map(second).collect()
    }
}

/// The tables before the call and after it.
async fn both_ends(bench: &mut Bench, case: &Case) -> [Vec<String>; 2] {
    bench.prepare(&case.setup).await;
    if case.is_late {
        bench.controls.advance(Duration::from_secs(61));
    }
    let before = bench.tables().await;
    let call = bench.named(&case.call).await;
    let done = bench.side.run(&format!("EXEC [$(schema)].{call};")).await;
    done.unwrap_or_else(|number| panic!("{number} from {call}"));
    [before, bench.tables().await]
}

/// Every call, at every statement that concerns a stored table.
#[tokio::test]
async fn calls_that_fail_anywhere_leave_nothing_half_done() {
    let setting = Setting::each(0..1, &[]).next().expect("a setting");
    let mut bench = Bench::new(setting).await;
    let mut caller = Session::open(&bench.schema).await;
    let spid = caller.spid().await;
    let mut failures = 0;
    for case in cases() {
        let ends = both_ends(&mut bench, &case).await;
        for statement in 0.. {
            bench.prepare(&case.setup).await;
            if case.is_late {
                bench.controls.advance(Duration::from_secs(61));
            }
            let call = bench.named(&case.call).await;
            let name = bench.schema.name().quoted();
            let trigger = Trigger::statement().by(spid).containing(&name);
            let error = SqlError::with(547, 16, 0, "chosen by the test");
            let rule = bench.controls.fail(trigger.after(statement), error);
            let text = format!("EXEC [$(schema)].{call};");
            let answer = caller.run(&text).await.map(drop);
            rule.disarm();
            // Its own statement is the first.
            if rule.fired() == 0 {
                assert!(statement > 1, "{call} does something");
                break;
            }
            failures += 1;
            let what = format!("statement {statement} of {call} ({answer:?})");
            let open = caller.number("SELECT @@TRANCOUNT AS n;").await;
            assert_eq!(open, 0, "a transaction is open after {what}");
            assert_eq!(bench.controls.locks(), [], "locks are left by {what}");
            let tables = bench.tables().await;
            assert!(
                ends.contains(&tables),
                "{what} is half done:\n{tables:#?}\n{ends:#?}"
            );
        }
    }
    assert!(failures > 100, "only {failures} failures");
}
