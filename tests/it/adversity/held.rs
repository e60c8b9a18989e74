//! Whoever looks for work steps over what somebody else is writing to, and waits for nobody.
//!
//! Each row of the queues in turn is held by a transaction that stays open. The calls may not wait at all, and those that look
//! for work find what is left.

use std::time::Duration;

use mssql_embedded::Trigger;

use super::bench::{Bench, turn};
use super::pairs::{enqueue_work, fetch, fetch_work, post, weighty, work};
use super::paths::of_procedures;
use crate::support::mutants;
use crate::support::session::Session;
use crate::support::setting::Setting;

/// A state of the queues, and whether there is work for those who look.
struct State {
    setup: Vec<String>,
    /// What follows the calls.
    then: &'static str,
    is_ready: bool,
}

/// A call, the tables that it searches, and whether it may wait for a row of the sessions, because it has to write it or to
/// know whose it is.
struct Look {
    call: String,
    searches: &'static [&'static str],
    needs_sessions: bool,
}

/// The rows of a table one by one, and how one is held: its entry in the index that leads to it as well.
const TABLES: [(&str, &str, &str); 4] = [
    ("instance_locks", "instance_id", "not_before_ms"),
    ("session_lanes", "lane_id", "not_before_ms"),
    ("worker_queue", "work_id", "not_before_ms"),
    ("sessions", "session_key", "locked_until_ms"),
];

fn tagged(activity: u64, session: Option<&str>) -> String {
    let item = work(activity, session).replace("\"payload\"", "\"tag\":\"gpu\",\"payload\"");
    format!("enqueue_for_worker @worker_items = N'[{item}]'")
}

fn any_work(name: &str, owner: &str) -> String {
    fetch_work(name, owner).replace("@include_untagged = 1", "@any_tag = 1")
}

fn states() -> Vec<State> {
    let pinned = |name: &str, token: &str| turn(name, token, ", @pinned_version = 1000001");
    let ready = [
        pinned("p", "a1"),
        pinned("q", "a2"),
        vec![
            post("p", "m1"),
            post("q", "m2"),
            post("i", "m3"),
            post("j", "m4"),
            enqueue_work(1, Some("s1")),
            fetch_work("b1", "w1"),
            enqueue_work(2, Some("s2")),
            fetch_work("b2", "w1"),
            enqueue_work(3, Some("s1")),
            enqueue_work(4, Some("s2")),
            tagged(5, Some("s1")),
            enqueue_work(6, Some("s3")),
            enqueue_work(7, Some("s4")),
            tagged(8, Some("s3")),
            // A lane all of whose items are held is corrected, and that has to know them.
            enqueue_work(13, Some("s3")),
            enqueue_work(14, Some("s4")),
            tagged(15, Some("s3")),
            enqueue_work(9, None),
            enqueue_work(10, None),
            tagged(11, None),
            tagged(12, None),
        ],
    ]
    .concat();
    let leased = [
        pinned("p", "a1"),
        vec![
            post("p", "m1"),
            post("i", "m3"),
            fetch("b1"),
            fetch("b2"),
            enqueue_work(1, Some("s1")),
            tagged(2, Some("s2")),
            enqueue_work(3, None),
            tagged(4, None),
            any_work("c1", "w1"),
            any_work("c2", "w1"),
            any_work("c3", "w1"),
            any_work("c4", "w1"),
        ],
    ]
    .concat();
    // The sessions are still leased, and everything in them is done.
    let idle = vec![
        enqueue_work(1, Some("s1")),
        fetch_work("b1", "w1"),
        "ack_work_item @lock_token = N'$(work)'".to_owned(),
        enqueue_work(2, Some("s2")),
        fetch_work("b2", "w1"),
        "ack_work_item @lock_token = N'$(work)'".to_owned(),
    ];
    let without_lanes = State {
        setup: idle.clone(),
        then: "DELETE FROM [$(schema)].session_lanes;",
        is_ready: false,
    };
    let state = |setup, is_ready| State {
        setup,
        then: "",
        is_ready,
    };
    vec![
        state(ready, true),
        state(leased, false),
        state(idle, false),
        without_lanes,
    ]
}

fn looks() -> Vec<Look> {
    const WORK: &[&str] = &["session_lanes", "worker_queue", "sessions"];
    const ALL: &[&str] = &[
        "instance_locks",
        "session_lanes",
        "worker_queue",
        "sessions",
    ];
    let look = |call: &str, searches, needs_sessions| Look {
        call: call.to_owned(),
        searches,
        needs_sessions,
    };
    let wait = "wait_for_work @wait_ms = 0, @orchestrations = 1, @any_tag = 1, @tags = N'[\"gpu\"]', @sessions = 1, @session_owners = N'[\"w1\",\"w2\"]'";
    let renew =
        "renew_session_lock @owner_ids = N'[\"w1\"]', @extend_ms = 90000, @idle_timeout_ms = 60000";
    vec![
        look(&fetch("d1"), &["instance_locks"], false),
        look(&any_work("d2", "w1"), WORK, false),
        look(&any_work("d3", "w2"), WORK, false),
        look(wait, ALL, false),
        look(
            "cleanup_orphaned_sessions",
            &["worker_queue", "sessions"],
            false,
        ),
        look(renew, &["session_lanes", "sessions"], true),
    ]
}

/// The keys of a table's rows, as literals.
async fn keys(side: &mut Session, table: &str, key: &str) -> Vec<String> {
    let query = format!(
        "SELECT CONCAT(N'N''', CAST(t.{key} AS NVARCHAR(400)), N'''') AS line FROM [$(schema)].{table} AS t ORDER BY 1;"
    );
    let sets = side.run(&query).await.expect("the keys can be read");
    let lines = sets[0].iter().map(|row| row.get::<&str, _>("line"));
    lines.map(|line| line.expect("a key").to_owned()).collect()
}

impl State {
    async fn restore(&self, bench: &mut Bench) {
        bench.prepare(&self.setup).await;
        if !self.then.is_empty() {
            bench.side.run(self.then).await.expect("the state is made");
        }
    }
}

/// Makes the call once for each row of the tables that it searches, and returns how many there were.
async fn look(
    bench: &mut Bench,
    sessions: &mut [Session; 2],
    state: &State,
    wanted: &Look,
) -> usize {
    let [caller, holder] = sessions;
    let mut held = 0;
    state.restore(bench).await;
    let searched = |(table, ..): &&(&str, _, _)| wanted.searches.contains(table);
    for (table, key, column) in TABLES.iter().filter(searched) {
        for at in 0..keys(&mut bench.side, table, key).await.len() {
            let row = keys(&mut bench.side, table, key).await.swap_remove(at);
            let hold = format!(
                "BEGIN TRANSACTION; UPDATE t SET t.{column} = t.{column} + 1
                 FROM [$(schema)].{table} AS t WITH (ROWLOCK) WHERE t.{key} = {row};"
            );
            holder.run(&hold).await.expect("the row is held");
            held += 1;
            let answer = caller
                .run(&format!("EXEC [$(schema)].{};", wanted.call))
                .await;
            let what = format!("{} with {row} of {table} held", wanted.call);
            let mut has_changed = !wanted.call.starts_with("wait_for_work");
            match answer {
                Err(1222) if wanted.needs_sessions && *table == "sessions" => {}
                Err(number) => panic!("{number} from {what}"),
                Ok(sets) if wanted.call.starts_with("fetch") => {
                    has_changed = sets[0][0].get::<bool, _>("found") == Some(true);
                    assert_eq!(has_changed, state.is_ready, "{what}");
                }
                Ok(_) => {}
            }
            holder.run("ROLLBACK;").await.expect("it is let go");
            if has_changed {
                state.restore(bench).await;
            }
        }
    }
    held
}

#[tokio::test]
async fn rows_that_somebody_holds_keep_nobody_waiting() {
    for setting in Setting::each(0..4, &[]).map(Setting::with_adversary) {
        let mut bench = Bench::new(setting).await;
        let mut sessions = [
            Session::open(&bench.schema).await,
            Session::open(&bench.schema).await,
        ];
        let set = sessions[0].run("SET LOCK_TIMEOUT 0;").await;
        set.expect("nothing is waited for");
        let mut held = 0;
        for state in states() {
            for wanted in looks() {
                if mutants::concerns(&[&wanted.call]) {
                    held += look(&mut bench, &mut sessions, &state, &wanted).await;
                }
            }
        }
        println!("{setting:?}: {held} rows were held");
    }
}

/// More of everything than is counted each time.
const MANY: &str = "
    WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 5001)
    INSERT INTO [$(schema)].orchestrator_queue (instance_id, visible_at_ms, kind, attempt_count, payload)
    SELECT CONCAT(N'x', n.i), 0, N'StartOrchestration', 0, N'' FROM n OPTION (MAXRECURSION 0);
    INSERT INTO [$(schema)].instances (instance_id, orchestration_name, orchestration_version, status, current_execution_id, custom_status_version, created_at_ms, updated_at_ms)
    SELECT q.instance_id, N'o', N'1', N'Running', 1, 0, 0, 0 FROM [$(schema)].orchestrator_queue AS q WHERE q.instance_id LIKE N'x%';
    INSERT INTO [$(schema)].executions (instance_id, execution_id, status, started_at_ms, event_count)
    SELECT q.instance_id, 1, N'Running', 0, 0 FROM [$(schema)].orchestrator_queue AS q WHERE q.instance_id LIKE N'x%';";

/// What a row of each table is changed by.
const CHANGES: [(&str, &str); 5] = [
    ("orchestrator_queue", "lock_token = NEWID()"),
    ("worker_queue", "not_before_ms = 1"),
    ("instances", "status = N'Failed'"),
    ("executions", "status = N'Failed'"),
    ("metrics_cache", "counted_at_ms = counted_at_ms + 1"),
];

/// Nobody who counts waits for anybody who writes, be there few rows or many; and nobody leaves the grain of a lock open, or
/// the path to a row.
#[tokio::test]
async fn counts_wait_for_nobody() {
    for setting in Setting::each(0..2, &[]).map(Setting::with_adversary) {
        let mut bench = Bench::new(setting).await;
        let mut caller = Session::open(&bench.schema).await;
        let spid = caller.spid().await;
        let mut holder = Session::open(&bench.schema).await;
        let few = [
            turn("i", "aa", ""),
            vec![post("i", "m"), enqueue_work(1, None)],
        ]
        .concat();
        bench.prepare(&few).await;
        for many in [false, true] {
            if many {
                bench.side.run(MANY).await.expect("there are many");
            }
            for (table, change) in CHANGES {
                let hold =
                    format!("BEGIN TRANSACTION; UPDATE TOP (1) [$(schema)].{table} SET {change};");
                // Counted anew, which keeps the answer; then the answer that was kept.
                for age in [0, 30_000] {
                    if (table, age) == ("metrics_cache", 0) {
                        continue;
                    }
                    holder.run(&hold).await.expect("a row is held");
                    for question in ["get_queue_depths", "get_system_metrics"] {
                        let text = format!(
                            "SET LOCK_TIMEOUT 0; EXEC [$(schema)].{question} @max_age_ms = {age};"
                        );
                        let answer = caller.run(&text).await.map(drop);
                        assert_eq!(
                            answer,
                            Ok(()),
                            "{setting:?}: {question} with a row of {table} held"
                        );
                    }
                    holder.run("ROLLBACK;").await.expect("it is let go");
                }
            }
        }
        let is_open = bench.leaves_grain_open(spid);
        assert!(!is_open, "{setting:?}: the grain of a lock is left open");
        let open = of_procedures(bench.controls.open_paths());
        assert!(open.is_empty(), "{setting:?}: {open:#?}");
    }
}

/// Three executions besides the current one.
const OLD: &str = "INSERT INTO [$(schema)].executions (instance_id, execution_id, status, started_at_ms, completed_at_ms, event_count)
    VALUES (N'i', 2, N'ContinuedAsNew', 0, 1, 0), (N'i', 3, N'ContinuedAsNew', 0, 1, 0), (N'i', 4, N'Running', 0, NULL, 0);
    UPDATE [$(schema)].executions SET status = N'ContinuedAsNew', completed_at_ms = 1 WHERE execution_id = 1;
    UPDATE [$(schema)].instances SET current_execution_id = 4;";

/// Whoever looks for something to prune has one execution while it asks for another, and must not wait.
#[tokio::test]
async fn search_for_old_executions_waits_for_nobody() {
    for setting in Setting::each(0..2, &[]).map(Setting::with_adversary) {
        let mut bench = Bench::new(setting).await;
        let mut caller = Session::open(&bench.schema).await;
        let mut holder = Session::open(&bench.schema).await;
        for held in 1..=3 {
            bench.prepare(&turn("i", "aa", "")).await;
            bench.side.run(OLD).await.expect("there are old ones");
            let hold = format!(
                "BEGIN TRANSACTION; UPDATE e SET e.event_count = 9 FROM [$(schema)].executions AS e WITH (ROWLOCK) WHERE e.execution_id = {held};"
            );
            holder.run(&hold).await.expect("an execution is held");
            // Nothing is old enough to go, or enough of them are kept, so that only the search is tried.
            for which in ["@keep_last = 3, @completed_before_ms = 1", "@keep_last = 9"] {
                let text =
                    format!("SET LOCK_TIMEOUT 0; EXEC [$(schema)].prune_executions_bulk {which};");
                let answer = caller.run(&text).await.map(drop);
                assert_eq!(answer, Ok(()), "{setting:?}: {held} is held, {which}");
            }
            holder.run("ROLLBACK;").await.expect("it is let go");
        }
    }
}

/// A deletion that another session is busy with is stepped over, and the next one is finished.
#[tokio::test]
async fn purges_step_over_what_is_being_deleted() {
    for setting in Setting::each(0..2, &[]).map(Setting::with_adversary) {
        let mut bench = Bench::new(setting).await;
        let mut caller = Session::open(&bench.schema).await;
        let mut holder = Session::open(&bench.schema).await;
        for (held, other) in [("i", "j"), ("j", "i")] {
            let turns = [turn("i", "aa", ""), turn("j", "bb", "")].concat();
            let mut calls: Vec<String> = turns.iter().map(|call| weighty(call)).collect();
            calls.extend(["i", "j"].map(|name| {
                format!("delete_instance @instance_id = N'{name}', @force = 1, @budget_ms = 0")
            }));
            bench.prepare(&calls).await;
            let hold = format!(
                "BEGIN TRANSACTION; UPDATE l SET l.not_before_ms = l.not_before_ms + 1 FROM [$(schema)].instance_locks AS l WITH (ROWLOCK) WHERE l.instance_id = N'{held}';"
            );
            holder.run(&hold).await.expect("a fenced one is held");
            let text = "SET LOCK_TIMEOUT 0; EXEC [$(schema)].delete_instance_bulk;";
            let answer = caller.run(text).await.map(drop);
            assert_eq!(answer, Ok(()), "{setting:?}: {held} is held");
            holder.run("ROLLBACK;").await.expect("it is let go");
            let left = keys(&mut bench.side, "instances", "instance_id").await;
            assert_eq!(left, [format!("N'{held}'")], "{setting:?}: not {other}");
        }
    }
}

/// A session or an item that is claimed between the search and its end keeps the clean-up from nothing else. (An item that
/// is passed over does not protect its session, which the claim then makes anew.)
#[tokio::test]
async fn clean_up_steps_over_sessions_that_are_claimed_meanwhile() {
    for setting in Setting::each(0..2, &[]).map(Setting::with_adversary) {
        let mut bench = Bench::new(setting).await;
        let mut holder = Session::open(&bench.schema).await;
        bench.prepare(&[]).await;
        let ended = "INSERT INTO [$(schema)].sessions (session_key, owner_id, locked_until_ms, last_activity_ms)
            VALUES (N'[a]', N'w', 1, 1), (N'[b]', N'w', 1, 1), (N'[c]', N'w', 1, 1);
            INSERT INTO [$(schema)].worker_queue (instance_id, execution_id, activity_id, session_key, tag_key, not_before_ms, enqueued_at_ms, attempt_count, payload)
            VALUES (N'i', 1, 5, N'[c]', N'', 0, 0, 0, N'x');";
        bench.side.run(ended).await.expect("three have ended");
        let delete = Trigger::statement().of("cleanup_orphaned_sessions");
        let pause = bench.controls.pause(delete.containing("DELETE s").times(1));
        let mut caller = Session::open(&bench.schema).await;
        let running = tokio::spawn(async move {
            let text = "SET LOCK_TIMEOUT 0; EXEC [$(schema)].cleanup_orphaned_sessions;";
            caller.run(text).await
        });
        let stopped = tokio::time::timeout(Duration::from_secs(20), pause.paused()).await;
        stopped.expect("the clean-up comes to its end");
        let hold = "BEGIN TRANSACTION; UPDATE s SET s.locked_until_ms = 2 FROM [$(schema)].sessions AS s WITH (ROWLOCK) WHERE s.session_key = N'[b]';
            UPDATE q SET q.not_before_ms = 1 FROM [$(schema)].worker_queue AS q WITH (ROWLOCK);";
        holder.run(hold).await.expect("one is held");
        drop(pause);
        let sets = running.await.expect("the call does not panic");
        let sets = sets.unwrap_or_else(|number| panic!("{setting:?}: {number}"));
        let removed = sets[0][0].get::<i64, _>("removed");
        assert_eq!(removed, Some(2), "{setting:?}");
        holder.run("ROLLBACK;").await.expect("it is let go");
    }
}
