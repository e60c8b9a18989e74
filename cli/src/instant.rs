//! Points in time as the views' rows carry them.

/// Milliseconds since 1970 of a time that [`ViewRow`](duroxide_sql::ViewRow)s hold, such as
/// `2024-12-31T23:59:59.999Z`; nothing for any other text.
pub fn parse(text: &str) -> Option<i64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let numbers = |text: &str, separators: [char; 2]| -> Option<[i64; 3]> {
        let mut parts = text.splitn(3, separators).map(|part| part.parse().ok());
        Some([parts.next()??, parts.next()??, parts.next()??])
    };
    let [year, month, day] = numbers(date, ['-', '-'])?;
    let (time, millis) = time.split_once('.')?;
    let [hour, minute, second] = numbers(time, [':', ':'])?;
    let millis: i64 = millis.parse().ok()?;
    let in_day = ((hour * 60 + minute) * 60 + second) * 1000 + millis;
    Some(days(year, month, day) * 86_400_000 + in_day)
}

/// Days from 1970-01-01 in the Gregorian calendar. Years are counted from March, so that the leap
/// day comes last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        assert_eq!(parse("1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(parse("2000-02-29T00:00:00.123Z"), Some(951_782_400_123));
        assert_eq!(parse("2024-12-31T23:59:59.999Z"), Some(1_735_689_599_999));
        for wrong in ["", "2024-12-31", "2024-12-31T23:59:59.999", "xT1:2:3.4Z"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
