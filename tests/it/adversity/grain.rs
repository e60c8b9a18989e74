//! No call leaves it to the server how much it locks at a time.
//!
//! READPAST does not step over a page or a table that somebody has locked ("Table hints"), and who locks pages
//! meets callers that have nothing to do with each other. ROWLOCK is what keeps the server from it.

use std::time::Duration;

use super::bench::{Bench, turn};
use super::failures::{Case, case, cases, late};
use super::levels::QUESTIONS;
use super::pairs::{ack, enqueue_work, fetch, fetch_work, post, token, weighty};
use super::{failures, fenced};
use crate::support::session::Session;
use crate::support::setting::Setting;

/// Calls besides those that fail at every statement: what is large, what is orphaned, and what only reads.
pub(super) fn others() -> Vec<Case> {
    let large = |calls: Vec<String>| -> Vec<String> {
        let calls = weighty(&calls.join("\n"));
        calls.split('\n').map(str::to_owned).collect()
    };
    let orphan = |kind: &str| post("i", "m1").replace("StartOrchestration", kind);
    let values = ", @set_custom_status = 1, @custom_status = N'c', @kv_changes = N'[{\"key\":\"k\",\"value\":\"v\",\"value_bytes\":1}]'";
    // The statistics read the first event.
    let readable = |call: String| call.replace("\"payload\":\"aa\"", "\"payload\":\"{}\"");
    let busy = || {
        let turns = turn("i", "aa", values).into_iter().map(readable);
        let child = turn("child", "bb", ", @parent_instance_id = N'i'");
        let work = [
            enqueue_work(1, Some("s")),
            enqueue_work(2, None),
            fetch_work("cc", "w1"),
        ];
        turns
            .chain(child)
            .chain([post("i", "m2")])
            .chain(work)
            .collect::<Vec<_>>()
    };
    let any = format!(
        "fetch_work_item @lock_token = N'{}', @lock_timeout_ms = 60000, @any_tag = 1, @tags = N'[\"gpu\"]', @session_owner = N'w1', @session_timeout_ms = 60000, @process_id = '{}'",
        token("dd"),
        token("00")
    );
    let more = [
        any.as_str(),
        "get_queue_depths @max_age_ms = 0",
        "get_system_metrics @max_age_ms = 0",
        "read_with_execution @instance_id = N'i', @execution_id = 1",
        "read_with_execution @instance_id = N'i', @execution_id = 1, @known_event_id = 0",
        "wait_for_work @wait_ms = 1, @orchestrations = 1, @any_tag = 1, @sessions = 1, @session_owners = N'[\"w1\"]'",
        "purge_instances @older_than_days = 0",
        "purge_orphan_messages @older_than_ms = 0",
    ];
    let known = format!(
        "[read] @instance_id = N'i', @known_execution_id = 1, @known_first_turn = '{0}', @known_event_id = 1, @known_last_turn = '{0}'",
        token("aa")
    );
    let of_process = format!("{}, @process_id = '{}'", fetch("dd"), token("00"));
    // The store has a key from the first execution; the second clears it, writes others and ends.
    let first = turn("i", "aa", &format!("{values}, @status = N'ContinuedAsNew'"));
    let second = vec![post("i", "m3"), fetch("bb")];
    let cleared = ack(
        "bb",
        "i",
        &format!("{values}, @kv_clear_all = 1, @status = N'Completed'"),
    );
    let cleared = cleared.replace("@execution_id = 1", "@execution_id = 2");
    // The session has ended and its item is still leased, so that the lane promises too much.
    let brief = |calls: Vec<String>| -> Vec<String> {
        let ends =
            |call: String| call.replace("@session_timeout_ms = 60000", "@session_timeout_ms = 0");
        calls.into_iter().map(ends).collect()
    };
    let one = || brief(vec![enqueue_work(1, Some("s")), fetch_work("aa", "w1")]);
    let done = || vec!["ack_work_item @lock_token = N'$(work)'".to_owned()];
    let ended = || turn("i", "aa", &format!("{values}, @status = N'Completed'"));
    let mut others = vec![
        case(one(), fetch_work("bb", "w2")),
        case([one(), done()].concat(), fetch_work("bb", "w2")),
        case(
            [one(), vec![fetch_work("bb", "w2")]].concat(),
            enqueue_work(2, Some("s")),
        ),
        case(vec![post("i", "m1"), fetch("aa")], ack("aa", "i", "")),
        case(
            vec![post("i", "m1"), fetch("aa")],
            ack("aa", "i", ", @pinned_version = 1000001"),
        ),
        case(
            ended(),
            "get_kv_value @instance_id = N'i', @kv_key = N'k'".to_owned(),
        ),
        case(ended(), "[read] @instance_id = N'i'".to_owned()),
        case(
            ended(),
            "[read] @instance_id = N'i', @known_event_id = 0".to_owned(),
        ),
        case(
            ended(),
            "delete_instance_bulk @instance_ids = N'[\"i\"]'".to_owned(),
        ),
        case([first, second].concat(), cleared),
        case(
            vec![post("i", "m1")],
            "cancel_instance @instance_id = N'i'".to_owned(),
        ),
        case(
            vec![orphan("ExternalRaised")],
            "cancel_instance @instance_id = N'i'".to_owned(),
        ),
        case(
            fenced::setup(),
            "delete_instance @instance_id = N'i', @force = 1".to_owned(),
        ),
        case(
            large(failures::twice()),
            "prune_executions @instance_id = N'i', @keep_last = 1".to_owned(),
        ),
        case(large(failures::twice()), "delete_instance_bulk".to_owned()),
        case(vec![orphan("ExternalRaised")], fetch("aa")),
        case(vec![orphan("QueueMessage")], fetch("aa")),
        late(
            vec![enqueue_work(1, Some("s")), fetch_work("aa", "w1")],
            &fetch_work("bb", "w2"),
        ),
        case(busy(), known),
        case(busy(), of_process),
        case(vec![], fetch_work("aa", "w1")),
        case(vec![], fetch("aa")),
    ];
    others.extend(
        QUESTIONS
            .iter()
            .chain(&more)
            .map(|call| case(busy(), (*call).to_owned())),
    );
    others
}

/// Every procedure that a worker or a client may meet, on every kind of server. (get_schema_state reads tables that only
/// an installation writes.)
#[tokio::test]
async fn calls_lock_rows_whatever_the_server_would_like() {
    for setting in Setting::each(0..4, &[]).map(Setting::with_adversary) {
        let mut bench = Bench::new(setting).await;
        let mut caller = Session::open(&bench.schema).await;
        let spid = caller.spid().await;
        for case in cases().into_iter().chain(others()) {
            bench.prepare(&case.setup).await;
            if case.is_late {
                bench.controls.advance(Duration::from_secs(61));
            }
            let call = bench.named(&case.call).await;
            let done = caller.run(&format!("EXEC [$(schema)].{call};")).await;
            // A refusal of our own has looked at the tables, too.
            let is_done = done
                .as_ref()
                .map_or_else(|number| (51_001..51_050).contains(number), |_| true);
            assert!(is_done, "{setting:?}: {:?} from {call}", done.err());
            let is_open = bench.leaves_grain_open(spid);
            assert!(
                !is_open,
                "{setting:?}: the grain of a lock is left open by {call}"
            );
        }
    }
}
