//! Repeats a call that failed for a passing reason: the one place that decides and sleeps.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

use crate::error::CallError;

/// First pause between two attempts.
const PAUSE_FIRST: Duration = Duration::from_millis(10);
/// Longest pause between two attempts.
const PAUSE_MAX: Duration = Duration::from_millis(1000);

/// How long, and after which failures, a call is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Retry {
    budget: Duration,
    unknown_outcome: bool,
}

impl Retry {
    /// Repeats for up to `budget`, also when nobody knows whether the call took effect. Only
    /// for procedures that bear being repeated.
    pub(crate) const fn repeatable(budget: Duration) -> Self {
        Self {
            budget,
            unknown_outcome: true,
        }
    }

    /// Repeats for up to `budget`, but only when the server said that nothing was done.
    pub(crate) const fn when_undone(budget: Duration) -> Self {
        Self {
            budget,
            unknown_outcome: false,
        }
    }

    fn allows(self, error: &CallError) -> bool {
        error.is_retryable() && (self.unknown_outcome || error.is_undone())
    }

    /// Runs `attempt` until it succeeds, fails for good, or the budget is spent.
    pub(crate) async fn run<T, F, Fut>(self, mut attempt: F) -> Result<T, CallError>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, CallError>>,
    {
        let deadline = Instant::now() + self.budget;
        let mut pause = PAUSE_FIRST;
        loop {
            let error = match attempt().await {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            let wait = jittered(pause);
            if !self.allows(&error) || Instant::now() + wait >= deadline {
                return Err(error);
            }
            tracing::debug!(%error, wait_ms = wait.as_millis() as u64, "repeating a failed call");
            tokio::time::sleep(wait).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}

/// Between half and one and a half times `base`, so that clients which failed together do not
/// come back together.
pub(crate) fn jittered(base: Duration) -> Duration {
    let random = (uuid::Uuid::new_v4().as_u128() & 0xffff) as u32;
    base / 2 + base * random / 0x1_0000
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    async fn attempts(retry: Retry, error: fn() -> CallError) -> u32 {
        let count = Cell::new(0);
        let result: Result<(), _> = retry
            .run(|| {
                count.set(count.get() + 1);
                async move { Err(error()) }
            })
            .await;
        assert!(result.is_err());
        count.get()
    }

    fn deadlock() -> CallError {
        CallError::server(1205, 13, "Transaction was deadlocked")
    }
    fn cut() -> CallError {
        CallError::Connection {
            reason: "reset by peer".into(),
            sent: true,
        }
    }
    fn duplicate() -> CallError {
        CallError::server(2627, 14, "Violation of PRIMARY KEY")
    }

    #[tokio::test(start_paused = true)]
    async fn passing_failures_are_repeated_until_the_budget_is_spent() {
        let second = Duration::from_secs(1);
        assert!(attempts(Retry::repeatable(second), deadlock).await > 3);
        assert!(attempts(Retry::repeatable(second), cut).await > 3);
        assert!(attempts(Retry::when_undone(second), deadlock).await > 3);
    }

    #[tokio::test(start_paused = true)]
    async fn unknown_outcomes_and_permanent_failures_are_not_repeated_blindly() {
        let second = Duration::from_secs(1);
        assert_eq!(attempts(Retry::when_undone(second), cut).await, 1);
        assert_eq!(attempts(Retry::repeatable(second), duplicate).await, 1);
        assert_eq!(
            attempts(Retry::repeatable(Duration::ZERO), deadlock).await,
            1
        );
    }

    #[test]
    fn jitter_stays_within_half_and_one_and_a_half() {
        let base = Duration::from_millis(100);
        for _ in 0..1000 {
            let wait = jittered(base);
            assert!(wait >= base / 2 && wait < base * 3 / 2, "{wait:?}");
        }
    }
}
