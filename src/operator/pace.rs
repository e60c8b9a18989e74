//! How much of a server's time work takes that can wait.

use std::time::Duration;

/// The pace of work that is done in batches and can wait, such as the deletion of what finished long ago.
///
/// After each batch it rests, for longer the longer the batch took. So it takes no more than a share of the time,
/// and when the server is busy and its batches take longer, it rests longer as well.
///
/// ```
/// use std::time::Duration;
/// use duroxide_sql::Pace;
///
/// let took = Duration::from_millis(100);
/// assert_eq!(Pace::default().rest_after(took, 50), Duration::from_millis(300));
/// assert_eq!(Pace::of_percent(100).rest_after(took, 50), Duration::ZERO);
/// assert_eq!(Pace::of_percent(100).per_second(100).rest_after(took, 50), Duration::from_millis(400));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    percent: u32,
    per_second: Option<u32>,
}

impl Pace {
    /// What a purge takes unless it is told otherwise. At full speed it takes a third of two cores away from the
    /// workers beside it.
    pub const DEFAULT_PERCENT: u32 = 25;

    /// Works for this part of the time. 100 is full speed; more counts as 100, and zero as one.
    #[must_use]
    pub const fn of_percent(percent: u32) -> Self {
        let percent = match percent {
            0 => 1,
            101.. => 100,
            percent => percent,
        };
        Self {
            percent,
            per_second: None,
        }
    }

    /// Besides, does no more than this many per second. Zero counts as one.
    #[must_use]
    pub const fn per_second(self, most: u32) -> Self {
        Self {
            per_second: Some(if most == 0 { 1 } else { most }),
            ..self
        }
    }

    /// How long to rest after a batch of `count` that took this long.
    #[must_use]
    pub fn rest_after(&self, took: Duration, count: u32) -> Duration {
        let by_share = took.saturating_mul(100 - self.percent) / self.percent;
        let by_rate = self.per_second.map_or(Duration::ZERO, |most| {
            (Duration::from_secs(1).saturating_mul(count) / most).saturating_sub(took)
        });
        by_share.max(by_rate)
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self::of_percent(Self::DEFAULT_PERCENT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOK: Duration = Duration::from_millis(60);

    #[test]
    fn rests_leave_the_rest_of_the_time_to_others() {
        for percent in 1..=100 {
            let rest = Pace::of_percent(percent).rest_after(TOOK, 10);
            let share = TOOK.as_secs_f64() / (TOOK + rest).as_secs_f64();
            assert!(
                (share - f64::from(percent) / 100.0).abs() < 1e-6,
                "{percent}"
            );
        }
        assert_eq!(Pace::of_percent(0), Pace::of_percent(1));
        assert_eq!(Pace::of_percent(1000), Pace::of_percent(100));
    }

    /// A slow server is not pressed: a batch that takes ten times as long is followed by ten times the rest.
    #[test]
    fn rests_grow_with_what_a_batch_took() {
        let pace = Pace::default();
        assert_eq!(
            pace.rest_after(TOOK * 10, 10),
            pace.rest_after(TOOK, 10) * 10
        );
        assert_eq!(pace.rest_after(Duration::ZERO, 10), Duration::ZERO);
        assert!(pace.rest_after(Duration::MAX, 10) > Duration::ZERO);
    }

    #[test]
    fn the_longer_of_two_rests_counts() {
        let rested = |percent, most, count| {
            let pace = Pace::of_percent(percent).per_second(most);
            pace.rest_after(TOOK, count).as_millis()
        };
        assert_eq!(rested(100, 100, 10), 40, "by number");
        assert_eq!(rested(25, 100, 10), 180, "by share");
        assert_eq!(rested(25, 10, 10), 940, "by number");
        assert_eq!(rested(100, 1000, 10), 0, "slower than allowed");
        assert_eq!(rested(100, 0, 1), 940, "zero is one");
    }
}
