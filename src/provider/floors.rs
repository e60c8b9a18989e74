//! Where fetches begin to look: just below what the last one claimed.
//!
//! A claim leaves a ghost at the head of its queue, where the next search would start, and the server may be slow to
//! clean up or held back from it for hours. So a fetch tells from where to look and in which lanes, as the last
//! answer said. Nothing is lost below: a search that finds nothing goes through the whole queue, and
//! once in [`WHOLE_EVERY`] a fetch asks for that, for the sake of what came back to an old place. Where ghosts have become so
//! many that this takes long, it is asked for less often, so that it never takes more than a share of the time.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::leases::Queue;
use crate::error::CallError;
use crate::procedure::{Call, Record};

/// A fetch searches the whole queue this often, unless that takes more than a tenth of the time; and at least once
/// in [`WHOLE_EVERY_MAX`].
const WHOLE_EVERY: Duration = Duration::from_secs(1);
const WHOLE_EVERY_MAX: Duration = Duration::from_secs(10);
const WHOLE_SHARE: u32 = 10;
/// How many different filters are remembered. A process has few.
const FILTERS_MAX: usize = 64;

/// The floors of one provider, by queue and filter: fetches with other filters look at other items.
#[derive(Default)]
pub(super) struct Floors(Mutex<HashMap<(Queue, String), Floor>>);

/// What the last answer said, and when the whole queue was last asked for.
struct Floor {
    above: Option<(i64, Option<String>)>,
    whole_at: Instant,
    whole_took: Duration,
}

impl Floor {
    fn whole_every(&self) -> Duration {
        let rest = self.whole_took.saturating_mul(WHOLE_SHARE);
        rest.clamp(WHOLE_EVERY, WHOLE_EVERY_MAX)
    }
}

impl Floors {
    /// Adds to a fetch from where it should look, unless it is time to look everywhere.
    pub(super) fn limit<'a>(&self, queue: Queue, filter: &str, call: Call<'a>) -> Call<'a> {
        let mut floors = self.lock();
        if floors.len() >= FILTERS_MAX {
            floors.clear();
        }
        let now = Instant::now();
        let floor = floors.entry((queue, filter.to_owned())).or_insert(Floor {
            above: None,
            whole_at: now,
            whole_took: Duration::ZERO,
        });
        if now.duration_since(floor.whole_at) >= floor.whole_every() {
            floor.above = None;
        }
        match &floor.above {
            Some((floor_ms, lanes)) => call
                .int("@floor_ms", *floor_ms)
                .opt_text("@lanes", lanes.clone()),
            None => {
                floor.whole_at = now;
                call
            }
        }
    }

    /// Remembers what the answer to a fetch says about the next one.
    pub(super) fn claimed(
        &self,
        queue: Queue,
        filter: &str,
        header: &Record,
    ) -> Result<(), CallError> {
        let floor_ms = header.opt_int("floor_ms")?;
        let lanes = header.opt_text("lanes")?.map(str::to_owned);
        self.answered(queue, filter, floor_ms.map(|floor_ms| (floor_ms, lanes)));
        Ok(())
    }

    fn answered(&self, queue: Queue, filter: &str, above: Option<(i64, Option<String>)>) {
        if let Some(floor) = self.lock().get_mut(&(queue, filter.to_owned())) {
            // The first answer after the question for the whole queue is mostly the answer to that; one that another
            // fetch got in between makes it look shorter, and it is asked for again the sooner.
            if floor.above.is_none() {
                floor.whole_took = floor.whole_at.elapsed();
            }
            floor.above = above;
        }
    }

    /// An item of this process returns to its old place: the next fetch looks everywhere.
    pub(super) fn returned(&self, queue: Queue) {
        self.lock()
            .retain(|(floor_queue, _), _| *floor_queue != queue);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(Queue, String), Floor>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retry::Retry;

    /// Whether a fetch at this moment searches the whole queue.
    fn is_whole(floors: &Floors) -> bool {
        let call = Call::dispatch("fetch_work_item", Retry::harmless());
        let call = floors.limit(Queue::Work, "", call);
        call.parameter("@floor_ms").is_none()
    }

    fn answer(floors: &Floors) {
        floors.answered(Queue::Work, "", Some((1, None)));
    }

    #[tokio::test(start_paused = true)]
    async fn whole_queue_is_searched_once_a_second() {
        let floors = Floors::default();
        assert!(is_whole(&floors), "the first");
        answer(&floors);
        assert!(!is_whole(&floors));
        tokio::time::advance(WHOLE_EVERY).await;
        assert!(is_whole(&floors), "after a second");
        answer(&floors);
        floors.returned(Queue::Work);
        assert!(is_whole(&floors), "something has come back");
    }

    #[tokio::test(start_paused = true)]
    async fn long_searches_take_a_share_of_the_time() {
        let floors = Floors::default();
        assert!(is_whole(&floors));
        tokio::time::advance(Duration::from_millis(300)).await;
        answer(&floors);
        tokio::time::advance(Duration::from_millis(2_600)).await;
        assert!(!is_whole(&floors), "after 2.9 s");
        tokio::time::advance(Duration::from_millis(100)).await;
        assert!(is_whole(&floors), "after ten times as long as it took");
        tokio::time::advance(Duration::from_secs(3)).await;
        answer(&floors);
        tokio::time::advance(Duration::from_secs(6)).await;
        assert!(!is_whole(&floors), "after 9 s");
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(
            is_whole(&floors),
            "one slow call does not keep it from it for long"
        );
    }
}
