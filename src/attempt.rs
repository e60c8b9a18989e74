//! What one attempt of a call may expect of the pool and of the server.

use std::time::Duration;

use tokio::time::Instant;

use crate::pool::Wait;
use crate::time::later;

/// What one attempt may expect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// How long it may take until the server begins to answer, the wait for a connection included. What
    /// settles a lease, and is answered in a few bytes, must be over by then; the rest of a longer answer
    /// may take as long as any command. `None` for as long as any command.
    pub(crate) limit: Option<Duration>,
    /// Under a lease: all that is left. An attempt may wait that long for its turn in the pool, and its limit begins with its turn: the
    /// limit is there to find out about dead connections, and nothing is dead while others use all of them. Each attempt that ended
    /// before its turn would leave the next one at the end of the queue.
    pub(crate) turn_within: Option<Duration>,
    /// What is left at least for the answer, however long the connection took.
    pub(crate) answer_min: Duration,
    /// How long it may wait for a connection that is alive, where no other will do.
    pub(crate) alive_within: Option<Duration>,
    /// The attempt before met with silence or with a broken connection, so that what other
    /// connections said a moment ago proves nothing.
    pub(crate) after_silence: bool,
}

impl Attempt {
    /// How long it waits for a connection, where any will do.
    pub(crate) fn wait(self, full: Duration) -> Wait {
        let limit = self.limit.unwrap_or(full);
        Wait {
            all: self.turn_within.unwrap_or(limit),
            connection: limit,
        }
    }

    /// By when the server must have begun to answer, in an attempt that began at one moment, had its turn at another and got
    /// its connection at the last. A connection that took long to get has a moment to answer all the same: less
    /// silence says nothing about it. No command takes longer than `full`.
    pub(crate) fn first_by(
        self,
        begun: Instant,
        turn_at: Instant,
        asked_at: Instant,
        full: Duration,
    ) -> Instant {
        let ends_at = later(asked_at, full);
        self.limit.map_or(ends_at, |limit| {
            let at_least = later(asked_at, self.answer_min.min(limit));
            let first_by = match self.turn_within {
                Some(left) => later(turn_at, limit).min(later(begun, left)),
                None => later(begun, limit),
            };
            first_by.max(at_least).min(ends_at)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const ANSWER_MIN: Duration = Duration::from_millis(500);

    fn attempt(limit: Option<Duration>, turn_within: Option<Duration>) -> Attempt {
        Attempt {
            limit,
            turn_within,
            answer_min: ANSWER_MIN,
            alive_within: None,
            after_silence: false,
        }
    }

    /// The wait for a connection is part of an attempt's limit.
    #[tokio::test(start_paused = true)]
    async fn attempt_has_one_limit_for_its_connection_and_its_answer() {
        let begun = Instant::now();
        let first_by = |limit, connected_after: Duration, full| {
            let asked_at = begun + connected_after;
            attempt(limit, None).first_by(begun, asked_at, asked_at, full) - begun
        };
        let limit = Some(3 * SECOND);
        assert_eq!(first_by(limit, SECOND / 10, 30 * SECOND), 3 * SECOND);
        assert_eq!(first_by(limit, 2 * SECOND, 30 * SECOND), 3 * SECOND);
        assert_eq!(
            first_by(limit, 3 * SECOND, 30 * SECOND),
            3 * SECOND + ANSWER_MIN
        );
        assert_eq!(first_by(limit, SECOND, SECOND), 2 * SECOND);
        assert_eq!(first_by(None, 5 * SECOND, 30 * SECOND), 35 * SECOND);
        let tiny = Some(SECOND / 10);
        assert_eq!(first_by(tiny, SECOND, 30 * SECOND), SECOND * 11 / 10);
    }

    /// A connection is as dead or alive for whoever waited long for it.
    #[tokio::test(start_paused = true)]
    async fn limit_under_a_lease_begins_with_the_turn_in_the_pool_and_ends_with_the_lease() {
        let begun = Instant::now();
        let (share, left, full) = (2 * SECOND, 8 * SECOND, 30 * SECOND);
        let attempt = attempt(Some(share), Some(left));
        let wait = attempt.wait(full);
        assert_eq!((wait.all, wait.connection), (left, share));
        let first_by = |turn_after: Duration, dialled_for: Duration| {
            let turn_at = begun + turn_after;
            attempt.first_by(begun, turn_at, turn_at + dialled_for, full) - begun
        };
        assert_eq!(first_by(Duration::ZERO, SECOND), share);
        assert_eq!(first_by(5 * SECOND, Duration::ZERO), 5 * SECOND + share);
        assert_eq!(first_by(5 * SECOND, SECOND), 5 * SECOND + share);
        assert_eq!(first_by(7 * SECOND, Duration::ZERO), left);
        assert_eq!(first_by(left, Duration::ZERO), left + ANSWER_MIN);
    }
}
