//! Ages and durations as people write them.

use std::time::Duration;

/// `30d`, `12h`, `90m`, `45s`, `250ms`.
pub fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no age; write 30d, 12h, 90m, 45s or 250ms");
    let digits = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let number: u64 = text[..digits].parse().map_err(|_| wrong())?;
    let unit = match &text[digits..] {
        "d" => 86_400_000,
        "h" => 3_600_000,
        "m" => 60_000,
        "s" => 1000,
        "ms" => 1,
        _ => return Err(wrong()),
    };
    number
        .checked_mul(unit)
        .map(Duration::from_millis)
        .ok_or_else(wrong)
}

/// The same, but not zero.
pub fn parse_pause(text: &str) -> Result<Duration, String> {
    let pause = parse(text)?;
    let is_one = !pause.is_zero();
    is_one
        .then_some(pause)
        .ok_or_else(|| format!("{text:?} is no pause"))
}

/// Milliseconds as the two largest units that matter: `3d 4h`, `12m 3s`, `250ms`.
pub fn show(ms: i64) -> String {
    let ms = ms.max(0);
    let (s, m, h, d) = (ms / 1000, ms / 60_000, ms / 3_600_000, ms / 86_400_000);
    match () {
        () if d > 0 => format!("{d}d {}h", h % 24),
        () if h > 0 => format!("{h}h {}m", m % 60),
        () if m > 0 => format!("{m}m {}s", s % 60),
        () if s >= 10 => format!("{s}s"),
        () if s > 0 => format!("{s}.{}s", ms % 1000 / 100),
        () => format!("{ms}ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_read() {
        assert_eq!(parse("30d"), Ok(Duration::from_secs(30 * 86_400)));
        assert_eq!(parse("250ms"), Ok(Duration::from_millis(250)));
        for wrong in ["30", "d", "3 d", "-1d", "99999999999999999d", ""] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations_are_shown_in_two_units() {
        let shown: Vec<_> = [5, 1250, 12_000, 723_000, 7_500_000, 90_000_000]
            .map(show)
            .into();
        assert_eq!(shown, ["5ms", "1.2s", "12s", "12m 3s", "2h 5m", "1d 1h"]);
    }
}
