//! How long WAITFOR DELAY waits, as a text says it.

/// The milliseconds of a text like `h:mm:ss.fff`: hours and minutes at least, no date, less than a day; blank text is
/// no time at all. `None` for any other text.
pub fn delay_ms(text: &str) -> Option<u64> {
    let text = text.trim();
    if text.is_empty() {
        return Some(0);
    }
    let upper = text.to_ascii_uppercase();
    let (clock, half) = match (upper.strip_suffix("AM"), upper.strip_suffix("PM")) {
        (Some(clock), _) => (clock.trim_end(), Some(0)),
        (None, Some(clock)) => (clock.trim_end(), Some(12)),
        (None, None) => (upper.as_str(), None),
    };
    let parts: Vec<&str> = clock.split(':').collect();
    let (hour, minute, second, ms) = match parts.as_slice() {
        [hour, minute] => (*hour, *minute, "0", 0),
        [hour, minute, second] => match second.split_once('.') {
            Some((second, fraction)) => {
                let digits = number(fraction, 3)?;
                let scale = [100, 10, 1][fraction.len() - 1];
                (*hour, *minute, second, digits * scale)
            }
            None => (*hour, *minute, *second, 0),
        },
        [hour, minute, second, ms] => (*hour, *minute, *second, number(ms, 3)?),
        _ => return None,
    };
    let (hour, minute, second) = (number(hour, 2)?, number(minute, 2)?, number(second, 2)?);
    let hour = match half {
        Some(later) if (1..=12).contains(&hour) => hour % 12 + later,
        Some(_) => return None,
        None => hour,
    };
    let fits = hour < 24 && minute < 60 && second < 60;
    fits.then_some(((hour * 60 + minute) * 60 + second) * 1000 + ms)
}

/// A number of one digit up to `most`.
fn number(text: &str, most: usize) -> Option<u64> {
    let plain = (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::delay_ms;

    #[test]
    fn delays_are_times_of_day() {
        for (text, ms) in [
            ("", 0),
            ("0:0", 0),
            ("00:00:00.5", 500),
            ("00:00:01:5", 1005),
            (" 01:02 ", 3_720_000),
            ("1:00 PM", 46_800_000),
            ("12:00 AM", 0),
            ("23:59:59.999", 86_399_999),
        ] {
            assert_eq!(delay_ms(text), Some(ms), "{text}");
        }
        for text in [
            "5",
            "24:00",
            "00:60",
            "00:00:00.0001",
            "2024-01-01 00:00",
            "abc",
            "13:00 PM",
            "00:00:",
        ] {
            assert_eq!(delay_ms(text), None, "{text}");
        }
    }
}
