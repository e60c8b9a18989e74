//! `ping` and `pool_status`, for those who ask how a provider is.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use duroxide_sql::MssqlProvider;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt as _};

use super::Setup;
use crate::support::database::{TestSchema, own_server};
use crate::support::wait::until;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn ping_measures_one_round_trip() {
    let setup = Setup::plain().await;
    let delay = Duration::from_millis(40);
    setup.proxy.delay(delay);
    setup.proxy.take_requests();
    let round_trip = setup.provider.ping(10 * SECOND).await;
    assert!(round_trip.expect("the server answers") >= delay);
    assert_eq!(setup.proxy.take_requests(), 1);
}

/// Whoever has no patience learns nothing of the connections: a round trip takes its time, and the others are kept.
#[tokio::test]
async fn impatient_ping_costs_one_connection() {
    let setup = Setup::plain().await;
    let status = || setup.provider.pool_status();
    until("the connections are opened", || async {
        status().idle == 2
    })
    .await;
    setup.proxy.delay(SECOND / 10);
    let error = setup.provider.ping(SECOND / 20).await;
    assert!(error.expect_err("it was too soon").is_retryable());
    assert_eq!((status().open, status().idle), (1, 1));
}

/// A server that went silent is noticed in time, and the connection not used again.
#[tokio::test]
async fn ping_ends_when_its_time_is_over() {
    let setup = Setup::plain().await;
    setup.proxy.silence_all();
    setup.proxy.mute_new(true);
    let begun = Instant::now();
    let error = setup
        .provider
        .ping(SECOND)
        .await
        .expect_err("nobody answers");
    assert!(error.is_retryable() && error.operation == "ping", "{error}");
    assert!(error.message.contains("timeout"), "{error}");
    assert!(begun.elapsed() < 5 * SECOND);
    setup.proxy.mute_new(false);
    setup
        .provider
        .ping(30 * SECOND)
        .await
        .expect("another connection works");
}

/// Asks for the pool's status whenever something is told.
struct Curious(Weak<MssqlProvider>);

impl<S: tracing::Subscriber> Layer<S> for Curious {
    fn on_event(&self, _: &tracing::Event<'_>, _: Context<'_, S>) {
        if let Some(provider) = self.0.upgrade() {
            let _status = provider.pool_status();
        }
    }
}

/// Whoever is told of a connection's end may ask how many are left.
#[test]
fn status_can_be_had_while_connections_are_closed() {
    let (ended, end) = std::sync::mpsc::channel();
    // On a thread of its own, because a lock that is taken twice would hold the test for ever.
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.expect("a runtime").block_on(async {
            let server = own_server();
            let schema = TestSchema::at(server.connection_string());
            let provider = Arc::new(schema.provider().await);
            let curious = Curious(Arc::downgrade(&provider));
            let subscriber = tracing_subscriber::registry().with(curious);
            let _guard = tracing::subscriber::set_default(subscriber);
            let opened = || async { provider.pool_status().idle == 2 };
            until("the connections are opened", opened).await;
            for session in server.controls().sessions() {
                server.controls().kill(session);
            }
            // A moment for the news to arrive.
            tokio::time::sleep(SECOND / 2).await;
            provider
                .ping(30 * SECOND)
                .await
                .expect("another connection");
        });
        ended.send(()).expect("the test waits");
    });
    end.recv_timeout(60 * SECOND)
        .expect("nobody waits for himself");
}

/// The queries that the document gives to operators can be tried here.
#[tokio::test]
async fn documented_queries_run() {
    let setup = Setup::plain().await;
    let document = include_str!("../../../docs/operations.md");
    let blocks = document.split("```sql").skip(1);
    let blocks = blocks.filter_map(|rest| rest.split("```").next());
    let queries = blocks.filter(|block| block.trim_start().starts_with("SELECT"));
    let quoted = setup.schema.name().quoted();
    let mut asks_for_blocking = false;
    for text in queries {
        asks_for_blocking |= text.contains("sys.dm_exec_requests");
        setup.schema.sql(&text.replace("[orders]", &quoted)).await;
    }
    assert!(asks_for_blocking);
}
