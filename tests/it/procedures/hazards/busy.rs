//! What somebody keeps locked is stepped over, and where it comes to lie when it is given back.

use std::time::Duration;

use mssql_embedded::Trigger;

use super::{Bench, at_once, enqueue, fetch_turn, fetch_work, found, post, token};

const NOW_MS: &str = "DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME())";

/// The oldest instance is locked and alone in its lane: those of other lanes are fetched all the same.
#[tokio::test]
async fn locked_head_of_a_lane_hides_no_other_lane() {
    let bench = Bench::new().await;
    bench.exec(&post("pinned")).await;
    let turn = token(&bench.exec(&fetch_turn()).await);
    let ack = format!(
        "ack_orchestration_item @lock_token = N'{turn}', @execution_id = 1, @pinned_version = 1000000, @orchestration_name = N'o', @orchestration_version = N'1'"
    );
    bench.exec(&ack).await;
    bench.exec(&post("pinned")).await;
    bench.controls.advance(Duration::from_millis(10));
    bench.exec(&post("new")).await;
    let mut holder = bench.session().await;
    holder
        .run(
            "BEGIN TRANSACTION; SELECT l.pinned_version FROM [$(schema)].instance_locks AS l
             WITH (INDEX(pk_instance_locks), UPDLOCK) WHERE l.instance_id = N'pinned';",
        )
        .await
        .expect("the row is locked");
    let found = at_once(bench.exec(&fetch_turn())).await;
    assert_eq!(found[0][0].get("instance_id"), Some("new"));
    // With nothing else to do it is waited for.
    let last = bench.spawn(&fetch_turn()).await;
    bench.blocked(1).await;
    holder.run("ROLLBACK;").await.unwrap();
    let last = at_once(last).await.unwrap().expect("the row is free");
    assert_eq!(last[0][0].get("instance_id"), Some("pinned"));
}

/// A lease begins before its commit. Whoever has waited for somebody's slow commit has a longer one, so that it holds when the
/// answer comes; whose clock was set meanwhile has not.
#[tokio::test]
async fn fetch_that_waited_long_has_a_longer_lease() {
    for (wait, leases_ms) in [
        (Duration::ZERO, 60_000..62_000),
        (Duration::from_secs(5), 70_000..80_000),
        (Duration::from_hours(1), 60_000..60_001),
    ] {
        let bench = Bench::new().await;
        bench.exec(&post("i")).await;
        bench.exec(&enqueue("s")).await;
        let mut holder = bench.session().await;
        holder
            .run(
                "BEGIN TRANSACTION;
                 SELECT l.not_before_ms FROM [$(schema)].instance_locks AS l WITH (INDEX(pk_instance_locks), XLOCK, ROWLOCK);
                 SELECT q.payload FROM [$(schema)].worker_queue AS q WITH (INDEX(pk_worker_queue), XLOCK, ROWLOCK);",
            )
            .await
            .expect("both rows are locked");
        if wait.is_zero() {
            holder.run("ROLLBACK;").await.unwrap();
        }
        let turn = bench.spawn(&fetch_turn()).await;
        let work = bench.spawn(&fetch_work("w")).await;
        if !wait.is_zero() {
            bench.blocked(2).await;
            bench.controls.advance(wait);
            holder.run("ROLLBACK;").await.unwrap();
        }
        for (fetch, table) in [(turn, "instance_locks"), (work, "worker_queue")] {
            let found = at_once(fetch).await.unwrap().expect("the row is free");
            let lease_ms: i64 = found[0][0].get("lease_ms").expect("a lease");
            assert!(leases_ms.contains(&lease_ms), "{wait:?}: {lease_ms}");
            let left = format!("SELECT not_before_ms - {NOW_MS} AS n FROM [$(schema)].{table};");
            let left_ms = bench.schema.number(&left).await;
            assert!(
                (lease_ms - 10_000..=lease_ms).contains(&left_ms),
                "{wait:?}: {left_ms} of {lease_ms}"
            );
        }
    }
}

/// The oldest instance is shared for long, as by a turn that sends to it and has much to write: those behind it in the same
/// lane are fetched meanwhile, and it is fetched when it is let go.
#[tokio::test]
async fn head_of_a_lane_that_is_shared_for_long_hides_no_other() {
    let bench = Bench::new().await;
    for instance in ["first", "second"] {
        bench.exec(&post(instance)).await;
        bench.controls.advance(Duration::from_millis(10));
    }
    let mut holder = bench.session().await;
    holder
        .run(
            "BEGIN TRANSACTION; SELECT l.not_before_ms FROM [$(schema)].instance_locks AS l
             WITH (INDEX(pk_instance_locks), FORCESEEK, ROWLOCK, REPEATABLEREAD) WHERE l.instance_id = N'first';",
        )
        .await
        .expect("the row is shared");
    let behind = bench.spawn(&fetch_turn()).await;
    bench.blocked(1).await;
    bench.controls.advance(Duration::from_secs(1));
    let behind = at_once(behind).await.unwrap().expect("a fetch");
    assert_eq!(behind[0][0].get("instance_id"), Some("second"));
    let last = bench.spawn(&fetch_turn()).await;
    bench.blocked(1).await;
    holder.run("ROLLBACK;").await.unwrap();
    let last = at_once(last).await.unwrap().expect("the row is free");
    assert_eq!(last[0][0].get("instance_id"), Some("first"));
}

/// A lane that promises too much cannot be corrected while a turn holds it; work without a session is done meanwhile, and
/// so is that of other sessions.
#[tokio::test]
async fn locked_lane_of_a_session_holds_up_no_other_work() {
    for other in ["", "other"] {
        let bench = Bench::new().await;
        bench.exec(&enqueue("held")).await;
        assert!(found(&bench.exec(&fetch_work("owner")).await));
        bench
            .schema
            .sql("UPDATE [$(schema)].session_lanes SET not_before_ms = 0;")
            .await;
        let item = enqueue(other).replace(r#""session_id":"","#, "");
        bench.exec(&item).await;
        let mut holder = bench.session().await;
        holder
            .run(
                "BEGIN TRANSACTION; SELECT l.not_before_ms FROM [$(schema)].session_lanes AS l
                 WITH (INDEX(uq_session_lanes_key), UPDLOCK) WHERE l.session_key = N'[held]';",
            )
            .await
            .expect("the lane is locked");
        let worker = bench.spawn(&fetch_work("worker")).await;
        if !other.is_empty() {
            // Nothing is known yet when the lane is met, so it is waited for a moment.
            bench.blocked(1).await;
            bench.controls.advance(Duration::from_secs(1));
        }
        assert!(found(&at_once(worker).await.unwrap().expect("a fetch")));
        holder.run("ROLLBACK;").await.unwrap();
    }
}

/// A session and a tag may together be longer than a clustered key.
#[tokio::test]
async fn locked_lane_with_the_longest_key_is_stepped_over() {
    let bench = Bench::new().await;
    let (session, tag) = ("s".repeat(398), "t".repeat(256));
    let held = enqueue(&session).replace(
        r#""payload":"x""#,
        &format!(r#""tag":"{tag}","payload":"x""#),
    );
    bench.exec(&held).await;
    let fetch = |owner: &str| fetch_work(owner) + &format!(r#", @tags = N'["{tag}"]'"#);
    assert!(found(&bench.exec(&fetch("owner")).await));
    bench
        .schema
        .sql("UPDATE [$(schema)].session_lanes SET not_before_ms = 0;")
        .await;
    bench
        .exec(&enqueue("").replace(r#""session_id":"","#, ""))
        .await;
    let mut holder = bench.session().await;
    holder
        .run("BEGIN TRANSACTION; SELECT l.not_before_ms FROM [$(schema)].session_lanes AS l WITH (INDEX(uq_session_lanes_key), UPDLOCK);")
        .await
        .expect("the lane is locked");
    assert!(found(&at_once(bench.exec(&fetch("worker"))).await));
    holder.run("ROLLBACK;").await.unwrap();
}

/// The item of a lane comes back while the lane is corrected, and lies further back than the lane did: it is found
/// in the same call.
#[tokio::test]
async fn item_that_comes_back_while_its_lane_is_corrected_is_found() {
    let bench = Bench::new().await;
    bench.exec(&enqueue("s")).await;
    let work = token(&bench.exec(&fetch_work("owner")).await);
    bench
        .schema
        .sql("UPDATE [$(schema)].sessions SET locked_until_ms = 0;")
        .await;
    bench
        .schema
        .sql(&format!(
            "UPDATE [$(schema)].session_lanes SET not_before_ms = {NOW_MS};"
        ))
        .await;
    bench.controls.advance(Duration::from_millis(5));
    let pause = bench
        .controls
        .pause(Trigger::statement().of("_settle_session_lane"));
    let worker = bench.spawn(&fetch_work("worker")).await;
    pause.paused().await;
    let back = format!("abandon_work_item @lock_token = N'{work}'");
    bench.exec(&back).await;
    pause.release();
    assert!(found(&at_once(worker).await.unwrap().expect("a fetch")));
}

/// A lane that was left out is looked at once more before a worker hears that there is nothing.
#[tokio::test]
async fn lane_that_was_left_out_is_looked_at_again() {
    let bench = Bench::new().await;
    bench.exec(&enqueue("s")).await;
    let mut holder = bench.session().await;
    holder
        .run(
            "BEGIN TRANSACTION; SELECT l.not_before_ms FROM [$(schema)].session_lanes AS l
             WITH (INDEX(uq_session_lanes_key), UPDLOCK) WHERE l.session_key = N'[s]';
             UPDATE [$(schema)].worker_queue WITH (ROWLOCK) SET not_before_ms = not_before_ms + 60000;",
        )
        .await
        .expect("lane and item are locked");
    let between = Trigger::statement().of("_await_sessions");
    let pause = bench.controls.pause(between);
    let worker = bench.spawn(&fetch_work("worker")).await;
    bench.blocked(1).await;
    bench.controls.advance(Duration::from_secs(1));
    pause.paused().await;
    holder.run("ROLLBACK;").await.unwrap();
    pause.release();
    assert!(found(&at_once(worker).await.unwrap().expect("a fetch")));
}

/// An item is the worker's when its lane is put off, which is an economy: whoever writes to the session meanwhile is not waited for.
#[tokio::test]
async fn item_is_delivered_while_somebody_writes_to_its_session() {
    let bench = Bench::new().await;
    bench.exec(&enqueue("s")).await;
    let pause = bench
        .controls
        .pause(Trigger::statement().of("_postpone_session_lane"));
    let worker = bench.spawn(&fetch_work("worker")).await;
    pause.paused().await;
    let mut holder = bench.session().await;
    holder
        .run("BEGIN TRANSACTION; UPDATE [$(schema)].sessions SET last_activity_ms = last_activity_ms + 1;")
        .await
        .expect("the session is being written to");
    pause.release();
    bench.blocked(1).await;
    bench.controls.advance(Duration::from_secs(1));
    assert!(found(&at_once(worker).await.unwrap().expect("a fetch")));
    holder.run("ROLLBACK;").await.unwrap();
}

/// Fetches look from where claims have got to. What comes back after a long time lies a second back and no more, so that
/// the next look below finds it.
#[tokio::test]
async fn nothing_returns_to_an_old_place() {
    let bench = Bench::new().await;
    let back = |table: &str, key: &str| {
        format!("SELECT {NOW_MS} - not_before_ms AS n FROM [$(schema)].{table} WHERE {key};")
    };
    let is_recent = async |table: &str, key: &str| {
        let ms = bench.schema.number(&back(table, key)).await;
        assert!((1_000..30_000).contains(&ms), "{table}: {ms} ms back");
    };
    let hour = Duration::from_hours(1);

    // An activity that ran for long, with a session and without one.
    for (session, key) in [("", "session_key = N''"), ("s", "session_key = N'[s]'")] {
        let item = enqueue(session).replace(r#""session_id":"","#, "");
        bench.exec(&item).await;
        let fetch = fetch_work("w").replace("60000", "9000000");
        let work = token(&bench.exec(&fetch).await);
        bench.controls.advance(hour);
        let abandon = format!("abandon_work_item @lock_token = N'{work}'");
        bench.exec(&abandon).await;
        is_recent("worker_queue", key).await;
        bench
            .schema
            .sql("DELETE FROM [$(schema)].worker_queue;")
            .await;
    }

    // A turn that was given back, and one that ends with messages that came an hour before.
    bench.exec(&post("i")).await;
    let long = || fetch_turn().replace("60000", "9000000");
    let turn = token(&bench.exec(&long()).await);
    bench.controls.advance(hour);
    let abandon = format!("abandon_orchestration_item @lock_token = N'{turn}'");
    bench.exec(&abandon).await;
    is_recent("instance_locks", "instance_id = N'i'").await;
    let turn = token(&bench.exec(&long()).await);
    bench.exec(&post("i")).await;
    bench.controls.advance(hour);
    let ack = format!(
        "ack_orchestration_item @lock_token = N'{turn}', @execution_id = 1, @orchestration_name = N'o', @orchestration_version = N'1'"
    );
    bench.exec(&ack).await;
    is_recent("instance_locks", "instance_id = N'i'").await;
    assert!(found(&bench.exec(&fetch_turn()).await));
}
