//! Long outages: the runtime counts the fetches of a dispatcher that failed in a row, and cannot count far.
//!
//! After the nth failure that may pass it waits for `100 * 2^n` ms, at most 3 s. The 58th overflows: a build
//! with overflow checks panics, and the dispatcher is gone for good; any other waits for no time at all. An
//! outage of a few minutes is enough. A failure that does not pass sets the count to zero and has no other
//! effect on a dispatcher, which sleeps for 100 ms and asks again. So one failure in so many is called that.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use duroxide::providers::ProviderError;
use tokio::task;

use super::leases::Queue;

/// Which failure in a row is said not to pass. Long before the runtime's limit, and long after its waits have
/// reached their longest.
const ONE_IN: u32 = 32;
/// How many dispatchers are counted at most, far more than a process has.
const DISPATCHERS_MAX: usize = 4096;

/// Who counts: each dispatcher is a task, and has a count of its own.
type Dispatcher = (Queue, Option<task::Id>);

/// How often fetches of one provider failed in a row, by who asked.
#[derive(Default)]
pub(super) struct Outage(Mutex<HashMap<Dispatcher, u32>>);

impl Outage {
    /// What the dispatcher is told of its fetch.
    pub(super) fn tell<T>(
        &self,
        queue: Queue,
        mut fetched: Result<T, ProviderError>,
    ) -> Result<T, ProviderError> {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let dispatcher = (queue, task::try_id());
        match &mut fetched {
            Err(error) if error.retryable => {
                // Tasks that are gone have left their counts. Whoever is counted anew is far from the limit
                // still, because this happens once in thousands of tasks.
                if failures.len() >= DISPATCHERS_MAX && !failures.contains_key(&dispatcher) {
                    failures.clear();
                }
                let count = failures.entry(dispatcher).or_default();
                *count += 1;
                if *count >= ONE_IN {
                    failures.remove(&dispatcher);
                    error.retryable = false;
                }
            }
            _ if failures.is_empty() => {}
            _ => drop(failures.remove(&dispatcher)),
        }
        fetched
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn failure() -> Result<(), ProviderError> {
        Err(ProviderError::retryable("fetch_work_item", "timeout"))
    }

    /// How many failures in a row a dispatcher counts at most, if this many come.
    fn counted(outage: &Outage, failures: u32) -> u32 {
        let (mut count, mut most) = (0, 0);
        for _ in 0..failures {
            let is_retryable = outage
                .tell(Queue::Work, failure())
                .unwrap_err()
                .is_retryable();
            count = if is_retryable { count + 1 } else { 0 };
            most = most.max(count);
        }
        most
    }

    /// Two dispatchers that take turns: each is told on its own.
    #[tokio::test]
    async fn no_dispatcher_counts_to_the_limit_of_the_runtime() {
        let outage = Arc::new(Outage::default());
        let dispatchers: Vec<_> = (0..2)
            .map(|_| {
                let outage = outage.clone();
                tokio::spawn(async move {
                    let mut most = (0, 0);
                    for _ in 0..200 {
                        let is_retryable = outage
                            .tell(Queue::Work, failure())
                            .unwrap_err()
                            .is_retryable();
                        most.0 = if is_retryable { most.0 + 1 } else { 0 };
                        most.1 = most.1.max(most.0);
                        tokio::task::yield_now().await;
                    }
                    most.1
                })
            })
            .collect();
        for dispatcher in dispatchers {
            assert_eq!(dispatcher.await.unwrap(), ONE_IN - 1);
        }
    }

    #[test]
    fn success_and_other_failures_start_anew() {
        let outage = Outage::default();
        assert_eq!(counted(&outage, ONE_IN - 1), ONE_IN - 1);
        assert!(outage.tell(Queue::Work, Ok(())).is_ok());
        assert_eq!(counted(&outage, ONE_IN - 1), ONE_IN - 1);
        let permanent = ProviderError::permanent("fetch_work_item", "no");
        assert!(outage.tell::<()>(Queue::Work, Err(permanent)).is_err());
        assert_eq!(counted(&outage, 10 * ONE_IN), ONE_IN - 1);
        assert!(outage.0.lock().unwrap().is_empty());
    }
}
