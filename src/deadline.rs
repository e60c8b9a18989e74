//! A moment by which something must be over.

use std::time::Duration;

use tokio::time::Instant;

use crate::time;

/// The end of a time limit of any length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    pub(crate) fn after(limit: Duration) -> Self {
        Self(time::after(limit))
    }

    pub(crate) fn at(self) -> Instant {
        self.0
    }

    pub(crate) fn is_over(self) -> bool {
        self.left().is_zero()
    }

    /// What is left of the time.
    pub(crate) fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn limits_of_any_length_are_counted() {
        assert!(Deadline::after(Duration::ZERO).is_over());
        assert!(!Deadline::after(Duration::MAX).is_over());
        let deadline = Deadline::after(Duration::from_secs(3));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(deadline.left(), Duration::from_secs(1));
    }
}
