//! Fetches whose cost does not grow with what was claimed before them, though nobody cleans up; and what lies
//! below the floor from which they look is found all the same.

use std::time::Duration;

use duroxide::providers::{Provider, TagFilter};
use mssql_embedded::{Controls, GhostCleanup, Server};

use super::Session;
use super::purging::{instances, setup};
use crate::support::database::{TestSchema, own_server};
use crate::support::items::{LEASE, activity, fetch, fetch_work, start};

const TURN: &str = "fetch_orchestration_item";
const WORK: &str = "fetch_work_item";
/// Claims that leave ghosts.
const CLAIMS: u64 = 10_000;

/// A server on which deleted index entries stay for ever.
fn haunted() -> (Server, Controls) {
    let server = own_server();
    let controls = server.controls();
    controls.set_ghost_cleanup(GhostCleanup::Never);
    (server, controls)
}

fn token(n: u64) -> String {
    format!("00000000-0000-4000-8000-{n:012}")
}

/// Entries of indexes that the calls of a procedure have visited, be they rows or ghosts.
fn visited(controls: &Controls, procedure: &str) -> u64 {
    let stats = controls.counters().of(procedure).stats;
    stats.rows_read + stats.ghosts_read
}

/// One fetch from where the last one said, or from everywhere; what it found, and from where to go on.
async fn look(
    session: &mut Session,
    procedure: &str,
    n: u64,
    from: &str,
) -> Option<(String, String)> {
    let more = if procedure == WORK {
        ", @any_tag = 1"
    } else {
        ""
    };
    let call = format!(
        "EXEC [$(schema)].{procedure} @lock_token = N'{}', @lock_timeout_ms = 600000{more}{from};",
        token(n)
    );
    let sets = session.run(&call).await.expect("the fetch runs");
    let head = &sets[0][0];
    let floor: i64 = head.get("floor_ms").expect("a floor");
    if head.get("found") != Some(true) {
        return None;
    }
    let lanes: &str = head.get("lanes").expect("lanes");
    let found: &str = head.get("lock_token").expect("a token");
    let from = format!(", @floor_ms = {floor}, @lanes = N'{lanes}'");
    Some((found.to_owned(), from))
}

/// Puts a turn and an activity, with a tag, into the queues, and settles what a claim of them left.
async fn put(session: &mut Session, n: u64) {
    let put = format!(
        r#"EXEC [$(schema)].enqueue_for_orchestrator @instance_id = N'i{n}', @kind = N'StartOrchestration', @payload = N'm';
           EXEC [$(schema)].enqueue_for_worker @worker_items = N'[{{"ord":0,"instance_id":"i{n}","execution_id":1,"activity_id":1,"tag":"gpu","payload":"w"}}]';"#
    );
    session.run(&put).await.expect("both are enqueued");
}

async fn settle(session: &mut Session, turn: &str, work: &str) {
    let settle = format!(
        "EXEC [$(schema)].ack_orchestration_item @lock_token = N'{turn}', @execution_id = 1, @orchestration_name = N'o', @orchestration_version = N'1', @pinned_version = 5;
         EXEC [$(schema)].ack_work_item @lock_token = N'{work}';"
    );
    session.run(&settle).await.expect("both are settled");
}

/// Enqueues, claims and settles a turn and an activity for each number, one after the other.
async fn claim_all(session: &mut Session, from: u64, to: u64) {
    let token = token(9);
    let text = format!(
        r#"DECLARE @n BIGINT = {from}, @id NVARCHAR(100), @held NVARCHAR(100), @items NVARCHAR(400), @floor_ms BIGINT;
           WHILE @n < {to}
           BEGIN
               SET @id = CONCAT(N'i', @n);
               SET @floor_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
               SET @items = CONCAT(N'[{{"ord":0,"instance_id":"', @id, N'","execution_id":1,"activity_id":1,"tag":"gpu","payload":"w"}}]');
               EXEC [$(schema)].enqueue_for_orchestrator @instance_id = @id, @kind = N'StartOrchestration', @payload = N'm';
               EXEC [$(schema)].enqueue_for_worker @worker_items = @items;
               EXEC [$(schema)].fetch_orchestration_item @lock_token = N'{token}', @lock_timeout_ms = 600000, @floor_ms = @floor_ms, @lanes = N'[-1]';
               EXEC [$(schema)].fetch_work_item @lock_token = N'{token}', @lock_timeout_ms = 600000, @any_tag = 1, @floor_ms = @floor_ms, @lanes = N'["[gpu]"]';
               SET @held = CONCAT(N'{token}:', @id);
               EXEC [$(schema)].ack_orchestration_item @lock_token = @held, @execution_id = 1, @orchestration_name = N'o', @orchestration_version = N'1', @pinned_version = 5;
               SELECT TOP (1) @held = CONCAT(N'{token}:', q.work_id) FROM [$(schema)].worker_queue AS q WHERE q.lock_token = N'{token}';
               EXEC [$(schema)].ack_work_item @lock_token = @held;
               SET @n = @n + 1;
           END;"#
    );
    session
        .run(&text)
        .await
        .expect("all are claimed and settled");
}

/// Entries that a fetch of a turn and one of an activity visit, from where the fetches before them said; the lanes of
/// turns are learned anew.
async fn cost(session: &mut Session, controls: &Controls, n: u64) -> (u64, u64) {
    let (mut turns_from, mut work_from) = (String::new(), String::new());
    for round in 0..2 {
        controls.advance(Duration::from_secs(1));
        put(session, n + round).await;
        turns_from.truncate(turns_from.find(", @lanes").unwrap_or(0));
        controls.reset_counters();
        let turn = look(session, TURN, 1, &turns_from).await.expect("a turn");
        let work = look(session, WORK, 2, &work_from)
            .await
            .expect("an activity");
        (turns_from, work_from) = (turn.1, work.1);
        settle(session, &turn.0, &work.0).await;
    }
    (visited(controls, TURN), visited(controls, WORK))
}

/// Entries visited by a fetch are as few after ten thousand claims as after ten; without a floor they are not.
#[tokio::test]
async fn fetches_pass_over_no_more_ghosts_however_many_claims_went_before() {
    let (server, controls) = haunted();
    let schema = TestSchema::at(server.connection_string());
    schema.provider().await;
    let mut session = Session::open(&schema).await;
    claim_all(&mut session, 0, 10).await;
    let few = cost(&mut session, &controls, 1_000_000).await;
    for part in 0..CLAIMS / 500 {
        controls.advance(Duration::from_secs(1));
        claim_all(&mut session, 10 + part * 500, 510 + part * 500).await;
    }
    let many = cost(&mut session, &controls, 2_000_000).await;
    put(&mut session, 3_000_000).await;
    controls.reset_counters();
    let whole = look(&mut session, TURN, 5, "").await;
    assert!(whole.is_some() && look(&mut session, WORK, 6, "").await.is_some());
    let whole = (visited(&controls, TURN), visited(&controls, WORK));
    println!(
        "a fetch of a turn and of an activity visit {few:?}, after {CLAIMS} claims {many:?}, without a floor {whole:?}"
    );
    assert!(
        many.0 <= few.0 + 5 && many.1 <= few.1 + 5,
        "{few:?} {many:?}"
    );
    assert!(whole.0 > CLAIMS && whole.1 > CLAIMS, "{whole:?}");
}

/// Entries that the calls of one turn visit: fetch, ack, a fetch more and its abandon.
async fn turn_cost(session: &mut Session, controls: &Controls) -> Vec<u64> {
    controls.advance(Duration::from_secs(1));
    let event = "EXEC [$(schema)].enqueue_for_orchestrator @instance_id = N'i0', @kind = N'ExternalRaised', @payload = N'm';";
    let mut from = String::new();
    let mut costs = Vec::new();
    for settle in [
        "ack_orchestration_item @execution_id = 1,",
        "abandon_orchestration_item",
    ] {
        session.run(event).await.expect("the event is enqueued");
        controls.reset_counters();
        let (held, next) = look(session, TURN, 1, &from).await.expect("a turn");
        let procedure = settle.split(' ').next().expect("a name");
        let settle = format!("EXEC [$(schema)].{settle} @lock_token = N'{held}';");
        session.run(&settle).await.expect("the turn is settled");
        costs.extend([visited(controls, TURN), visited(controls, procedure)]);
        from = next;
    }
    costs[1..].to_vec()
}

/// The same of one instance's turns, which leave the ghosts of its messages where the next turn looks for them; with
/// and without a timer that waits behind them.
#[tokio::test]
async fn turns_of_one_instance_pass_over_no_more_ghosts_however_many_went_before() {
    for timer in [
        "",
        "EXEC [$(schema)].enqueue_for_orchestrator @instance_id = N'i0', @kind = N'TimerFired', @payload = N't', @delay_ms = 600000000;",
    ] {
        let (server, controls) = haunted();
        let schema = TestSchema::at(server.connection_string());
        schema.provider().await;
        let mut session = Session::open(&schema).await;
        claim_all(&mut session, 0, 1).await;
        session.run(timer).await.expect("the timer waits");
        let mut costs = Vec::new();
        for turns in [10, 1_000] {
            let token = token(9);
            let text = format!(
                "DECLARE @n INT = 0, @floor_ms BIGINT;
                 WHILE @n < {turns}
                 BEGIN
                     SET @floor_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
                     EXEC [$(schema)].enqueue_for_orchestrator @instance_id = N'i0', @kind = N'ExternalRaised', @payload = N'm';
                     EXEC [$(schema)].fetch_orchestration_item @lock_token = N'{token}', @lock_timeout_ms = 600000, @floor_ms = @floor_ms, @lanes = N'[-1,5]';
                     EXEC [$(schema)].ack_orchestration_item @lock_token = N'{token}:i0', @execution_id = 1;
                     SET @n = @n + 1;
                 END;"
            );
            session.run(&text).await.expect("all turns are taken");
            costs.push(turn_cost(&mut session, &controls).await);
        }
        println!("ack, fetch and abandon of a turn visit {costs:?} entries");
        let pairs = costs[0].iter().zip(&costs[1]);
        assert!(
            pairs.clone().all(|(few, many)| *many <= few + 5),
            "{costs:?}"
        );
    }
}

/// The same of sessions: their lanes leave ghosts when they are promised anew and when they go.
#[tokio::test]
async fn searches_in_sessions_pass_over_no_more_ghosts_however_many_went_before() {
    let (server, controls) = haunted();
    let schema = TestSchema::at(server.connection_string());
    schema.provider().await;
    let mut session = Session::open(&schema).await;
    let mut costs = Vec::new();
    for (from, to) in [(0, 10), (10, 1_000)] {
        let token = token(9);
        let text = format!(
            r#"DECLARE @n BIGINT = {from}, @held NVARCHAR(100), @items NVARCHAR(400), @floor_ms BIGINT;
               WHILE @n < {to}
               BEGIN
                   SET @floor_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
                   SET @items = CONCAT(N'[{{"ord":0,"instance_id":"i","execution_id":1,"activity_id":1,"session_id":"s', @n, N'","payload":"w"}}]');
                   EXEC [$(schema)].enqueue_for_worker @worker_items = @items;
                   EXEC [$(schema)].fetch_work_item @lock_token = N'{token}', @lock_timeout_ms = 600000, @include_untagged = 1, @floor_ms = @floor_ms, @session_owner = N'w', @session_timeout_ms = 1;
                   SELECT TOP (1) @held = CONCAT(N'{token}:', q.work_id) FROM [$(schema)].worker_queue AS q WHERE q.lock_token = N'{token}';
                   EXEC [$(schema)].ack_work_item @lock_token = @held;
                   SET @n = @n + 1;
               END;"#
        );
        session.run(&text).await.expect("all are claimed and done");
        controls.advance(Duration::from_secs(10));
        let put = format!(
            r#"EXEC [$(schema)].enqueue_for_worker @worker_items = N'[{{"ord":0,"instance_id":"i","execution_id":1,"activity_id":1,"session_id":"after-{to}","payload":"w"}}]';"#
        );
        session.run(&put).await.expect("the item is enqueued");
        let fetch = |more: &str| {
            format!(
                "EXEC [$(schema)].fetch_work_item @lock_token = N'{token}', @lock_timeout_ms = 1, @include_untagged = 1, @session_owner = N'v', @session_timeout_ms = 1{more};"
            )
        };
        let now = session
            .number("SELECT DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());")
            .await;
        for more in [format!(", @floor_ms = {}", now - 100), String::new()] {
            controls.reset_counters();
            let sets = session.run(&fetch(&more)).await.expect("the fetch runs");
            assert_eq!(sets[0][0].get("found"), Some(true), "{more}");
            costs.push(visited(&controls, WORK));
            controls.advance(Duration::from_millis(10));
        }
        let done = "DELETE FROM [$(schema)].worker_queue;";
        session.run(done).await.expect("the item goes");
    }
    println!("few and many sessions, with a floor and without: {costs:?}");
    assert!(costs[2] <= costs[0] + 5, "{costs:?}");
    assert!(costs[3] > costs[1] + 500, "{costs:?}");
}

/// What lies below the floor, in a lane or a tag that the caller does not know, is found when nothing is above it.
#[tokio::test]
async fn nothing_found_above_the_floor_is_looked_for_below_it() {
    let schema = TestSchema::new();
    schema.provider().await;
    let mut session = Session::open(&schema).await;
    let high = ", @floor_ms = 9000000000000000, @lanes = N'[]'";
    for from in [
        high,
        ", @floor_ms = 0, @lanes = N'[]'",
        ", @floor_ms = -1, @lanes = N'[]'",
        ", @floor_ms = 9000000000000000",
    ] {
        put(&mut session, 0).await;
        let turn = look(&mut session, TURN, 0, from).await.expect("the turn");
        let work = look(&mut session, WORK, 1, from)
            .await
            .expect("the activity");
        assert!(look(&mut session, TURN, 0, from).await.is_none());
        assert!(look(&mut session, WORK, 1, from).await.is_none());
        settle(&mut session, &turn.0, &work.0).await;
    }
    // Where the whole takes long, callers may raise its bottom.
    put(&mut session, 0).await;
    let low = format!("{high}, @bottom_ms = 8000000000000000");
    assert!(look(&mut session, TURN, 0, &low).await.is_none());
    assert!(look(&mut session, WORK, 1, &low).await.is_none());
    let low = format!("{high}, @bottom_ms = 1000");
    let turn = look(&mut session, TURN, 0, &low).await.expect("the turn");
    let work = look(&mut session, WORK, 1, &low)
        .await
        .expect("the activity");
    settle(&mut session, &turn.0, &work.0).await;
    // Lanes of versions that the caller does not support are not looked into, whoever names them.
    put(&mut session, 0).await;
    let bound = ", @min_version = 6, @max_version = 9, @floor_ms = 0, @lanes = N'[-1,5]'";
    assert!(look(&mut session, TURN, 0, bound).await.is_none());
    assert!(look(&mut session, TURN, 0, "").await.is_some());
}

/// A provider that gets something new all the time still finds, before it is three times as old, what was committed
/// late or given back by others: items with times below its floor.
#[tokio::test]
async fn old_places_are_looked_at_all_the_same() {
    let schema = TestSchema::new();
    let provider = schema
        .builder()
        .wait_for_work(false)
        .build()
        .await
        .expect("the provider starts");
    let mut session = Session::open(&schema).await;
    provider
        .enqueue_for_orchestrator(start("new-0"), None)
        .await
        .unwrap();
    provider
        .enqueue_for_worker(activity("new-0", 1, ""))
        .await
        .unwrap();
    assert!(fetch(&provider).await.is_some() && fetch_work(&provider).await.is_some());
    // By another process, and a while ago.
    provider
        .enqueue_for_orchestrator(start("old"), None)
        .await
        .unwrap();
    provider
        .enqueue_for_worker(activity("old", 1, ""))
        .await
        .unwrap();
    let age = "UPDATE [$(schema)].instance_locks SET not_before_ms = not_before_ms - 1500 WHERE instance_id = N'old';
               UPDATE [$(schema)].orchestrator_queue SET visible_at_ms = visible_at_ms - 1500 WHERE instance_id = N'old';
               UPDATE [$(schema)].worker_queue SET not_before_ms = not_before_ms - 1500 WHERE instance_id = N'old';";
    session.run(age).await.unwrap();
    let began = std::time::Instant::now();
    let (mut turn, mut work, mut n) = (false, false, 0);
    while !(turn && work) {
        n += 1;
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "after {n} fetches: {turn} {work}"
        );
        let name = format!("new-{n}");
        provider
            .enqueue_for_orchestrator(start(&name), None)
            .await
            .unwrap();
        provider
            .enqueue_for_worker(activity(&name, 1, ""))
            .await
            .unwrap();
        let (item, ..) = fetch(&provider).await.expect("there is always a turn");
        turn |= item.instance == "old";
        let (item, ..) = fetch_work(&provider)
            .await
            .expect("there is always an activity");
        work |= format!("{item:?}").contains("\"old\"");
    }
}

/// What this provider itself gives back returns to its old place, and is the first that its next fetch finds.
#[tokio::test]
async fn what_a_provider_gives_back_is_fetched_first() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    for name in ["a", "b", "c"] {
        provider
            .enqueue_for_orchestrator(start(name), None)
            .await
            .unwrap();
        provider
            .enqueue_for_worker(activity(name, 1, ""))
            .await
            .unwrap();
    }
    let age = "UPDATE [$(schema)].instance_locks SET not_before_ms = 1000 WHERE instance_id = N'a';
               UPDATE [$(schema)].worker_queue SET not_before_ms = 1000, enqueued_at_ms = 1000 WHERE instance_id = N'a';
               UPDATE [$(schema)].orchestrator_queue SET visible_at_ms = 1000 WHERE instance_id = N'a';";
    schema.sql(age).await;
    let (_, turn, _) = fetch(&provider).await.expect("a");
    let (_, work, _) = fetch_work(&provider).await.expect("a");
    assert!(
        fetch(&provider).await.is_some() && fetch_work(&provider).await.is_some(),
        "b"
    );
    provider
        .abandon_orchestration_item(&turn, None, false)
        .await
        .unwrap();
    provider
        .abandon_work_item(&work, None, false)
        .await
        .unwrap();
    let (item, ..) = fetch(&provider).await.expect("a again");
    assert_eq!(item.instance, "a");
    let filter = TagFilter::default();
    let item = provider
        .fetch_work_item(LEASE, Duration::ZERO, None, &filter)
        .await
        .unwrap();
    assert!(format!("{item:?}").contains("\"a\""), "{item:?}");
}

/// The clock is set back behind the floor: nothing is above it, and what is ready is found.
#[tokio::test]
async fn a_clock_that_is_set_back_hides_nothing() {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let provider = schema.provider().await;
    server.controls().shift_utc(3_600_000);
    for name in ["a", "b"] {
        provider
            .enqueue_for_orchestrator(start(name), None)
            .await
            .unwrap();
        assert!(fetch(&provider).await.is_some(), "{name}");
        server.controls().shift_utc(-1_800_000);
    }
}

/// A process that waits passes over the ghosts of what was claimed before its first look, and only when it begins at the
/// beginning.
#[tokio::test]
async fn waiting_passes_over_ghosts_once() {
    let (server, controls) = haunted();
    let schema = TestSchema::at(server.connection_string());
    schema.provider().await;
    let mut session = Session::open(&schema).await;
    claim_all(&mut session, 0, 200).await;
    controls.advance(Duration::from_secs(10));
    let ghosts = |controls: &Controls| controls.counters().of("wait_for_work").stats.ghosts_read;
    let mut costs = Vec::new();
    for more in ["0", "1500", "1500, @floor_ms = 8000000000000000"] {
        controls.reset_counters();
        let wait = format!(
            "EXEC [$(schema)].wait_for_work @wait_ms = {more}, @orchestrations = 1, @include_untagged = 1, @tags = N'[\"gpu\"]', @sessions = 1;"
        );
        session.run(&wait).await.expect("the wait ends");
        costs.push(ghosts(&controls));
    }
    println!("ghosts of one look, of a second and a half, and from a floor: {costs:?}");
    assert!(costs[0] > 200, "{costs:?}");
    assert_eq!(costs[0], costs[1]);
    assert_eq!(costs[2], 0);
}

/// A purge goes through what deletions have fenced, and does not come by the ghosts of those that it has finished each time.
#[tokio::test]
async fn purges_pass_over_the_ghosts_of_fenced_instances_once() {
    let mut costs = Vec::new();
    for children in [100, 400] {
        let mut setup = setup().await;
        let controls = setup.server.controls();
        controls.set_ghost_cleanup(GhostCleanup::Never);
        setup.write(&instances("root", 0, 1, "NULL, N'Completed'"));
        setup.write(&instances("c", 0, children, "N'root0', N'Completed'"));
        setup.write(
            "UPDATE [$(schema)].history SET payload_bytes = 5000000 WHERE instance_id = N'root0';",
        );
        let fence = "EXEC [$(schema)].delete_instance @instance_id = N'root0', @budget_ms = 0;";
        setup.session.run(fence).await.expect("all are fenced");
        controls.reset_counters();
        let (row, _) = setup.call("delete_instance_bulk", "@limit = 0").await;
        let deleted: i64 = row.get("instances_deleted").expect("a count");
        assert!(deleted >= i64::from(children), "{deleted} are deleted");
        costs.push(visited(&controls, "delete_instance_bulk") / u64::from(children));
    }
    assert!(costs[1] <= costs[0] + 4, "entries per instance: {costs:?}");
}
