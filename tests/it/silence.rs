//! Networks that swallow bytes: a connection stays open and says nothing. Leases survive it, and the runtime finds another connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use duroxide::providers::{Provider, SessionFetchConfig, WorkItem};
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::runtime::{Runtime, RuntimeOptions};
use duroxide::{ActivityContext, Client, OrchestrationContext};
use duroxide_sql::MssqlProvider;

use crate::support::canary::Canary;
use crate::support::database::{SnapshotReads, TestSchema, in_both_settings};
use crate::support::items::{activity, completed, create, fetch, metadata, start, started};
use crate::support::proxy::{Fault, Proxy};
use crate::support::runtime::{PATIENCE, echo_activities};
use crate::support::wait;

const SILENCE: [Fault; 2] = [Fault::SilentBefore, Fault::SilentAfter];
/// Far below the 30 s that a command may take.
const LEASE: Duration = Duration::from_secs(6);

in_both_settings! {
    renewals_survive_a_silent_connection,
    session_renewals_survive_a_silent_connection,
    acks_survive_a_silent_connection,
    large_results_over_a_slow_line_are_sent_once,
    reads_and_fetches_do_not_wait_for_a_silent_connection,
    counts_do_not_wait_for_a_silent_connection,
    read_trusts_no_connection_that_fell_silent_after_it_was_heard,
    starts_and_cancellations_survive_a_silent_connection,
    event_does_not_wait_for_a_connection_that_died_in_its_sleep,
    event_of_unknown_outcome_is_not_repeated,
    runtime_works_again_soon_after_all_its_connections_fell_silent,
    long_activity_survives_a_silent_connection_at_any_of_its_calls,
    connections_that_do_not_open_leave_a_place_for_renewals,
    renewals_find_places_again_although_logins_were_swallowed,
}

/// Whether the environment asks for activities of a minute with the 30 s lease of production, ten times each: `LONG_ACTIVITIES=1`.
fn is_long() -> bool {
    std::env::var_os("LONG_ACTIVITIES").is_some()
}

struct Setup {
    provider: Arc<MssqlProvider>,
    proxy: Proxy,
    schema: TestSchema,
}

async fn setup(reads: SnapshotReads, pool_max: u32) -> Setup {
    let schema = TestSchema::on(reads);
    let proxy = Proxy::start(schema.url()).await;
    let builder = MssqlProvider::builder(proxy.url(schema.url()))
        .schema(schema.name().as_str())
        .pool_max(pool_max);
    let provider = Arc::new(builder.build().await.expect("the provider starts"));
    Setup {
        provider,
        proxy,
        schema,
    }
}

impl Setup {
    async fn turn(&self) -> String {
        let provider = &self.provider;
        provider
            .enqueue_for_orchestrator(start("order"), None)
            .await
            .unwrap();
        let fetched = provider.fetch_orchestration_item(LEASE, Duration::ZERO, None);
        fetched.await.unwrap().expect("the message is ready").1
    }

    async fn work(&self) -> String {
        self.work_of(2).await
    }

    async fn work_of(&self, id: u64) -> String {
        let provider = &self.provider;
        provider
            .enqueue_for_worker(activity("order", id, ""))
            .await
            .unwrap();
        let filter = duroxide::providers::TagFilter::default();
        let fetched = provider.fetch_work_item(LEASE, Duration::ZERO, None, &filter);
        fetched.await.unwrap().expect("the activity is ready").1
    }
}

/// A renewal that meets a silent connection takes another before the lease is over.
async fn renewals_survive_a_silent_connection(reads: SnapshotReads) {
    for fault in SILENCE {
        let setup = setup(reads, 8).await;
        let token = setup.turn().await;
        setup.proxy.spoil("renew_orchestration_item_lock", fault);
        let provider = &setup.provider;
        let renewed = provider.renew_orchestration_item_lock(&token, LEASE).await;
        renewed.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        let token = setup.work().await;
        setup.proxy.spoil("renew_work_item_lock", fault);
        let renewed = provider.renew_work_item_lock(&token, LEASE).await;
        renewed.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
    }
}

/// The runtime renews sessions a little before they end, for as long as it wants them: what one silent connection may cost follows from
/// what is left, and not from what is wanted.
async fn session_renewals_survive_a_silent_connection(reads: SnapshotReads) {
    const WANTED: Duration = Duration::from_secs(120);
    for fault in SILENCE {
        let setup = setup(reads, 8).await;
        let provider = &setup.provider;
        let mut item = activity("order", 2, "");
        if let WorkItem::ActivityExecute { session_id, .. } = &mut item {
            *session_id = Some("session".to_owned());
        }
        provider.enqueue_for_worker(item).await.unwrap();
        let filter = duroxide::providers::TagFilter::default();
        let session = SessionFetchConfig {
            owner_id: "worker".to_owned(),
            // Less than the 6 s that a first attempt may take under a long lease.
            lock_timeout: Duration::from_millis(5800),
        };
        let fetched = provider.fetch_work_item(WANTED, Duration::ZERO, Some(&session), &filter);
        fetched.await.unwrap().expect("the activity is ready");
        setup.proxy.spoil("renew_session_lock", fault);
        let renewed = provider
            .renew_session_lock(&["worker"], WANTED, WANTED)
            .await;
        assert_eq!(renewed.unwrap(), 1, "{fault:?}: the session is lost");
    }
}

/// An ack that meets a silent connection is repeated on another while the lease lasts. If it was
/// done all the same, the caller hears that the lease is gone, and it was done once.
async fn acks_survive_a_silent_connection(reads: SnapshotReads) {
    for fault in SILENCE {
        let is_done = fault == Fault::SilentAfter;
        let setup = setup(reads, 8).await;
        let provider = &setup.provider;
        let token = setup.turn().await;
        setup.proxy.spoil("ack_orchestration_item", fault);
        let history = vec![started("order", "")];
        let acked = provider
            .ack_orchestration_item(&token, 1, history, vec![], vec![], metadata(), vec![])
            .await;
        assert_eq!(acked.is_err(), is_done, "{acked:?}");
        assert_eq!(provider.read("order").await.unwrap().len(), 1);

        let token = setup.work().await;
        setup.proxy.spoil("ack_work_item", fault);
        let acked = provider
            .ack_work_item(&token, Some(completed("order", 2, "x")))
            .await;
        assert_eq!(acked.is_err(), is_done, "{acked:?}");
        let (turn, _, _) = fetch(&**provider).await.expect("the completion is there");
        assert_eq!(turn.messages.len(), 1);
    }
}

/// A result of megabytes takes seconds to arrive over a slow line, more than the first attempts under a short lease have for an answer. To
/// take that for silence would close connection after connection, and send it all again on each.
async fn large_results_over_a_slow_line_are_sent_once(reads: SnapshotReads) {
    // A busy machine may be slower than any line. Whoever leaves no time for the sending sends it twice in every trial.
    let mut sent = 0;
    for _ in 0..3 {
        let setup = setup(reads, 8).await;
        create(&*setup.provider, "order").await;
        let token = setup.work().await;
        // The provider goes by the short lease, and the server takes what comes later than that.
        let later = "UPDATE [$(schema)].worker_queue SET not_before_ms = not_before_ms + 60000;";
        setup.schema.sql(later).await;
        // Eight megabytes on the wire, in two seconds. Without time for the sending an attempt has 1.5 s at most.
        let done = completed("order", 2, &"x".repeat(4_000_000));
        setup.proxy.narrow_requests(Some(400_000));
        let acked = setup.provider.ack_work_item(&token, Some(done)).await;
        sent = setup.proxy.calls("ack_work_item");
        if acked.is_ok() && sent == 1 {
            return;
        }
    }
    panic!("it does not arrive, or not at once: {sent} times");
}

/// Reads take another connection as well, and a fetch lets its caller try again.
async fn reads_and_fetches_do_not_wait_for_a_silent_connection(reads: SnapshotReads) {
    let setup = setup(reads, 8).await;
    let provider = &setup.provider;
    create(&**provider, "order").await;
    let begun = Instant::now();
    setup.proxy.spoil("read", Fault::SilentBefore);
    assert_eq!(provider.read("order").await.unwrap().len(), 1);
    setup
        .proxy
        .spoil("fetch_orchestration_item", Fault::SilentBefore);
    let fetched = provider.fetch_orchestration_item(LEASE, LEASE, None).await;
    assert!(fetched.unwrap_err().is_retryable());
    assert!(fetch(&**provider).await.is_none());
    assert!(begun.elapsed() < Duration::from_secs(25), "{begun:?}");
}

/// The runtime counts before its dispatchers start: a silent connection must not hold it up.
async fn counts_do_not_wait_for_a_silent_connection(reads: SnapshotReads) {
    let setup = setup(reads, 8).await;
    let admin = setup.provider.as_management_capability().unwrap();
    let begun = Instant::now();
    setup.proxy.spoil("get_system_metrics", Fault::SilentBefore);
    setup.proxy.spoil("get_queue_depths", Fault::SilentBefore);
    admin.get_system_metrics().await.expect("a second answer");
    admin.get_queue_depths().await.expect("a second answer");
    assert!(begun.elapsed() < Duration::from_secs(25), "{begun:?}");
}

/// A read that has met with silence once trusts no connection for what it said before: all may have
/// fallen silent since. It asks for a sign of life, and opens another.
async fn read_trusts_no_connection_that_fell_silent_after_it_was_heard(reads: SnapshotReads) {
    let setup = setup(reads, 8).await;
    let provider = &setup.provider;
    create(&**provider, "order").await;
    setup.proxy.spoil("read", Fault::SilentBefore);
    let reading = tokio::spawn({
        let provider = provider.clone();
        async move { provider.read("order").await }
    });
    let asked = || async { setup.proxy.calls("read") == 1 };
    wait::until("the read has been swallowed", asked).await;
    // Another connection is heard meanwhile, and then all are silent.
    provider.get_custom_status("order", 0).await.unwrap();
    setup.proxy.silence_all();
    let history = reading.await.unwrap().expect("the read is answered");
    assert_eq!(history.len(), 1);
}

/// The start of an instance, and its cancellation, may arrive twice without harm, so that they are sent
/// again when a connection says nothing. What was started runs once.
async fn starts_and_cancellations_survive_a_silent_connection(reads: SnapshotReads) {
    for fault in SILENCE {
        let setup = setup(reads, 8).await;
        let provider = &setup.provider;
        let runs = Arc::new(AtomicUsize::new(0));
        let counter = runs.clone();
        let orchestrations = OrchestrationRegistry::builder()
            .register("One", |ctx: OrchestrationContext, _: String| async move {
                ctx.schedule_activity("Count", "").await
            })
            .register("Wait", |ctx: OrchestrationContext, _: String| async move {
                Ok(ctx.schedule_wait("never").await)
            })
            .build();
        let activities = ActivityRegistry::builder()
            .register("Count", move |_: ActivityContext, input: String| {
                counter.fetch_add(1, Ordering::SeqCst);
                async move { Ok(input) }
            })
            .build();
        let runtime = Runtime::start_with_store(provider.clone(), activities, orchestrations).await;
        let client = Client::new(provider.clone());
        setup.proxy.spoil("enqueue_for_orchestrator", fault);
        client.start_orchestration("a", "One", "").await.unwrap();
        client.start_orchestration("b", "Wait", "").await.unwrap();
        setup.proxy.spoil("enqueue_for_orchestrator", fault);
        client.cancel_instance("b", "enough").await.unwrap();
        for instance in ["a", "b"] {
            let ended = client.wait_for_orchestration(instance, PATIENCE).await;
            let is_completed =
                matches!(&ended, Ok(duroxide::OrchestrationStatus::Completed { .. }));
            assert_eq!(is_completed, instance == "a", "{fault:?}: {ended:?}");
        }
        assert_eq!(runs.load(Ordering::SeqCst), 1, "{fault:?}");
        assert_eq!(setup.proxy.calls("enqueue_for_orchestrator"), 5);
        runtime.shutdown(None).await;
    }
}

fn event(data: &str) -> WorkItem {
    WorkItem::ExternalRaised {
        instance: "order".to_owned(),
        name: "paid".to_owned(),
        data: data.to_owned(),
    }
}

/// An event is sent once. So that it does not wait for a connection that died while nobody used it, one
/// that has been quiet for a while is asked for a sign of life first.
async fn event_does_not_wait_for_a_connection_that_died_in_its_sleep(reads: SnapshotReads) {
    let setup = setup(reads, 8).await;
    let provider = &setup.provider;
    create(&**provider, "order").await;
    setup.proxy.silence_all();
    // Longer than a connection counts as alive, by the clock and not by a guess.
    tokio::time::sleep(Duration::from_millis(5500)).await;
    let begun = Instant::now();
    provider
        .enqueue_for_orchestrator(event("7"), None)
        .await
        .expect("another connection takes the event");
    assert!(begun.elapsed() < Duration::from_secs(25), "{begun:?}");
    assert_eq!(setup.proxy.calls("enqueue_for_orchestrator"), 2);
    let (turn, _, _) = fetch(&**provider).await.expect("the event is there");
    assert_eq!(turn.messages, [event("7")]);
}

/// An event whose outcome nobody knows is not sent again: the caller hears of it, and decides.
async fn event_of_unknown_outcome_is_not_repeated(reads: SnapshotReads) {
    for fault in SILENCE {
        let setup = setup(reads, 8).await;
        let limited = MssqlProvider::builder(setup.proxy.url(setup.schema.url()))
            .schema(setup.schema.name().as_str())
            .command_timeout(Duration::from_secs(5))
            .build();
        let provider = limited.await.expect("the provider starts");
        create(&provider, "order").await;
        let before = setup.proxy.calls("enqueue_for_orchestrator");
        setup.proxy.spoil("enqueue_for_orchestrator", fault);
        let sent = provider.enqueue_for_orchestrator(event("7"), None).await;
        assert!(sent.unwrap_err().is_retryable());
        assert_eq!(setup.proxy.calls("enqueue_for_orchestrator"), before + 1);
    }
}

/// How long the runtime may be deaf after all its connections fell silent, beside the time that its work takes.
const DEAF: Duration = Duration::from_secs(5);
const DEAF_ROUNDS: usize = 4;

/// The connections of the pool all die without a word, as behind a firewall that forgot them. The runtime gives them up and opens new ones.
async fn runtime_works_again_soon_after_all_its_connections_fell_silent(reads: SnapshotReads) {
    let setup = setup(reads, 8).await;
    let orchestrations = OrchestrationRegistry::builder()
        .register(
            "One",
            |ctx: OrchestrationContext, input: String| async move {
                ctx.schedule_activity("Echo", input).await
            },
        )
        .build();
    let runtime =
        Runtime::start_with_store(setup.provider.clone(), echo_activities(), orchestrations).await;
    // A client of its own, so that only the runtime's connections matter.
    let client = Client::new(Arc::new(setup.schema.provider().await));
    let run = |instance: String| {
        let client = &client;
        async move {
            let begun = Instant::now();
            let started = client.start_orchestration(&instance, "One", "x").await;
            started.unwrap();
            let ended = client.wait_for_orchestration(&instance, PATIENCE).await;
            ended.unwrap();
            begun.elapsed()
        }
    };
    let canary = Canary::start();
    let mut before = run("a".to_owned()).await;
    for round in 0..DEAF_ROUNDS {
        canary.take();
        setup.proxy.silence_all();
        let deaf = run(format!("b-{round}")).await;
        let held_up = canary.take();
        let after = run(format!("c-{round}")).await;
        // How busy the machine is may change meanwhile, so the slower of its neighbours says what the work takes.
        let usual = before.max(after);
        let case = format!("{deaf:?}, usually {usual:?}, held up for {held_up:?}");
        println!("{reads:?}: the runtime worked again after {case}");
        // Twice, for a login of each connection anew. One more silence of three seconds is more than all of it.
        assert!(deaf < DEAF + 2 * usual + held_up, "{case}");
        before = after;
    }
    runtime.shutdown(None).await;
}

/// An activity that lasts for several leases is run once, whichever of its calls meets a silent connection.
async fn long_activity_survives_a_silent_connection_at_any_of_its_calls(reads: SnapshotReads) {
    let calls = [
        "fetch_work_item",
        "read",
        "renew_work_item_lock",
        "ack_work_item",
    ];
    // One round after the other: more runtimes at once would starve each other of their renewals.
    let mut count = 0;
    for _ in 0..if is_long() { 10 } else { 1 } {
        let cases = calls
            .iter()
            .flat_map(|call| SILENCE.map(|fault| tokio::spawn(long_activity(reads, call, fault))));
        for case in cases.collect::<Vec<_>>() {
            case.await.unwrap();
            count += 1;
        }
    }
    println!("{count} activities survived");
}

async fn long_activity(reads: SnapshotReads, call: &'static str, fault: Fault) {
    let setup = setup(reads, 8).await;
    let runs = Arc::new(AtomicUsize::new(0));
    let (counter, proxy) = (runs.clone(), setup.proxy.clone());
    let activities = ActivityRegistry::builder()
        .register("Long", move |_: ActivityContext, input: String| {
            let proxy = proxy.clone();
            counter.fetch_add(1, Ordering::SeqCst);
            async move {
                if is_long() {
                    tokio::time::sleep(Duration::from_secs(60)).await;
                    return Ok(input);
                }
                let before = proxy.calls("renew_work_item_lock");
                wait::until("the lease was renewed three times", || async {
                    proxy.calls("renew_work_item_lock") >= before + 3
                })
                .await;
                Ok(input)
            }
        })
        .build();
    let orchestrations = OrchestrationRegistry::builder()
        .register(
            "One",
            |ctx: OrchestrationContext, input: String| async move {
                ctx.schedule_activity("Long", input).await
            },
        )
        .build();
    let options = RuntimeOptions {
        worker_lock_timeout: if is_long() { 5 * LEASE } else { 2 * LEASE },
        ..RuntimeOptions::default()
    };
    let store = setup.provider.clone();
    let runtime = Runtime::start_with_options(store, activities, orchestrations, options).await;
    let client = Client::new(Arc::new(setup.schema.provider().await));
    setup.proxy.spoil(call, fault);
    client.start_orchestration("a", "One", "x").await.unwrap();
    let patience = if is_long() { 4 * PATIENCE } else { PATIENCE };
    let ended = client.wait_for_orchestration("a", patience).await.unwrap();
    assert!(
        matches!(&ended, duroxide::OrchestrationStatus::Completed { output, .. } if output == "x"),
        "{call} {fault:?}: {ended:?}"
    );
    assert_eq!(runs.load(Ordering::SeqCst), 1, "{call} {fault:?}");
    runtime.shutdown(None).await;
}

/// Callers that wait for connections to be opened keep nobody's renewal waiting, though the pool has no idle connection left.
async fn connections_that_do_not_open_leave_a_place_for_renewals(reads: SnapshotReads) {
    let setup = setup(reads, 4).await;
    let token = setup.turn().await;
    setup.proxy.silence_all();
    setup.proxy.mute_new(true);
    let waiting: Vec<_> = (0..20)
        .map(|n| {
            let provider = setup.provider.clone();
            tokio::spawn(async move {
                if n % 2 == 0 {
                    provider.read("order").await.map(drop)
                } else {
                    let fetched = provider.fetch_orchestration_item(LEASE, Duration::ZERO, None);
                    fetched.await.map(drop)
                }
            })
        })
        .collect();
    let dialled = || async { setup.proxy.muted() >= 3 };
    wait::until("others wait for their connections", dialled).await;
    setup.proxy.mute_new(false);
    let renewed = setup.provider.renew_orchestration_item_lock(&token, LEASE);
    let renewed = tokio::time::timeout(LEASE, renewed).await;
    renewed.expect("the renewal is not held up").unwrap();
    waiting.iter().for_each(tokio::task::JoinHandle::abort);
}

/// Logins are swallowed for some seconds while many leases have to be renewed. An attempt that is over leaves its place to the
/// next, although its login is not.
async fn renewals_find_places_again_although_logins_were_swallowed(reads: SnapshotReads) {
    let setup = setup(reads, 20).await;
    let mut tokens = Vec::new();
    for id in 2..14 {
        tokens.push(setup.work_of(id).await);
    }
    // Less than the 15 s after which the first logins end, and give back the places that they may have kept.
    let lease = 2 * LEASE;
    let provider = &setup.provider;
    let renew = |token| provider.renew_work_item_lock(token, lease);
    // One by one, so that the pool has few idle connections: an attempt on a silent one always gives its place back.
    for token in &tokens {
        renew(token).await.expect("nothing is swallowed yet");
    }
    setup.proxy.silence_all();
    setup.proxy.mute_new(true);
    let renewals = tokens.iter().map(|token| renew(token));
    let (renewed, ()) = tokio::join!(futures_util::future::join_all(renewals), async {
        // In the middle of the second attempts, which end at 3 s and 7.5 s. The last ones have 4.5 s.
        tokio::time::sleep(Duration::from_secs(5)).await;
        setup.proxy.mute_new(false);
    });
    for renewed in renewed {
        renewed.expect("the lease is renewed");
    }
}
