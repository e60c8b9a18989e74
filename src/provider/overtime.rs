//! Fetches that are answered later than their callers wait.
//!
//! A connection that says nothing may be dead, so the caller of a fetch is soon told to try again, and takes another
//! connection. But the server may only be slow, and then it claims an item that nobody hears of: it would be
//! stuck for its lease, and count as tried. So the fetch reads on for as long as any command may take,
//! gives back what it hears of, and learns from where to look next time.
//!
//! A claim is leased before it is committed. Where commits take longer than a lease, every turn would begin with its lease over,
//! and be tried in vain until the runtime gives it up as poisoned. So what is asked of a slow server is leased for
//! as long as its answer may take, and then for as long as the caller wants.
//!
//! Whoever reads on keeps a connection and its place in the pool. A fifth of them may be used up like this; what
//! comes on top is given up, as if the connection were dead.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::Instant;

use super::leases::Queue;
use crate::error::CallError;
use crate::retry::{ATTEMPT_MIN, FIRST_ANSWER, Retry};
use crate::time::after;

/// Which part of the connections may be read on at the same time.
const SHARE: u32 = 5;
/// How often the time of a fetch is doubled that nobody answers: to 48 seconds, more than any command may take by default.
const DOUBLINGS: u32 = 4;
/// How long a server counts as slow after an answer that took long.
const SLOW_FOR: Duration = Duration::from_secs(60);

/// Who may read on, and how fast the server is, of one provider.
pub(super) struct Pace {
    readers: Arc<Semaphore>,
    /// No answer is waited for longer than this.
    command_timeout: Duration,
    orchestrations: Mutex<Speed>,
    work: Mutex<Speed>,
}

/// What is known of the answers to the fetches of one queue.
#[derive(Default)]
struct Speed {
    /// How many rounds of fetches in a row were not answered in time; none has been answered quickly since.
    in_doubt: u32,
    /// When the last round was counted. Dispatchers ask side by side, and what was asked before is of the same round.
    counted_at: Option<Instant>,
    /// The slowest answer of late, and until when it counts.
    slow: Option<(Duration, Instant)>,
}

impl Pace {
    pub(super) fn new(pool_max: u32, command_timeout: Duration) -> Self {
        Self {
            readers: Arc::new(Semaphore::new((pool_max / SHARE) as usize)),
            command_timeout,
            orchestrations: Mutex::default(),
            work: Mutex::default(),
        }
    }

    fn speed(&self, queue: Queue) -> MutexGuard<'_, Speed> {
        let speed = match queue {
            Queue::Orchestrations => &self.orchestrations,
            Queue::Work => &self.work,
        };
        speed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How the next fetch is made, and how long what it claims is leased, for a caller who wants this much. After a fetch that was not
    /// answered in time, and while the server is slow, the connection is made to prove itself, and the answer is waited for:
    /// otherwise a server that needs a little longer would never deliver anything. Not for as long as any command may
    /// take at once: the connection may die after it has proved itself, and the caller would be deaf for all that time.
    pub(super) fn fetch(&self, queue: Queue, wanted: Duration) -> (Retry, Duration) {
        let patience = self.patience(queue);
        let retry = patience.map_or(Retry::fetch(), Retry::slow_fetch);
        (retry, self.lengthened(wanted, patience))
    }

    /// How long a lease is extended for a caller who wants this much.
    pub(super) fn extension(&self, queue: Queue, wanted: Duration) -> Duration {
        self.lengthened(wanted, self.patience(queue))
    }

    /// Whatever is heard of in time has all that its caller wants.
    fn lengthened(&self, wanted: Duration, patience: Option<Duration>) -> Duration {
        match patience {
            Some(patience) if !wanted.is_zero() => {
                wanted.saturating_add(patience.min(self.command_timeout))
            }
            _ => wanted,
        }
    }

    /// How long an answer is waited for while the server is slow, or may be.
    fn patience(&self, queue: Queue) -> Option<Duration> {
        let speed = self.speed(queue);
        let slow = speed.slow.filter(|(_, until)| Instant::now() < *until);
        if slow.is_none() && speed.in_doubt == 0 {
            return None;
        }
        let doubled = FIRST_ANSWER * 2_u32.pow(speed.in_doubt.min(DOUBLINGS));
        let slow = slow.map_or(Duration::ZERO, |(waited, _)| waited.saturating_mul(2));
        Some(doubled.max(slow))
    }

    /// A fetch that was asked so long ago has not been answered in time.
    pub(super) fn unanswered(&self, queue: Queue, waited: Duration) {
        let now = Instant::now();
        let asked_at = now.checked_sub(waited);
        let mut speed = self.speed(queue);
        if speed.counted_at.is_none() || asked_at > speed.counted_at {
            speed.in_doubt = speed.in_doubt.saturating_add(1);
            speed.counted_at = Some(now);
        }
    }

    /// The answer to a fetch for a lease of this length began after so long, and had been read after `took`. A server that answers
    /// soon is there; but the lease goes on until the last byte is here.
    pub(super) fn answered(&self, queue: Queue, waited: Duration, took: Duration, lease: Duration) {
        let mut speed = self.speed(queue);
        if waited < FIRST_ANSWER {
            speed.in_doubt = 0;
        }
        if is_slow(took, lease) {
            let now = Instant::now();
            let slowest = speed.slow.filter(|(_, until)| now < *until);
            let slowest = slowest.map_or(took, |(slowest, _)| slowest.max(took));
            speed.slow = Some((slowest, after(SLOW_FOR)));
        }
    }
}

/// Whether an answer took longer than a quick question needs, or than the lease that it brings. A moment is no sign of a slow server,
/// however short the lease.
pub(super) fn is_slow(took: Duration, lease: Duration) -> bool {
    took >= lease.max(ATTEMPT_MIN).min(FIRST_ANSWER)
}

/// The caller of one fetch, who is answered once.
pub(super) struct Caller<T> {
    answer: Mutex<Option<oneshot::Sender<Result<T, CallError>>>>,
    /// Held while the fetch reads on.
    reader: Mutex<Option<OwnedSemaphorePermit>>,
}

impl<T> Caller<T> {
    pub(super) fn new(answer: oneshot::Sender<Result<T, CallError>>) -> Self {
        Self {
            answer: Mutex::new(Some(answer)),
            reader: Mutex::default(),
        }
    }

    /// Answers the caller. What nobody waits for is dropped here, and with it the claim.
    pub(super) fn answer(&self, result: Result<T, CallError>) {
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = answer.take() {
            drop(answer.send(result));
        }
    }

    /// No answer came within the limit: whether the fetch reads on. Its caller is told to try again then.
    pub(super) fn reads_on(&self, pace: &Pace, queue: Queue, waited: Duration) -> bool {
        pace.unanswered(queue, waited);
        let Ok(reader) = pace.readers.clone().try_acquire_owned() else {
            return false;
        };
        *self.reader.lock().unwrap_or_else(PoisonError::into_inner) = Some(reader);
        self.answer(Err(CallError::Timeout { after: waited }));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOWLY: Duration = Duration::from_millis(3500);

    const LEASE: Duration = Duration::from_secs(5);
    const COMMAND: Duration = Duration::from_secs(30);

    fn next(pace: &Pace, queue: Queue) -> Retry {
        pace.fetch(queue, LEASE).0
    }

    fn answered(pace: &Pace, took: Duration) {
        pace.answered(Queue::Work, took, took, LEASE);
    }

    async fn silent_round(pace: &Pace, fetches: usize) {
        tokio::time::advance(FIRST_ANSWER).await;
        for _ in 0..fetches {
            pace.unanswered(Queue::Work, FIRST_ANSWER);
            tokio::time::advance(Duration::from_millis(1)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn slow_server_is_waited_for_until_it_has_been_quick_for_a_while() {
        let pace = Pace::new(20, COMMAND);
        assert_eq!(next(&pace, Queue::Work), Retry::fetch());
        for seconds in [6, 12, 24, 48, 48] {
            silent_round(&pace, 1).await;
            let limit = Duration::from_secs(seconds);
            assert_eq!(next(&pace, Queue::Work), Retry::slow_fetch(limit));
        }
        assert_eq!(next(&pace, Queue::Orchestrations), Retry::fetch());
        answered(&pace, Duration::ZERO);
        assert_eq!(
            next(&pace, Queue::Work),
            Retry::fetch(),
            "it was the connection"
        );
        silent_round(&pace, 1).await;
        answered(&pace, SLOWLY);
        answered(&pace, FIRST_ANSWER);
        answered(&pace, Duration::ZERO);
        assert_eq!(next(&pace, Queue::Work), Retry::slow_fetch(SLOWLY * 2));
        tokio::time::advance(SLOW_FOR).await;
        assert_eq!(next(&pace, Queue::Work), Retry::fetch());
    }

    /// Eight dispatchers that meet with silence together have learned it once, and each of them may hear of it twice.
    #[tokio::test(start_paused = true)]
    async fn silence_is_counted_once_for_all_who_asked_at_the_same_time() {
        let pace = Pace::new(20, COMMAND);
        silent_round(&pace, 16).await;
        let twice = Retry::slow_fetch(FIRST_ANSWER * 2);
        assert_eq!(next(&pace, Queue::Work), twice);
        pace.unanswered(Queue::Work, COMMAND);
        assert_eq!(
            next(&pace, Queue::Work),
            twice,
            "asked long before the round"
        );
        silent_round(&pace, 8).await;
        let again = Retry::slow_fetch(FIRST_ANSWER * 4);
        assert_eq!(next(&pace, Queue::Work), again);
    }

    /// Whatever is delivered has the lease that its caller wanted, however long the commit took.
    #[tokio::test(start_paused = true)]
    async fn lease_of_a_slow_server_begins_when_its_answer_is_due() {
        let pace = Pace::new(20, COMMAND);
        let lease = |wanted| {
            let (_, lease) = pace.fetch(Queue::Work, wanted);
            assert_eq!(pace.extension(Queue::Work, wanted), lease);
            lease
        };
        answered(&pace, LEASE / 5);
        assert_eq!(lease(LEASE), LEASE);
        silent_round(&pace, 1).await;
        assert_eq!(lease(LEASE), LEASE + FIRST_ANSWER * 2);
        answered(&pace, LEASE * 2);
        assert_eq!(lease(LEASE), LEASE * 5);
        assert_eq!(lease(Duration::ZERO), Duration::ZERO);
        assert_eq!(lease(Duration::MAX), Duration::MAX);
        pace.answered(Queue::Work, Duration::ZERO, LEASE * 3, LEASE);
        assert_eq!(lease(LEASE), LEASE * 7, "it took long to read");
        answered(&pace, LEASE * 20);
        assert_eq!(lease(LEASE), LEASE + COMMAND, "no answer comes later");
        assert_eq!(pace.fetch(Queue::Orchestrations, LEASE).1, LEASE);
    }

    #[test]
    fn server_is_slow_that_takes_longer_than_the_lease() {
        let second = Duration::from_secs(1);
        assert!(is_slow(second, second) && !is_slow(second, LEASE));
        assert!(is_slow(FIRST_ANSWER, LEASE));
        let moment = Duration::from_millis(100);
        assert!(!is_slow(moment, moment) && !is_slow(moment, Duration::ZERO));
    }

    #[tokio::test]
    async fn no_more_than_a_share_of_the_connections_is_read_on() {
        let pace = Pace::new(10, COMMAND);
        let callers: Vec<_> = (0..3)
            .map(|_| {
                let (answer, answered) = oneshot::channel::<Result<(), CallError>>();
                (Caller::new(answer), answered)
            })
            .collect();
        let reads_on = |n: usize| callers[n].0.reads_on(&pace, Queue::Work, SLOWLY);
        assert_eq!((reads_on(0), reads_on(1), reads_on(2)), (true, true, false));
        let mut callers = callers.into_iter();
        let (first, answered) = callers.next().unwrap();
        assert_eq!(
            answered.await.unwrap(),
            Err(CallError::Timeout { after: SLOWLY })
        );
        first.answer(Ok(()));
        drop(first);
        let (third, _answered) = callers.nth(1).unwrap();
        assert!(
            third.reads_on(&pace, Queue::Work, SLOWLY),
            "there is room again"
        );
        assert!(
            !Caller::new(oneshot::channel::<Result<(), _>>().0).reads_on(
                &Pace::new(4, COMMAND),
                Queue::Work,
                SLOWLY
            )
        );
    }
}
