//! Fetches that are answered later than their callers wait.
//!
//! A connection that says nothing may be dead, so the caller of a fetch is soon told to try again, and takes another
//! connection. But the server may only be slow, and then it claims an item that nobody hears of: it would be
//! stuck for its lease, and count as tried. So the fetch reads on for as long as any command may take,
//! gives back what it hears of, and learns from where to look next time.
//!
//! Whoever reads on keeps a connection and its place in the pool. A fifth of them may be used up like this; what
//! comes on top is given up, as if the connection were dead.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::Instant;

use super::leases::Queue;
use crate::error::CallError;
use crate::retry::{FIRST_ANSWER, Retry};
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
    orchestrations: Mutex<Speed>,
    work: Mutex<Speed>,
}

/// What is known of the answers to the fetches of one queue.
#[derive(Default)]
struct Speed {
    /// How many fetches in a row were not answered in time; none has been answered quickly since.
    in_doubt: u32,
    /// The slowest answer of late, and until when it counts.
    slow: Option<(Duration, Instant)>,
}

impl Pace {
    pub(super) fn new(pool_max: u32) -> Self {
        Self {
            readers: Arc::new(Semaphore::new((pool_max / SHARE) as usize)),
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

    /// How the next fetch is made. After one that was not answered in time, and while the server is slow,
    /// the connection is made to prove itself, and the answer is waited for: otherwise a server that needs a
    /// little longer would never deliver anything. Not for as long as any command may take at once: the connection
    /// may die after it has proved itself, and the caller would be deaf for all that time.
    pub(super) fn fetch(&self, queue: Queue) -> Retry {
        let speed = self.speed(queue);
        let slow = speed.slow.filter(|(_, until)| Instant::now() < *until);
        if slow.is_none() && speed.in_doubt == 0 {
            return Retry::fetch();
        }
        let doubled = FIRST_ANSWER * 2_u32.pow(speed.in_doubt.min(DOUBLINGS));
        let slow = slow.map_or(Duration::ZERO, |(waited, _)| waited.saturating_mul(2));
        Retry::slow_fetch(doubled.max(slow))
    }

    /// A fetch was not answered in time.
    pub(super) fn unanswered(&self, queue: Queue) {
        let mut speed = self.speed(queue);
        speed.in_doubt = speed.in_doubt.saturating_add(1);
    }

    /// The answer to a fetch began after so long.
    pub(super) fn answered(&self, queue: Queue, waited: Duration) {
        let mut speed = self.speed(queue);
        if waited < FIRST_ANSWER {
            speed.in_doubt = 0;
        } else {
            let now = Instant::now();
            let slowest = speed.slow.filter(|(_, until)| now < *until);
            let slowest = slowest.map_or(waited, |(slowest, _)| slowest.max(waited));
            speed.slow = Some((slowest, after(SLOW_FOR)));
        }
    }
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
        pace.unanswered(queue);
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

    #[tokio::test(start_paused = true)]
    async fn slow_server_is_waited_for_until_it_has_been_quick_for_a_while() {
        let pace = Pace::new(20);
        assert_eq!(pace.fetch(Queue::Work), Retry::fetch());
        for seconds in [6, 12, 24, 48, 48] {
            pace.unanswered(Queue::Work);
            let limit = Duration::from_secs(seconds);
            assert_eq!(pace.fetch(Queue::Work), Retry::slow_fetch(limit));
        }
        assert_eq!(pace.fetch(Queue::Orchestrations), Retry::fetch());
        pace.answered(Queue::Work, Duration::ZERO);
        assert_eq!(
            pace.fetch(Queue::Work),
            Retry::fetch(),
            "it was the connection"
        );
        pace.unanswered(Queue::Work);
        pace.answered(Queue::Work, SLOWLY);
        pace.answered(Queue::Work, FIRST_ANSWER);
        pace.answered(Queue::Work, Duration::ZERO);
        assert_eq!(pace.fetch(Queue::Work), Retry::slow_fetch(SLOWLY * 2));
        tokio::time::advance(SLOW_FOR).await;
        assert_eq!(pace.fetch(Queue::Work), Retry::fetch());
    }

    #[tokio::test]
    async fn no_more_than_a_share_of_the_connections_is_read_on() {
        let pace = Pace::new(10);
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
                &Pace::new(4),
                Queue::Work,
                SLOWLY
            )
        );
    }
}
