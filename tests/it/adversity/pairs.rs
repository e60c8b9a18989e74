//! Dangerous pairs of calls, interleaved statement by statement.
//!
//! Whatever the order of their statements, two calls must end as if one had run after the other: with
//! the answers and the tables of one of the two serial orders, every rule of the checker true, no lock
//! left, and no deadlock. Statements that touch no stored table commute with everything, so the steps
//! are those that do, and the commits.

use std::time::{Duration, Instant};

use mssql_embedded::Controls;

use super::dump;
use super::stepper::{Actor, Answer, Call, Order, run};
use crate::support::checker;
use crate::support::database::TestSchema;
use crate::support::dice::Dice;
use crate::support::mutants;
use crate::support::session::Session;
use crate::support::setting::{self, Setting, Witness};

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

fn pairs() -> Vec<Pair> {
    let turn = || vec![post("i", "m1"), fetch("aa")];
    let leased = |session| vec![enqueue_work(1, session), fetch_work("aa", "w1")];
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

struct Bench {
    schema: TestSchema,
    controls: Controls,
    actors: [Actor; 2],
    side: Session,
}

/// How a run ended: both answers and the tables.
type End = ([Vec<String>; 2], Vec<String>);

impl Bench {
    async fn run(&mut self, pair: &Pair, order: &Order) -> Result<End, String> {
        let wipe = [
            "instance_locks",
            "session_lanes",
            "orchestrator_queue",
            "instances",
            "executions",
            "history",
            "kv_store",
            "kv_delta",
            "worker_queue",
            "sessions",
        ]
        .map(|table| format!("DELETE FROM [$(schema)].{table};"))
        .join(" ");
        self.side.run(&wipe).await.expect("the tables are emptied");
        for step in &pair.setup {
            let step = self.named(step).await;
            let done = self.side.run(&format!("EXEC [$(schema)].{step};")).await;
            done.unwrap_or_else(|number| panic!("{}: {number} from {step}", pair.name));
        }
        self.controls.advance(pair.idle);
        let mut calls = pair.calls.clone();
        for call in &mut calls {
            call.text = self.named(&call.text).await;
        }
        let answers = run(&mut self.actors, &calls, order, &self.controls).await;
        let broken = checker::broken(&mut self.side, &self.controls).await;
        if !broken.is_empty() {
            return Err(format!("{broken:?} after {answers:?}"));
        }
        for answer in &answers {
            check_error(answer)?;
        }
        let mut end = self.end(&answers).await;
        if pair.name.starts_with("delete/") || pair.name.starts_with("purge/") {
            end.0.iter_mut().for_each(forget_what_is_deleted);
        }
        Ok(end)
    }

    async fn end(&mut self, answers: &[Answer; 2]) -> End {
        let tables = dump::tables(&mut self.side).await;
        (answers.each_ref().map(dump::answer), tables)
    }

    /// A lease that ends while its holder's call is under way: the fetch may pass it by, because it
    /// is being written to. Then the next fetch must find what the first one would have.
    async fn ask_again(&mut self, pair: &Pair, end: End) -> End {
        let missed = end.0[1]
            .first()
            .is_some_and(|line| line.starts_with("found=false"));
        if pair.calls[1].jump.is_zero() || !missed {
            return end;
        }
        let text = self.named(&pair.calls[1].text).await;
        let again = self.side.run(&format!("EXEC [$(schema)].{text};")).await;
        let [first, _] = end.0;
        let tables = dump::tables(&mut self.side).await;
        ([first, dump::answer(&again)], tables)
    }

    async fn named(&mut self, text: &str) -> String {
        if !text.contains("$(work)") {
            return text.to_owned();
        }
        let sets = self.side.run(HELD).await.expect("the item is looked up");
        let held: &str = sets[0][0].get("held").expect("an item is held");
        text.replace("$(work)", held)
    }
}

/// A turn is read after it is claimed. If its instance is deleted in between, there is nothing left to
/// read; no harm is done, because the turn's end will be refused.
fn forget_what_is_deleted(answer: &mut Vec<String>) {
    answer.retain(|line| !line.starts_with("event_id=") && !line.contains("last_event_id="));
    if let Some(at) = answer
        .first()
        .and_then(|line| line.find(" orchestration_name"))
    {
        answer[0].truncate(at);
    }
}

/// Losing is an answer; a deadlock, a duplicate key or a timeout is none.
fn check_error(answer: &Answer) -> Result<(), String> {
    match answer {
        Ok(_) | Err(51_003 | 51_004 | 51_007) => Ok(()),
        Err(number) => Err(format!("error {number}")),
    }
}

/// The orders in which the first goes `i` steps and the second `j` before the first ends, and the
/// same with the roles changed; one of them alone in between, or not. A sample, unless all are wanted:
/// one in `rarity` of the usual one.
fn orders(steps: [usize; 2], rarity: u64, dice: &mut Dice) -> Vec<Order> {
    let mut orders = Vec::new();
    for first in [0, 1] {
        let second = 1 - first;
        for i in 1..steps[first] {
            if setting::wanted().is_some() || dice.roll(3 * rarity) == 0 {
                orders.push(vec![(first, i), (second, usize::MAX)]);
            }
            for j in 1..steps[second] {
                if setting::wanted().is_some() || dice.roll(60 * rarity) == 0 {
                    orders.push(vec![(first, i), (second, j), (first, usize::MAX)]);
                }
            }
        }
    }
    orders
}

async fn interleave(setting: Setting) {
    let server = setting.start();
    let _witness = Witness::of(&server);
    let controls = server.controls();
    let schema = TestSchema::at(server.connection_string());
    schema.provider().await;
    let mut dice = Dice(setting.seed);
    let mut bench = Bench {
        actors: [
            Actor::new(&schema, &controls).await,
            Actor::new(&schema, &controls).await,
        ],
        side: Session::open(&schema).await,
        schema,
        controls,
    };
    let concerned =
        |pair: &Pair| mutants::concerns(&pair.calls.each_ref().map(|c| c.text.as_str()));
    for pair in pairs().into_iter().filter(concerned) {
        let began = Instant::now();
        let mut serial = Vec::new();
        let mut steps = [0, 0];
        for first in [0, 1] {
            let order = vec![(first, usize::MAX), (1 - first, usize::MAX)];
            let end = bench.run(&pair, &order).await;
            serial.push(end.unwrap_or_else(|why| panic!("{} in a row: {why}", pair.name)));
            for (most, actor) in steps.iter_mut().zip(&bench.actors) {
                *most = actor.steps.max(*most);
            }
        }
        // They take many steps, most of them alike.
        let rarity = if pair.name.ends_with("in batches") {
            5
        } else {
            1
        };
        let orders = orders(steps, rarity, &mut dice);
        for order in &orders {
            let end = bench.run(&pair, order).await;
            let end = end.unwrap_or_else(|why| {
                panic!("{setting:?}, {} in the order {order:?}: {why}", pair.name)
            });
            let end = if serial.contains(&end) {
                end
            } else {
                bench.ask_again(&pair, end).await
            };
            assert!(
                serial.contains(&end) || (pair.also)(&end),
                "{setting:?}, {} in the order {order:?} ends like neither serial order:\n{end:#?}\n{serial:#?}",
                pair.name
            );
        }
        println!(
            "{}: {steps:?} steps, {} orders, {:?}",
            pair.name,
            orders.len(),
            began.elapsed()
        );
    }
    drop(bench.actors);
    drop(bench.schema);
}

/// Every pair in many orders, each with an adversary: with snapshot reads off and on, optimized locking
/// off and on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pairs_end_as_if_one_had_run_after_the_other() {
    let settings = Setting::each(0..4, &[]).map(Setting::with_adversary);
    for setting in settings.take(4) {
        interleave(setting).await;
    }
}
