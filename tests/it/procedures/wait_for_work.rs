//! wait_for_work: what it sees, what it leaves alone, and that it holds nothing while it waits.

use std::time::Duration;

use duroxide::providers::{Provider, SessionFetchConfig, TagFilter, WorkItem};

use super::Session;
use crate::support::database::{TestSchema, own_server};
use crate::support::items::{LEASE, create, fetch, start};
use crate::support::wait::until;

fn item(id: u64, tag: Option<&str>, session: Option<&str>) -> WorkItem {
    WorkItem::ActivityExecute {
        instance: "order".into(),
        execution_id: 1,
        id,
        name: "Activity".into(),
        input: "{}".into(),
        session_id: session.map(Into::into),
        tag: tag.map(Into::into),
    }
}

/// One look with these arguments: the columns in order, `-` for NULL.
async fn look(session: &mut Session, arguments: &str) -> String {
    let call = format!("EXEC [$(schema)].wait_for_work @wait_ms = 0, {arguments};");
    let sets = session.run(&call).await.expect("the call runs");
    let row = sets.last().and_then(|rows| rows.first()).expect("a row");
    let text = |n: usize| row.get::<&str, _>(n).unwrap_or("-").to_owned();
    let ready = u8::from(row.get::<bool, _>(0).expect("a flag"));
    format!("{ready} {} {} {} {}", text(1), text(2), text(3), text(4))
}

const NOTHING: &str = "0 - - - -";

#[tokio::test]
async fn messages_are_seen_when_they_are_visible_and_free() {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let provider = schema.provider().await;
    let mut session = Session::open(&schema).await;
    let all = "@orchestrations = 1";
    assert_eq!(look(&mut session, all).await, NOTHING);
    provider
        .enqueue_for_orchestrator(start("order"), Some(Duration::from_secs(100)))
        .await
        .unwrap();
    assert_eq!(look(&mut session, all).await, NOTHING);
    server.controls().advance(Duration::from_secs(101));
    assert_eq!(look(&mut session, all).await, "1 - - - -");
    let workers = "@include_untagged = 1, @sessions = 1";
    assert_eq!(look(&mut session, workers).await, NOTHING);
    assert!(fetch(&provider).await.is_some());
    assert_eq!(look(&mut session, all).await, NOTHING, "held");
    server.controls().advance(LEASE + Duration::from_secs(1));
    assert_eq!(look(&mut session, all).await, "1 - - - -", "abandoned");
}

/// Versions in the order of the index: none, below, within, above.
#[tokio::test]
async fn only_versions_that_are_asked_for_are_seen() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    let mut session = Session::open(&schema).await;
    drop(provider);
    let put = |lane: i64| {
        format!(
            "DELETE FROM [$(schema)].instance_locks;
             DELETE FROM [$(schema)].version_lanes;
             INSERT INTO [$(schema)].version_lanes (lane) SELECT v.lane FROM (VALUES (1), ({lane})) AS v(lane) WHERE v.lane >= 0 GROUP BY v.lane;
             INSERT INTO [$(schema)].instance_locks (instance_id, lane, not_before_ms, pinned_version)
             VALUES (N'waits', -1, 9000000000000000, -1), (N'low', 1, 9000000000000000, 1),
                    (N'idle', -2, 0, -1), (N'order', {lane}, 0, {lane});"
        )
    };
    for (lane, bounded, all) in [
        (-2, false, false),
        (-1, true, true),
        (1, false, true),
        (9, false, true),
        (10, true, true),
        (20, true, true),
        (21, false, true),
    ] {
        session.run(&put(lane)).await.unwrap();
        let seen = look(
            &mut session,
            "@orchestrations = 1, @min_version = 10, @max_version = 20",
        )
        .await;
        assert_eq!(seen.starts_with('1'), bounded, "lane {lane}");
        let seen = look(&mut session, "@orchestrations = 1").await;
        assert_eq!(seen.starts_with('1'), all, "lane {lane}");
    }
}

#[tokio::test]
async fn work_is_seen_by_tag_and_session() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    let mut session = Session::open(&schema).await;
    let (untagged, any) = ("@include_untagged = 1", "@any_tag = 1");
    let tags = "@tags = N'[\"a\",\"gpu\"]'";
    create(&provider, "order").await;
    provider
        .enqueue_for_worker(item(1, Some("gpu"), None))
        .await
        .unwrap();
    assert_eq!(look(&mut session, untagged).await, NOTHING);
    assert_eq!(look(&mut session, tags).await, "0 [gpu] - - -");
    assert_eq!(look(&mut session, any).await, "0 [gpu] - - -");
    provider
        .enqueue_for_worker(item(2, None, None))
        .await
        .unwrap();
    assert_eq!(look(&mut session, untagged).await, "0  - - -");
    let lease = Duration::from_secs(60);
    for _ in 0..2 {
        let taken = provider.fetch_work_item(lease, Duration::ZERO, None, &TagFilter::Any);
        assert!(taken.await.unwrap().is_some());
    }
    assert_eq!(look(&mut session, any).await, NOTHING, "held");

    provider
        .enqueue_for_worker(item(3, Some("gpu"), Some("s")))
        .await
        .unwrap();
    let with = |tags: &str| format!("{tags}, @sessions = 1, @session_owners = N'[\"v\",\"w\"]'");
    assert_eq!(look(&mut session, tags).await, NOTHING);
    assert_eq!(look(&mut session, &with(untagged)).await, NOTHING);
    assert_eq!(look(&mut session, &with(tags)).await, "0 - [gpu] - -");
    assert_eq!(look(&mut session, &with(any)).await, "0 - [gpu] - -");
    let owner = SessionFetchConfig {
        owner_id: "w".into(),
        lock_timeout: LEASE,
    };
    let taken = provider.fetch_work_item(lease, Duration::ZERO, Some(&owner), &TagFilter::Any);
    assert!(taken.await.unwrap().is_some());
    assert_eq!(
        look(&mut session, &with(tags)).await,
        NOTHING,
        "owned and held"
    );
    provider
        .enqueue_for_worker(item(4, Some("gpu"), Some("s")))
        .await
        .unwrap();
    let seen = look(&mut session, &with(tags)).await;
    assert!(seen.ends_with("w [gpu]"), "{seen}");
    let others = format!("{tags}, @session_owners = N'[\"v\"]'");
    assert_eq!(look(&mut session, &others).await, NOTHING);
}

/// The first look begins where the caller says, and the answer says where it looked, so that the next one goes on there.
#[tokio::test]
async fn what_is_older_than_the_floor_is_not_seen() {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let provider = schema.provider().await;
    let mut session = Session::open(&schema).await;
    let call = "EXEC [$(schema)].wait_for_work @wait_ms = 0, @orchestrations = 1;";
    let looked = session.run(call).await.unwrap()[0][0].get::<i64, _>("looked_ms");
    let looked = looked.expect("the time of the look");
    let put = start("order");
    provider.enqueue_for_orchestrator(put, None).await.unwrap();
    server.controls().advance(Duration::from_secs(60));
    let from = |floor: i64| format!("@orchestrations = 1, @floor_ms = {floor}");
    assert_eq!(look(&mut session, &from(looked)).await, "1 - - - -");
    let later = from(looked + 30_000);
    assert_eq!(look(&mut session, &later).await, NOTHING);
}

/// While it waits it holds no lock: another session locks both queues as a whole, without waiting. A
/// change that is not committed is not seen, and once it is, it is.
#[tokio::test]
async fn nothing_is_held_while_waiting() {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let provider = schema.provider().await;
    provider
        .enqueue_for_orchestrator(start("order"), Some(LEASE))
        .await
        .unwrap();
    let controls = server.controls();
    controls.watch_statements(true);
    let mut session = Session::open(&schema).await;
    let waiting = tokio::spawn(async move {
        let call = "EXEC [$(schema)].wait_for_work @wait_ms = 600000, @orchestrations = 1, @include_untagged = 1;";
        let sets = session.run(call).await.expect("the call runs");
        let row = sets.last().and_then(|rows| rows.first()).expect("a row");
        (row.get::<bool, _>(0), row.get::<&str, _>(1).is_some())
    });
    until("it waits between two looks", || async {
        controls.counters().statement("WAITFOR").executions > 0
    })
    .await;
    // A lock that cannot be had at once is an error: then a look is under way this very moment.
    let lock = "SET LOCK_TIMEOUT 0; SET XACT_ABORT ON;
                BEGIN TRANSACTION;
                UPDATE [$(schema)].instance_locks WITH (TABLOCKX) SET not_before_ms = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) WHERE instance_id = N'order';
                SELECT COUNT(*) FROM [$(schema)].worker_queue WITH (TABLOCKX, HOLDLOCK);";
    let mut other = Session::open(&schema).await;
    let mut is_locked = false;
    for _ in 0..100 {
        is_locked = is_locked || other.run(lock).await.is_ok();
    }
    assert!(is_locked);
    assert_eq!(other.number("SELECT @@TRANCOUNT;").await, 1);
    assert!(!waiting.is_finished());
    other.run("COMMIT;").await.unwrap();
    assert_eq!(waiting.await.unwrap(), (Some(true), false));
}

#[tokio::test]
async fn waiting_inside_a_transaction_is_refused() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    drop(provider);
    let call = "BEGIN TRANSACTION; EXEC [$(schema)].wait_for_work @wait_ms = 0;";
    assert_eq!(schema.error(call).await, 51000);
}

/// A look costs the same with ten rows and with ten thousand that cannot be taken.
#[tokio::test]
async fn look_costs_the_same_whatever_waits() {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let provider = schema.provider().await;
    drop(provider);
    let mut session = Session::open(&schema).await;
    let call = "@orchestrations = 1, @include_untagged = 1, @tags = N'[\"gpu\"]', @sessions = 1";
    let mut costs = Vec::new();
    for (from, to) in [(0, 10), (10, 10_000)] {
        let fill = format!(
            "INSERT INTO [$(schema)].instance_locks (instance_id, lane, not_before_ms, lock_token, pinned_version)
             SELECT CONCAT(N'i', x.n), x.n % 2 - 1, 9000000000000000 - x.n, NULL, -1
             FROM (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS n
                   FROM (VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS a(d)
                   CROSS JOIN (VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS b(d)
                   CROSS JOIN (VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS c(d)
                   CROSS JOIN (VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS e(d)) AS x
             WHERE x.n >= {from} AND x.n < {to};"
        );
        session.run(&fill).await.unwrap();
        let before = server.controls().counters();
        assert_eq!(look(&mut session, call).await, NOTHING);
        let cost = server.controls().counters().since(&before);
        costs.push(cost.of("wait_for_work").stats.rows_read);
    }
    assert_eq!(costs[0], costs[1], "rows read with 10 and with 10,000 rows");
    assert!(costs[0] < 20, "{costs:?}");
}
