//! Where fetches begin to look: just below what the last one claimed.
//!
//! A claim leaves a ghost at the head of its queue, where the next search would start, and the server may be slow to
//! clean up or held back from it for hours. So a fetch tells from where to look and in which lanes, as the last
//! answer said. Nothing is lost below: a search that finds nothing goes through the whole queue, and
//! once in [`WHOLE_EVERY`] a fetch asks for that, for the sake of what came back to an old place.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::leases::Queue;
use crate::error::CallError;
use crate::procedure::{Call, Record};

/// A fetch searches the whole queue at least this often.
const WHOLE_EVERY: Duration = Duration::from_secs(1);
/// How many different filters are remembered. A process has few.
const FILTERS_MAX: usize = 64;

/// The floors of one provider, by queue and filter: fetches with other filters look at other items.
#[derive(Default)]
pub(super) struct Floors(Mutex<HashMap<(Queue, String), Floor>>);

/// What the last answer said, and when the whole queue was last asked for.
struct Floor {
    above: Option<(i64, Option<String>)>,
    whole_at: Instant,
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
        });
        if now.duration_since(floor.whole_at) >= WHOLE_EVERY {
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
        if let Some(floor) = self.lock().get_mut(&(queue, filter.to_owned())) {
            floor.above = floor_ms.map(|floor_ms| (floor_ms, lanes));
        }
        Ok(())
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
