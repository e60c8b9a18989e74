//! Servers that are slow, and renewals of which nobody knows what became of them: nothing is lost, and
//! nothing counts as tried that never ran.

use std::time::{Duration, Instant};

use duroxide::providers::{Provider, ProviderError, TagFilter, WorkItem};
use duroxide_sql::MssqlProvider;

use crate::support::database::{TestSchema, own_server};
use crate::support::items::{activity, completed, create, fetch, fetch_work, metadata, start};
use crate::support::proxied::{Setup, setup, setup_at};
use crate::support::proxy::Fault;
use crate::support::wait;

const DEADLOCK: Fault = Fault::Error(1205, 13);
/// Longer than a fetch waits for the first sign of an answer.
const SLOW: Duration = Duration::from_millis(3500);
/// Longer than any of these tests.
const LONG_LEASE: Duration = Duration::from_secs(120);

type Work = Result<Option<(WorkItem, String, u32)>, ProviderError>;

impl Setup {
    async fn start(&self) {
        let started = self.provider.enqueue_for_orchestrator(start("order"), None);
        started.await.unwrap();
    }

    async fn fetch_work(&self, lease: Duration) -> Work {
        let filter = TagFilter::default();
        let fetched = self
            .provider
            .fetch_work_item(lease, Duration::ZERO, None, &filter);
        fetched.await
    }

    async fn work(&self, lease: Duration) -> String {
        let item = activity("order", 2, "");
        self.provider.enqueue_for_worker(item).await.unwrap();
        let fetched = self.fetch_work(lease).await.unwrap();
        fetched.expect("the activity is ready").1
    }
}

/// Renewals are swallowed until the lease that was known is over, but one of them has extended it. The
/// runtime would throw the result of the activity away if it heard of a failure.
#[tokio::test]
async fn renewal_goes_on_while_an_unanswered_one_may_have_extended_the_lease() {
    let setup = setup().await;
    let token = setup.work(Duration::from_secs(6)).await;
    for _ in 0..3 {
        setup
            .proxy
            .spoil("renew_work_item_lock", Fault::SilentAfter);
    }
    let provider = &setup.provider;
    let renewed = provider.renew_work_item_lock(&token, LONG_LEASE).await;
    renewed.expect("the server says yes in the end");
    assert_eq!(setup.proxy.calls("renew_work_item_lock"), 4);
    let acked = provider.ack_work_item(&token, Some(completed("order", 2, "x")));
    acked.await.expect("the lease was held all the time");
}

/// A renewal that was not even done, and a server that says that the lease is gone: each ends the
/// repetition as before.
#[tokio::test]
async fn renewal_ends_when_the_server_says_that_the_lease_is_lost() {
    let setup = setup().await;
    let token = setup.work(Duration::from_secs(1)).await;
    setup
        .proxy
        .spoil("renew_work_item_lock", Fault::SilentBefore);
    setup
        .proxy
        .spoil("renew_work_item_lock", Fault::SilentBefore);
    let begun = Instant::now();
    let provider = &setup.provider;
    let renewed = provider.renew_work_item_lock(&token, LONG_LEASE).await;
    assert!(!renewed.unwrap_err().is_retryable(), "lost");
    assert!(begun.elapsed() < Duration::from_secs(20), "{begun:?}");
}

/// The runtime cancels an activity when its renewal fails, and then acknowledges it without a result.
/// Unless the server said that the lease is lost, the orchestration still waits for that result: the
/// activity goes back to its queue, and its attempt does not count.
#[tokio::test]
async fn ack_without_a_result_after_a_renewal_in_doubt_gives_the_activity_back() {
    let setup = setup().await;
    let provider = &setup.provider;
    create(provider, "order").await;
    let token = setup.work(LONG_LEASE).await;
    // This provider does not know how long the lease is, and gives up after a few seconds.
    let other = MssqlProvider::builder(setup.proxy.url(setup.schema.url()))
        .schema(setup.schema.name().as_str());
    let other = other.build().await.expect("the provider starts");
    for _ in 0..1000 {
        setup.proxy.spoil("renew_work_item_lock", DEADLOCK);
    }
    let renewed = other.renew_work_item_lock(&token, LONG_LEASE).await;
    assert!(renewed.unwrap_err().is_retryable());
    other.ack_work_item(&token, None).await.unwrap();
    let (_, token, attempts) = fetch_work(provider).await.expect("it is there again");
    assert_eq!(attempts, 1);
    let acked = provider.ack_work_item(&token, Some(completed("order", 2, "x")));
    acked.await.unwrap();
    let (turn, _, _) = fetch(provider).await.expect("the result is there");
    assert_eq!(turn.messages.len(), 1);
}

/// A database without space refuses acks, and goes on renewing leases. An ack that gave up meanwhile would have the
/// runtime throw the result away, or write down that the orchestration has failed.
#[tokio::test]
async fn ack_goes_on_for_as_long_as_its_lease_is_renewed() {
    let setup = setup().await;
    let provider = &setup.provider;
    create(provider, "order").await;
    let lease = Duration::from_secs(5);
    let token = setup.work(lease).await;
    let full = Fault::Error(1105, 17);
    // As many attempts as take longer than the lease lasts by itself, or an ack by itself goes on.
    for _ in 0..28 {
        setup.proxy.spoil("ack_work_item", full);
    }
    let renewals = async {
        loop {
            tokio::time::sleep(lease / 4).await;
            let renewed = provider.renew_work_item_lock(&token, lease).await;
            renewed.expect("renewals succeed");
        }
    };
    let begun = Instant::now();
    tokio::select! {
        biased;
        acked = provider.ack_work_item(&token, Some(completed("order", 2, "x"))) => acked.unwrap(),
        () = renewals => {}
    }
    assert!(begun.elapsed() > lease, "{begun:?}");
    assert_eq!(setup.proxy.calls("ack_work_item"), 29);
    let (turn, _, _) = fetch(provider).await.expect("the result is there");
    assert_eq!(turn.messages.len(), 1);
}

/// A renewal is done and its answer lost, because the database goes away. It comes back when the lease is over as far as was heard, and
/// holds as far as the server knows. An ack that had given up would have the runtime store that the orchestration has failed.
#[tokio::test]
async fn ack_outlasts_the_lease_that_an_unheard_renewal_may_have_extended() {
    let server = own_server();
    let schema = TestSchema::at(server.connection_string());
    let setup = setup_at(schema).await;
    let provider = &setup.provider;
    create(provider, "order").await;
    setup.start().await;
    let lease = Duration::from_secs(3);
    let fetched = provider.fetch_orchestration_item(lease, Duration::ZERO, None);
    let (_, token, _) = fetched.await.unwrap().expect("the message");
    // None of its attempts is answered before the test has seen what the first has done.
    for _ in 0..10 {
        setup
            .proxy
            .spoil("renew_orchestration_item_lock", Fault::SilentAfter);
    }
    let renewed = provider.renew_orchestration_item_lock(&token, LONG_LEASE);
    let done = wait::until("the server has extended the lease", || async {
        let sql = "SELECT COUNT(*) FROM [$(schema)].instance_locks WHERE not_before_ms > DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) + 60000;";
        setup.schema.number(sql).await == 1
    });
    // The runtime ends its renewals with the turn, wherever they are.
    tokio::select! {
        renewed = renewed => unreachable!("{renewed:?}"),
        () = done => {}
    }
    let away = mssql_embedded::SqlError::with(40613, 17, 1, "not currently available");
    server.controls().refuse_logins(Some(away));
    for session in server.controls().sessions() {
        server.controls().kill(session);
    }
    let back = async {
        // Longer than the lease, and than an ack goes on without one.
        tokio::time::sleep(Duration::from_secs(6)).await;
        server.controls().refuse_logins(None);
    };
    let ack =
        provider.ack_orchestration_item(&token, 1, vec![], vec![], vec![], metadata(), vec![]);
    let (acked, ()) = tokio::join!(ack, back);
    acked.expect("the turn is stored");
}

/// An answer that comes after the caller was told to try again: what it claimed is given back, long
/// before its lease ends, and the attempt does not count.
#[tokio::test]
async fn claim_that_comes_too_late_is_given_back() {
    let setup = setup().await;
    let provider = &setup.provider;
    setup.start().await;
    let late = Duration::from_secs(10);
    setup
        .proxy
        .spoil("fetch_orchestration_item", Fault::Late(late));
    let begun = Instant::now();
    let fetched = provider.fetch_orchestration_item(LONG_LEASE, Duration::ZERO, None);
    assert!(fetched.await.unwrap_err().is_retryable());
    assert!(begun.elapsed() < late, "the caller does not wait so long");
    let attempts = std::sync::atomic::AtomicU32::new(0);
    wait::until("the turn came back", || async {
        let fetched = fetch(provider).await;
        let count = fetched.map_or(0, |(_, _, attempts)| attempts);
        attempts.store(count, std::sync::atomic::Ordering::SeqCst);
        count > 0
    })
    .await;
    assert_eq!(attempts.into_inner(), 1);
    assert!(begun.elapsed() < LONG_LEASE / 2, "{begun:?}");
}

/// A server that needs longer for every fetch than a silent connection is given: the first caller has to
/// come back, and then everything is delivered, each item at its first attempt.
#[tokio::test]
async fn server_that_is_slow_at_every_fetch_delivers() {
    let setup = setup().await;
    for id in 2..5 {
        let item = activity("order", id, "");
        setup.provider.enqueue_for_worker(item).await.unwrap();
    }
    for _ in 0..20 {
        setup.proxy.spoil("fetch_work_item", Fault::Late(SLOW));
    }
    let (mut failures, mut delivered) = (0, 0);
    while delivered < 3 {
        match setup.fetch_work(LONG_LEASE).await {
            Ok(Some((_, token, attempts))) => {
                assert_eq!(attempts, 1);
                setup.provider.ack_work_item(&token, None).await.unwrap();
                delivered += 1;
            }
            Ok(None) => {}
            Err(error) => {
                assert!(error.is_retryable(), "{error}");
                failures += 1;
                assert!(failures < 3, "nothing is delivered: {error}");
            }
        }
    }
    // Where the machine is busy as well, a second one may meet with an answer that takes longer still.
    assert!((1..3).contains(&failures), "{failures}");
}

/// A provider that is closed while an answer is overdue gives back what it holds, and does not wait for that
/// answer for long.
#[tokio::test]
async fn closing_gives_leases_back_while_an_answer_is_overdue() {
    let setup = setup().await;
    let provider = &setup.provider;
    setup.start().await;
    let held = provider.fetch_orchestration_item(LONG_LEASE, Duration::ZERO, None);
    assert!(held.await.unwrap().is_some());
    let overdue = Duration::from_secs(25);
    setup.proxy.spoil("fetch_work_item", Fault::Late(overdue));
    assert!(setup.fetch_work(LONG_LEASE).await.is_err());
    let begun = Instant::now();
    provider.close().await;
    let took = begun.elapsed();
    // The answer is due some two seconds later than this.
    assert!(took < Duration::from_secs(20), "{took:?}");
    let other = setup.schema.provider().await;
    let (_, _, attempts) = fetch(&other).await.expect("the turn was given back");
    assert_eq!(attempts, 1);
}

/// With every connection silent, closing takes ten seconds and no more, the watch in the database included.
#[tokio::test]
async fn closing_takes_no_longer_than_it_says() {
    let setup = setup().await;
    let provider = &setup.provider;
    setup.start().await;
    let held = provider.fetch_orchestration_item(LONG_LEASE, Duration::ZERO, None);
    assert!(held.await.unwrap().is_some());
    let idle = provider.fetch_orchestration_item(LONG_LEASE, LONG_LEASE, None);
    let watched = wait::until("it waits in the database", || async {
        setup.proxy.calls("wait_for_work") > 0
    });
    tokio::select! {
        _ = idle => unreachable!("nothing comes"),
        () = watched => {}
    }
    setup.proxy.silence_all();
    setup.proxy.mute_new(true);
    // Nobody answers any more, so that the time may jump from one limit to the next, and a busy machine adds nothing to it.
    tokio::time::pause();
    let begun = tokio::time::Instant::now();
    provider.close().await;
    let took = begun.elapsed();
    tokio::time::resume();
    setup.proxy.mute_new(false);
    assert!(took < Duration::from_millis(11_500), "{took:?}");
}
