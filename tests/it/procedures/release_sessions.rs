//! Sessions of workers that do not come back are let go; those of others keep their leases.

use std::time::Duration;

use duroxide::providers::{Provider, SessionFetchConfig, TagFilter, WorkItem};
use duroxide_sql::MssqlProvider;

use crate::support::database::{TestSchema, own_server};
use crate::support::items::LEASE;
use crate::support::proxy::Proxy;
use crate::support::wait::until;

/// Counts the leases of sessions.
const HELD: &str = "SELECT COUNT(*) AS n FROM [$(schema)].sessions
    WHERE locked_until_ms > DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());";

fn item(id: u64, session: &str, tag: Option<&str>) -> WorkItem {
    WorkItem::ActivityExecute {
        instance: "order".into(),
        execution_id: 1,
        id,
        name: "Activity".into(),
        input: "{}".into(),
        session_id: Some(session.to_owned()),
        tag: tag.map(str::to_owned),
    }
}

async fn take(provider: &MssqlProvider, owner: &str, tag: Option<&str>) -> Option<(u64, u32)> {
    let session = SessionFetchConfig {
        owner_id: owner.into(),
        lock_timeout: LEASE,
    };
    let filter = tag.map_or_else(TagFilter::default, |tag| TagFilter::tags([tag]));
    let fetched = provider.fetch_work_item(LEASE, Duration::ZERO, Some(&session), &filter);
    let fetched = fetched.await.expect("fetch_work_item");
    fetched.map(|(item, _, attempts)| match item {
        WorkItem::ActivityExecute { id, .. } => (id, attempts),
        other => panic!("not an activity: {other:?}"),
    })
}

/// What a closed process had of a session goes on elsewhere at once: the item that it was at, and those that wait,
/// whatever their tags.
#[tokio::test]
async fn sessions_of_a_closed_process_are_free_at_once() {
    let schema = TestSchema::new();
    let (first, second) = (schema.provider().await, schema.provider().await);
    let runtime = format!("work-0-{}", &uuid::Uuid::new_v4().simple().to_string()[..4]);
    for (id, tag) in [(1, None), (2, None), (3, Some("gpu"))] {
        second.enqueue_for_worker(item(id, "s", tag)).await.unwrap();
    }
    assert_eq!(take(&first, &runtime, None).await, Some((1, 1)));
    assert_eq!(
        take(&second, "work-0-next", None).await,
        None,
        "it is taken"
    );
    first.close().await;
    assert_eq!(
        take(&second, "work-0-next", Some("gpu")).await,
        Some((3, 1))
    );
    assert_eq!(take(&second, "work-0-next", None).await, Some((1, 1)));
    assert_eq!(take(&second, "work-0-next", None).await, Some((2, 1)));
}

/// A fetch that the server takes up while its provider is being closed leases a session after the others were let go.
#[tokio::test]
async fn session_that_is_leased_during_the_close_is_free() {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let proxy = Proxy::start(schema.url()).await;
    let builder = MssqlProvider::builder(proxy.url(schema.url())).schema(schema.name().as_str());
    let provider = builder.build().await.expect("the provider starts");
    let put = provider.enqueue_for_worker(item(1, "s", None));
    put.await.unwrap();
    let session = SessionFetchConfig {
        owner_id: "work-0-a1b2".into(),
        lock_timeout: LEASE,
    };
    let trigger = mssql_embedded::Trigger::request().of("fetch_work_item");
    let pause = server.controls().pause(trigger);
    // Once the sessions have been let go, and before the provider hears of it.
    let trigger = mssql_embedded::Trigger::response().of("release_sessions");
    let released = server.controls().pause(trigger);
    let filter = TagFilter::default();
    let fetched = provider.fetch_work_item(LEASE, Duration::ZERO, Some(&session), &filter);
    assert!(fetched.await.unwrap_err().is_retryable(), "nobody waits");
    let ((), ()) = tokio::join!(provider.close(), async {
        released.paused().await;
        pause.release();
        until("what nobody took is given back", || async {
            proxy.calls("abandon_work_item") == 1
        })
        .await;
        released.release();
    });
    assert_eq!(schema.number(HELD).await, 0);
}

/// A name that the user gave comes back after a restart, and finds its sessions as they were.
#[tokio::test]
async fn sessions_of_a_named_worker_wait_for_it() {
    let schema = TestSchema::new();
    let (first, second) = (schema.provider().await, schema.provider().await);
    for id in 1..=2 {
        second
            .enqueue_for_worker(item(id, "s", None))
            .await
            .unwrap();
    }
    assert_eq!(take(&first, "pod-0", None).await, Some((1, 1)));
    first.close().await;
    assert_eq!(take(&second, "work-0-next", None).await, None);
    assert_eq!(take(&second, "pod-0", None).await, Some((1, 1)));
}

/// Only leases of the owners that are named end, and each once.
#[tokio::test]
async fn only_what_is_the_owners_is_released() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    for (id, session, owner) in [(1, "a", "w1"), (2, "b", "w1"), (3, "c", "w2")] {
        provider
            .enqueue_for_worker(item(id, session, None))
            .await
            .unwrap();
        assert_eq!(take(&provider, owner, None).await, Some((id, 1)));
    }
    let release =
        "EXEC [$(schema)].release_sessions @owner_ids = N'[\"w1\", \"w1\", null, \"W2\"]';";
    assert_eq!(schema.number(HELD).await, 3);
    assert_eq!(schema.number(release).await, 2);
    assert_eq!(schema.number(HELD).await, 1);
    assert_eq!(schema.number(release).await, 0);
    let shown = "SELECT COUNT(*) AS n FROM [$(schema)].v_workers WHERE session_owner IS NOT NULL;";
    assert_eq!(schema.number(shown).await, 1, "nobody owns the others");
}
