//! The engine's clock: the machine's time plus what a tester added.
//!
//! Lock timeouts and WAITFOR are measured with [`Clock::elapsed`], so that moving the clock forward
//! is the same as having waited.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// 100 ns ticks in a second.
const TICKS_PER_SECOND: i64 = 10_000_000;
/// 100 ns ticks in a day.
const TICKS_PER_DAY: i64 = 86_400 * TICKS_PER_SECOND;
/// Days from 0001-01-01 to 1970-01-01.
const UNIX_EPOCH_DAYS: i64 = 719_162;

/// A clock that runs with the machine's and can be moved.
#[derive(Debug)]
pub struct Clock {
    started: Instant,
    started_unix_ticks: i64,
    /// What [`Clock::advance`] added, in nanoseconds; time that counts as passed.
    advanced_nanos: AtomicU64,
    /// What [`Clock::shift_utc`] added, in ticks; only the wall time moves.
    shifted_ticks: AtomicI64,
    /// Where [`Clock::stop`] stopped the machine's part; empty while it runs. It stops once and for all.
    stopped: OnceLock<Duration>,
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock {
    /// A clock that shows the machine's time.
    pub fn new() -> Self {
        let unix = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            started: Instant::now(),
            started_unix_ticks: ticks(unix),
            advanced_nanos: AtomicU64::new(0),
            shifted_ticks: AtomicI64::new(0),
            stopped: OnceLock::new(),
        }
    }

    /// Time since the clock was made, including what was added by [`Clock::advance`]; never goes back.
    pub fn elapsed(&self) -> Duration {
        let by_itself = match self.stopped.get() {
            None => self.started.elapsed(),
            Some(stopped) => *stopped,
        };
        by_itself + Duration::from_nanos(self.advanced_nanos.load(Ordering::Relaxed))
    }

    /// From now on only [`Clock::advance`] lets time pass. The time it stops at is a whole millisecond, so that what
    /// is computed from it later does not depend on when that was.
    pub fn stop(&self) {
        let per_ms = TICKS_PER_SECOND / 1000;
        let whole = (self.unix_ticks() / per_ms + 1) * per_ms;
        let elapsed = whole - self.started_unix_ticks - self.shifted_ticks.load(Ordering::Relaxed);
        let nanos = u64::try_from(elapsed * 100).unwrap_or(0);
        let stopped = nanos.saturating_sub(self.advanced_nanos.load(Ordering::Relaxed));
        self.stopped.get_or_init(|| Duration::from_nanos(stopped));
    }

    /// Lets time pass: both the wall time and every running timeout move by `by`.
    pub fn advance(&self, by: Duration) {
        let nanos = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        self.advanced_nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Sets the wall time forward or back by milliseconds, as an administrator would; timeouts that
    /// are running do not notice.
    pub fn shift_utc(&self, by_ms: i64) {
        let ticks = by_ms.saturating_mul(TICKS_PER_SECOND / 1000);
        self.shifted_ticks.fetch_add(ticks, Ordering::Relaxed);
    }

    /// The wall time: UTC days since 0001-01-01 and 100 ns ticks of the day.
    pub fn now_utc(&self) -> (i32, i64) {
        let ticks = self.unix_ticks() + UNIX_EPOCH_DAYS * TICKS_PER_DAY;
        let days = ticks.div_euclid(TICKS_PER_DAY);
        (
            i32::try_from(days).unwrap_or(i32::MAX),
            ticks.rem_euclid(TICKS_PER_DAY),
        )
    }

    /// The wall time in milliseconds since 1970.
    pub fn unix_ms(&self) -> i64 {
        self.unix_ticks().div_euclid(TICKS_PER_SECOND / 1000)
    }

    fn unix_ticks(&self) -> i64 {
        self.started_unix_ticks + ticks(self.elapsed()) + self.shifted_ticks.load(Ordering::Relaxed)
    }
}

fn ticks(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos() / 100).unwrap_or(i64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2024-01-01 is day 738,885 since 0001-01-01, so a running clock shows at least that.
    #[test]
    fn now_utc_counts_days_from_year_one() {
        let (days, ticks) = Clock::new().now_utc();
        assert!(days >= 738_885, "{days}");
        assert!((0..TICKS_PER_DAY).contains(&ticks));
    }

    #[test]
    fn advance_moves_wall_time_and_timeouts_together() {
        let clock = Clock::new();
        let (before, elapsed) = (clock.unix_ms(), clock.elapsed());
        clock.advance(Duration::from_secs(3600));
        assert!(clock.unix_ms() >= before + 3_600_000);
        assert!(clock.elapsed() >= elapsed + Duration::from_secs(3600));
    }

    /// A clock that was stopped moves only when it is moved, and shows whole milliseconds.
    #[test]
    fn a_stopped_clock_is_moved_by_hand() {
        let clock = Clock::new();
        clock.advance(Duration::from_micros(1_234_567));
        clock.stop();
        let before = clock.elapsed();
        assert_eq!(clock.now_utc().1 % (TICKS_PER_SECOND / 1000), 0);
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(clock.elapsed(), before);
        clock.advance(Duration::from_secs(61));
        assert_eq!(clock.elapsed(), before + Duration::from_secs(61));
    }

    #[test]
    fn shift_utc_leaves_timeouts_alone() {
        let clock = Clock::new();
        let before = clock.unix_ms();
        clock.shift_utc(-3_600_000);
        assert!(clock.unix_ms() < before);
        assert!(clock.elapsed() < Duration::from_secs(3600));
    }
}
