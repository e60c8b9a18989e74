//! Every trait method is one request, and an orchestration costs what it must and no more.

use std::time::Duration;

use duroxide::Client;
use duroxide::providers::{
    InstanceFilter, Provider, ProviderAdmin, PruneOptions, SessionFetchConfig, TagFilter, WorkItem,
};
use duroxide::runtime::registry::OrchestrationRegistry;
use duroxide::runtime::{Runtime, RuntimeOptions};
use duroxide::{EventKind, OrchestrationContext};

use crate::support::database::{BOTH, SnapshotReads, TestSchema};
use crate::support::items::{
    LEASE, activity, completed, create, event, fetch, fetch_work, metadata, start, started,
};
use crate::support::proxy::Proxy;
use crate::support::runtime::{PATIENCE, echo_activities};
use crate::support::wait;

/// Asserts how many requests an expression sends.
macro_rules! costs {
    ($proxy:expr, $requests:literal, $call:expr) => {{
        $proxy.take_requests();
        let result = $call.await;
        assert_eq!(
            $proxy.take_requests(),
            $requests,
            "requests of {}",
            stringify!($call)
        );
        result
    }};
}

/// Methods that work on turns and messages.
#[tokio::test]
async fn orchestration_methods_are_one_request_each() {
    let schema = TestSchema::new();
    let proxy = Proxy::start(schema.url()).await;
    let url = proxy.url(schema.url());
    let builder = duroxide_sql::MssqlProvider::builder(url).schema(schema.name().as_str());
    let p = builder.pool_min_idle(1).build().await.unwrap();
    let zero = Duration::ZERO;

    costs!(proxy, 1, p.fetch_orchestration_item(LEASE, zero, None)).unwrap();
    costs!(proxy, 1, p.enqueue_for_orchestrator(start("a"), None)).unwrap();
    let fetched = costs!(proxy, 1, p.fetch_orchestration_item(LEASE, zero, None)).unwrap();
    let (_, token, _) = fetched.unwrap();
    costs!(proxy, 1, p.renew_orchestration_item_lock(&token, LEASE)).unwrap();
    costs!(proxy, 1, p.abandon_orchestration_item(&token, None, false)).unwrap();
    let (_, token, _) = fetch(&p).await.unwrap();
    let set = EventKind::KeyValueSet {
        key: "k".into(),
        value: "v".into(),
        last_updated_at_ms: 1,
    };
    let history = vec![started("a", ""), event("a", 2, set)];
    let work = (2..12).map(|id| activity("a", id, "")).collect();
    let messages = vec![start("b"), start("c")];
    let ack = p.ack_orchestration_item(&token, 1, history, work, messages, metadata(), vec![]);
    costs!(proxy, 1, ack).unwrap();
    costs!(proxy, 1, p.read("a")).unwrap();
    costs!(proxy, 1, p.read_with_execution("a", 1)).unwrap();
    let more = vec![event("a", 9, EventKind::KeyValuesCleared)];
    costs!(proxy, 1, p.append_with_execution("a", 1, more)).unwrap();
    costs!(proxy, 1, p.get_custom_status("a", 0)).unwrap();
    costs!(proxy, 1, p.get_kv_value("a", "k")).unwrap();
    costs!(proxy, 1, p.get_kv_all_values("a")).unwrap();
    costs!(proxy, 1, p.get_instance_stats("a")).unwrap();
    // A dispatcher that supports no version can take nothing; nobody needs to be asked.
    let nothing = duroxide::providers::DispatcherCapabilityFilter {
        supported_duroxide_versions: vec![],
    };
    costs!(
        proxy,
        0,
        p.fetch_orchestration_item(LEASE, zero, Some(&nothing))
    )
    .unwrap();
}

/// Methods that work on work items and sessions.
#[tokio::test]
async fn worker_methods_are_one_request_each() {
    let schema = TestSchema::new();
    let proxy = Proxy::start(schema.url()).await;
    let url = proxy.url(schema.url());
    let builder = duroxide_sql::MssqlProvider::builder(url).schema(schema.name().as_str());
    let p = builder.pool_min_idle(1).build().await.unwrap();
    create(&p, "a").await;
    let (zero, any) = (Duration::ZERO, TagFilter::Any);

    costs!(proxy, 1, p.enqueue_for_worker(activity("a", 2, ""))).unwrap();
    let session = SessionFetchConfig {
        owner_id: "w".into(),
        lock_timeout: LEASE,
    };
    let fetched = costs!(
        proxy,
        1,
        p.fetch_work_item(LEASE, zero, Some(&session), &any)
    )
    .unwrap();
    let (_, token, _) = fetched.unwrap();
    costs!(proxy, 1, p.renew_work_item_lock(&token, LEASE)).unwrap();
    costs!(proxy, 1, p.abandon_work_item(&token, None, true)).unwrap();
    let (_, token, _) = fetch_work(&p).await.unwrap();
    costs!(
        proxy,
        1,
        p.ack_work_item(&token, Some(completed("a", 2, "")))
    )
    .unwrap();
    costs!(
        proxy,
        0,
        p.fetch_work_item(LEASE, zero, None, &TagFilter::None)
    )
    .unwrap();
    costs!(proxy, 1, p.renew_session_lock(&["w"], LEASE, LEASE)).unwrap();
    costs!(proxy, 0, p.renew_session_lock(&[], LEASE, LEASE)).unwrap();
    costs!(proxy, 1, p.cleanup_orphaned_sessions(LEASE)).unwrap();
}

/// Methods for administrators.
#[tokio::test]
async fn admin_methods_are_one_request_each() {
    let schema = TestSchema::new();
    let proxy = Proxy::start(schema.url()).await;
    let url = proxy.url(schema.url());
    let builder = duroxide_sql::MssqlProvider::builder(url).schema(schema.name().as_str());
    let p = builder.pool_min_idle(1).build().await.unwrap();
    create(&p, "a").await;
    let (all, options) = (InstanceFilter::default(), PruneOptions::default());
    let none = InstanceFilter {
        instance_ids: Some(vec![]),
        ..InstanceFilter::default()
    };

    costs!(proxy, 1, p.list_instances()).unwrap();
    costs!(proxy, 1, p.list_instances_by_status("Running")).unwrap();
    costs!(proxy, 1, p.list_executions("a")).unwrap();
    costs!(proxy, 1, p.read_history("a")).unwrap();
    costs!(proxy, 1, p.read_history_with_execution_id("a", 1)).unwrap();
    costs!(proxy, 1, p.latest_execution_id("a")).unwrap();
    costs!(proxy, 1, p.get_instance_info("a")).unwrap();
    costs!(proxy, 1, p.get_execution_info("a", 1)).unwrap();
    costs!(proxy, 1, p.get_system_metrics()).unwrap();
    costs!(proxy, 1, p.get_queue_depths()).unwrap();
    costs!(proxy, 1, p.list_children("a")).unwrap();
    costs!(proxy, 1, p.get_parent_id("a")).unwrap();
    costs!(proxy, 1, p.get_instance_tree("a")).unwrap();
    costs!(proxy, 1, p.prune_executions("a", options.clone())).unwrap();
    costs!(
        proxy,
        1,
        p.prune_executions_bulk(all.clone(), options.clone())
    )
    .unwrap();
    costs!(proxy, 0, p.prune_executions_bulk(none.clone(), options)).unwrap();
    costs!(proxy, 1, p.delete_instance_bulk(all)).unwrap();
    costs!(proxy, 0, p.delete_instance_bulk(none)).unwrap();
    costs!(proxy, 1, p.delete_instances_atomic(&["zzz".into()], true)).unwrap();
    costs!(proxy, 0, p.delete_instances_atomic(&[], true)).unwrap();
    costs!(proxy, 1, p.delete_instance("a", true)).unwrap();
}

/// Whoever waits for an instance asks for its custom status after each read. The read of its end has brought it; a deletion
/// in between is not missed, and a read of something that still runs brings nothing.
#[tokio::test]
async fn status_of_an_instance_comes_with_its_end() {
    let schema = TestSchema::new();
    let proxy = Proxy::start(schema.url()).await;
    let url = proxy.url(schema.url());
    let builder = duroxide_sql::MssqlProvider::builder(url).schema(schema.name().as_str());
    let p = builder.pool_min_idle(1).build().await.unwrap();
    p.enqueue_for_orchestrator(start("a"), None).await.unwrap();
    let (_, token, _) = fetch(&p).await.unwrap();
    let says = |text: &str| EventKind::CustomStatusUpdated {
        status: Some(text.into()),
    };
    let history = vec![started("a", ""), event("a", 2, says("half"))];
    let ack = p.ack_orchestration_item(&token, 1, history, vec![], vec![], metadata(), vec![]);
    ack.await.unwrap();
    costs!(proxy, 1, p.read("a")).unwrap();
    let status = costs!(proxy, 1, p.get_custom_status("a", 0)).unwrap();
    assert_eq!(status, Some((Some("half".to_owned()), 1)));

    p.enqueue_for_orchestrator(start("a"), None).await.unwrap();
    let (_, token, _) = fetch(&p).await.unwrap();
    let output = "x".to_owned();
    let end = EventKind::OrchestrationCompleted { output };
    let history = vec![event("a", 3, says("whole")), event("a", 4, end)];
    let ended = duroxide::providers::ExecutionMetadata {
        status: Some("Completed".into()),
        output: Some("x".into()),
        ..metadata()
    };
    let ack = p.ack_orchestration_item(&token, 1, history, vec![], vec![], ended, vec![]);
    ack.await.unwrap();
    let whole = Some((Some("whole".to_owned()), 2));
    // The answer is believed for a moment only, so a busy machine may need another try.
    let with_read = || async {
        p.read("a").await.unwrap();
        proxy.take_requests();
        assert_eq!(p.get_custom_status("a", 0).await.unwrap(), whole);
        proxy.take_requests() == 0
    };
    wait::until("the status comes with the read", with_read).await;
    assert_eq!(
        costs!(proxy, 1, p.get_custom_status("a", 1)).unwrap(),
        whole
    );
    p.read("a").await.unwrap();
    assert_eq!(p.get_custom_status("a", 2).await.unwrap(), None);
    // Whoever remembers nothing asks each time.
    let forgetful = duroxide_sql::MssqlProvider::builder(proxy.url(schema.url()));
    let forgetful = forgetful.schema(schema.name().as_str());
    let forgetful = forgetful.history_cache_bytes(0).pool_min_idle(1);
    let q = forgetful.build().await.unwrap();
    q.read("a").await.unwrap();
    assert_eq!(
        costs!(proxy, 1, q.get_custom_status("a", 0)).unwrap(),
        whole
    );
    // A turn that comes after the end all the same.
    p.enqueue_for_orchestrator(start("a"), None).await.unwrap();
    let (_, token, _) = fetch(&p).await.unwrap();
    p.read("a").await.unwrap();
    let history = vec![event("a", 5, says("more"))];
    let ack = p.ack_orchestration_item(&token, 1, history, vec![], vec![], metadata(), vec![]);
    ack.await.unwrap();
    let more = Some((Some("more".to_owned()), 3));
    assert_eq!(p.get_custom_status("a", 0).await.unwrap(), more);
    p.read("a").await.unwrap();
    p.delete_instance("a", true).await.unwrap();
    assert_eq!(p.get_custom_status("a", 0).await.unwrap(), None);
}

/// A one-activity orchestration costs seven requests: four writes and three fetches with work. The
/// worker's read comes with its fetch. Each dispatcher may also ask in vain once when it comes and once after each turn.
#[tokio::test]
async fn one_activity_orchestration_costs_seven_requests() {
    let schema = TestSchema::new();
    let proxy = Proxy::start(schema.url()).await;
    let url = proxy.url(schema.url());
    let builder = duroxide_sql::MssqlProvider::builder(url).schema(schema.name().as_str());
    // An interval so long that no idle dispatcher asks again.
    let hour = Duration::from_secs(3600);
    let polling = duroxide_sql::Polling::Long {
        repoll_min: hour,
        repoll_max: hour,
    };
    let builder = builder.polling(polling).wait_for_work(false);
    let store = std::sync::Arc::new(builder.build().await.unwrap());
    let orchestrations = OrchestrationRegistry::builder()
        .register(
            "One",
            |ctx: OrchestrationContext, input: String| async move {
                ctx.schedule_activity("Echo", input).await
            },
        )
        .build();
    let options = RuntimeOptions {
        orchestration_concurrency: 1,
        worker_concurrency: 1,
        ..RuntimeOptions::default()
    };
    let activities = echo_activities();
    let runtime =
        Runtime::start_with_options(store.clone(), activities, orchestrations, options).await;
    let client = Client::new(store.clone());
    // A client of its own waits, so that its polls are not counted.
    let waiting = Client::new(std::sync::Arc::new(schema.provider().await));
    client.start_orchestration("a", "One", "x").await.unwrap();
    waiting.wait_for_orchestration("a", PATIENCE).await.unwrap();
    for (procedure, calls) in [
        ("enqueue_for_orchestrator", 1),
        ("ack_orchestration_item", 2),
        ("ack_work_item", 1),
        ("read", 0),
        ("read_with_execution", 0),
        ("renew_work_item_lock", 0),
        ("renew_orchestration_item_lock", 0),
        ("abandon_work_item", 0),
        ("abandon_orchestration_item", 0),
    ] {
        assert_eq!(proxy.calls(procedure), calls, "{procedure}");
    }
    let turns = proxy.calls("fetch_orchestration_item");
    let work = proxy.calls("fetch_work_item");
    assert!(
        (2..=2 + 3).contains(&turns),
        "{turns} fetches for two turns"
    );
    assert!(
        (1..=1 + 2).contains(&work),
        "{work} fetches for one activity"
    );
    runtime.shutdown(None).await;
}

/// As long as a fetch of the runtime waits by default, so that each of them begins anew once.
const IDLE: Duration = Duration::from_secs(30);
/// Some requests more or less fall into the time by chance, and where a busy machine breaks off a wait. Eight that did not share would
/// ask seventy times more, and hundreds of times more without waits in the database.
const SLACK: f64 = 24.0;

/// An idle runtime asks the database a few times a second, however many dispatchers and workers it has,
/// and hardly at all when it waits in the database. Every one of them may ask once when its fetch begins anew.
#[tokio::test]
async fn idle_runtimes_ask_equally_often_at_any_concurrency() {
    let mut measured = Vec::new();
    for reads in BOTH {
        for (waits, most) in [(false, 6.0), (true, 2.0)] {
            let requests = [1, 2, 8].map(|n| tokio::spawn(idle_requests(n, waits, reads)));
            measured.push((reads, waits, most, requests));
        }
    }
    for (reads, waits, most, requests) in measured {
        let mut alone = None;
        for (concurrency, requests) in [1, 2, 8].into_iter().zip(requests) {
            let requests = requests.await.unwrap() as f64;
            let rate = requests / IDLE.as_secs_f64();
            let case = format!("{concurrency}:{concurrency} idle, waits {waits}, {reads:?}");
            println!("{case}: {rate:.1} requests per second");
            assert!(rate < most, "{case}: {rate:.1} per second");
            let alone = *alone.get_or_insert(requests);
            let anew = 2.0 * f64::from(concurrency);
            assert!(
                requests <= 1.3 * alone + anew + SLACK,
                "{case}: {requests} instead of {alone} requests"
            );
        }
    }
}

/// Requests of an idle runtime, once its intervals have grown or it waits in the database.
async fn idle_requests(concurrency: u32, waits: bool, reads: SnapshotReads) -> u64 {
    let schema = TestSchema::on(reads);
    let proxy = Proxy::start(schema.url()).await;
    let url = proxy.url(schema.url());
    let builder = duroxide_sql::MssqlProvider::builder(url).schema(schema.name().as_str());
    let store = std::sync::Arc::new(builder.wait_for_work(waits).build().await.unwrap());
    let options = RuntimeOptions {
        orchestration_concurrency: concurrency as usize,
        worker_concurrency: concurrency as usize,
        ..RuntimeOptions::default()
    };
    assert_eq!(options.dispatcher_long_poll_timeout, IDLE);
    let orchestrations = OrchestrationRegistry::builder().build();
    let runtime =
        Runtime::start_with_options(store, echo_activities(), orchestrations, options).await;
    let fetches = || proxy.calls("fetch_orchestration_item") + proxy.calls("fetch_work_item");
    let first = 2 * u64::from(concurrency) + 10;
    let is_idle = || match waits {
        false => fetches() >= first,
        // The second wait covers all fetches, if the first did not.
        true => proxy.calls("wait_for_work") >= 2,
    };
    wait::until("it fell idle", || async { is_idle() }).await;
    proxy.take_requests();
    // The time is what the requests are counted for.
    tokio::time::sleep(IDLE).await;
    let requests = proxy.take_requests();
    runtime.shutdown(None).await;
    requests
}

/// Waiting costs the database little: a handful of questions per second, however many wait.
#[tokio::test]
async fn idle_fetches_share_their_questions() {
    let schema = TestSchema::new();
    let proxy = Proxy::start(schema.url()).await;
    let url = proxy.url(schema.url());
    let builder = duroxide_sql::MssqlProvider::builder(url).schema(schema.name().as_str());
    let provider = std::sync::Arc::new(builder.build().await.unwrap());
    proxy.take_requests();
    let wait = Duration::from_secs(3);
    let waiting: Vec<_> = (0..8)
        .map(|_| {
            let provider = provider.clone();
            tokio::spawn(async move { provider.fetch_orchestration_item(LEASE, wait, None).await })
        })
        .collect();
    for fetch in waiting {
        assert!(fetch.await.unwrap().unwrap().is_none());
    }
    let requests = proxy.take_requests();
    assert!(
        requests <= 8 + 20,
        "{requests} requests by 8 idle fetches in 3 s"
    );
}

/// Work that this process brings ends a wait at once.
#[tokio::test]
async fn waiting_fetch_is_woken_by_an_enqueue_of_the_same_process() {
    let schema = TestSchema::new();
    // An interval so long that only a signal can explain a quick answer.
    let hour = Duration::from_secs(3600);
    let polling = duroxide_sql::Polling::Long {
        repoll_min: hour,
        repoll_max: hour,
    };
    let provider = std::sync::Arc::new(schema.builder().polling(polling).build().await.unwrap());
    let other = schema.builder().polling(polling).build().await.unwrap();
    let waiting = {
        let provider = provider.clone();
        tokio::spawn(async move { provider.fetch_orchestration_item(LEASE, hour, None).await })
    };
    let working = {
        let provider = provider.clone();
        tokio::spawn(async move {
            provider
                .fetch_work_item(LEASE, hour, None, &TagFilter::default())
                .await
        })
    };
    // Another provider of this process brings the work.
    other
        .enqueue_for_orchestrator(start("a"), None)
        .await
        .unwrap();
    let (item, token, _) = waiting.await.unwrap().unwrap().expect("the message");
    assert_eq!(item.instance, "a");
    let work: Vec<WorkItem> = vec![activity("a", 2, "")];
    let history = vec![started("a", "")];
    let ack = provider.ack_orchestration_item(&token, 1, history, work, vec![], metadata(), vec![]);
    ack.await.unwrap();
    assert!(working.await.unwrap().unwrap().is_some());
}
