//! Dangerous pairs of calls, interleaved statement by statement.
//!
//! Whatever the order of their statements, two calls must end as if one had run after the other: with
//! the answers and the tables of one of the two serial orders, every rule of the checker true, no lock
//! left, and no deadlock. Statements that touch no stored table commute with everything, so the steps
//! are those that do, and the commits.

mod interleaving;

use std::time::Duration;

use super::stepper::Call;

/// Tokens: a UUID that ends in two characters of our choice.
pub(super) fn token(name: &str) -> String {
    format!("00000000-0000-0000-0000-0000000000{name}")
}

const LEASE: &str = "@lock_timeout_ms = 60000";

pub(super) fn post(instance: &str, payload: &str) -> String {
    format!(
        "enqueue_for_orchestrator @instance_id = N'{instance}', @kind = N'StartOrchestration', @payload = N'{payload}'"
    )
}

/// A message for the instance `i` that cannot start it.
fn orphan(kind: &str, payload: &str) -> String {
    post("i", payload).replace("StartOrchestration", kind)
}

pub(super) fn fetch(name: &str) -> String {
    format!(
        "fetch_orchestration_item @lock_token = N'{}', {LEASE}",
        token(name)
    )
}

pub(super) fn fetch_work(name: &str, owner: &str) -> String {
    format!(
        "fetch_work_item @lock_token = N'{}', {LEASE}, @include_untagged = 1, @session_owner = N'{owner}', @session_timeout_ms = 60000",
        token(name)
    )
}

/// The end of the turn that was fetched with the token `name`.
pub(super) fn ack(name: &str, instance: &str, more: &str) -> String {
    format!(
        "ack_orchestration_item @lock_token = N'{}:{instance}', @execution_id = 1, @orchestration_name = N'o', @orchestration_version = N'1', @history = N'[{{\"event_id\":1,\"payload\":\"{name}\",\"payload_bytes\":2}}]'{more}",
        token(name)
    )
}

pub(super) fn work(activity: u64, session: Option<&str>) -> String {
    let session = session.map_or(String::new(), |s| format!("\"session_id\":\"{s}\","));
    format!(
        "{{\"ord\":{activity},\"instance_id\":\"i\",\"execution_id\":1,\"activity_id\":{activity},{session}\"payload\":\"w{activity}\"}}"
    )
}

pub(super) fn enqueue_work(activity: u64, session: Option<&str>) -> String {
    format!(
        "enqueue_for_worker @worker_items = N'[{}]'",
        work(activity, session)
    )
}

/// `$(work)` stands for the token of the only item that is held.
pub(super) const HELD: &str = "SELECT TOP (1) CONCAT(q.lock_token, N':', q.work_id) AS held FROM [$(schema)].worker_queue AS q WHERE q.lock_token IS NOT NULL;";

/// How a run ended: both answers and the tables.
type End = ([Vec<String>; 2], Vec<String>);

struct Pair {
    name: &'static str,
    setup: Vec<String>,
    /// Time that passes between the setup and the calls.
    idle: Duration,
    calls: [Call; 2],
    /// Another end that is right as well.
    also: fn(&End) -> bool,
}

fn call(text: String) -> Call {
    Call {
        jump: Duration::ZERO,
        text,
    }
}

/// A call before which the leases end.
fn late(text: String) -> Call {
    Call {
        jump: Duration::from_secs(61),
        text,
    }
}

fn pair(name: &'static str, setup: Vec<String>, a: Call, b: Call) -> Pair {
    Pair {
        name,
        setup,
        idle: Duration::ZERO,
        calls: [a, b],
        also: |_| false,
    }
}

/// The winner of a session has one of its items, not always the first: the loser had that one in hand
/// when it lost. Nothing promises the order of a session's items.
fn one_has_the_session(([a, b], tables): &End) -> bool {
    let found = |answer: &[String]| answer[0].starts_with("found=true");
    let (owner, held) = if found(a) {
        ("w1", " aa later")
    } else {
        ("w2", " bb later")
    };
    let owned = format!("session [s] {owner} leased");
    found(a) != found(b)
        && tables.contains(&owned)
        && tables.iter().filter(|line| line.ends_with(held)).count() == 1
        && tables
            .iter()
            .filter(|line| line.ends_with(" 0 free ready"))
            .count()
            == 1
}

/// The clean-up passes over an item that is locked, and may remove the ended lease of the session that
/// is being claimed this instant; the claim creates the row anew.
fn claimed_anew(([_, fetch], tables): &End) -> bool {
    fetch[0].starts_with("found=true")
        && *tables == ["session [s] w2 leased", "work i 2 [s] 1 bb later"]
}

/// A worker waits but a moment for somebody who has its session and the lanes of it; the next fetch finds the item.
fn left_for_the_next_fetch(([_, fetch], tables): &End) -> bool {
    fetch[0].starts_with("found=false")
        && *tables
            == [
                "session [s]  over",
                "work i 1 [s] 1 aa later",
                "work i 2 [s] 0 free ready",
            ]
}

fn pairs() -> Vec<Pair> {
    let turn = || vec![post("i", "m1"), fetch("aa")];
    let leased = |session| vec![enqueue_work(1, session), fetch_work("aa", "w1")];
    let settle = || {
        call("_settle_session_lane @session_key = N'[s]', @tag_key = N'', @is_patient = NULL, @is_settled = 0, @settled_ms = 0".to_owned())
    };
    let ended = || {
        let end = ack("aa", "i", ", @status = N'Completed'");
        vec![post("i", "m1"), fetch("aa"), end]
    };
    let delete = || call("delete_instance @instance_id = N'i', @force = 1".to_owned());
    let large = |setup: Vec<String>| {
        setup
            .into_iter()
            .map(|step| weighty(&step))
            .collect::<Vec<_>>()
    };
    let work_ack = || {
        call("ack_work_item @lock_token = N'$(work)', @instance_id = N'i', @kind = N'ActivityCompleted', @payload = N'c1'".to_owned())
    };
    let release = || call("release_sessions @owner_ids = N'[\"w1\"]'".to_owned());
    let abandon_work = || call("abandon_work_item @lock_token = N'$(work)'".to_owned());
    let abandon = || {
        call(format!(
            "abandon_orchestration_item @lock_token = N'{}:i'",
            token("aa")
        ))
    };
    let renew = || {
        call(format!(
            "renew_orchestration_item_lock @lock_token = N'{}:i', @extend_ms = 60000",
            token("aa")
        ))
    };
    let busy_turn = || {
        let more = format!(
            ", @worker_items = N'[{},{}]', @orchestrator_items = N'[{{\"ord\":0,\"instance_id\":\"child\",\"kind\":\"StartOrchestration\",\"payload\":\"m9\"}}]', @kv_changes = N'[{{\"key\":\"k\",\"value\":\"v\",\"value_bytes\":1}}]'",
            work(5, None),
            work(6, Some("s"))
        );
        call(ack("aa", "i", &more))
    };
    // A second turn that is under way, while the instance is deleted and begins anew with a turn of
    // its own.
    let second_turn = || {
        let first = ack("a1", "i", "");
        vec![
            post("i", "m1"),
            fetch("a1"),
            first,
            post("i", "m2"),
            fetch("aa"),
        ]
    };
    let end_of_second_turn = || {
        let more = format!(
            ", @worker_items = N'[{}]', @kv_changes = N'[{{\"key\":\"k\",\"value\":\"v\",\"value_bytes\":1}}]'",
            work(5, None)
        );
        call(ack("aa", "i", &more).replace("\"event_id\":1", "\"event_id\":2"))
    };
    let delete_and_create = || {
        let delete = "delete_instance @instance_id = N'i', @force = 1".to_owned();
        let steps = [delete, post("i", "m3"), fetch("cc"), ack("cc", "i", "")];
        call(steps.join("; EXEC [$(schema)]."))
    };
    let child_turn = {
        let child = ack("bb", "child", ", @parent_instance_id = N'i'");
        [post("child", "m2"), fetch("bb")]
            .into_iter()
            .collect::<Vec<_>>()
            .into_iter()
            .chain([child])
            .collect::<Vec<_>>()
    };
    let executions = || {
        let next = |execution: u64, name: &str| {
            format!(
                "ack_orchestration_item @lock_token = N'{}:i', @execution_id = {execution}, @orchestration_name = N'o', @orchestration_version = N'1', @status = N'ContinuedAsNew', @history = N'[{{\"event_id\":1,\"payload\":\"e\",\"payload_bytes\":1}}]'",
                token(name)
            )
        };
        vec![
            post("i", "m1"),
            fetch("a1"),
            next(1, "a1"),
            post("i", "m2"),
            fetch("a2"),
            next(2, "a2"),
            post("i", "m3"),
            fetch("aa"),
        ]
    };
    vec![
        pair("fetch/fetch", vec![post("i", "m1")], call(fetch("aa")), call(fetch("bb"))),
        pair("fetch/fetch of two", vec![post("i", "m1"), post("j", "m2")], call(fetch("aa")), call(fetch("bb"))),
        pair("fetch/enqueue", vec![post("i", "m1")], call(fetch("aa")), call(post("i", "m2"))),
        pair("enqueue/enqueue of a new instance", vec![], call(post("i", "m1")), call(post("i", "m2"))),
        pair("ack/enqueue", turn(), busy_turn(), call(post("i", "m2"))),
        pair("ack/renew", turn(), busy_turn(), renew()),
        pair("ack/takeover", turn(), busy_turn(), late(fetch("bb"))),
        pair("renew/takeover", turn(), renew(), late(fetch("bb"))),
        pair("ack/abandon", turn(), busy_turn(), abandon()),
        pair("abandon/takeover", turn(), abandon(), late(fetch("bb"))),
        pair("cancel/worker ack",
            [leased(None), turn()].concat(),
            call(ack("aa", "i", ", @cancelled_activities = N'[{\"instance_id\":\"i\",\"execution_id\":1,\"activity_id\":1}]'")),
            work_ack()),
        pair("cancel/work fetch",
            [vec![enqueue_work(1, None)], turn()].concat(),
            call(ack("aa", "i", ", @cancelled_activities = N'[{\"instance_id\":\"i\",\"execution_id\":1,\"activity_id\":1}]'")),
            call(fetch_work("bb", "w1"))),
        pair("delete/fetch", [ended(), vec![post("i", "m2")]].concat(), delete(), call(fetch("bb"))),
        pair("delete/ack", [ended(), vec![post("i", "m2"), fetch("bb")]].concat(), delete(),
            call(ack("bb", "i", ", @orchestrator_items = N'[{\"ord\":0,\"instance_id\":\"j\",\"kind\":\"StartOrchestration\",\"payload\":\"m3\"}]'").replace("\"event_id\":1", "\"event_id\":2"))),
        pair("delete/ack of an instance that is created anew", second_turn(), delete_and_create(), end_of_second_turn()),
        pair("delete/child start", [ended(), vec![child_turn[0].clone(), child_turn[1].clone()]].concat(), delete(), call(child_turn[2].clone())),
        pair("delete/enqueue", ended(), delete(), call(post("i", "m2"))),
        pair("delete/worker ack", [ended(), leased(None)].concat(), delete(), work_ack()),
        Pair { also: one_has_the_session, ..pair("session claim/claim", vec![enqueue_work(1, Some("s")), enqueue_work(2, Some("s"))], call(fetch_work("aa", "w1")), call(fetch_work("bb", "w2"))) },
        // Two workers of one owner: the session of the first is the second's as well.
        pair("session claim/claim of one owner", vec![enqueue_work(1, Some("s")), enqueue_work(2, Some("s"))], call(fetch_work("aa", "w1")), call(fetch_work("bb", "w1"))),
        pair("work claim/claim in one's session", [leased(Some("s")), vec![enqueue_work(2, Some("s")), enqueue_work(3, Some("s"))]].concat(), call(fetch_work("bb", "w1")), call(fetch_work("cc", "w1"))),
        pair("session renewal/claim of one owner", [leased(Some("s")), vec![enqueue_work(2, Some("s"))]].concat(),
            call("renew_session_lock @owner_ids = N'[\"w1\"]', @extend_ms = 60000, @idle_timeout_ms = 600000".to_owned()),
            call(fetch_work("bb", "w1"))),
        Pair { also: left_for_the_next_fetch, ..pair("session release/claim of one owner", [leased(Some("s")), vec![enqueue_work(2, Some("s"))]].concat(), release(), call(fetch_work("bb", "w1"))) },
        Pair { also: left_for_the_next_fetch, ..pair("session release/claim of another", [leased(Some("s")), vec![enqueue_work(2, Some("s"))]].concat(), release(), call(fetch_work("bb", "w2"))) },
        pair("session release/enqueue", leased(Some("s")), release(), call(enqueue_work(2, Some("s")))),
        pair("session release/abandon", leased(Some("s")), release(), abandon_work()),
        pair("session release/settle", leased(Some("s")), release(), settle()),
        pair("session release/renewal", leased(Some("s")), release(),
            call("renew_session_lock @owner_ids = N'[\"w1\"]', @extend_ms = 60000, @idle_timeout_ms = 600000".to_owned())),
        pair("work fetch/fetch", vec![enqueue_work(1, None)], call(fetch_work("aa", "w1")), call(fetch_work("bb", "w2"))),
        pair("worker ack/takeover", leased(None), work_ack(), late(fetch_work("bb", "w2"))),
        pair("worker ack/abandon", leased(Some("s")), work_ack(), abandon_work()),
        pair("prune/ack", executions(), call("prune_executions @instance_id = N'i', @keep_last = 1".to_owned()),
            call(ack("aa", "i", ", @status = N'Completed'").replace("@execution_id = 1", "@execution_id = 3"))),
        pair("abandon/settle", leased(Some("s")), abandon_work(), call(fetch_work("bb", "w2"))),
        pair("abandon/settle after the session", leased(Some("s")), abandon_work(), late(fetch_work("bb", "w2"))),
        pair("enqueue/settle of an empty lane",
            [leased(Some("s")), vec!["ack_work_item @lock_token = N'$(work)'".to_owned()]].concat(),
            call(enqueue_work(2, Some("s"))), late(fetch_work("bb", "w2"))),
        // The one sends nothing and schedules for a session, the other sends to the first and schedules for the same session.
        pair("ack with a session/ack that sends to it and has the session",
            [turn(), vec![post("j", "m2"), fetch("bb")]].concat(),
            call(ack("aa", "i", &format!(", @worker_items = N'[{}]'", work(1, Some("s"))))),
            call(ack("bb", "j", &format!(", @worker_items = N'[{}]', @orchestrator_items = N'[{{\"ord\":0,\"instance_id\":\"i\",\"kind\":\"ExternalRaised\",\"payload\":\"m3\"}}]'", work(2, Some("s")))))),
        // Both move the item in its lane while the lane is corrected.
        pair("work renewal/settle", leased(Some("s")),
            call("renew_work_item_lock @lock_token = N'$(work)', @extend_ms = 120000".to_owned()), settle()),
        Pair { idle: Duration::from_secs(61), ..pair("work claim/settle", leased(Some("s")), call(fetch_work("bb", "w1")), settle()) },
        pair("session renewal/claim", leased(Some("s")),
            call("renew_session_lock @owner_ids = N'[\"w1\"]', @extend_ms = 60000, @idle_timeout_ms = 600000".to_owned()),
            late(fetch_work("bb", "w2"))),
        Pair {
            also: claimed_anew,
            ..pair("session clean-up/claim",
            [leased(Some("s")), vec!["ack_work_item @lock_token = N'$(work)'".to_owned(), enqueue_work(2, Some("s"))]].concat(),
            call("cleanup_orphaned_sessions".to_owned()), late(fetch_work("bb", "w2")))
        },
        // Those who post share the instance's row with each other, and with nobody else.
        pair("enqueue/enqueue of a ready instance", vec![post("i", "m1")], call(post("i", "m2")), call(post("i", "m3"))),
        pair("enqueue/enqueue during a turn", turn(), call(post("i", "m2")), call(post("i", "m3"))),
        pair("enqueue/enqueue of an idle instance", ended(), call(post("i", "m2")), call(post("i", "m3"))),
        pair("delayed enqueue/enqueue", ended(), call(format!("{}, @delay_ms = 60000", post("i", "m2"))), call(post("i", "m3"))),
        pair("worker ack/enqueue of a ready instance", [leased(None), vec![post("i", "m1")]].concat(), work_ack(), call(post("i", "m2"))),
        pair("worker ack/enqueue during a turn", [leased(Some("s")), turn()].concat(), work_ack(), call(post("i", "m2"))),
        pair("fetch/worker ack", [leased(None), vec![post("i", "m1")]].concat(), call(fetch("aa")), work_ack()),
        pair("ack/worker ack", [leased(Some("s")), turn()].concat(), busy_turn(), work_ack()),
        pair("abandon/enqueue", turn(), abandon(), call(post("i", "m2"))),
        pair("renew/enqueue", turn(), renew(), call(post("i", "m2"))),
        pair("takeover/enqueue", turn(), late(fetch("bb")), call(post("i", "m2"))),
        pair("orphan fetch/enqueue", vec![orphan("QueueMessage", "q1")], call(fetch("aa")), call(post("i", "m2"))),
        pair("orphan fetch/orphan enqueue", vec![orphan("QueueMessage", "q1")], call(fetch("aa")), call(orphan("QueueMessage", "q2"))),
        pair("parking fetch/enqueue", vec![orphan("CancelInstance", "q1")], call(fetch("aa")), call(post("i", "m2"))),
        Pair {
            idle: Duration::from_secs(5),
            ..pair("orphan purge/enqueue", vec![orphan("CancelInstance", "q1")],
                call("purge_orphan_messages @older_than_ms = 1000".to_owned()), call(post("i", "m2")))
        },
        pair("delete/fetch in batches", [large(ended()), vec![post("i", "m2")]].concat(), delete(), call(fetch("bb"))),
        pair("delete/ack in batches", [large(ended()), vec![post("i", "m2"), fetch("bb")]].concat(), delete(),
            call(ack("bb", "i", ", @orchestrator_items = N'[{\"ord\":0,\"instance_id\":\"j\",\"kind\":\"StartOrchestration\",\"payload\":\"m3\"}]'").replace("\"event_id\":1", "\"event_id\":2"))),
        pair("delete/child start in batches", [large(ended()), vec![child_turn[0].clone(), child_turn[1].clone()]].concat(), delete(), call(child_turn[2].clone())),
        pair("delete/enqueue in batches", large(ended()), delete(), call(post("i", "m2"))),
        Pair { also: dropped_with_its_instance, ..pair("delete/worker ack in batches", [large(ended()), leased(None)].concat(), delete(), work_ack()) },
        Pair { also: |(_, tables)| tables.is_empty(), ..pair("delete/delete in batches", large(ended()), delete(), delete()) },
        Pair { also: |(_, tables)| tables.is_empty(), ..pair("delete/purge in batches", large(ended()), delete(), call("delete_instance_bulk".to_owned())) },
        pair("prune/ack in batches", large(executions()), call("prune_executions @instance_id = N'i', @keep_last = 1".to_owned()),
            call(ack("aa", "i", ", @status = N'Completed'").replace("@execution_id = 1", "@execution_id = 3"))),
        pair("purge/fetch", [ended(), vec![post("i", "m2")]].concat(), call("delete_instance_bulk".to_owned()), call(fetch("bb"))),
        pair("purge/enqueue", ended(), call("delete_instance_bulk".to_owned()), call(post("i", "m2"))),
    ]
}

/// A completion that comes in while the activity's instance is being deleted goes with it.
fn dropped_with_its_instance(([delete, ack], tables): &End) -> bool {
    tables.is_empty()
        && ack.is_empty()
        && delete[0].ends_with("queue_messages_deleted=1 has_more=false")
}

/// The same call, but its event says that it is too large for one transaction of a deletion.
pub(super) fn weighty(call: &str) -> String {
    let small = ["\"payload_bytes\":2", "\"payload_bytes\":1"];
    let [two, one] = small.map(|bytes| format!("{bytes}}}"));
    call.replace(&two, "\"payload_bytes\":5000000}")
        .replace(&one, "\"payload_bytes\":5000000}")
}
