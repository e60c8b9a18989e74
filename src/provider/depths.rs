//! How far back one looks, for the sake of what came back to an old place or was committed late.
//!
//! Looking back passes over the ghosts of all claims since, so the further back, the more rarely: every second look of
//! the series goes twice as far as the ones between, every fourth four times, and so on. What lies some time back is
//! found before it has lain there for three times as long, or within [`EVERY`]; and whatever was claimed before, the looks pass over
//! few ghosts on average, because the series as a whole grows with the logarithm of its length only.

use std::time::Duration;

use tokio::time::Instant;

/// One looks back this often.
const EVERY: Duration = Duration::from_secs(1);

/// A series of looks back.
pub(super) struct Depths {
    looks: u64,
    looked_at: Instant,
}

impl Depths {
    /// A series that begins with a look at everything.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            looks: 0,
            looked_at: now,
        }
    }

    /// How far back to look now, if it is time to.
    pub(super) fn due(&mut self, now: Instant) -> Option<Duration> {
        (now.duration_since(self.looked_at) >= EVERY).then(|| {
            self.looked_at = now;
            self.next()
        })
    }

    /// How far back the next look goes.
    pub(super) fn next(&mut self) -> Duration {
        self.looks += 1;
        let times = 1_u32 << self.looks.trailing_zeros().min(30);
        EVERY * 2 * times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn looks_are_due_once_a_second() {
        let mut depths = Depths::new(Instant::now());
        assert_eq!(depths.due(Instant::now()), None);
        tokio::time::advance(EVERY).await;
        assert_eq!(depths.due(Instant::now()), Some(EVERY * 2));
        assert_eq!(depths.due(Instant::now()), None);
        tokio::time::advance(EVERY * 10).await;
        assert_eq!(depths.due(Instant::now()), Some(EVERY * 4));
    }

    /// Whatever lies some seconds back when the series goes on is found before three times as many have passed.
    #[test]
    fn nothing_waits_for_more_than_three_times_its_age() {
        for begun in 0..300 {
            for age in 1..300_u32 {
                let mut depths = Depths::new(Instant::now());
                depths.looks = begun;
                let found = (1..=2 * age).find(|seconds| depths.next() >= EVERY * (age + seconds));
                assert!(found.is_some(), "{age} s back, after {begun} looks");
            }
        }
    }

    #[test]
    fn looks_cost_little_on_average() {
        let mut depths = Depths::new(Instant::now());
        let total: Duration = (0..100_000).map(|_| depths.next()).sum();
        assert!(total / 100_000 < EVERY * 20, "{total:?}");
    }
}
