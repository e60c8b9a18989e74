//! Sessions without an owner are found through their lanes, whatever the others are doing.

use std::time::Duration;

use duroxide::providers::{Provider, SessionFetchConfig, TagFilter, WorkItem};

use mssql_embedded::Trigger;

use super::Session;
use crate::support::database::{TestSchema, own_server};
use crate::support::items::LEASE;
use crate::support::wait::until;

fn item(id: u64, session: Option<&str>, tag: Option<&str>) -> WorkItem {
    WorkItem::ActivityExecute {
        instance: "order".into(),
        execution_id: 1,
        id,
        name: "Activity".into(),
        input: "{}".into(),
        session_id: session.map(str::to_owned),
        tag: tag.map(str::to_owned),
    }
}

async fn take(provider: &dyn Provider, owner: &str, filter: &TagFilter) -> Option<(u64, String)> {
    take_for(provider, owner, filter, LEASE).await
}

async fn take_for(
    provider: &dyn Provider,
    owner: &str,
    filter: &TagFilter,
    session_lease: Duration,
) -> Option<(u64, String)> {
    let session = SessionFetchConfig {
        owner_id: owner.into(),
        lock_timeout: session_lease,
    };
    let fetched = provider
        .fetch_work_item(LEASE, Duration::ZERO, Some(&session), filter)
        .await
        .expect("fetch_work_item");
    fetched.map(|(item, token, _)| match item {
        WorkItem::ActivityExecute { id, .. } => (id, token),
        other => panic!("not an activity: {other:?}"),
    })
}

/// Ready items of sessions that others own are passed by, and cost the fetch nothing: their lanes
/// have moved to the end of the leases.
#[tokio::test]
async fn lanes_of_owned_sessions_move_out_of_the_way() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    let filter = TagFilter::default();
    for n in 0..20 {
        let session = format!("s{n}");
        for id in 0..2 {
            provider
                .enqueue_for_worker(item(n * 2 + id, Some(&session), None))
                .await
                .unwrap();
        }
    }
    for n in 0..20 {
        let (id, _) = take(&provider, &format!("worker-{n}"), &filter)
            .await
            .expect("a session each");
        assert_eq!(id, n * 2, "oldest first");
    }
    assert!(take(&provider, "newcomer", &filter).await.is_none());
    let ready = "SELECT COUNT(*) AS n FROM [$(schema)].session_lanes
        WHERE not_before_ms <= DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());";
    assert_eq!(schema.number(ready).await, 0);
    let (id, _) = take(&provider, "worker-7", &filter)
        .await
        .expect("the owner gets the next");
    assert_eq!(id, 15);
}

/// A session whose items have all been acknowledged leaves no lane behind.
#[tokio::test]
async fn lane_of_an_empty_session_is_removed_by_the_next_fetch() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    let filter = TagFilter::default();
    provider
        .enqueue_for_worker(item(1, Some("s"), None))
        .await
        .unwrap();
    let (_, token) = take_for(&provider, "worker", &filter, Duration::from_millis(1))
        .await
        .unwrap();
    provider.ack_work_item(&token, None).await.unwrap();
    until("the lane to go", || async {
        assert!(take(&provider, "other", &filter).await.is_none());
        schema
            .number("SELECT COUNT(*) AS n FROM [$(schema)].session_lanes;")
            .await
            == 0
    })
    .await;
    provider
        .enqueue_for_worker(item(2, Some("s"), None))
        .await
        .unwrap();
    assert!(
        take(&provider, "other", &filter).await.is_some(),
        "and comes back with an item"
    );
}

/// The lanes of a session are kept apart by tag; winning one wins the session.
#[tokio::test]
async fn session_with_two_tags_belongs_to_one_worker() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    let gpu = TagFilter::tags(["gpu"]);
    let plain = TagFilter::default();
    provider
        .enqueue_for_worker(item(1, Some("s"), Some("gpu")))
        .await
        .unwrap();
    provider
        .enqueue_for_worker(item(2, Some("s"), None))
        .await
        .unwrap();
    let (id, _) = take(&provider, "painter", &gpu).await.expect("its tag");
    assert_eq!(id, 1);
    assert!(
        take(&provider, "clerk", &plain).await.is_none(),
        "the session is the painter's"
    );
    let (id, _) = take(&provider, "painter", &plain)
        .await
        .expect("who may take the rest");
    assert_eq!(id, 2);
}

/// Tags and session ids are exact: case and trailing spaces count.
#[tokio::test]
async fn tags_and_sessions_differ_by_case_and_trailing_space() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    for (id, session, tag) in [
        (1, None, Some("a ")),
        (2, None, Some("A")),
        (3, Some("s "), None),
        (4, Some("S"), None),
    ] {
        provider
            .enqueue_for_worker(item(id, session, tag))
            .await
            .unwrap();
    }
    assert!(
        take(&provider, "w", &TagFilter::tags(["a"]))
            .await
            .is_none()
    );
    assert_eq!(
        take(&provider, "w", &TagFilter::tags(["a "]))
            .await
            .unwrap()
            .0,
        1
    );
    assert_eq!(
        take(&provider, "w", &TagFilter::tags(["A"]))
            .await
            .unwrap()
            .0,
        2
    );
    let plain = TagFilter::default();
    assert_eq!(take(&provider, "first", &plain).await.unwrap().0, 3);
    assert_eq!(
        take(&provider, "second", &plain).await.unwrap().0,
        4,
        "another session"
    );
}

/// An abandoned item of a session whose lease has ended is there for a new owner.
#[tokio::test]
async fn abandoned_session_item_is_found_by_a_new_owner() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    let filter = TagFilter::default();
    provider
        .enqueue_for_worker(item(1, Some("s"), None))
        .await
        .unwrap();
    let (_, token) = take_for(&provider, "old", &filter, Duration::from_millis(1))
        .await
        .unwrap();
    // The lane learns that its only item is held for a minute, and must unlearn it.
    until("the session's lease to end", || async {
        take(&provider, "new", &filter).await.is_none()
            && schema
                .number("SELECT COUNT(*) AS n FROM [$(schema)].session_lanes
                    WHERE not_before_ms > DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) + 10000;")
                .await
                == 1
    })
    .await;
    provider
        .abandon_work_item(&token, None, true)
        .await
        .unwrap();
    assert_eq!(
        take(&provider, "new", &filter).await.expect("the item").0,
        1
    );
}

/// A worker finds the next item of a session it owns although the session's lane, the only one there
/// is, is being written: that nobody else uses sessions is not concluded from rows that are locked.
#[tokio::test]
async fn own_session_is_searched_while_its_lane_is_locked() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    let filter = TagFilter::default();
    for id in 1..=2 {
        let item = item(id, Some("s"), None);
        provider.enqueue_for_worker(item).await.unwrap();
    }
    assert!(take(&provider, "me", &filter).await.is_some());
    let mut holder = Session::open(&schema).await;
    holder
        .run("BEGIN TRANSACTION; UPDATE [$(schema)].session_lanes SET tag_key = tag_key;")
        .await
        .expect("the lane is locked");
    let token = uuid::Uuid::new_v4();
    let call = format!(
        "SET LOCK_TIMEOUT 0; EXEC [$(schema)].fetch_work_item @lock_token = N'{token}',
             @lock_timeout_ms = 60000, @include_untagged = 1, @session_owner = N'me',
             @session_timeout_ms = 60000;"
    );
    let sets = Session::open(&schema).await.run(&call).await.unwrap();
    assert_eq!(sets[0][0].get::<bool, _>("found"), Some(true));
    holder.run("ROLLBACK TRANSACTION;").await.expect("released");
}

/// Two workers whose names differ in spaces at their ends would own each other's sessions.
#[tokio::test]
async fn owner_that_ends_in_a_space_is_refused() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    let session = SessionFetchConfig {
        owner_id: "w ".into(),
        lock_timeout: LEASE,
    };
    let filter = TagFilter::default();
    let fetched = provider.fetch_work_item(LEASE, Duration::ZERO, Some(&session), &filter);
    let error = fetched.await.expect_err("the owner is refused");
    assert!(!error.is_retryable(), "{error}");
    assert!(error.message.contains("ends in a space"), "{error}");
}

/// Any tag and one by its name are any tag, for items of sessions as for others.
#[tokio::test]
async fn tag_may_be_named_beside_any() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    provider
        .enqueue_for_worker(item(1, Some("s"), Some("gpu")))
        .await
        .unwrap();
    let mut session = Session::open(&schema).await;
    let token = uuid::Uuid::new_v4();
    let fetch = format!(
        "EXEC [$(schema)].fetch_work_item @lock_token = N'{token}', @lock_timeout_ms = 60000, @any_tag = 1,
             @tags = N'[\"gpu\"]', @session_owner = N'w', @session_timeout_ms = 60000;"
    );
    let sets = session.run(&fetch).await.expect("the fetch runs");
    assert_eq!(sets[0][0].get("found"), Some(true));
}

/// A renewal moves the lanes of its sessions one by one: who kept one session while it waits for another could wait for a call
/// that does the same. So a session that somebody keeps locked holds up its own lane only.
#[tokio::test]
async fn lanes_of_renewed_sessions_move_one_by_one() {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let provider = schema.provider().await;
    let filter = TagFilter::default();
    for n in 1..=4 {
        let session = format!("s{}", n % 2);
        let item = item(n, Some(&session), None);
        provider.enqueue_for_worker(item).await.unwrap();
    }
    for _ in 0..2 {
        assert!(take(&provider, "w", &filter).await.is_some());
    }
    let mut other = Session::open(&schema).await;
    let owned = "SELECT COUNT(*) AS n FROM [$(schema)].sessions WHERE owner_id = N'w';";
    assert_eq!(other.number(owned).await, 2);
    let back = "UPDATE [$(schema)].session_lanes SET not_before_ms = 1;";
    other.run(back).await.unwrap();
    let controls = server.controls();
    let pause = controls.pause(Trigger::committed().of("renew_session_lock"));
    let renewal = tokio::spawn(async move {
        let renewed = provider.renew_session_lock(&["w"], LEASE, LEASE).await;
        renewed.unwrap()
    });
    pause.paused().await;
    other
        .run("BEGIN TRANSACTION; UPDATE [$(schema)].sessions SET last_activity_ms = last_activity_ms WHERE session_key = N'[s1]';")
        .await
        .unwrap();
    pause.release();
    assert_eq!(renewal.await.unwrap(), 2);
    other.run("ROLLBACK;").await.unwrap();
    let moved = "SELECT COUNT(*) AS n FROM [$(schema)].session_lanes WHERE not_before_ms > 1 AND session_key = N'[s0]';";
    assert_eq!(other.number(moved).await, 1, "nobody had this one");
    let stayed = moved.replace("s0", "s1");
    assert_eq!(other.number(&stayed).await, 0, "somebody had this one");
}
