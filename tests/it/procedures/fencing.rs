//! Deletions that are too large for one transaction: fenced at once, then deleted in short ones, within a
//! time, by whoever comes next; and nothing of the next life of an id is touched.

use std::time::Duration;

use duroxide::providers::{InstanceFilter, Provider, PruneOptions};
use tiberius::Row;

use super::Session;
use super::purging::{NUMBERS, Setup, instances, setup};
use crate::support::items::{activity, completed, create, fetch, fetch_work, start};

/// Events `from` to `to` of an execution.
fn events(instance: &str, execution: u32, from: u32, to: u32, bytes: u32) -> String {
    format!(
        "INSERT INTO [$(schema)].history (instance_id, execution_id, event_id, appended_by, payload_bytes, payload)
         SELECT N'{instance}', {execution}, x.n, NEWID(), {bytes}, N'x' FROM {NUMBERS} WHERE x.n >= {from} AND x.n < {to};
         UPDATE [$(schema)].executions SET event_count = event_count + {to} - {from} WHERE instance_id = N'{instance}' AND execution_id = {execution};"
    )
}

fn count(row: &Row, column: &str) -> i64 {
    row.get(column).expect("a count")
}

fn has_more(row: &Row) -> bool {
    row.get("has_more").expect("a flag")
}

/// An instance with more events than one transaction deletes.
async fn large(instance: &str) -> (Setup, duroxide_sql::MssqlProvider) {
    let setup = setup().await;
    let provider = setup.schema.provider().await;
    create(&provider, instance).await;
    setup.write(&events(instance, 1, 2, 5_002, 10));
    (setup, provider)
}

const FORCED: &str = "@instance_id = N'big', @force = 1, @budget_ms = 0";
const RESUMED: &str = "@instance_id = N'big', @budget_ms = 0, @resume = 1";

/// Rows left of everything but the messages for the next life.
async fn left(setup: &mut Setup) -> i64 {
    let tables = [
        "instances",
        "executions",
        "history",
        "worker_queue",
        "kv_store",
        "kv_delta",
    ];
    let counts = tables.map(|table| format!("(SELECT COUNT(*) FROM [$(schema)].{table})"));
    setup
        .session
        .number(&format!("SELECT {} AS n;", counts.join(" + ")))
        .await
}

/// Every call does a part and says that more is left; each transaction is short, and the costs of a batch do not
/// grow with what has gone before.
#[tokio::test]
async fn large_instance_goes_in_short_transactions_within_a_time() {
    let (mut setup, provider) = large("big").await;
    setup.write(&events("big", 1, 5_002, 9_002, 10));
    let controls = setup.server.controls();
    controls.reset_counters();
    controls.watch_statements(true);
    let (row, _) = setup.call("delete_instance", FORCED).await;
    assert!(has_more(&row), "the time was over at once");
    let (mut deleted, mut calls) = (count(&row, "events_deleted"), 1);
    loop {
        let (row, rows_read) = setup.call("delete_instance", RESUMED).await;
        assert!(count(&row, "events_deleted") <= 1_000, "one batch per call");
        assert!(rows_read < 4_000, "{rows_read} rows read for a batch");
        deleted += count(&row, "events_deleted");
        calls += 1;
        if !has_more(&row) {
            assert_eq!(count(&row, "instances_deleted"), 1);
            break;
        }
    }
    assert_eq!(deleted, 9_001);
    println!("{calls} calls");
    assert!(calls > 9, "{calls} calls");
    let statements = controls.counters().statements;
    let most = statements
        .iter()
        .filter(|((_, text), _)| text.contains("DELETE"));
    let most = most.map(|(_, cost)| cost.stats.rows_written / cost.executions.max(1));
    assert!(most.max() <= Some(2_000), "rows written by one statement");
    assert_eq!(left(&mut setup).await, 0);
    assert!(provider.read("big").await.unwrap().is_empty());
}

/// Each instance of a tree costs the same, however large the tree is.
#[tokio::test]
async fn large_tree_costs_what_its_instances_cost() {
    let mut costs = Vec::new();
    for children in [200, 800] {
        let mut setup = setup().await;
        setup.write(&instances("root", 0, 1, "NULL, N'Completed'"));
        setup.write(&instances("child", 0, children, "N'root0', N'Completed'"));
        setup.write(
            "UPDATE [$(schema)].history SET payload_bytes = 5000000 WHERE instance_id = N'root0';",
        );
        let (row, rows_read) = setup
            .call("delete_instance", "@instance_id = N'root0'")
            .await;
        let deleted = count(&row, "instances_deleted");
        assert_eq!((deleted, has_more(&row)), (i64::from(children) + 1, false));
        costs.push(rows_read / u64::from(children));
    }
    assert!(
        costs[1] <= costs[0] + 1,
        "rows read per instance: {costs:?}"
    );
}

/// A purge steps over a fenced instance that somebody has, and finishes those beside and behind it.
#[tokio::test]
async fn purge_steps_over_a_fenced_instance_that_somebody_has() {
    let mut setup = setup().await;
    setup.write(&instances("root", 0, 1, "NULL, N'Completed'"));
    setup.write(&instances("child", 0, 4, "N'root0', N'Completed'"));
    setup.write(
        "UPDATE [$(schema)].history SET payload_bytes = 5000000 WHERE instance_id = N'root0';",
    );
    let fence = "@instance_id = N'root0', @budget_ms = 0";
    let (row, _) = setup.call("delete_instance", fence).await;
    assert_eq!(count(&row, "instances_deleted"), 1, "child0");
    let mut other = Session::open(&setup.schema).await;
    let hold = "BEGIN TRANSACTION; UPDATE [$(schema)].instance_locks SET lock_token = NEWID() WHERE instance_id = N'child2';";
    other.run(hold).await.unwrap();
    let impatient = "SET LOCK_TIMEOUT 0;";
    setup.session.run(impatient).await.unwrap();
    let (row, _) = setup.call("delete_instance_bulk", "@limit = 0").await;
    assert_eq!(count(&row, "instances_deleted"), 3, "all but child2");
    other.run("ROLLBACK;").await.unwrap();
    let (row, _) = setup.call("delete_instance_bulk", "@limit = 0").await;
    assert_eq!(count(&row, "instances_deleted"), 1, "child2");
    assert_eq!(left(&mut setup).await, 0);
}

/// What fits one transaction costs one, in one call.
#[tokio::test]
async fn small_tree_goes_in_one_transaction() {
    let mut setup = setup().await;
    let provider = setup.schema.provider().await;
    for instance in ["root", "child"] {
        create(&provider, instance).await;
        setup.write(&events(instance, 1, 2, 1_500, 10));
    }
    setup.write("UPDATE [$(schema)].instances SET parent_instance_id = N'root' WHERE instance_id = N'child';");
    let controls = setup.server.controls();
    controls.reset_counters();
    controls.watch_statements(true);
    let (row, _) = setup
        .call("delete_instance", "@instance_id = N'root', @force = 1")
        .await;
    assert_eq!(
        (count(&row, "instances_deleted"), has_more(&row)),
        (2, false)
    );
    assert_eq!(count(&row, "events_deleted"), 2_998);
    let statements = controls.counters().statements;
    let commits = statements
        .iter()
        .filter(|((_, text), _)| text.starts_with("COMMIT"));
    assert_eq!(commits.map(|(_, cost)| cost.executions).sum::<u64>(), 1);
    assert_eq!(left(&mut setup).await, 0);
}

/// Batches end at a mebibyte, also when the events are few.
#[tokio::test]
async fn large_events_go_a_few_at_a_time() {
    let mut setup = setup().await;
    let provider = setup.schema.provider().await;
    create(&provider, "big").await;
    setup.write(&events("big", 1, 2, 14, 400_000));
    let mut parts = vec![count(
        &setup.call("delete_instance", FORCED).await.0,
        "events_deleted",
    )];
    for _ in 0..40 {
        let (row, _) = setup.call("delete_instance", RESUMED).await;
        parts.push(count(&row, "events_deleted"));
        if !has_more(&row) {
            break;
        }
    }
    assert_eq!(parts.iter().sum::<i64>(), 13);
    assert!(parts.iter().all(|part| *part <= 4), "{parts:?}");
    assert_eq!(left(&mut setup).await, 0);
}

/// From the fence on nobody fetches the instance, its turn cannot end, and readers see that it is being
/// deleted. A purge of anything finishes it.
#[tokio::test]
async fn fenced_instance_is_gone_for_everybody() {
    let (mut setup, provider) = large("big").await;
    provider
        .enqueue_for_orchestrator(start("big"), None)
        .await
        .unwrap();
    let (_, token, _) = fetch(&provider).await.expect("its turn");
    let (row, _) = setup.call("delete_instance", FORCED).await;
    assert!(has_more(&row));
    let admin = provider.as_management_capability().unwrap();
    assert_eq!(
        admin.get_instance_info("big").await.unwrap().status,
        "Deleting"
    );
    assert!(
        admin
            .list_instances_by_status("Running")
            .await
            .unwrap()
            .is_empty()
    );
    assert!(provider.read("big").await.unwrap().is_empty());
    assert!(
        provider
            .read_with_execution("big", 1)
            .await
            .unwrap()
            .is_empty()
    );
    let state = "SELECT COUNT(*) FROM [$(schema)].v_instances WHERE instance_id = N'big' AND state = N'Deleting';";
    assert_eq!(setup.session.number(state).await, 1);
    assert_eq!(
        setup
            .session
            .number("SELECT COUNT(*) FROM [$(schema)].v_workers;")
            .await,
        0
    );
    let ended = provider.ack_orchestration_item(
        &token,
        1,
        vec![],
        vec![],
        vec![],
        crate::support::items::metadata(),
        vec![],
    );
    assert!(!ended.await.unwrap_err().is_retryable(), "the turn is lost");
    assert!(
        provider
            .renew_orchestration_item_lock(&token, Duration::from_secs(9))
            .await
            .is_err()
    );
    assert!(
        provider
            .abandon_orchestration_item(&token, None, false)
            .await
            .is_err()
    );
    assert_eq!(
        setup
            .session
            .run("EXEC [$(schema)].cancel_instance @instance_id = N'big';")
            .await
            .unwrap_err(),
        51_007
    );
    setup.server.controls().advance(Duration::from_secs(600));
    assert!(
        fetch(&provider).await.is_none(),
        "its lease does not end either"
    );
    let (row, _) = setup
        .call("purge_instances", "@older_than_days = 900")
        .await;
    assert_eq!(
        (count(&row, "instances_deleted"), has_more(&row)),
        (1, false)
    );
    assert_eq!(left(&mut setup).await, 0);
    assert_eq!(
        setup
            .session
            .number("SELECT COUNT(*) FROM [$(schema)].instance_locks;")
            .await,
        0
    );
}

/// A start that arrives meanwhile begins the next life when the last row of this one is gone, without any
/// message of this one; and no deletion of this life touches it.
#[tokio::test]
async fn next_life_begins_when_the_last_one_is_gone() {
    let (mut setup, provider) = large("big").await;
    provider
        .enqueue_for_worker(activity("big", 1, ""))
        .await
        .unwrap();
    let (_, work, _) = fetch_work(&provider).await.expect("the activity");
    provider
        .enqueue_for_orchestrator(completed("big", 9, "old"), None)
        .await
        .unwrap();
    // The first transaction is the fence, the next ones delete activities and messages.
    let pause = setup
        .server
        .controls()
        .pause(mssql_embedded::Trigger::committed().of("_delete_instances"));
    let mut other = Session::open(&setup.schema).await;
    let delete = tokio::spawn(async move {
        other.run("EXEC [$(schema)].delete_instance @instance_id = N'big', @force = 1, @budget_ms = 0;").await
    });
    pause.paused().await;
    provider
        .ack_work_item(&work, Some(completed("big", 1, "late")))
        .await
        .expect("its row is still there");
    provider
        .enqueue_for_orchestrator(start("big"), None)
        .await
        .unwrap();
    // What waits for the next life is none of this deletion's weight.
    setup.write("UPDATE [$(schema)].orchestrator_queue SET payload = CONCAT(payload, REPLICATE(CAST(N' ' AS NVARCHAR(MAX)), 600000)) WHERE kind = N'StartOrchestration';");
    assert!(
        fetch(&provider).await.is_none(),
        "not before this life is over"
    );
    pause.release();
    delete.await.unwrap().expect("the deletion runs");
    assert!(
        fetch(&provider).await.is_none(),
        "not before this life is over"
    );
    let mut resumed = 0;
    while has_more(&setup.call("delete_instance", RESUMED).await.0) {
        resumed += 1;
        assert!(resumed < 50, "it does not get on");
    }
    assert_eq!(left(&mut setup).await, 0);
    let (item, token, _) = fetch(&provider).await.expect("the next life");
    assert!(item.history.is_empty());
    assert_eq!(item.messages.len(), 1, "{:?}", item.messages);
    let begun = vec![crate::support::items::started("big", "{}")];
    let metadata = crate::support::items::metadata();
    provider
        .ack_orchestration_item(&token, 1, begun, vec![], vec![], metadata, vec![])
        .await
        .unwrap();
    let (row, _) = setup.call("delete_instance", RESUMED).await;
    assert_eq!(
        (count(&row, "instances_deleted"), has_more(&row)),
        (0, false)
    );
    assert_eq!(provider.read("big").await.unwrap().len(), 1);
}

/// Whoever purges goes on until nothing was deleted. An instance that takes more than the time of one call must not look
/// like the end, with all that are younger left behind.
#[tokio::test]
async fn purge_that_meets_a_large_instance_does_not_end_with_it() {
    let (mut setup, provider) = large("big").await;
    setup.write(&events("big", 1, 5_002, 9_502, 10));
    create(&provider, "next").await;
    setup.write(
        "UPDATE [$(schema)].instances SET status = N'Completed', created_at_ms = CASE instance_id WHEN N'big' THEN 1 ELSE 2 END;
         UPDATE [$(schema)].executions SET status = N'Completed', completed_at_ms = 3;",
    );
    let controls = setup.server.controls();
    controls.reset_counters();
    let hours = setup.hours_that_fly();
    let admin = provider.as_management_capability().unwrap();
    let purge = |limit| {
        admin.delete_instance_bulk(InstanceFilter {
            completed_before: Some(4),
            limit: Some(limit),
            ..InstanceFilter::default()
        })
    };
    let (mut instances, mut events) = (0, 0);
    loop {
        let purged = purge(10).await.unwrap();
        instances += purged.instances_deleted;
        events += purged.events_deleted;
        if purged.instances_deleted == 0 {
            break;
        }
    }
    hours.abort();
    assert_eq!((instances, events), (2, 9_502));
    let calls = controls.counters().of("delete_instance_bulk").calls;
    assert!(calls > 3, "{calls} calls");
    assert_eq!(left(&mut setup).await, 0);
    // No instance is what was asked for, not what is left.
    assert_eq!(purge(0).await.unwrap().instances_deleted, 0);
}

/// The provider's call returns when all is gone, however many calls it takes: here the time is over after
/// every transaction.
#[tokio::test]
async fn provider_deletes_a_hundred_thousand_events() {
    let (mut setup, provider) = large("big").await;
    for execution in 2..12 {
        setup.write(&format!("INSERT INTO [$(schema)].executions (instance_id, execution_id, status, event_count, started_at_ms, completed_at_ms) VALUES (N'big', {execution}, N'ContinuedAsNew', 0, 0, 1);"));
        setup.write(&events("big", execution, 1, 9_501, 10));
    }
    setup.write(
        "UPDATE [$(schema)].instances SET current_execution_id = 11 WHERE instance_id = N'big';",
    );
    let controls = setup.server.controls();
    controls.reset_counters();
    let hours = setup.hours_that_fly();
    let admin = provider.as_management_capability().unwrap();
    let result = admin
        .delete_instance("big", true)
        .await
        .expect("it is deleted");
    hours.abort();
    assert_eq!(
        (result.instances_deleted, result.executions_deleted),
        (1, 11)
    );
    assert_eq!(result.events_deleted, 100_001);
    let calls = controls.counters().of("delete_instance").calls;
    println!("{calls} calls");
    assert!(calls > 2, "{calls} calls");
    assert_eq!(left(&mut setup).await, 0);
}

/// Old executions with many events go in the same way, beside turns of the one that is alive; nobody sees a
/// history that has lost events.
#[tokio::test]
async fn large_executions_are_pruned_beside_turns() {
    let (mut setup, provider) = large("big").await;
    setup.write("UPDATE [$(schema)].executions SET status = N'ContinuedAsNew', completed_at_ms = 1 WHERE instance_id = N'big';
        INSERT INTO [$(schema)].executions (instance_id, execution_id, status, event_count, started_at_ms, completed_at_ms) VALUES (N'big', 2, N'ContinuedAsNew', 0, 0, 1), (N'big', 3, N'Running', 0, 0, NULL);
        UPDATE [$(schema)].instances SET current_execution_id = 3 WHERE instance_id = N'big';");
    setup.write(&events("big", 2, 1, 3, 10));
    setup.write(&events("big", 3, 1, 3, 10));
    let (row, _) = setup
        .call(
            "prune_executions",
            "@instance_id = N'big', @keep_last = 2, @budget_ms = 0",
        )
        .await;
    assert!(has_more(&row), "the time was over at once");
    let mut deleted = count(&row, "events_deleted");
    assert!(
        provider
            .read_with_execution("big", 1)
            .await
            .unwrap()
            .is_empty(),
        "half of it is shown"
    );
    let kept = "SELECT COUNT(*) FROM [$(schema)].executions WHERE status = N'ContinuedAsNew';";
    assert_eq!(
        setup.session.number(kept).await,
        1,
        "what is kept is not marked"
    );
    provider
        .enqueue_for_orchestrator(start("big"), None)
        .await
        .unwrap();
    let (item, token, _) = fetch(&provider).await.expect("it is alive");
    assert_eq!(item.execution_id, 3);
    provider
        .abandon_orchestration_item(&token, None, true)
        .await
        .unwrap();
    // Another prune, which by itself would leave the first execution alone, goes on with it.
    let (row, _) = setup
        .call("prune_executions_bulk", "@keep_last = 9, @budget_ms = 0")
        .await;
    assert!(has_more(&row));
    deleted += count(&row, "events_deleted");
    let admin = provider.as_management_capability().unwrap();
    let options = PruneOptions {
        keep_last: Some(2),
        completed_before: None,
    };
    let rest = admin
        .prune_executions("big", options)
        .await
        .expect("it is pruned");
    assert_eq!(
        (
            deleted + rest.events_deleted.cast_signed(),
            rest.executions_deleted
        ),
        (5_001, 1)
    );
    assert_eq!(admin.list_executions("big").await.unwrap(), [2, 3]);
    let rows = "SELECT COUNT(*) FROM [$(schema)].history;";
    assert_eq!(setup.session.number(rows).await, 4);
}
