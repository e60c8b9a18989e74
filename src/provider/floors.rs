//! Where fetches begin to look: just below what the last one claimed, or below the moment at which nothing was ready.
//!
//! A claim leaves a ghost at the head of its queue, where the next search would start, and the server may be slow to
//! clean up or held back from it for hours. So a fetch tells from where to look and in which lanes, as the last
//! answer said. Nothing is lost below: a search that finds nothing goes through the whole queue, and
//! once a second a fetch looks some way below the floor ([`Depths`]). Where ghosts have become so
//! many that the whole takes long, fetches look a minute below the floor instead for a while, so that the whole never takes more than a share of
//! the time; a machine that is merely slow hides nothing by that.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::depths::Depths;
use super::leases::Queue;
use crate::error::CallError;
use crate::procedure::{Call, Record};
use crate::time::later;

/// A search of the whole queue that takes this long on the server is rested from afterwards, for so many times as long, and
/// not longer than this.
const LONG: Duration = Duration::from_millis(10);
const REST_TIMES: u32 = 10;
const REST_MAX: Duration = Duration::from_secs(10);
/// How far below the floor one looks meanwhile when there is nothing above it.
const RESTING_DEPTH_MS: i64 = 60_000;
/// How many different filters are remembered. A process has few.
const FILTERS_MAX: usize = 64;

/// The floors of one provider, by queue and filter: fetches with other filters look at other items. They are few, and
/// looked up by every fetch, so they are a list.
#[derive(Default)]
pub(super) struct Floors(Mutex<Vec<Floor>>);

struct Floor {
    queue: Queue,
    filter: String,
    above: Option<Above>,
    /// Something came back to its old place: the next fetch looks everywhere, whatever those under way are told.
    has_returned: bool,
    depths: Depths,
    rest_until: Instant,
}

/// From where the last answer said to look, and in which lanes.
struct Above {
    floor_ms: i64,
    lanes: Option<String>,
}

impl Floors {
    /// Adds to a fetch from where it should look, if it need not look everywhere.
    pub(super) fn limit<'a>(&self, queue: Queue, filter: &str, call: Call<'a>) -> Call<'a> {
        let mut floors = self.lock();
        let now = Instant::now();
        let Some(floor) = find(&mut floors, queue, filter) else {
            if floors.len() >= FILTERS_MAX {
                floors.clear();
            }
            floors.push(Floor {
                queue,
                filter: filter.to_owned(),
                above: None,
                has_returned: false,
                depths: Depths::new(now),
                rest_until: now,
            });
            return call;
        };
        let has_returned = std::mem::take(&mut floor.has_returned);
        let Some(above) = floor.above.as_ref().filter(|_| !has_returned) else {
            return call;
        };
        let is_resting = now < floor.rest_until;
        let bottom_ms = is_resting.then(|| above.floor_ms.saturating_sub(RESTING_DEPTH_MS));
        let call = call.opt_int("@bottom_ms", bottom_ms);
        match floor.depths.due(now) {
            // Lanes that are new are learned then. Tags are listed through their ghosts, as a whole search is.
            Some(depth) => {
                let depth_ms = i64::try_from(depth.as_millis()).unwrap_or(i64::MAX);
                let lanes = above.lanes.clone().filter(|_| is_resting);
                call.int("@floor_ms", above.floor_ms.saturating_sub(depth_ms))
                    .opt_text("@lanes", lanes)
            }
            None => call
                .int("@floor_ms", above.floor_ms)
                .opt_text("@lanes", above.lanes.clone()),
        }
    }

    /// Remembers what the answer to a fetch says about the next one.
    pub(super) fn answered(
        &self,
        queue: Queue,
        filter: &str,
        header: &Record,
    ) -> Result<(), CallError> {
        let floor_ms = header.opt_int("floor_ms")?;
        let lanes = header.opt_text("lanes")?;
        let whole_ms = header.opt_int("whole_ms")?;
        let whole_took = whole_ms.map(|ms| Duration::from_millis(ms.try_into().unwrap_or(0)));
        self.remember(queue, filter, floor_ms, lanes, whole_took);
        Ok(())
    }

    fn remember(
        &self,
        queue: Queue,
        filter: &str,
        floor_ms: Option<i64>,
        lanes: Option<&str>,
        whole_took: Option<Duration>,
    ) {
        let mut floors = self.lock();
        let Some(floor) = find(&mut floors, queue, filter) else {
            return;
        };
        // Lanes are mostly the same ones.
        let known = floor.above.take().and_then(|above| above.lanes);
        floor.above = floor_ms.map(|floor_ms| Above {
            floor_ms,
            lanes: lanes.map(|lanes| match known {
                Some(known) if known == lanes => known,
                Some(_) | None => lanes.to_owned(),
            }),
        });
        if let Some(took) = whole_took.filter(|took| *took >= LONG) {
            let rest = took.saturating_mul(REST_TIMES).min(REST_MAX);
            floor.rest_until = later(Instant::now(), rest);
        }
    }

    /// An item of this process returns to its old place: the next fetch looks everywhere.
    pub(super) fn returned(&self, queue: Queue) {
        let mut floors = self.lock();
        let of_queue = floors.iter_mut().filter(|floor| floor.queue == queue);
        of_queue.for_each(|floor| floor.has_returned = true);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Floor>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn find<'a>(floors: &'a mut [Floor], queue: Queue, filter: &str) -> Option<&'a mut Floor> {
    let is_wanted = |floor: &&mut Floor| floor.queue == queue && floor.filter == filter;
    floors.iter_mut().find(is_wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retry::Retry;

    const FLOOR_MS: i64 = 1_000_000;

    /// What a fetch at this moment says of where to look: the floor, the lanes, and whether there is a bottom.
    fn asked(floors: &Floors) -> (Option<String>, bool, bool) {
        let call = Call::dispatch("fetch_work_item", Retry::harmless());
        let call = floors.limit(Queue::Work, "", call);
        let has = |name| call.parameter(name).is_some();
        let floor = call
            .parameter("@floor_ms")
            .map(|floor| format!("{floor:?}"));
        (floor, has("@lanes"), has("@bottom_ms"))
    }

    fn from(floor_ms: i64, lanes: bool, has_bottom: bool) -> (Option<String>, bool, bool) {
        let call = Call::dispatch("fetch_work_item", Retry::harmless()).int("@floor_ms", floor_ms);
        let floor = call
            .parameter("@floor_ms")
            .map(|floor| format!("{floor:?}"));
        (floor, lanes, has_bottom)
    }

    fn answer(floors: &Floors, whole_took: Option<Duration>) {
        floors.remember(Queue::Work, "", Some(FLOOR_MS), Some("[]"), whole_took);
    }

    #[tokio::test(start_paused = true)]
    async fn fetches_look_from_the_floor_and_once_a_second_below_it() {
        let floors = Floors::default();
        assert_eq!(asked(&floors), (None, false, false), "the first");
        answer(&floors, Some(Duration::ZERO));
        assert_eq!(asked(&floors), from(FLOOR_MS, true, false));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(asked(&floors), from(FLOOR_MS - 2_000, false, false));
        assert_eq!(asked(&floors), from(FLOOR_MS, true, false));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(asked(&floors), from(FLOOR_MS - 4_000, false, false));
        floors.returned(Queue::Orchestrations);
        assert_eq!(asked(&floors), from(FLOOR_MS, true, false));
        floors.returned(Queue::Work);
        answer(&floors, None);
        assert_eq!(
            asked(&floors),
            (None, false, false),
            "something came back while another fetch was under way"
        );
        answer(&floors, Some(Duration::ZERO));
        assert_eq!(asked(&floors), from(FLOOR_MS, true, false));
    }

    #[tokio::test(start_paused = true)]
    async fn long_searches_of_the_whole_take_a_share_of_the_time() {
        let floors = Floors::default();
        asked(&floors);
        answer(&floors, Some(Duration::from_millis(300)));
        tokio::time::advance(Duration::from_millis(2_900)).await;
        assert_eq!(asked(&floors), from(FLOOR_MS - 2_000, true, true));
        tokio::time::advance(Duration::from_millis(100)).await;
        assert_eq!(asked(&floors), from(FLOOR_MS, true, false));
        answer(&floors, Some(Duration::from_secs(3)));
        tokio::time::advance(Duration::from_millis(9_900)).await;
        assert_eq!(asked(&floors), from(FLOOR_MS - 4_000, true, true));
        tokio::time::advance(Duration::from_millis(100)).await;
        assert_eq!(
            asked(&floors),
            from(FLOOR_MS, true, false),
            "for 10 s at most"
        );
    }
}
