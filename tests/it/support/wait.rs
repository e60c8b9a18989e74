//! Waiting for a condition instead of for a time.

use std::future::Future;
use std::time::{Duration, Instant};

/// Asks until the answer is yes. A minute is far more than anything here takes.
pub async fn until<F, Fut>(what: &str, mut condition: F)
where
    F: FnMut() -> Fut,
    Fut: Future<Output = bool>,
{
    let deadline = Instant::now() + Duration::from_secs(60);
    while !condition().await {
        assert!(
            Instant::now() < deadline,
            "{what} did not happen within a minute"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
