//! Lists and counts: read from narrow indexes in their order, and counted by one for all.

use std::future::Future;
use std::time::Duration;

use duroxide::providers::Provider as _;
use mssql_embedded::{Controls, Counters, Trigger};
use tiberius::Row;

use super::Session;
use super::purging::{NUMBERS, Setup, instances, setup};

/// What a call cost.
async fn cost_of(setup: &mut Setup, call: &str) -> (Vec<Row>, Counters) {
    let before = setup.server.controls().counters();
    let text = format!("EXEC [$(schema)].{call};");
    let mut sets = setup.session.run(&text).await.expect("the call runs");
    let after = setup.server.controls().counters().since(&before);
    let name = call.split(' ').next().expect("a name");
    (sets.swap_remove(0), after.of(name))
}

/// Newest first out of an index: one entry read per instance, and its copy, none sorted, none waited for that
/// somebody has changed without moving it.
#[tokio::test]
async fn lists_come_out_of_an_index() {
    let mut setup = setup().await;
    setup.write(&instances("a", 0, 500, "NULL, N'Completed'"));
    setup.write(&instances("b", 0, 500, "NULL, N'Running'"));
    let mut writer = Session::open(&setup.schema).await;
    let change = "BEGIN TRANSACTION; UPDATE [$(schema)].instances SET custom_status = N'x', updated_at_ms = 1;";
    writer.run(change).await.expect("every row is locked");
    for (call, expected) in [
        ("list_instances", 1_000),
        ("list_instances_by_status @status = N'Running'", 500),
        ("list_instances_by_status @status = N'Failed'", 0),
    ] {
        let (rows, cost) = cost_of(&mut setup, call).await;
        assert_eq!(rows.len(), expected, "{call}");
        assert_eq!(cost.stats.rows_sorted, 0, "{call}");
        assert!(
            cost.stats.rows_read <= 2 * expected as u64 + 1,
            "{call}: {cost:?}"
        );
        let ids = rows.iter().map(|row| row.get::<&str, _>(0).expect("an id"));
        let numbers = ids.map(|id| id[1..].parse::<u32>().expect("a number"));
        assert!(numbers.is_sorted_by(|a, b| a >= b), "{call}: newest first");
    }
    writer.run("ROLLBACK;").await.expect("nothing was changed");
}

/// Messages and activities by the thousand, half of them held.
fn backlog(from: u32, to: u32) -> String {
    let range = format!("FROM {NUMBERS} WHERE x.n >= {from} AND x.n < {to}");
    let token = "CASE WHEN x.n % 2 = 0 THEN NULL ELSE NEWID() END";
    format!(
        "INSERT INTO [$(schema)].orchestrator_queue (instance_id, visible_at_ms, kind, lock_token, attempt_count, payload)
         SELECT CONCAT(N'm', x.n), 0, N'TimerFired', {token}, 0, N'x' {range};
         INSERT INTO [$(schema)].worker_queue (instance_id, execution_id, activity_id, session_key, tag_key, not_before_ms, enqueued_at_ms, lock_token, attempt_count, payload)
         SELECT N'w', 1, x.n, N'', N'', 0, 0, {token}, 0, N'x' {range};"
    )
}

fn number(rows: &[Row], column: &str) -> i64 {
    rows[0].get(column).expect("a number")
}

async fn depths(setup: &mut Setup, arguments: &str) -> (i64, i64, u64) {
    let (rows, cost) = cost_of(setup, &format!("get_queue_depths {arguments}")).await;
    let messages = number(&rows, "orchestrator_queue");
    (
        messages,
        number(&rows, "worker_queue"),
        cost.stats.rows_read,
    )
}

async fn totals(setup: &mut Setup, arguments: &str) -> (i64, i64, u64) {
    let (rows, cost) = cost_of(setup, &format!("get_system_metrics {arguments}")).await;
    let instances = number(&rows, "total_instances");
    let ended = number(&rows, "completed_instances") + number(&rows, "failed_instances");
    assert_eq!(instances, ended + number(&rows, "running_instances"));
    assert_eq!(instances, number(&rows, "total_events"), "one event each");
    (
        instances,
        number(&rows, "total_executions"),
        cost.stats.rows_read,
    )
}

/// What is few is counted at every call. What is many is counted once in half a minute, or when the
/// caller accepts no other; everybody else reads no more than what few would cost.
#[tokio::test]
async fn large_counts_are_kept_for_half_a_minute() {
    let mut setup = setup().await;
    let (mut messages, mut known) = (0, 0);
    for to in [1_000, 4_000] {
        setup.write(&backlog(messages * 2, to));
        messages = to / 2;
        let half = i64::from(messages);
        let (found, activities, rows_read) = depths(&mut setup, "").await;
        assert_eq!((found, activities), (half, half), "few are counted anew");
        assert!(rows_read <= u64::from(2 * to));
        setup.write(&instances("a", known, to, "NULL, N'Completed'"));
        known = to;
        let (found, executions, _) = totals(&mut setup, "").await;
        assert_eq!((found, executions), (i64::from(to), i64::from(to)));
    }
    setup.write(&backlog(4_000, 8_000));
    setup.write(&instances("a", 4_000, 8_000, "NULL, N'Failed'"));
    assert_eq!(depths(&mut setup, "").await.0, 4_000, "never counted yet");
    assert_eq!(totals(&mut setup, "").await.0, 8_000, "never counted yet");
    setup.write(&backlog(8_000, 10_000));
    setup.write(&instances("a", 8_000, 10_000, "NULL, N'Running'"));
    for _ in 0..2 {
        let (found, activities, rows_read) = depths(&mut setup, "").await;
        assert_eq!((found, activities), (4_000, 4_000), "kept");
        assert!(rows_read <= 10_003, "{rows_read}");
        let (found, executions, rows_read) = totals(&mut setup, "").await;
        assert_eq!((found, executions), (8_000, 8_000), "kept");
        assert!(rows_read <= 10_003, "{rows_read}");
    }
    assert_eq!(depths(&mut setup, "@max_age_ms = 0").await.0, 5_000);
    assert_eq!(totals(&mut setup, "@max_age_ms = 0").await.0, 10_000);
    setup.write("DELETE FROM [$(schema)].worker_queue WHERE activity_id < 2000; DELETE FROM [$(schema)].instances WHERE status = N'Running'; DELETE FROM [$(schema)].executions WHERE completed_at_ms >= 10000;");
    assert_eq!(depths(&mut setup, "").await.1, 5_000, "kept");
    setup.server.controls().advance(Duration::from_secs(30));
    assert_eq!(depths(&mut setup, "").await.1, 4_000, "counted anew");
    assert_eq!(totals(&mut setup, "").await.0, 8_000, "counted anew");
    assert_eq!(
        depths(&mut setup, "").await.2,
        depths(&mut setup, "").await.2
    );
}

/// While one counts, the others take what is there instead of waiting or counting too; if the one never
/// comes back, the next one counts after half a minute.
#[tokio::test]
async fn one_counts_for_all() {
    let mut setup = setup().await;
    let controls = setup.server.controls();
    for (procedure, column) in [
        ("get_queue_depths", "orchestrator_queue"),
        ("get_system_metrics", "total_instances"),
    ] {
        let rows = |from, to| match procedure {
            "get_queue_depths" => backlog(from * 2, to * 2),
            _ => instances("a", from, to, "NULL, N'Completed'"),
        };
        let few = if column == "total_instances" {
            6_000
        } else {
            3_000
        };
        setup.write(&rows(0, few));
        let (first, _) = cost_of(&mut setup, procedure).await;
        assert_eq!(number(&first, column), i64::from(few));
        setup.write(&rows(few, few + 1_000));
        controls.advance(Duration::from_secs(31));
        let pause = controls.pause(
            Trigger::statement()
                .of(procedure)
                .containing("counting_until_ms = 0"),
        );
        let mut other = Session::open(&setup.schema).await;
        let call = format!("EXEC [$(schema)].{procedure};");
        let counting = tokio::spawn(async move { other.run(&call).await });
        pause.paused().await;
        let (rows, cost) = cost_of(&mut setup, procedure).await;
        assert_eq!(
            number(&rows, column),
            i64::from(few),
            "{procedure}: the old one"
        );
        assert!(number(&rows, "age_ms") >= 31_000, "{procedure}");
        assert_eq!(cost.stats.lock_waits, 0, "{procedure}");
        // The one who counts takes too long.
        controls.advance(Duration::from_secs(31));
        let (rows, _) = cost_of(&mut setup, procedure).await;
        assert_eq!(
            number(&rows, column),
            i64::from(few) + 1_000,
            "{procedure}: anew"
        );
        pause.release();
        let counted = counting.await.expect("it ends").expect("it counts");
        assert_eq!(number(&counted[0], column), i64::from(few) + 1_000);
        let (rows, _) = cost_of(&mut setup, procedure).await;
        assert!(
            number(&rows, "age_ms") < 30_000,
            "{procedure}: the later one stays"
        );
    }
}

/// Somebody counts in a transaction of his own and leaves it open. He gets his count, and nobody waits for him.
#[tokio::test]
async fn counts_in_a_callers_transaction_hold_up_nobody() {
    let mut setup = setup().await;
    setup.write(&backlog(0, 6_000));
    setup.write(&instances("a", 0, 6_000, "NULL, N'Completed'"));
    for (procedure, column, many) in [
        ("get_queue_depths", "orchestrator_queue", 3_000),
        ("get_system_metrics", "total_instances", 6_000),
    ] {
        for arguments in ["", "@max_age_ms = 0"] {
            let call = format!("EXEC [$(schema)].{procedure} {arguments};");
            let mut other = Session::open(&setup.schema).await;
            let counted = other.run(&format!("BEGIN TRANSACTION; {call}")).await;
            assert_eq!(number(&counted.unwrap()[0], column), many, "{call}");
            let impatient = format!("SET LOCK_TIMEOUT 0; {call}");
            let counted = setup.session.run(&impatient).await;
            assert_eq!(counted.map(|sets| number(&sets[0], column)), Ok(many));
            other.run("COMMIT;").await.expect("it is still open");
        }
    }
}

/// A count takes longer than a silent connection is given, and ends with its connection. The caller asks again, and is not told
/// that somebody is counting: that was its own first attempt.
#[tokio::test]
async fn count_that_takes_long_is_made_all_the_same() {
    let setup = setup().await;
    let provider = setup.schema.provider().await;
    let admin = provider.as_management_capability().expect("an admin");
    let controls = setup.server.controls();
    setup.write(&instances("a", 0, 6_000, "NULL, N'Completed'"));
    setup.write(&backlog(0, 8_000));
    admin.get_system_metrics().await.expect("counted");
    admin.get_queue_depths().await.expect("counted");
    setup.write(&instances("a", 6_000, 6_100, "NULL, N'Completed'"));
    setup.write(&backlog(8_000, 8_200));
    controls.advance(Duration::from_secs(31));
    let metrics = slowly(&controls, "get_system_metrics", admin.get_system_metrics()).await;
    assert_eq!(metrics.expect("counted").total_instances, 6_100);
    let depths = slowly(&controls, "get_queue_depths", admin.get_queue_depths()).await;
    assert_eq!(depths.expect("counted").orchestrator_queue, 4_100);
}

/// The first attempt of a call stands still at its end until its caller has gone.
async fn slowly<T>(controls: &Controls, procedure: &str, call: impl Future<Output = T>) -> T {
    let trigger = Trigger::statement()
        .of(procedure)
        .containing("counting_until_ms = 0");
    let pause = controls.pause(trigger);
    let (answer, ()) = tokio::join!(call, async {
        pause.paused().await;
        tokio::time::sleep(Duration::from_millis(3500)).await;
        pause.release();
    });
    answer
}
