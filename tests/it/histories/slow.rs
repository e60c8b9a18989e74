//! Histories that take longer to arrive than their turn is leased for: the turn is tried once, and stored.

use duroxide::providers::ProviderError;
use mssql_embedded::Trigger;

use super::*;
use crate::support::database::own_server;

const TURN_LEASE: Duration = Duration::from_secs(2);

/// A setup in which a turn of a long history is ready.
async fn ready(schema: TestSchema) -> Setup {
    let setup = Setup::at(schema).await;
    let writer = setup.process().await;
    setup.turn(&writer, "order", LONG).await;
    let message = setup
        .truth
        .enqueue_for_orchestrator(start("order"), None)
        .await;
    message.unwrap();
    setup
}

/// How often the turn had been tried when it came.
async fn fetched(process: &MssqlProvider, lease: Duration) -> Result<(String, u32), ProviderError> {
    let fetched = process.fetch_orchestration_item(lease, lease, None);
    let (item, token, attempts) = fetched.await?.expect("the turn");
    assert_eq!(
        (item.history.len() as u64, item.history_error),
        (LONG, None)
    );
    Ok((token, attempts))
}

/// What is left of the lease is enough for somebody who has to think for so long.
async fn acked(process: &MssqlProvider, token: &str, thinks: Duration) {
    tokio::time::sleep(thinks).await;
    let history = delta("order", LONG + 1, 1, "slow");
    ack(process, token, 1, history)
        .await
        .expect("the lease holds");
}

/// A process that has not seen the history, or whose memory is too small for it, reads it after the fetch. Nobody renews the
/// lease meanwhile, because nobody has the turn.
#[tokio::test]
async fn turn_is_kept_while_its_history_is_read() {
    let server = own_server();
    for (held, history_cache_bytes) in [
        (TURN_LEASE * 5 / 4, 64 * 1024 * 1024),
        (TURN_LEASE * 5 / 4, 1),
        // Longer than a quick question may take: a second connection brings it.
        (TURN_LEASE * 5 / 2, 1),
    ] {
        let setup = ready(TestSchema::at(server.connection_string())).await;
        let process = Arc::new(setup.process_with(history_cache_bytes).await);
        let reads = Trigger::response().of("read_with_execution");
        let pause = server.controls().pause(reads);
        let reader = process.clone();
        let turn = tokio::spawn(async move { fetched(&reader, TURN_LEASE).await });
        pause.paused().await;
        tokio::spawn(async move {
            tokio::time::sleep(held).await;
            drop(pause);
        });
        let (token, attempts) = turn.await.unwrap().expect("the turn comes");
        assert_eq!(attempts, 1, "{held:?}");
        acked(&process, &token, TURN_LEASE / 10).await;
    }
}

/// The lease ends while the answer to the fetch itself arrives. The turn is given back as if it had not been fetched, and leased for longer
/// the next time.
#[tokio::test]
async fn turn_whose_answer_takes_longer_than_its_lease_comes_in_the_end() {
    let setup = ready(TestSchema::new()).await;
    let process = setup.process_with(0).await;
    setup.proxy.narrow(Some(2000));
    let fetched = || fetched(&process, TURN_LEASE);
    let error = fetched().await.expect_err("the lease is over");
    assert!(error.is_retryable(), "{error}");
    let (token, attempts) = fetched().await.expect("the turn comes");
    assert_eq!(attempts, 1);
    setup.proxy.narrow(None);
    acked(&process, &token, TURN_LEASE / 10).await;
}

/// A turn that comes with little left of its lease is renewed before anybody gets it; any other costs no request more.
#[tokio::test]
async fn turn_that_comes_late_is_renewed_first() {
    let lease = 2 * TURN_LEASE;
    // More than half of the lease, and less than the three seconds that an answer may take.
    let late = Fault::Late(Duration::from_millis(2200));
    // Together that is more than the lease that was not renewed.
    let thinks = lease / 2;
    let setup = ready(TestSchema::new()).await;
    let process = setup.process_with(0).await;
    let renewals = || setup.proxy.calls("renew_orchestration_item_lock");
    setup.proxy.spoil("fetch_orchestration_item", late);
    let (token, attempts) = fetched(&process, lease).await.expect("the turn comes");
    assert_eq!((attempts, renewals()), (1, 1));
    acked(&process, &token, thinks).await;

    let item = activity("order", 2, "");
    setup.truth.enqueue_for_worker(item).await.unwrap();
    setup.proxy.spoil("fetch_work_item", late);
    let filter = duroxide::providers::TagFilter::default();
    let work = process.fetch_work_item(lease, Duration::ZERO, None, &filter);
    let (_, token, attempts) = work.await.unwrap().expect("the activity");
    assert_eq!(
        (attempts, setup.proxy.calls("renew_work_item_lock")),
        (1, 1)
    );
    tokio::time::sleep(thinks).await;
    process
        .ack_work_item(&token, None)
        .await
        .expect("the lease holds");
}
