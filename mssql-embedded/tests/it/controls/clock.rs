//! Moving the clock.

use std::time::Duration;

use super::ledger;
use crate::support::within;

const NOW: &str = "SELECT CAST(DATEDIFF(SECOND, '20200101', SYSUTCDATETIME()) AS INT)";

/// advance lets time pass: the wall clock moves and a WAITFOR of hours is over.
#[tokio::test]
async fn advance_moves_the_wall_clock_and_ends_waits() {
    let (server, mut session) = ledger().await;
    let controls = server.controls();
    let before = session.int(NOW).await.unwrap();
    controls.advance(Duration::from_secs(3600));
    assert!(session.int(NOW).await.unwrap() >= before + 3600);
    let paused = controls.pause(mssql_embedded::Trigger::statement().containing("SELECT 7"));
    let waiting = session.spawn("SELECT 6; WAITFOR DELAY '05:00:00'; SELECT 7");
    crate::support::until("the wait is over", || {
        // Each look lets an hour pass, so it does not matter whether the wait had begun.
        controls.advance(Duration::from_secs(3600));
        !paused.sessions().is_empty()
    })
    .await;
    paused.release();
    assert_eq!(within(waiting).await.unwrap().1.unwrap(), [6, 7]);
}

/// shift_utc sets the wall clock, also back.
#[tokio::test]
async fn shift_utc_sets_the_wall_clock_back() {
    let (server, mut session) = ledger().await;
    let before = session.int(NOW).await.unwrap();
    server.controls().shift_utc(-86_400_000);
    let after = session.int(NOW).await.unwrap();
    assert!(after <= before - 86_400 + 60, "{before} {after}");
}
