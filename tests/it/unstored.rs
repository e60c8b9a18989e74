//! Turns that cannot be stored: no orchestration is ended by its database.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use duroxide::providers::{ExecutionMetadata, Provider};
use duroxide::{ErrorDetails, Event, EventKind};

use crate::support::database::{TestSchema, own_server};
use crate::support::items::{create, event, fetch, metadata, start};
use crate::support::proxied::setup;
use crate::support::proxy::Fault;
use crate::support::wait;

const ACK: &str = "ack_orchestration_item";

/// A turn whose ack is refused, while its lease is renewed, until the client lets it go. How often it was tried when it comes again.
async fn attempts_after_acks_in_vain(number: u32) -> u32 {
    let setup = setup().await;
    let provider = &setup.provider;
    create(provider, "order").await;
    let started = provider.enqueue_for_orchestrator(start("order"), None);
    started.await.unwrap();
    let lease = Duration::from_secs(30);
    let fetched = provider.fetch_orchestration_item(lease, Duration::ZERO, None);
    let (_, token, _) = fetched.await.unwrap().expect("the message");
    for _ in 0..5000 {
        setup.proxy.spoil(ACK, Fault::Error(number, 16));
    }
    let ack =
        || provider.ack_orchestration_item(&token, 1, vec![], vec![], vec![], metadata(), vec![]);
    let renewals = async {
        loop {
            // In the end there is nothing to renew any more.
            let _ = provider.renew_orchestration_item_lock(&token, lease).await;
            // The minutes of this process pass in seconds; the server's clock goes on as ever.
            tokio::time::pause();
            tokio::time::advance(Duration::from_millis(100)).await;
            tokio::time::resume();
        }
    };
    let error = tokio::select! {
        biased;
        acked = ack() => acked.unwrap_err(),
        () = renewals => unreachable!("there is no end to it"),
    };
    assert!(error.message.contains(&number.to_string()), "{error}");
    assert_eq!(setup.proxy.calls("abandon_orchestration_item"), 1);
    setup.proxy.forgive(ACK);
    // The jumps of the clock may have cost connections, which are opened again.
    wait::until("the lease is gone", || async {
        let failed = ack().await.expect_err("nobody may store the turn");
        !failed.is_retryable()
    })
    .await;
    let attempts = AtomicU32::new(0);
    wait::until("the turn came back", || async {
        let fetched = fetch(provider).await;
        let count = fetched.map_or(0, |(_, _, attempts)| attempts);
        attempts.store(count, Ordering::SeqCst);
        count > 0
    })
    .await;
    attempts.into_inner()
}

/// An error that nobody expected keeps a turn from being stored, and renewals go on. The ack gives up after two minutes, and the
/// runtime would then write down that the orchestration has failed, in an ack that may succeed. It has no lease for that: the
/// turn is tried again, and the attempt counts.
#[tokio::test]
async fn turn_that_cannot_be_stored_is_let_go() {
    assert_eq!(attempts_after_acks_in_vain(50_000).await, 2);
}

/// A procedure that somebody dropped says nothing of the turn. Attempts that counted would end as poisoned, once it is back, whatever
/// was running when it went.
#[tokio::test]
async fn broken_schema_counts_no_attempts() {
    assert_eq!(attempts_after_acks_in_vain(2812).await, 1);
}

/// Nor does an index that automatic tuning dropped: the procedures name it.
#[tokio::test]
async fn dropped_index_counts_no_attempts() {
    assert_eq!(attempts_after_acks_in_vain(308).await, 1);
}

/// The runtime ends an orchestration whose turn could not be stored, in an ack of its own. By its clock the lease is over then, and the server's clock may have been
/// set back while nobody could reach it.
#[tokio::test]
async fn silence_of_the_database_ends_no_orchestration() {
    let server = own_server();
    let provider = TestSchema::at(server.connection_string());
    let provider = provider.provider().await;
    let failed = |operation: &str, retryable| {
        let details = ErrorDetails::Infrastructure {
            operation: operation.to_owned(),
            message: "timeout".to_owned(),
            retryable,
        };
        event("order", 2, EventKind::OrchestrationFailed { details })
    };
    let store = async |token: &str, failure: Event| {
        let metadata = ExecutionMetadata {
            status: Some("Failed".to_owned()),
            ..metadata()
        };
        let acked = provider.ack_orchestration_item(
            token,
            1,
            vec![failure],
            vec![],
            vec![],
            metadata,
            vec![],
        );
        acked.await
    };
    create(&provider, "order").await;
    let started = provider.enqueue_for_orchestrator(start("order"), None);
    started.await.unwrap();
    let (_, token, _) = fetch(&provider).await.expect("the message");
    let refused = store(&token, failed(ACK, true)).await.unwrap_err();
    assert!(
        !refused.is_retryable(),
        "nobody should try again: {refused}"
    );
    server.controls().advance(Duration::from_secs(6));
    let (turn, token, attempts) = fetch(&provider).await.expect("it came back");
    assert_eq!((turn.history.len(), attempts), (1, 1));
    // A failure that is the turn's own ends it, as does one of another kind.
    store(&token, failed(ACK, false)).await.unwrap();
    let history = provider.read("order").await.unwrap();
    assert_eq!(history.len(), 2);
}
