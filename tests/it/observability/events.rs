//! Every event comes when it should, with the level, the target and the fields of the document.

use std::collections::HashSet;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use duroxide::providers::Provider;
use duroxide_sql::{AccessToken, MssqlProvider, TokenError};
use mssql_embedded::{Pause, Trigger};

use super::{Setup, document};
use crate::support::database::{TestSchema, own_server};
use crate::support::items::{LEASE, activity, create, fetch, fetch_work, metadata, start, started};
use crate::support::proxy::Fault;
use crate::support::trace::{Told, Trace};
use crate::support::wait;

/// Does `work` until the event was told: a thread that begins to listen may miss what other threads
/// tell for the first time at that moment.
async fn told<Fut>(trace: &Trace, message: &str, mut work: impl FnMut() -> Fut) -> Told
where
    Fut: Future<Output = ()>,
{
    wait::until(message, || {
        let done = work();
        async {
            done.await;
            !trace.events(message).is_empty()
        }
    })
    .await;
    check(trace, message)
}

/// The first event with this message, which is as the document says.
fn check(trace: &Trace, message: &str) -> Told {
    let events = document::events();
    let documented = &events[message];
    let all = trace.events(message);
    for told in &all {
        assert!(
            documented.levels.contains(&told.level.to_string()),
            "{told:?}"
        );
        assert_eq!(told.target, documented.target, "{told:?}");
        let fields: Vec<_> = told.fields.keys().cloned().collect();
        for field in &documented.always {
            assert!(fields.contains(field), "{field} is missing: {told:?}");
        }
        for field in &fields {
            let known = documented.always.contains(field) || documented.sometimes.contains(field);
            assert!(known, "{field} is not documented: {told:?}");
        }
    }
    all.into_iter().next().expect("the event was told")
}

#[tokio::test]
async fn life_of_a_connection_is_told() {
    let schema = TestSchema::new();
    let (trace, _guard) = Trace::catch();
    let opened = told(&trace, "connection opened", || async {
        drop(schema.provider().await);
    });
    let opened = opened.await;
    assert_eq!(opened.level, tracing::Level::DEBUG);
    assert_eq!(opened.get("schema"), Some(schema.name().as_str()));
    let released = || async { !trace.events("connection closed").is_empty() };
    wait::until("the connections are closed", released).await;
    let closed = check(&trace, "connection closed");
    assert_eq!(closed.get("reason"), Some("released"));
    assert_eq!(closed.level, tracing::Level::DEBUG);
}

#[tokio::test]
async fn broken_and_silent_connections_are_told_aloud() {
    let setup = Setup::plain().await;
    let (trace, _guard) = Trace::catch();
    for (fault, reason) in [
        (Fault::CutBefore, "broken"),
        (Fault::SilentBefore, "silent"),
    ] {
        let closed = || async {
            let closed = trace.events("connection closed");
            closed.iter().any(|told| told.get("reason") == Some(reason))
        };
        wait::until(reason, || async {
            setup.proxy.spoil("read", fault);
            let read = setup.provider.read("nobody").await;
            assert!(read.expect("the call is repeated").is_empty());
            closed().await
        })
        .await;
    }
    check(&trace, "connection closed");
    for told in trace.events("connection closed") {
        let is_trouble = ["broken", "silent"].contains(&told.get("reason").unwrap());
        assert_eq!(told.level == tracing::Level::WARN, is_trouble, "{told:?}");
    }
}

/// The first failure is told at once and its repetitions quietly; the end of the trouble is told too.
#[tokio::test]
async fn failed_connections_and_their_end_are_told() {
    let schema = TestSchema::new();
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let real = real_address(schema.url()).await;
    let (trace, _guard) = Trace::catch();
    let works = Arc::new(AtomicBool::new(false));
    let lookup = {
        let works = works.clone();
        move |_: &str, _: u16| {
            Ok(vec![if works.load(Ordering::SeqCst) {
                real
            } else {
                closed
            }])
        }
    };
    let starting = schema.builder().lookup(lookup).build();
    let mending = async {
        let failed = || async { trace.events("connection failed").len() >= 3 };
        wait::until("three attempts failed", failed).await;
        works.store(true, Ordering::SeqCst);
    };
    let (provider, ()) = tokio::join!(starting, mending);
    let provider = provider.expect("the provider starts");
    check(&trace, "connection failed");
    let failed = trace.events("connection failed");
    let loud = failed
        .iter()
        .filter(|told| told.level == tracing::Level::WARN);
    assert_eq!(loud.count(), 1, "{failed:?}");
    let again = check(&trace, "connected again");
    assert_eq!(
        again.get("failures"),
        Some(failed.len().to_string().as_str())
    );
    assert!(provider.pool_status().open > 0);
}

async fn real_address(url: &str) -> SocketAddr {
    let config = tiberius::Config::from_ado_string(url).expect("a connection string");
    let mut addresses = tokio::net::lookup_host(config.get_addr())
        .await
        .expect("addresses");
    addresses.find(SocketAddr::is_ipv4).expect("an address")
}

/// A refused login keeps the server's number.
#[tokio::test]
async fn refused_login_is_told_with_its_number() {
    let server = own_server();
    let url = server.connection_string();
    let (trace, _guard) = Trace::catch();
    let attempt = || async {
        let builder = MssqlProvider::builder(&url).password("wrong");
        let error = builder.build().await.expect_err("the login is refused");
        assert_eq!(error.number(), Some(18456));
        assert!(!error.is_retryable());
        let duroxide_sql::Error::Connect(error) = error else {
            panic!("{error}");
        };
        let cause = error.cause().expect("the driver's own error");
        assert!(cause.to_string().contains("Login failed"), "{cause}");
    };
    let failed = told(&trace, "connection failed", attempt).await;
    assert!(failed.get("error").unwrap().contains("18456"), "{failed:?}");
}

/// A server that says nothing is told long before the attempt is over.
#[tokio::test]
async fn silent_server_is_told_while_it_is_waited_for() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let (trace, _guard) = Trace::catch();
    let attempt = || async {
        let url = format!("server=tcp:127.0.0.1,{port};user id=sa;password=x");
        let builder = MssqlProvider::builder(url).startup_timeout(Duration::from_millis(2500));
        let error = builder.build().await.expect_err("nobody answers");
        assert!(error.is_retryable(), "{error}");
        assert_eq!(error.number(), None);
    };
    let message = "still connecting; the server does not answer";
    let waiting = told(&trace, message, attempt).await;
    assert_eq!(waiting.level, tracing::Level::WARN);
    assert_eq!(waiting.get("waited_ms"), Some("2000"));
}

#[tokio::test]
async fn wait_for_a_connection_is_told() {
    let settings = |builder: duroxide_sql::MssqlProviderBuilder| {
        let limit = Duration::from_millis(20);
        builder.pool_max(1).pool_wait_limit(limit)
    };
    let setup = Setup::new(settings).await;
    setup.proxy.delay(Duration::from_millis(100));
    let (trace, _guard) = Trace::catch();
    let crowd = || async {
        let (one, two) = tokio::join!(setup.provider.read("a"), setup.provider.read("b"));
        assert!(one.is_ok() && two.is_ok());
    };
    let message = "waiting for a connection; raise pool_max or lower the number of dispatchers";
    let waiting = told(&trace, message, crowd).await;
    assert_eq!(waiting.get("lane"), Some("client"));
    assert_eq!(waiting.get("waiting"), Some("1"));
}

#[tokio::test]
async fn repetition_is_told_with_number_and_reason() {
    let setup = Setup::plain().await;
    let (trace, _guard) = Trace::catch();
    let attempt = || async {
        let deadlock = Fault::Error(1205, 13);
        setup.proxy.spoil("read", deadlock);
        setup.proxy.spoil("read", deadlock);
        setup.provider.read("nobody").await.expect("repeated");
    };
    let message = "repeating a failed call";
    let first = told(&trace, message, attempt).await;
    assert_eq!(first.level, tracing::Level::WARN);
    assert_eq!(first.get("error_number"), Some("1205"));
    assert_eq!(first.get("procedure"), Some("read"));
    let retries: Vec<_> = trace.events(message);
    assert_eq!(retries.last().unwrap().get("retry"), Some("2"));
}

#[tokio::test]
async fn slow_call_is_told() {
    let setup = Setup::new(|builder| builder.slow_call_limit(Duration::from_millis(20))).await;
    let (trace, _guard) = Trace::catch();
    setup.provider.read("quick").await.expect("an answer");
    setup.proxy.delay(Duration::from_millis(60));
    let attempt = || async { drop(setup.provider.read("slow").await) };
    let slow = told(&trace, "slow call", attempt).await;
    assert_eq!(slow.get("procedure"), Some("read"));
    let took: u64 = slow.get("duration_ms").unwrap().parse().unwrap();
    assert!(took > 20);
}

#[tokio::test]
async fn lost_lease_is_told() {
    let setup = Setup::plain().await;
    let (trace, _guard) = Trace::catch();
    let lose = || async {
        let begin = setup
            .provider
            .enqueue_for_orchestrator(start("order"), None);
        begin.await.expect("the message is taken");
        let (_, token, _) = fetch(&setup.provider).await.expect("a turn");
        let steal = "UPDATE [$(schema)].instance_locks SET lock_token = NULL, not_before_ms = 0;";
        setup.schema.sql(steal).await;
        let history = vec![started("order", "{}")];
        let provider = &setup.provider;
        let ack =
            provider.ack_orchestration_item(&token, 1, history, vec![], vec![], metadata(), vec![]);
        ack.await.expect_err("the lease is lost");
        // As the runtime goes on then.
        let ack =
            provider.ack_orchestration_item(&token, 1, vec![], vec![], vec![], metadata(), vec![]);
        ack.await.expect_err("it still is");
        let abandon = provider.abandon_orchestration_item(&token, None, false);
        abandon.await.expect_err("and cannot be given back");
    };
    let lost = told(
        &trace,
        "lease lost; its work was cancelled or is fetched again",
        lose,
    )
    .await;
    assert_eq!(lost.level, tracing::Level::WARN);
    assert_eq!(lost.get("instance_id"), Some("order"));
    assert_eq!(lost.get("error_number"), Some("51003"));
    assert_eq!(lost.get("procedure"), Some("ack_orchestration_item"));
    let all = trace.events("lease lost; its work was cancelled or is fetched again");
    let leases: HashSet<_> = all.iter().map(|told| told.get("lock_token")).collect();
    assert_eq!(leases.len(), all.len(), "each is told once");
}

/// A renewal that waits for the ack of its lease finds it settled. Nobody has lost anything, and those who are alerted over lost leases must
/// not be.
#[tokio::test]
async fn lease_that_is_settled_meanwhile_is_not_told_as_lost() {
    let server = own_server();
    let controls = server.controls();
    let schema = TestSchema::at(server.connection_string());
    let provider = schema.provider().await;
    create(&provider, "order").await;
    let activity = activity("order", 1, "");
    provider.enqueue_for_worker(activity).await.unwrap();
    let start = provider.enqueue_for_orchestrator(start("order"), None);
    start.await.unwrap();
    let (_, turn, _) = fetch(&provider).await.expect("a turn");
    let (_, work, _) = fetch_work(&provider).await.expect("an activity");
    let (trace, _guard) = Trace::catch();
    let at_commit = |procedure: &str| controls.pause(Trigger::commit().of(procedure));
    let let_go = async |pause: &Pause| {
        let met = || async { controls.blocked() == 1 };
        wait::until("the renewal waits for the ack", met).await;
        pause.release();
    };
    let pause = at_commit("ack_orchestration_item");
    let renewal = async {
        pause.paused().await;
        let renewal = provider.renew_orchestration_item_lock(&turn, LEASE);
        tokio::join!(renewal, let_go(&pause)).0
    };
    let ack = provider.ack_orchestration_item(&turn, 1, vec![], vec![], vec![], metadata(), vec![]);
    let (acked, renewed) = tokio::join!(ack, renewal);
    acked.expect("the turn is stored");
    renewed.expect_err("there is nothing to renew");
    let pause = at_commit("ack_work_item");
    let renewal = async {
        pause.paused().await;
        let renewal = provider.renew_work_item_lock(&work, LEASE);
        tokio::join!(renewal, let_go(&pause)).0
    };
    let (acked, renewed) = tokio::join!(provider.ack_work_item(&work, None), renewal);
    acked.expect("the activity is done");
    renewed.expect_err("there is nothing to renew");
    let lost = trace.events("lease lost; its work was cancelled or is fetched again");
    assert!(lost.is_empty(), "{lost:?}");
}

#[tokio::test]
async fn tokens_are_told() {
    let server = own_server();
    let url = format!(
        "server=tcp:127.0.0.1,{};encrypt=DANGER_PLAINTEXT",
        server.port()
    );
    let controls = server.controls();
    let works = Arc::new(AtomicBool::new(false));
    let (trace, _guard) = Trace::catch();
    let attempt = || async {
        let (gives, controls) = (works.clone(), controls.clone());
        let source = move || {
            let is_given = gives.load(Ordering::SeqCst);
            controls.accept_token("token", "sa", Duration::from_secs(3600));
            async move {
                let token = AccessToken {
                    secret: "token".into(),
                    expires_at: SystemTime::now() + Duration::from_secs(3600),
                };
                is_given
                    .then_some(token)
                    .ok_or_else(|| TokenError::new("closed today"))
            }
        };
        let builder = MssqlProvider::builder(&url).schema("orders");
        let started = builder.token_source(Arc::new(source)).build().await;
        assert_eq!(started.is_ok(), works.load(Ordering::SeqCst));
    };
    let failed = told(&trace, "access token not refreshed", attempt).await;
    assert!(failed.get("error").unwrap().contains("closed today"));
    works.store(true, Ordering::SeqCst);
    let given = told(&trace, "access token refreshed", attempt).await;
    let lasts: u64 = given.get("expires_in_s").unwrap().parse().unwrap();
    assert!(lasts > 3500, "{lasts}");
}

/// Work that goes well is told quietly.
#[tokio::test]
async fn ordinary_work_warns_of_nothing() {
    let schema = TestSchema::new();
    // A busy machine may well be slow.
    let hour = Duration::from_secs(3600);
    let builder = schema.builder().slow_call_limit(hour).pool_wait_limit(hour);
    let provider = builder.build().await.expect("the provider starts");
    let (trace, _guard) = Trace::catch();
    create(&provider, "order").await;
    for message in document::events().keys() {
        let told = trace.events(message);
        assert!(
            told.iter().all(|told| told.level > tracing::Level::INFO),
            "{told:?}"
        );
    }
}
