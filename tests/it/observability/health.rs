//! `ping` and `pool_status`, for those who ask how a provider is.

use std::time::{Duration, Instant};

use super::Setup;

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

/// A server that went silent is noticed in time, and the connection not used again.
#[tokio::test]
async fn ping_ends_when_its_time_is_over() {
    let setup = Setup::plain().await;
    setup.proxy.silence_all();
    setup.proxy.mute_new(true);
    let begun = Instant::now();
    let error = setup
        .provider
        .ping(SECOND / 4)
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
