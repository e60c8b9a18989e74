//! Repeats a call that failed for a passing reason: the one place that decides and sleeps.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

use crate::attempt::Attempt;
use crate::error::CallError;
use crate::time::{after, jittered};

/// First pause between two attempts.
const PAUSE_FIRST: Duration = Duration::from_millis(10);
/// Longest pause between two attempts.
const PAUSE_MAX: Duration = Duration::from_millis(1000);
/// How long calls without a lease are repeated after a failure that passes quickly.
const SHORT: Duration = Duration::from_secs(3);
/// How long calls that harm nobody are repeated.
const HARMLESS: Duration = Duration::from_secs(10);
/// The server's first chance to answer a quick question. An idle connection may have died without
/// a word, and this is what it costs to find out.
pub(crate) const FIRST_ANSWER: Duration = Duration::from_secs(3);
/// No attempt for a lease is shorter, however little is left of it, and no connection is called silent after less.
pub(crate) const ATTEMPT_MIN: Duration = Duration::from_millis(500);

/// How long one attempt may take to the first sign of an answer, from the search for a connection or from its turn in the pool; see [`Attempt`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// As long as any command may take.
    Full,
    /// Every attempt as long as a quick question needs.
    Quick,
    /// As long as this, on a connection that has just proved itself.
    Alive(Duration),
    /// The first attempt as long as a quick question needs, later ones as long as any command: on a
    /// connection that is known to be alive, silence means that the server is busy.
    QuickThenFull,
    /// A quarter of the time that is left, but no more than two quick questions need, then half of it, then all of it. When the lease is over as far as
    /// we know and the call is repeated all the same, as long as any command: only the server knows more.
    Share,
    /// A quarter of the time that is left, but no more than two quick questions need, then half of it, then as long as any command may take:
    /// somebody renews the lease meanwhile, and the server knows best whether it still holds.
    ShareThenFull,
}

/// How long, and after which failures, a call is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Retry {
    budget: Duration,
    unknown_outcome: bool,
    patience: Patience,
    /// What an attempt of unknown outcome may have added to the lease, from any moment of it on.
    extension: Duration,
}

impl Retry {
    /// Repeats for up to `budget`, also when nobody knows whether the call took effect. Only
    /// for procedures that bear being repeated.
    pub(crate) const fn repeatable(budget: Duration) -> Self {
        Self {
            budget,
            unknown_outcome: true,
            patience: Patience::Full,
            extension: Duration::ZERO,
        }
    }

    /// For a call that must not be made twice: repeats shortly, and only when the server said
    /// that nothing was done.
    pub(crate) const fn when_undone() -> Self {
        Self {
            budget: SHORT,
            unknown_outcome: false,
            patience: Patience::Full,
            extension: Duration::ZERO,
        }
    }

    /// The same, repeated for up to `budget`.
    pub(crate) const fn for_up_to(self, budget: Duration) -> Self {
        Self { budget, ..self }
    }

    /// For a fetch: as [`Retry::when_undone`], but a connection that does not answer at once is
    /// given up, so that the caller can take another. If the claim was made all the same, whoever reads on gives
    /// it back, or it ends with its lease.
    pub(crate) const fn fetch() -> Self {
        Self {
            budget: SHORT,
            unknown_outcome: false,
            patience: Patience::Quick,
            extension: Duration::ZERO,
        }
    }

    /// For a fetch from a server that may be slow: the connection has to prove itself, and then the server
    /// has this much time.
    pub(crate) const fn slow_fetch(limit: Duration) -> Self {
        Self {
            patience: Patience::Alive(limit),
            ..Self::fetch()
        }
    }

    /// For a quick call that does no harm when it is made twice: a question, or a message that the
    /// runtime heeds once.
    pub(crate) const fn harmless() -> Self {
        Self {
            budget: HARMLESS,
            unknown_outcome: true,
            patience: Patience::QuickThenFull,
            extension: Duration::ZERO,
        }
    }

    /// For the first attempt of a question whose second one is another: as quick as [`Retry::harmless`] begins, and repeated only
    /// when the server said that it did nothing.
    pub(crate) const fn once() -> Self {
        Self {
            unknown_outcome: false,
            ..Self::harmless()
        }
    }

    /// For a question that takes the server long: each attempt has as long as any command.
    pub(crate) const fn patient() -> Self {
        Self {
            patience: Patience::Full,
            ..Self::harmless()
        }
    }

    /// For the renewal of a lease of which this much is left.
    pub(crate) fn renewal(left: Duration) -> Self {
        Self {
            budget: left.max(ATTEMPT_MIN),
            unknown_outcome: true,
            patience: Patience::Share,
            extension: Duration::ZERO,
        }
    }

    /// The same for a lease that an attempt may have extended by this much, although nobody heard of it. It is
    /// repeated until the server says yes or no, or until no such extension can hold any more: whoever
    /// gave up before could be told that the lease is over while the server still grants it.
    ///
    /// This has no end while the server takes requests and never answers. The lease may then hold as well
    /// as not, and the caller's work goes on meanwhile; its ack will tell.
    pub(crate) fn extending_by(self, extension: Duration) -> Self {
        Self { extension, ..self }
    }

    /// For an ack or an abandon under a lease of which this much is left. A lost lease ends the
    /// repetition by itself.
    pub(crate) fn settlement(left: Duration) -> Self {
        Self {
            budget: left.max(SHORT),
            unknown_outcome: true,
            patience: Patience::ShareThenFull,
            extension: Duration::ZERO,
        }
    }

    /// Whether it is for the renewal of a lease.
    pub(crate) fn is_renewal(self) -> bool {
        self.patience == Patience::Share
    }

    /// Whether there is a lease that runs out meanwhile.
    fn is_under_a_lease(self) -> bool {
        matches!(self.patience, Patience::Share | Patience::ShareThenFull)
    }

    fn allows(self, error: &CallError) -> bool {
        error.is_retryable() && (self.unknown_outcome || error.is_undone())
    }

    /// How long the next attempt may take; `None` for as long as any command.
    fn limit(self, attempts_before: u32, left: Duration) -> Option<Duration> {
        let share = match attempts_before {
            // A long lease is no reason to wait long on a connection that may be dead.
            0 => (left / 4).min(FIRST_ANSWER * 2),
            1 => left / 2,
            _ => left,
        };
        match self.patience {
            Patience::Full => None,
            Patience::Alive(limit) => Some(limit),
            Patience::Quick => Some(FIRST_ANSWER),
            Patience::QuickThenFull => (attempts_before == 0).then_some(FIRST_ANSWER),
            Patience::Share => (!left.is_zero()).then(|| share.max(ATTEMPT_MIN)),
            Patience::ShareThenFull => (attempts_before < 2).then_some(share.max(ATTEMPT_MIN)),
        }
    }

    /// A connection of a busy pool may come late; the server, busy as well then, still has half of the time
    /// of a quick question. Where a lease runs out meanwhile, it has to make do with less.
    fn answer_min(self) -> Duration {
        if self.is_under_a_lease() {
            ATTEMPT_MIN
        } else {
            FIRST_ANSWER / 2
        }
    }

    /// Runs `attempt` until it succeeds, fails for good, or the budget is spent. `notice` is told of every
    /// repetition before it comes.
    pub(crate) async fn run<T, F, Fut>(
        self,
        mut attempt: F,
        mut notice: impl FnMut(&CallError, Duration),
    ) -> Result<T, CallError>
    where
        F: FnMut(Attempt) -> Fut,
        Fut: Future<Output = Result<T, CallError>>,
    {
        let budget_ends_at = after(self.budget);
        let mut deadline = budget_ends_at;
        let mut pause = PAUSE_FIRST;
        let is_alive_first = matches!(self.patience, Patience::Alive(_));
        let mut after_silence = is_alive_first;
        for attempts_before in 0.. {
            let begun_at = Instant::now();
            let left = budget_ends_at.saturating_duration_since(begun_at);
            let limit = self.limit(attempts_before, left);
            let alive_within = if is_alive_first {
                Some(FIRST_ANSWER)
            } else {
                limit.is_none().then_some(Duration::MAX)
            };
            let next = Attempt {
                limit,
                turn_within: self.is_under_a_lease().then(|| left.max(ATTEMPT_MIN)),
                answer_min: self.answer_min(),
                alive_within,
                after_silence,
            };
            let error = match attempt(next).await {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            if !error.is_undone() {
                deadline = deadline.max(after(self.extension));
            }
            let wait = jittered(pause);
            if !self.allows(&error) || Instant::now() + wait >= deadline {
                return Err(error);
            }
            notice(&error, wait);
            tokio::time::sleep(wait).await;
            pause = (pause * 2).min(PAUSE_MAX);
            after_silence = is_alive_first || !matches!(error, CallError::Server { .. });
        }
        Err(CallError::Data("a call was repeated too often".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    const SECOND: Duration = Duration::from_secs(1);

    async fn attempts(retry: Retry, error: fn() -> CallError) -> u32 {
        let (count, repeated) = (Cell::new(0), Cell::new(0));
        let result: Result<(), _> = retry
            .run(
                |_| {
                    count.set(count.get() + 1);
                    async move { Err(error()) }
                },
                |_, _| repeated.set(repeated.get() + 1),
            )
            .await;
        assert!(result.is_err());
        assert_eq!(
            repeated.get() + 1,
            count.get(),
            "all but the first are told"
        );
        count.get()
    }

    /// The limits of a call whose every attempt is met with silence, and how long it takes.
    async fn silence(retry: Retry) -> (Vec<Option<Duration>>, Duration) {
        let limits = RefCell::new(Vec::new());
        let start = Instant::now();
        let result: Result<(), _> = retry
            .run(
                |attempt| {
                    limits.borrow_mut().push(attempt.limit);
                    let is_proven = matches!(retry.patience, Patience::Alive(_));
                    assert_eq!(
                        attempt.after_silence,
                        is_proven || limits.borrow().len() > 1
                    );
                    async move {
                        let after = attempt.limit.unwrap_or(30 * SECOND);
                        tokio::time::sleep(after).await;
                        Err(CallError::Timeout { after })
                    }
                },
                |_, _| {},
            )
            .await;
        assert!(result.is_err());
        (limits.into_inner(), start.elapsed())
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
        assert!(attempts(Retry::repeatable(SECOND), deadlock).await > 3);
        assert!(attempts(Retry::repeatable(SECOND), cut).await > 3);
        assert!(attempts(Retry::when_undone(), deadlock).await > 3);
    }

    #[tokio::test(start_paused = true)]
    async fn unknown_outcomes_and_permanent_failures_are_not_repeated_blindly() {
        assert_eq!(attempts(Retry::when_undone(), cut).await, 1);
        assert_eq!(attempts(Retry::fetch(), cut).await, 1);
        assert_eq!(attempts(Retry::repeatable(SECOND), duplicate).await, 1);
        assert_eq!(
            attempts(Retry::repeatable(Duration::ZERO), deadlock).await,
            1
        );
    }

    /// The lease of an activity is renewed 5 s before its end: a silent connection costs a
    /// quarter of that, and there is time for two more.
    #[tokio::test(start_paused = true)]
    async fn renewal_tries_several_connections_within_the_lease() {
        let (limits, took) = silence(Retry::renewal(5 * SECOND)).await;
        assert_eq!(limits[0], Some(SECOND * 5 / 4));
        assert!(limits.len() >= 3, "{limits:?}");
        assert!(took <= 5 * SECOND + ATTEMPT_MIN, "{took:?}");
    }

    /// An attempt that nobody answered may have extended the lease: giving up at the end of the old one
    /// would throw an activity's result away while the server still grants the lease.
    #[tokio::test(start_paused = true)]
    async fn renewal_goes_on_while_an_unanswered_attempt_may_have_extended_the_lease() {
        let start = Instant::now();
        let count = Cell::new(0);
        let retry = Retry::renewal(5 * SECOND).extending_by(30 * SECOND);
        let renewed = retry.run(
            |attempt| {
                count.set(count.get() + 1);
                let is_answered = count.get() == 5;
                async move {
                    let after = attempt.limit.unwrap_or(10 * SECOND);
                    tokio::time::sleep(after).await;
                    let silence = CallError::Timeout { after };
                    if is_answered { Ok(()) } else { Err(silence) }
                }
            },
            |_, _| {},
        );
        assert_eq!(renewed.await, Ok(()));
        assert!(start.elapsed() > 10 * SECOND, "{:?}", start.elapsed());
    }

    /// Once nothing more can be in doubt, failures that changed nothing end it.
    #[tokio::test(start_paused = true)]
    async fn renewal_ends_with_the_last_extension_that_may_hold() {
        let start = Instant::now();
        let count = Cell::new(0);
        let retry = Retry::renewal(5 * SECOND).extending_by(30 * SECOND);
        let renewed: Result<(), _> = retry
            .run(
                |_| {
                    count.set(count.get() + 1);
                    let error = if count.get() == 1 { cut() } else { deadlock() };
                    async move { Err(error) }
                },
                |_, _| {},
            )
            .await;
        assert_eq!(renewed, Err(deadlock()));
        let took = start.elapsed();
        assert!(took > 25 * SECOND && took <= 30 * SECOND, "{took:?}");
        let retry = Retry::renewal(5 * SECOND).extending_by(30 * SECOND);
        let start = Instant::now();
        assert!(attempts(retry, deadlock).await > 3);
        assert!(start.elapsed() <= 5 * SECOND, "nothing was in doubt");
    }

    #[tokio::test(start_paused = true)]
    async fn ack_changes_its_connection_twice_and_then_trusts_the_server() {
        let (limits, _) = silence(Retry::settlement(20 * SECOND)).await;
        assert_eq!(limits[0], Some(5 * SECOND));
        assert!(limits[1] > Some(7 * SECOND) && limits[1] < Some(8 * SECOND));
        assert_eq!(limits[2..], [None]);
    }

    /// One silent connection costs seconds, however long the lease is.
    #[tokio::test(start_paused = true)]
    async fn first_attempt_under_a_long_lease_is_short() {
        for retry in [Retry::settlement, Retry::renewal] {
            let (limits, _) = silence(retry(120 * SECOND)).await;
            assert_eq!(limits[0], Some(FIRST_ANSWER * 2));
            assert!(limits[1] > Some(50 * SECOND), "{limits:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn read_gives_a_silent_connection_up_and_waits_for_a_busy_server() {
        let (limits, _) = silence(Retry::harmless()).await;
        assert_eq!(limits, [Some(FIRST_ANSWER), None]);
    }

    #[tokio::test(start_paused = true)]
    async fn fetch_gives_a_silent_connection_up_unless_the_server_is_known_to_be_slow() {
        assert_eq!(silence(Retry::fetch()).await.0, [Some(FIRST_ANSWER)]);
        let slow = Retry::slow_fetch(10 * SECOND);
        assert_eq!(silence(slow).await.0, [Some(10 * SECOND)]);
    }

    #[tokio::test(start_paused = true)]
    async fn leases_of_any_length_are_borne() {
        for left in [Duration::ZERO, Duration::from_nanos(1), Duration::MAX] {
            for retry in [Retry::renewal(left), Retry::settlement(left)] {
                assert_eq!(attempts(retry, duplicate).await, 1);
            }
            assert_eq!(attempts(Retry::repeatable(left), duplicate).await, 1);
        }
    }
}
