//! Durations and moments of any size, without overflow.

use std::time::Duration;

use tokio::time::Instant;

/// Nobody waits longer than this for anything; far moments are as good as this one.
const FAR: Duration = Duration::from_secs(24 * 60 * 60);

/// No lease lasts longer than this, nor does anybody who remembers one.
pub(crate) const FARTHEST: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// The moment after `duration`, or a day from now if that is sooner.
pub(crate) fn after(duration: Duration) -> Instant {
    Instant::now() + duration.min(FAR)
}

/// The moment `duration` after another, or a day after it if that is sooner.
pub(crate) fn later(moment: Instant, duration: Duration) -> Instant {
    moment + duration.min(FAR)
}

/// When a lease ends that began at a moment and has this length, which may be more than a day.
pub(crate) fn lease_end(began_at: Instant, length: Duration) -> Instant {
    began_at + length.min(FARTHEST)
}

/// Between half and one and a half times `base`, so that clients which failed or fell idle
/// together do not come back together.
pub(crate) fn jittered(base: Duration) -> Duration {
    let base = base.min(FAR);
    let random = (uuid::Uuid::new_v4().as_u128() & 0xffff) as u32;
    base / 2 + base * random / 0x1_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_stays_within_half_and_one_and_a_half() {
        let base = Duration::from_millis(100);
        for _ in 0..1000 {
            let wait = jittered(base);
            assert!(wait >= base / 2 && wait < base * 3 / 2, "{wait:?}");
        }
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn durations_of_any_size_are_borne() {
        for duration in [Duration::ZERO, Duration::from_nanos(1), Duration::MAX] {
            assert!(after(duration) + Duration::from_secs(1) > Instant::now());
            assert!(jittered(duration) <= FAR * 2);
            assert!(lease_end(Instant::now(), duration) >= Instant::now() - SECOND);
        }
    }
}
