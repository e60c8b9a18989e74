//! Which instance a fetch takes, which it leaves alone, and what it says when there is none.

use std::time::Duration;

use duroxide::providers::{
    DispatcherCapabilityFilter, Provider, SemverRange, WorkItem, current_build_version,
};

use super::Session;
use crate::support::database::{SnapshotReads, TestSchema};
use crate::support::items::{LEASE, create, fetch, metadata, start, started};

fn cancel(instance: &str) -> WorkItem {
    WorkItem::CancelInstance {
        instance: instance.into(),
        reason: "test".into(),
    }
}

fn queued(instance: &str) -> WorkItem {
    WorkItem::QueueMessage {
        instance: instance.into(),
        name: "events".into(),
        data: "{}".into(),
    }
}

/// A message whose orchestration has not started neither starves the others nor is lost.
#[tokio::test]
async fn early_cancellation_waits_for_its_start_without_starving_others() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    provider
        .enqueue_for_orchestrator(cancel("early"), None)
        .await
        .unwrap();
    provider
        .enqueue_for_orchestrator(start("other"), None)
        .await
        .unwrap();

    let (item, ..) = fetch(&provider).await.expect("the other instance");
    assert_eq!(item.instance, "other");
    assert!(fetch(&provider).await.is_none(), "the early one is parked");

    provider
        .enqueue_for_orchestrator(start("early"), None)
        .await
        .unwrap();
    let (item, _, attempts) = fetch(&provider).await.expect("its start has come");
    assert_eq!(
        (item.instance.as_str(), item.messages.len(), attempts),
        ("early", 2, 1)
    );
    assert!(
        matches!(item.messages[0], WorkItem::CancelInstance { .. }),
        "in order of arrival"
    );
}

/// Parked messages come back with a start that was delayed, at its time.
#[tokio::test]
async fn parked_message_is_fetched_with_a_delayed_start() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    provider
        .enqueue_for_orchestrator(cancel("early"), None)
        .await
        .unwrap();
    let delay = Some(Duration::from_millis(50));
    provider
        .enqueue_for_orchestrator(start("early"), delay)
        .await
        .unwrap();
    let fetched = provider
        .fetch_orchestration_item(LEASE, Duration::from_secs(30), None)
        .await;
    let (item, ..) = fetched.unwrap().expect("the delayed start");
    assert_eq!(item.messages.len(), 2);
}

/// Queue messages that nobody will ask for are dropped, and the same call goes on to real work.
#[tokio::test]
async fn orphaned_queue_messages_are_dropped_on_the_way_to_the_next_instance() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    for n in 0..5 {
        provider
            .enqueue_for_orchestrator(queued(&format!("ghost-{n}")), None)
            .await
            .unwrap();
    }
    provider
        .enqueue_for_orchestrator(start("real"), None)
        .await
        .unwrap();
    let (item, ..) = fetch(&provider)
        .await
        .expect("the real one in the first call");
    assert_eq!(item.instance, "real");
    let left = schema
        .number("SELECT COUNT(*) AS n FROM [$(schema)].orchestrator_queue;")
        .await;
    let rows = schema
        .number("SELECT COUNT(*) AS n FROM [$(schema)].instance_locks;")
        .await;
    assert_eq!((left, rows), (1, 1), "nothing of the ghosts is left");
}

/// An instance of another version is not looked at, and keeps its place for those who support it.
#[tokio::test]
async fn other_versions_are_left_alone_in_their_lane() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    let semver = |minor| {
        let mut version = current_build_version();
        (version.minor, version.patch) = (minor, 0);
        version
    };
    for (instance, minor) in [("old", 1), ("new", 2)] {
        provider
            .enqueue_for_orchestrator(start(instance), None)
            .await
            .unwrap();
        let (_, token, _) = fetch(&provider).await.unwrap();
        let mut metadata = metadata();
        metadata.pinned_duroxide_version = Some(semver(minor));
        let history = vec![started(instance, "{}")];
        provider
            .ack_orchestration_item(&token, 1, history, vec![], vec![], metadata, vec![])
            .await
            .unwrap();
    }
    for instance in ["old", "new"] {
        provider
            .enqueue_for_orchestrator(cancel(instance), None)
            .await
            .unwrap();
    }
    let filter = DispatcherCapabilityFilter {
        supported_duroxide_versions: vec![SemverRange::new(semver(2), semver(2))],
    };
    let fetch_new = || provider.fetch_orchestration_item(LEASE, Duration::ZERO, Some(&filter));
    let (item, ..) = fetch_new().await.unwrap().expect("the new one");
    assert_eq!(item.instance, "new");
    assert!(
        fetch_new().await.unwrap().is_none(),
        "the old one is not for this caller"
    );
    let (item, _, attempts) = fetch(&provider)
        .await
        .expect("but for one without a filter");
    assert_eq!((item.instance.as_str(), attempts), ("old", 1));
}

/// A fetch that finds nothing says when to come back: at the next timer or end of a lease.
#[tokio::test]
async fn empty_fetch_tells_when_the_next_row_becomes_ready() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    let mut session = Session::open(&schema).await;
    let next = "EXEC [$(schema)].fetch_orchestration_item @lock_token = N'00000000-0000-0000-0000-000000000000', @lock_timeout_ms = 1000;";
    let sets = session.run(next).await.unwrap();
    assert_eq!(
        sets[0][0].get::<i64, _>("next_ready_in_ms"),
        None,
        "no row at all"
    );

    provider
        .enqueue_for_orchestrator(start("later"), Some(Duration::from_secs(100)))
        .await
        .unwrap();
    let sets = session.run(next).await.unwrap();
    assert_eq!(sets.len(), 1, "nothing follows an empty header");
    assert_eq!(sets[0][0].get::<bool, _>("found"), Some(false));
    let wait = sets[0][0]
        .get::<i64, _>("next_ready_in_ms")
        .expect("a time");
    assert!((90_000..=100_000).contains(&wait), "{wait}");

    provider
        .enqueue_for_orchestrator(start("now"), None)
        .await
        .unwrap();
    assert!(fetch(&provider).await.is_some());
    let sets = session.run(next).await.unwrap();
    let wait = sets[0][0]
        .get::<i64, _>("next_ready_in_ms")
        .expect("a time");
    assert!(wait <= 60_000, "the end of the lease comes first: {wait}");
}

/// An enqueue that has not committed yet holds the row; the fetch waits for it instead of saying
/// that there is no work, because there is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fetch_waits_for_a_ready_instance_that_is_being_written_to() {
    // The first attempt shares the row, the fourth has it alone.
    for (reads, attempt) in [
        (SnapshotReads::Off, 1),
        (SnapshotReads::On, 1),
        (SnapshotReads::Off, 4),
        (SnapshotReads::On, 4),
    ] {
        let schema = TestSchema::on(reads);
        let provider = std::sync::Arc::new(schema.provider().await);
        create(&*provider, "order").await;
        provider
            .enqueue_for_orchestrator(cancel("order"), None)
            .await
            .unwrap();

        let mut writer = Session::open(&schema).await;
        writer
            .run(&format!("BEGIN TRANSACTION; DECLARE @posted BIT; EXEC [$(schema)]._post_message @instance_id = N'order', @kind = N'ExternalRaised', @payload = N'{{}}', @attempt = {attempt}, @posted = @posted OUTPUT;"))
            .await
            .unwrap();
        let fetcher = tokio::spawn({
            let provider = provider.clone();
            async move { fetch(&*provider).await }
        });
        // Whether or not the fetch is already waiting, it must find both messages.
        tokio::task::yield_now().await;
        writer.run("COMMIT TRANSACTION;").await.unwrap();
        let (item, ..) = fetcher
            .await
            .unwrap()
            .expect("the instance was ready all the time");
        assert_eq!(item.instance, "order", "{reads:?}");
    }
}

/// A row that somebody holds locked hides no neighbour, and nobody waits for it.
#[tokio::test]
async fn neighbours_of_a_locked_row_are_fetched_without_waiting() {
    for reads in [SnapshotReads::Off, SnapshotReads::On] {
        let schema = TestSchema::on(reads);
        let provider = schema.provider().await;
        for name in ["a", "b", "c"] {
            let item = crate::support::items::activity(name, 1, "");
            provider.enqueue_for_worker(item).await.unwrap();
            let message = start(name);
            provider
                .enqueue_for_orchestrator(message, None)
                .await
                .unwrap();
        }
        let mut holder = Session::open(&schema).await;
        holder
            .run(
                "BEGIN TRANSACTION;
                 UPDATE [$(schema)].worker_queue SET attempt_count = 0 WHERE instance_id = N'a';
                 UPDATE [$(schema)].instance_locks SET pinned_version = -1 WHERE instance_id = N'a';",
            )
            .await
            .expect("the first of each is locked");
        let mut fetcher = Session::open(&schema).await;
        for (procedure, column) in [
            ("fetch_work_item @include_untagged = 1,", "payload"),
            ("fetch_orchestration_item", "instance_id"),
        ] {
            for neighbour in ["b", "c"] {
                let token = uuid::Uuid::new_v4();
                let call = format!(
                    "SET LOCK_TIMEOUT 0; EXEC [$(schema)].{procedure} @lock_token = N'{token}', @lock_timeout_ms = 60000;"
                );
                let sets = fetcher.run(&call).await.expect("nobody waits");
                let row = &sets[0][0];
                let found: &str = row.get(column).expect("a neighbour");
                assert!(
                    found == neighbour || found.contains(&format!("\"{neighbour}\"")),
                    "{procedure}: {found}"
                );
            }
        }
        holder.run("ROLLBACK TRANSACTION;").await.expect("released");
    }
}

/// What is not a token of ours is a lost lease, whatever it looks like, and no error of the server's: callers
/// understand the former only. Letters in the other case are the same token.
#[tokio::test]
async fn tokens_that_are_none_are_lost_leases() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    let mut session = Session::open(&schema).await;
    create(&provider, "order").await;
    provider
        .enqueue_for_orchestrator(start("order"), None)
        .await
        .unwrap();
    let fetched = "EXEC [$(schema)].fetch_orchestration_item @lock_token = N'abcdefab-cdef-4abc-8def-abcdefabcdef', @lock_timeout_ms = 60000;";
    session.run(fetched).await.expect("the turn is ready");
    let real = "abcdefab-cdef-4abc-8def-abcdefabcdef:order";
    let wrong = [
        String::new(),
        ":order".to_owned(),
        "none".to_owned(),
        "none of the thirty-six characters!!!:order".to_owned(),
        real.replacen('a', "g", 1),
        real.replacen('-', "", 1),
        format!("{{{}", &real[1..]),
        real.replace("order", "Order"),
        real[..36].to_owned(),
        "x".repeat(900),
    ];
    for (procedure, more, number) in [
        ("ack_orchestration_item", ", @execution_id = 1", 51003),
        ("abandon_orchestration_item", "", 51003),
        (
            "renew_orchestration_item_lock",
            ", @extend_ms = 60000",
            51003,
        ),
        ("ack_work_item", "", 51004),
        ("abandon_work_item", "", 51004),
        ("renew_work_item_lock", ", @extend_ms = 60000", 51004),
    ] {
        for token in &wrong {
            let call = format!("EXEC [$(schema)].{procedure} @lock_token = N'{token}'{more};");
            assert_eq!(session.run(&call).await.err(), Some(number), "{call}");
        }
        let call = format!("EXEC [$(schema)].{procedure} @lock_token = NULL{more};");
        assert_eq!(session.run(&call).await.err(), Some(number), "{call}");
    }
    let (token, instance) = real.split_at(36);
    let renewal = format!(
        "EXEC [$(schema)].renew_orchestration_item_lock @lock_token = N'{}{instance}', @extend_ms = 90000;",
        token.to_uppercase()
    );
    session.run(&renewal).await.expect("the same token");
}
