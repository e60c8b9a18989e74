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
    /// A fetch was not answered in time, and none has been answered quickly since.
    is_in_doubt: bool,
    slow_until: Option<Instant>,
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
    /// little longer would never deliver anything.
    pub(super) fn fetch(&self, queue: Queue) -> Retry {
        let speed = self.speed(queue);
        let is_slow = speed.slow_until.is_some_and(|until| Instant::now() < until);
        if is_slow || speed.is_in_doubt {
            Retry::slow_fetch()
        } else {
            Retry::fetch()
        }
    }

    /// A fetch was not answered in time.
    pub(super) fn unanswered(&self, queue: Queue) {
        self.speed(queue).is_in_doubt = true;
    }

    /// A fetch was answered after so long.
    pub(super) fn answered(&self, queue: Queue, took: Duration) {
        let mut speed = self.speed(queue);
        if took < FIRST_ANSWER {
            speed.is_in_doubt = false;
        } else {
            speed.slow_until = Some(after(SLOW_FOR));
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
        pace.unanswered(Queue::Work);
        assert_eq!(pace.fetch(Queue::Work), Retry::slow_fetch());
        assert_eq!(pace.fetch(Queue::Orchestrations), Retry::fetch());
        pace.answered(Queue::Work, Duration::ZERO);
        assert_eq!(
            pace.fetch(Queue::Work),
            Retry::fetch(),
            "it was the connection"
        );
        pace.unanswered(Queue::Work);
        pace.answered(Queue::Work, SLOWLY);
        pace.answered(Queue::Work, Duration::ZERO);
        assert_eq!(pace.fetch(Queue::Work), Retry::slow_fetch());
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
