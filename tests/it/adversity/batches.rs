//! Deletions in their order: the oldest first, a large tree from its leaves up, and never more at a time than one transaction bears.
//!
//! Whoever is interrupted leaves something that the next call finds, whichever row the server would like to give first.

use std::time::Duration;

use mssql_embedded::Trigger;

use super::bench::{Bench, turn};
use super::pairs::weighty;
use crate::support::mutants;
use crate::support::session::Session;
use crate::support::setting::Setting;

/// A root whose name is neither the first nor the last of its tree, and the parent of each: names that go up and names that
/// go down with the generations.
const TREE: [&str; 5] = ["m", "y", "b", "x", "a"];
const PARENTS: [&str; 5] = ["", "m", "m", "b", "x"];

/// Makes a call that may leave something for another one, and returns whether it did.
async fn leaves_some(bench: &mut Bench, call: &str) -> bool {
    let sets = bench.side.run(&format!("EXEC [$(schema)].{call};")).await;
    let sets = sets.unwrap_or_else(|number| panic!("{number} from {call}"));
    sets[0][0].get("has_more") == Some(true)
}

async fn count(bench: &mut Bench, rows: &str) -> i64 {
    let text = format!("SELECT COUNT(*) AS n FROM [$(schema)].{rows};");
    bench.side.number(&text).await
}

fn tree(status: impl Fn(&str) -> &'static str, is_child: bool) -> Vec<String> {
    let turns = (0..)
        .zip(TREE.into_iter().zip(PARENTS))
        .flat_map(|(n, (name, parent))| {
            let parent = match is_child && n > 0 {
                true => format!(", @parent_instance_id = N'{parent}'"),
                false => String::new(),
            };
            let more = format!("{parent}, @status = N'{}'", status(name));
            turn(name, &format!("0{n}"), &more)
        });
    turns.collect()
}

fn large(calls: &[String]) -> Vec<String> {
    calls.iter().map(|call| weighty(call)).collect()
}

fn settings() -> impl Iterator<Item = Setting> {
    Setting::each(0..3, &[]).map(Setting::with_adversary)
}

/// As long as anything of a tree is left its ancestors are, by which the next call finds it.
#[tokio::test]
async fn ancestors_in_a_large_tree_go_last() {
    let nexts = [
        "delete_instance @instance_id = N'm', @budget_ms = 0, @resume = 1",
        "delete_instance_bulk @budget_ms = 0",
    ];
    for setting in settings() {
        let mut bench = Bench::new(setting).await;
        for next in nexts {
            bench.prepare(&large(&tree(|_| "Completed", true))).await;
            let mut call = "delete_instance @instance_id = N'm', @force = 1, @budget_ms = 0";
            while leaves_some(&mut bench, call).await {
                let lost = "instances AS i WHERE i.parent_instance_id IS NOT NULL AND NOT EXISTS
                    (SELECT 1 FROM [$(schema)].instances AS p WHERE p.instance_id = i.parent_instance_id)";
                let lost = count(&mut bench, lost).await;
                assert_eq!(lost, 0, "{setting:?}: without a parent after {call}");
                call = next;
            }
            let left = bench.tables().await;
            assert!(left.is_empty(), "{setting:?}: {next} leaves {left:?}");
        }
    }
}

/// Among all that have ended, however they ended.
#[tokio::test]
async fn oldest_go_first_whether_they_completed_or_failed() {
    for setting in settings() {
        let mut bench = Bench::new(setting).await;
        bench.prepare(&[]).await;
        let names = ["d", "b", "f", "a", "e", "c"];
        for (n, name) in names.iter().enumerate() {
            let status = ["Failed", "Completed"][n % 2];
            let more = format!(", @status = N'{status}'");
            for call in turn(name, &format!("0{n}"), &more) {
                let done = bench.side.run(&format!("EXEC [$(schema)].{call};")).await;
                done.unwrap_or_else(|number| panic!("{number} from {call}"));
            }
            bench.controls.advance(Duration::from_millis(5));
        }
        for (n, name) in names.iter().enumerate() {
            let has_more = leaves_some(&mut bench, "delete_instance_bulk @limit = 1").await;
            assert_eq!(has_more, n < 5, "{setting:?}: {name}");
            let same = count(
                &mut bench,
                &format!("instances WHERE instance_id = N'{name}'"),
            )
            .await;
            let left = count(&mut bench, "instances").await;
            assert_eq!((same, left), (0, 5 - n as i64), "{setting:?}: {name}");
        }
    }
}

/// Every row of a tree or of a list, not only the one that comes first.
#[tokio::test]
async fn all_instances_are_locked_before_one_is_deleted() {
    let list = "[\"a\",\"b\",\"m\",\"x\",\"y\"]";
    let calls = [
        "delete_instance @instance_id = N'm', @force = 1".to_owned(),
        format!("delete_instances_atomic @instance_ids = N'{list}', @force = 1"),
    ];
    for setting in settings() {
        let mut bench = Bench::new(setting).await;
        let mut intruder = Session::open(&bench.schema).await;
        for call in &calls {
            if !mutants::concerns(&[call]) {
                continue;
            }
            bench.prepare(&tree(|_| "Completed", true)).await;
            let mut caller = Session::open(&bench.schema).await;
            let erase = Trigger::statement().of("_erase_instance");
            let pause = bench.controls.pause(erase.containing("DELETE d").times(1));
            let text = format!("EXEC [$(schema)].{call};");
            let running = tokio::spawn(async move { caller.run(&text).await.map(drop) });
            let stopped = tokio::time::timeout(Duration::from_secs(20), pause.paused()).await;
            stopped.unwrap_or_else(|_| panic!("{setting:?}: {call} deletes nothing"));
            for name in TREE {
                let touch = format!(
                    "SET LOCK_TIMEOUT 0; SELECT l.pinned_version FROM [$(schema)].instance_locks AS l WITH (INDEX(pk_instance_locks), FORCESEEK, ROWLOCK, UPDLOCK) WHERE l.instance_id = N'{name}';"
                );
                let answer = intruder.run(&touch).await;
                assert_eq!(answer.err(), Some(1222), "{setting:?}: {name} in {call}");
            }
            drop(pause);
            let done = running.await.expect("the call does not panic");
            assert_eq!(done, Ok(()), "{setting:?}: {call}");
        }
    }
}

/// Whichever of them it is.
#[tokio::test]
async fn one_that_is_running_protects_the_whole_list() {
    for setting in settings() {
        let mut bench = Bench::new(setting).await;
        for running in TREE {
            let status = |name: &str| match name == running {
                true => "Running",
                false => "Completed",
            };
            bench.prepare(&tree(status, false)).await;
            let call = "EXEC [$(schema)].delete_instances_atomic @instance_ids = N'[\"x\",\"b\",\"m\",\"a\",\"y\"]';";
            let answer = bench.side.run(call).await;
            assert_eq!(answer.err(), Some(51_009), "{setting:?}: {running} runs");
        }
    }
}

/// So many events of so many bytes in each of two executions, of which the last is the current one.
async fn add_events(bench: &mut Bench, events: u32, bytes: u32) {
    bench
        .prepare(&turn("i", "aa", ", @status = N'Completed'"))
        .await;
    let add = format!(
        "INSERT INTO [$(schema)].executions (instance_id, execution_id, status, started_at_ms, completed_at_ms, event_count)
         VALUES (N'i', 2, N'Completed', 0, 1, 0);
         UPDATE [$(schema)].executions SET status = N'ContinuedAsNew' WHERE execution_id = 1;
         UPDATE [$(schema)].instances SET current_execution_id = 2;
         DELETE FROM [$(schema)].history;
         WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < {events})
         INSERT INTO [$(schema)].history (instance_id, execution_id, event_id, appended_by, payload_bytes, payload)
         SELECT e.instance_id, e.execution_id, n.i, NEWID(), {bytes}, N'' FROM n CROSS JOIN [$(schema)].executions AS e
         OPTION (MAXRECURSION 0);"
    );
    bench.side.run(&add).await.expect("events are added");
}

/// A batch ends with the events of an execution after which it has enough, so it may be twice what is enough: of a
/// thousand, or of a MiB, which four events are. What a prune finds not to be large, it deletes at once: 4,000 rows, or
/// 4 MiB.
#[tokio::test]
async fn one_transaction_deletes_no_more_than_it_bears() {
    let delete = [
        "delete_instance @instance_id = N'i', @force = 1, @budget_ms = 0",
        "delete_instance @instance_id = N'i', @budget_ms = 0, @resume = 1",
    ];
    let prune = ["prune_executions @instance_id = N'i', @keep_last = 1, @budget_ms = 0"; 2];
    let calls = [(delete, [2_000, 8]), (prune, [2_100, 13])];
    for setting in settings() {
        let mut bench = Bench::new(setting).await;
        for ([first, next], at_most) in calls {
            for ((events, bytes), at_most) in [(2_100, 2), (40, 300_000)].into_iter().zip(at_most) {
                add_events(&mut bench, events, bytes).await;
                let before = count(&mut bench, "history").await;
                assert_eq!(before, 2 * i64::from(events), "{setting:?}");
                let mut call = first;
                let mut left = before;
                let mut has_more = true;
                while has_more {
                    has_more = leaves_some(&mut bench, call).await;
                    let deleted = left - count(&mut bench, "history").await;
                    assert!(deleted <= at_most, "{setting:?}: {deleted} by {call}");
                    left -= deleted;
                    call = next;
                }
                // The current execution is not pruned.
                let rest = if first == next { i64::from(events) } else { 0 };
                assert_eq!(left, rest, "{setting:?}: {call}");
            }
        }
    }
}

/// A list may name an instance more than once, be it small or deleted in batches.
#[tokio::test]
async fn lists_may_name_an_instance_twice() {
    let setting = settings().next().expect("a setting");
    let mut bench = Bench::new(setting).await;
    let list = "@instance_ids = N'[\"a\",\"b\",\"a\",\"m\",\"x\",\"y\",\"y\"]'";
    let delete = format!("delete_instances_atomic {list}, @force = 1");
    let small = tree(|_| "Completed", false);
    let cases = [
        (large(&small), &delete),
        (small.clone(), &delete),
        (small.clone(), &format!("delete_instance_bulk {list}")),
    ];
    for (setup, call) in cases {
        bench.prepare(&setup).await;
        assert!(!leaves_some(&mut bench, call).await, "{call}");
        assert_eq!(count(&mut bench, "instances").await, 0, "{call}");
    }
    bench.prepare(&small).await;
    let prune = format!("prune_executions_bulk {list}");
    assert!(!leaves_some(&mut bench, &prune).await, "{prune}");
}

/// What goes with the instance itself is what nobody counts in thousands: no execution's history is passed over before.
#[tokio::test]
async fn no_history_is_left_for_the_last_transaction() {
    for setting in settings() {
        let mut bench = Bench::new(setting).await;
        add_events(&mut bench, 60, 100_000).await;
        let erase = Trigger::statement().of("_erase_instance");
        let erase = erase.containing("history AS d").times(1);
        let pause = bench.controls.pause(erase);
        let mut caller = Session::open(&bench.schema).await;
        let running = tokio::spawn(async move {
            let call = "EXEC [$(schema)].delete_instance @instance_id = N'i', @force = 1;";
            caller.run(call).await.map(drop)
        });
        let stopped = tokio::time::timeout(Duration::from_secs(20), pause.paused()).await;
        stopped.expect("the deletion comes to its end");
        let left = count(&mut bench, "history WITH (NOLOCK)").await;
        drop(pause);
        let done = running.await.expect("the call does not panic");
        assert_eq!((left, done), (0, Ok(())), "{setting:?}");
    }
}
