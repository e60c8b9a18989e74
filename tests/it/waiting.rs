//! Work of other processes: one connection waits for it in the database and wakes the fetches.
//!
//! A second process is played by a provider behind a proxy: it shares no signals with one that
//! connects directly.

use std::sync::Arc;
use std::time::{Duration, Instant};

use duroxide::providers::{Provider, SessionFetchConfig, TagFilter, WorkItem};
use duroxide::runtime::registry::OrchestrationRegistry;
use duroxide::runtime::{OrchestrationStatus, Runtime, RuntimeOptions};
use duroxide::{Client, OrchestrationContext};
use duroxide_sql::{MssqlProvider, MssqlProviderBuilder, Polling};

use crate::support::database::{TestSchema, own_server};
use crate::support::items::{LEASE, activity, create, fetch, metadata, start};
use crate::support::log::Log;
use crate::support::proxy::{Fault, Proxy};
use crate::support::runtime::{PATIENCE, echo_activities};
use crate::support::wait::until;

const HOUR: Duration = Duration::from_secs(3600);
/// So rare that no fetch is made because it is time.
const NEVER: Polling = Polling::Long {
    repoll_min: HOUR,
    repoll_max: HOUR,
};

/// A process behind a proxy, and the schema it works in.
struct Process {
    provider: Arc<MssqlProvider>,
    proxy: Proxy,
    schema: TestSchema,
}

impl Process {
    async fn start(set: impl FnOnce(MssqlProviderBuilder) -> MssqlProviderBuilder) -> Self {
        Self::at(TestSchema::new(), set).await
    }

    async fn at(
        schema: TestSchema,
        set: impl FnOnce(MssqlProviderBuilder) -> MssqlProviderBuilder,
    ) -> Self {
        let proxy = Proxy::start(schema.url()).await;
        let builder = MssqlProvider::builder(proxy.url(schema.url()));
        let builder = builder.schema(schema.name().as_str()).polling(NEVER);
        let provider = set(builder).build().await.expect("the provider starts");
        Self {
            provider: Arc::new(provider),
            proxy,
            schema,
        }
    }

    /// A turn that is waited for in the background; the instance when it is found.
    fn fetch_turn(&self) -> tokio::task::JoinHandle<Option<String>> {
        let provider = self.provider.clone();
        tokio::spawn(async move {
            let fetched = provider.fetch_orchestration_item(LEASE, HOUR, None).await;
            fetched.expect("a fetch").map(|(item, ..)| item.instance)
        })
    }

    /// An activity that is waited for in the background; its number when it is found.
    fn fetch_work(
        &self,
        tags: TagFilter,
        owner: Option<&str>,
    ) -> tokio::task::JoinHandle<Option<u64>> {
        let provider = self.provider.clone();
        let session = owner.map(|owner| SessionFetchConfig {
            owner_id: owner.to_owned(),
            lock_timeout: LEASE,
        });
        tokio::spawn(async move {
            let fetched = provider.fetch_work_item(LEASE, HOUR, session.as_ref(), &tags);
            fetched
                .await
                .expect("a fetch")
                .map(|(item, ..)| match item {
                    WorkItem::ActivityExecute { id, .. } => id,
                    other => panic!("not an activity: {other:?}"),
                })
        })
    }

    fn waits(&self) -> u64 {
        self.proxy.calls("wait_for_work")
    }

    /// Until that many waits in the database have begun.
    async fn until_waits(&self, count: u64) {
        until("it waits in the database", || async {
            self.waits() >= count
        })
        .await;
    }
}

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

/// A message of another process is found although no fetch asks by itself: one fetch asked before it
/// slept, and once more when it was woken.
#[tokio::test]
async fn message_of_another_process_wakes_the_fetch() {
    let process = Process::start(|builder| builder).await;
    let other = process.schema.provider().await;
    let waiting = process.fetch_turn();
    process.until_waits(1).await;
    other
        .enqueue_for_orchestrator(start("order"), None)
        .await
        .unwrap();
    assert_eq!(waiting.await.unwrap().as_deref(), Some("order"));
    assert_eq!(process.proxy.calls("fetch_orchestration_item"), 2);
}

/// Work of every kind that a fetch can take, each fetch with its own interest.
#[tokio::test]
async fn work_of_another_process_wakes_a_fetch_that_can_take_it() {
    let process = Process::start(|builder| builder).await;
    let other = process.schema.provider().await;
    create(&other, "order").await;
    let cases = [
        (TagFilter::DefaultOnly, None, None, None),
        (TagFilter::tags(["gpu", "x]"]), None, Some("x]"), None),
        (TagFilter::Any, None, Some("any"), None),
        (TagFilter::DefaultOnly, Some("w"), None, Some("s")),
        // The session is owned by then.
        (TagFilter::DefaultOnly, Some("w"), None, Some("s")),
    ];
    for (n, (filter, owner, tag, session)) in (1_u64..).zip(cases) {
        let before = process.proxy.calls("fetch_work_item");
        let waits = process.waits();
        let waiting = process.fetch_work(filter.clone(), owner);
        process.until_waits(waits + 1).await;
        assert!(!waiting.is_finished());
        other
            .enqueue_for_worker(item(n, tag, session))
            .await
            .unwrap();
        assert_eq!(waiting.await.unwrap(), Some(n), "{filter:?} {session:?}");
        assert_eq!(process.proxy.calls("fetch_work_item"), before + 2);
    }
}

/// A fetch that falls idle later is part of the question too; those who cannot take what comes sleep on.
#[tokio::test]
async fn later_fetches_are_waited_for_as_well() {
    let process = Process::start(|builder| builder).await;
    let other = process.schema.provider().await;
    create(&other, "order").await;
    let turn = process.fetch_turn();
    process.until_waits(1).await;
    let gpu = process.fetch_work(TagFilter::tags(["gpu"]), None);
    process.until_waits(2).await;
    other.enqueue_for_worker(item(1, None, None)).await.unwrap();
    other
        .enqueue_for_worker(item(2, Some("gpu"), None))
        .await
        .unwrap();
    assert_eq!(gpu.await.unwrap(), Some(2));
    assert!(!turn.is_finished());
    assert_eq!(process.proxy.calls("fetch_orchestration_item"), 1);
    turn.abort();
}

/// An orchestration that one process starts runs in another, whose dispatchers never ask because it
/// is time.
#[tokio::test]
async fn orchestration_started_elsewhere_runs_here() {
    let process = Process::start(|builder| builder).await;
    let orchestrations = OrchestrationRegistry::builder()
        .register(
            "One",
            |ctx: OrchestrationContext, input: String| async move {
                ctx.schedule_activity("Echo", input).await
            },
        )
        .build();
    let options = RuntimeOptions {
        orchestration_concurrency: 2,
        worker_concurrency: 2,
        ..RuntimeOptions::default()
    };
    let store = process.provider.clone();
    let runtime =
        Runtime::start_with_options(store, echo_activities(), orchestrations, options).await;
    let client = Client::new(Arc::new(process.schema.provider().await));
    process.until_waits(1).await;
    for n in 0..5 {
        let instance = format!("order-{n}");
        client
            .start_orchestration(&instance, "One", "x")
            .await
            .unwrap();
        let ended = client.wait_for_orchestration(&instance, PATIENCE).await;
        assert!(
            matches!(ended, Ok(OrchestrationStatus::Completed { ref output, .. }) if output == "x"),
            "{ended:?}"
        );
    }
    runtime.shutdown(None).await;
    process.provider.close().await;
}

/// Two providers of one process: when the one that waits for both is closed, the other takes over.
#[tokio::test]
async fn another_provider_of_the_process_takes_over() {
    let process = Process::start(|builder| builder).await;
    let url = process.proxy.url(process.schema.url());
    let builder = MssqlProvider::builder(url).schema(process.schema.name().as_str());
    let second = Arc::new(builder.polling(NEVER).build().await.unwrap());
    let first_turn = process.fetch_turn();
    process.until_waits(1).await;
    let waiting = {
        let second = second.clone();
        tokio::spawn(async move { second.fetch_orchestration_item(LEASE, HOUR, None).await })
    };
    until("the second asked", || async {
        process.proxy.calls("fetch_orchestration_item") == 2
    })
    .await;
    first_turn.abort();
    process.provider.close().await;
    let waits = process.waits();
    process.until_waits(waits + 1).await;
    let other = process.schema.provider().await;
    other
        .enqueue_for_orchestrator(start("order"), None)
        .await
        .unwrap();
    assert!(waiting.await.unwrap().unwrap().is_some());
}

/// Closing ends the wait in the server at once, and the connection with it.
#[tokio::test]
async fn closing_ends_the_wait() {
    let server = own_server();
    let process = Process::at(TestSchema::at(server.connection_string()), |builder| {
        builder.pool_min_idle(1)
    })
    .await;
    let controls = server.controls();
    let waiting = process.fetch_turn();
    process.until_waits(1).await;
    waiting.abort();
    let before = controls.sessions().len();
    process.provider.close().await;
    until("the server lets the session go", || async {
        controls.sessions().len() < before
    })
    .await;
}

#[tokio::test]
async fn nobody_waits_in_the_database_when_it_is_switched_off() {
    let process = Process::start(|builder| {
        builder.wait_for_work(false).polling(Polling::Long {
            repoll_min: Duration::from_millis(10),
            repoll_max: Duration::from_millis(20),
        })
    })
    .await;
    let waiting = process.fetch_turn();
    until("it asks at intervals", || async {
        process.proxy.calls("fetch_orchestration_item") > 20
    })
    .await;
    assert_eq!(process.waits(), 0);
    waiting.abort();
}

/// A fetch that asks at short intervals when nobody waits for it.
fn at_intervals(builder: MssqlProviderBuilder) -> MssqlProviderBuilder {
    builder.polling(Polling::Long {
        repoll_min: Duration::from_millis(20),
        repoll_max: Duration::from_millis(100),
    })
}

/// Whatever is wrong with the wait (the procedure is missing or forbidden, a cut, a server that does
/// not answer), work is found at intervals, and somebody is told once.
#[tokio::test]
async fn failed_waits_fall_back_to_intervals_and_are_logged_once() {
    let faults = [
        Fault::Error(2812, 16),
        Fault::Error(208, 16),
        Fault::Error(229, 14),
        Fault::CutBefore,
        Fault::CutAfter,
    ];
    for fault in faults {
        let (log, guard) = Log::catch();
        let process = Process::start(at_intervals).await;
        for _ in 0..2 {
            process.proxy.spoil("wait_for_work", fault);
        }
        let other = process.schema.provider().await;
        let waiting = process.fetch_turn();
        process.until_waits(1).await;
        let asked = process.proxy.calls("fetch_orchestration_item");
        until("it asks at intervals again", || async {
            process.proxy.calls("fetch_orchestration_item") > asked + 5
        })
        .await;
        // The third wait works, and its end is that of the test.
        process.until_waits(3).await;
        other
            .enqueue_for_orchestrator(start("order"), None)
            .await
            .unwrap();
        assert!(waiting.await.unwrap().is_some(), "{fault:?}");
        process.provider.close().await;
        drop(guard);
        let (text, sentence) = (log.text(), "waiting in the database for the work");
        let told: Vec<_> = text
            .lines()
            .filter(|line| line.contains(sentence))
            .collect();
        assert!(
            told.len() == 1 && told[0].contains("WARN"),
            "{fault:?}: {told:?}"
        );
        assert!(
            text.contains("waiting in the database failed again"),
            "{fault:?}"
        );
    }
}

/// A connection that was swallowed by the network is given up when its answer is overdue.
#[tokio::test]
async fn silent_wait_is_given_up() {
    let process = Process::start(at_intervals).await;
    process.proxy.spoil("wait_for_work", Fault::SilentBefore);
    let waiting = process.fetch_turn();
    process.until_waits(2).await;
    let other = process.schema.provider().await;
    other
        .enqueue_for_orchestrator(start("order"), None)
        .await
        .unwrap();
    assert!(waiting.await.unwrap().is_some());
}

/// While the connection that waits is opened anew, nobody waits in the database: fetches ask at their intervals.
#[tokio::test]
async fn fetches_ask_at_intervals_while_the_wait_is_reconnected() {
    let process = Process::start(|builder| at_intervals(builder.connect_timeout(HOUR))).await;
    let waiting = process.fetch_turn();
    process.until_waits(1).await;
    // Another call hears that the database has moved, so that the next wait needs another connection.
    process.proxy.spoil("ack_work_item", Fault::Error(3906, 16));
    let acked = process.provider.ack_work_item("no such token", None).await;
    assert!(!acked.unwrap_err().is_retryable());
    process.proxy.mute_new(true);
    until("a connection is being opened", || async {
        process.proxy.muted() > 0
    })
    .await;
    let asked = process.proxy.calls("fetch_orchestration_item");
    let begun = Instant::now();
    until("it asks at intervals", || async {
        process.proxy.calls("fetch_orchestration_item") > asked + 5
    })
    .await;
    assert!(begun.elapsed() < Duration::from_secs(5), "{begun:?}");
    waiting.abort();
}

/// A wait writes nothing, so that a server which has become read-only would go on answering it. When another call hears that the database
/// has moved, the next wait is on a connection that was opened after that.
#[tokio::test]
async fn watch_leaves_a_server_that_lost_the_database() {
    let process = Process::start(|builder| builder).await;
    let waiting = process.fetch_turn();
    process.until_waits(1).await;
    let fault = Fault::Error(3906, 16);
    process.proxy.spoil("ack_work_item", fault);
    let acked = process.provider.ack_work_item("no such token", None).await;
    assert!(
        !acked.unwrap_err().is_retryable(),
        "the second server knows"
    );
    let waits = process.waits();
    process.until_waits(waits + 1).await;
    assert_eq!(process.proxy.callers("wait_for_work"), 2);
    waiting.abort();
}

/// While a turn runs, messages for its instance wake nobody. When its lease is found to be lost they do again, at once and not at the
/// end of the lease as it was known.
#[tokio::test]
async fn messages_wake_fetches_after_a_turn_that_lost_its_lease() {
    let process = Process::start(|builder| builder.wait_for_work(false)).await;
    let provider = &process.provider;
    let put = || provider.enqueue_for_orchestrator(start("order"), None);
    put().await.unwrap();
    let (_, token, _) = fetch(&**provider).await.expect("the message");
    let other = process.schema.provider().await;
    let abandoned = other.abandon_orchestration_item(&token, Some(HOUR), false);
    abandoned.await.expect("the lease ends");
    let waiting = process.fetch_turn();
    let asked = || async { process.proxy.calls("fetch_orchestration_item") == 2 };
    until("it has asked in vain", asked).await;
    let acked =
        provider.ack_orchestration_item(&token, 1, vec![], vec![], vec![], metadata(), vec![]);
    assert!(!acked.await.unwrap_err().is_retryable(), "lost");
    put().await.unwrap();
    let woken = tokio::time::timeout(LEASE / 2, waiting).await;
    let woken = woken.expect("long before the end of the lease");
    assert_eq!(woken.unwrap().as_deref(), Some("order"));
}

/// What the question covers and nobody can take wakes nobody, and is not asked for in a loop.
#[tokio::test]
async fn nobody_is_woken_again_and_again_by_what_he_cannot_take() {
    let process = Process::start(|builder| builder).await;
    let other = process.schema.provider().await;
    create(&other, "order").await;
    other
        .enqueue_for_worker(activity("order", 2, ""))
        .await
        .unwrap();
    let tagged = process.fetch_work(TagFilter::tags(["gpu"]), Some("w"));
    process.until_waits(1).await;
    let first = process.fetch_work(TagFilter::DefaultOnly, None);
    assert_eq!(first.await.unwrap(), Some(2));
    let second = process.fetch_work(TagFilter::DefaultOnly, None);
    process.until_waits(2).await;
    let before = process.proxy.calls("fetch_work_item");
    // One takes sessions, but only with another tag; the other takes work without a tag, but no sessions.
    other
        .enqueue_for_worker(item(3, None, Some("s")))
        .await
        .unwrap();
    let (begun, waits) = (Instant::now(), process.waits());
    process.until_waits(waits + 8).await;
    assert!(
        begun.elapsed() > Duration::from_millis(500),
        "a pause each time"
    );
    assert_eq!(process.proxy.calls("fetch_work_item"), before);
    tagged.abort();
    second.abort();
}
