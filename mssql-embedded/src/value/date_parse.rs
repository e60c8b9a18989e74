//! Dates and times from text, in the formats SQL Server reads under us_english (month first).

use super::datetime::{DAYS_1900, TICKS_PER_SECOND, from_civil};

/// The month names; SQL Server also takes their first three letters.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// What a text says about a date and a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedDate {
    /// Days since 0001-01-01; 1900-01-01 when the text has no date.
    pub days: i32,
    /// Ticks since midnight; zero when the text has no time.
    pub ticks: i64,
    /// Digits after the second's point.
    pub fraction_digits: u8,
    /// Minutes east of UTC when the text has an offset; `Z` is zero.
    pub offset: Option<i16>,
    /// Whether the offset was written as `Z`.
    pub zulu: bool,
}

/// Why text is not a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseDateError {
    /// Not one of the formats.
    Syntax,
    /// A format, but a month, day, hour or the like that does not exist.
    OutOfRange,
}

/// Reads a date, a time, or both with an optional offset; blank text is 1900-01-01.
pub fn parse(text: &str) -> Result<ParsedDate, ParseDateError> {
    parse_ordered(text, false)
}

/// Like [`parse`], with the day before the month in numeric dates when `day_first`.
pub fn parse_ordered(text: &str, day_first: bool) -> Result<ParsedDate, ParseDateError> {
    let mut cursor = Cursor {
        rest: text.trim(),
        day_first,
    };
    let mut parsed = ParsedDate {
        days: DAYS_1900,
        ticks: 0,
        fraction_digits: 0,
        offset: None,
        zulu: false,
    };
    if cursor.rest.is_empty() {
        return Ok(parsed);
    }
    if !cursor.starts_with_time() {
        let (year, month, day) = cursor.date().ok_or(ParseDateError::Syntax)?;
        parsed.days = from_civil(year, month, day).ok_or(ParseDateError::OutOfRange)?;
        let iso = cursor.take_if(|c| c == 'T' || c == 't');
        if !iso && !cursor.rest.is_empty() && !cursor.skip_spaces() {
            return Err(ParseDateError::Syntax);
        }
        if cursor.rest.is_empty() {
            return if iso {
                Err(ParseDateError::Syntax)
            } else {
                Ok(parsed)
            };
        }
    }
    if cursor.rest.starts_with(|c: char| c.is_ascii_digit()) {
        (parsed.ticks, parsed.fraction_digits) = cursor.time()?;
    }
    cursor.skip_spaces();
    if cursor.take_if(|c| c == 'Z' || c == 'z') {
        (parsed.offset, parsed.zulu) = (Some(0), true);
    } else if cursor.rest.starts_with(['+', '-']) {
        parsed.offset = Some(cursor.offset()?);
    }
    if cursor.rest.is_empty() {
        Ok(parsed)
    } else {
        Err(ParseDateError::Syntax)
    }
}

struct Cursor<'a> {
    rest: &'a str,
    day_first: bool,
}

impl<'a> Cursor<'a> {
    fn take_if(&mut self, wanted: impl Fn(char) -> bool) -> bool {
        match self.rest.chars().next() {
            Some(c) if wanted(c) => {
                self.rest = &self.rest[c.len_utf8()..];
                true
            }
            _ => false,
        }
    }

    fn skip_spaces(&mut self) -> bool {
        let before = self.rest.len();
        self.rest = self.rest.trim_start();
        before != self.rest.len()
    }

    fn run(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let end = self
            .rest
            .find(|c: char| !wanted(c))
            .unwrap_or(self.rest.len());
        let (run, rest) = self.rest.split_at(end);
        self.rest = rest;
        run
    }

    fn digits(&mut self) -> &'a str {
        self.run(|c| c.is_ascii_digit())
    }

    fn number(&mut self, most: usize) -> Option<u32> {
        let digits = self.digits();
        if digits.is_empty() || digits.len() > most {
            None
        } else {
            digits.parse().ok()
        }
    }

    fn starts_with_time(&self) -> bool {
        let after = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = self.rest.len() - after.len();
        let after = after.trim_start();
        (1..=2).contains(&digits) && (after.starts_with(':') || meridian(after).is_some())
    }

    fn date(&mut self) -> Option<(i32, u32, u32)> {
        if self.rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let month = self.month()?;
            self.skip_spaces();
            let day = self.number(2)?;
            self.take_if(|c| c == ',');
            self.skip_spaces();
            return Some((self.year()?, month, day));
        }
        let first = self.digits();
        match (first.len(), self.rest.chars().next()) {
            (8, _) => Some((
                first[..4].parse().ok()?,
                first[4..6].parse().ok()?,
                first[6..].parse().ok()?,
            )),
            (6, _) => Some((
                two_digit_year(first[..2].parse().ok()?),
                first[2..4].parse().ok()?,
                first[4..].parse().ok()?,
            )),
            (4, None) => Some((first.parse().ok()?, 1, 1)),
            (4, Some('-' | '/' | '.')) => {
                self.separator()?;
                let month = self.number(2)?;
                self.separator()?;
                Some((first.parse().ok()?, month, self.number(2)?))
            }
            (1 | 2, Some('-' | '/' | '.')) => {
                self.separator()?;
                let second = self.number(2)?;
                self.separator()?;
                let (year, first) = (self.year()?, first.parse().ok()?);
                Some(if self.day_first {
                    (year, second, first)
                } else {
                    (year, first, second)
                })
            }
            (1 | 2, Some(_)) => {
                self.skip_spaces();
                let month = self.month()?;
                self.take_if(|c| c == ',');
                self.skip_spaces();
                Some((self.year()?, month, first.parse().ok()?))
            }
            _ => None,
        }
    }

    fn separator(&mut self) -> Option<()> {
        self.take_if(|c| matches!(c, '-' | '/' | '.')).then_some(())
    }

    fn month(&mut self) -> Option<u32> {
        let word = self.run(|c| c.is_ascii_alphabetic()).to_ascii_lowercase();
        let found = MONTHS.iter().position(|name| {
            let name = name.to_ascii_lowercase();
            word == name || word == name[..3]
        });
        found.map(|i| i as u32 + 1)
    }

    fn year(&mut self) -> Option<i32> {
        let digits = self.digits();
        match digits.len() {
            4 => digits.parse().ok(),
            1 | 2 => digits.parse().ok().map(two_digit_year),
            _ => None,
        }
    }

    fn time(&mut self) -> Result<(i64, u8), ParseDateError> {
        let syntax = ParseDateError::Syntax;
        let mut hour = self.number(2).ok_or(syntax)?;
        let (mut minute, mut second, mut fraction, mut digits) = (0, 0, 0, 0);
        let has_minutes = self.take_if(|c| c == ':');
        if has_minutes {
            minute = self.number(2).ok_or(syntax)?;
            if self.take_if(|c| c == ':') {
                second = self.number(2).ok_or(syntax)?;
                if self.rest.starts_with([':', '.']) {
                    let colon = self.take_if(|c| c == ':');
                    self.take_if(|c| c == '.');
                    (fraction, digits) = self.fraction(colon)?;
                }
            }
        }
        self.skip_spaces();
        match meridian(self.rest) {
            Some(_) if hour == 0 && has_minutes => self.rest = &self.rest[2..],
            Some(_) if !(1..=12).contains(&hour) => return Err(ParseDateError::OutOfRange),
            Some(pm) => {
                hour = hour % 12 + if pm { 12 } else { 0 };
                self.rest = &self.rest[2..];
            }
            None if !has_minutes => return Err(syntax),
            None => {}
        }
        if hour > 23 || minute > 59 || second > 59 {
            return Err(ParseDateError::OutOfRange);
        }
        let seconds = i64::from(hour * 3600 + minute * 60 + second);
        Ok((seconds * TICKS_PER_SECOND + fraction, digits))
    }

    /// Fractional seconds in ticks, rounded at the seventh digit. After a colon the digits count
    /// milliseconds, after a point they are a fraction.
    fn fraction(&mut self, colon: bool) -> Result<(i64, u8), ParseDateError> {
        let digits = self.digits();
        if digits.is_empty() || digits.len() > 9 || (colon && digits.len() > 3) {
            return Err(ParseDateError::Syntax);
        }
        let number: i64 = digits.parse().map_err(|_| ParseDateError::Syntax)?;
        let ticks = match (colon, digits.len()) {
            (true, _) => number * 10_000,
            (false, n @ 0..=7) => number * 10_i64.pow(7 - n as u32),
            (false, n) => {
                let unit = 10_i64.pow(n as u32 - 7);
                (number + unit / 2) / unit
            }
        };
        Ok((ticks, digits.len() as u8))
    }

    fn offset(&mut self) -> Result<i16, ParseDateError> {
        let negative = self.rest.starts_with('-');
        self.rest = &self.rest[1..];
        let hours = self.number(2).ok_or(ParseDateError::Syntax)?;
        if !self.take_if(|c| c == ':') {
            return Err(ParseDateError::Syntax);
        }
        let minutes = self.number(2).ok_or(ParseDateError::Syntax)?;
        let total = hours * 60 + minutes;
        if minutes > 59 || total > 14 * 60 {
            return Err(ParseDateError::OutOfRange);
        }
        Ok(if negative {
            -(total as i16)
        } else {
            total as i16
        })
    }
}

/// `Some(true)` for PM, `Some(false)` for AM at the start of the text.
fn meridian(text: &str) -> Option<bool> {
    let word = text.get(..2)?;
    if word.eq_ignore_ascii_case("am") {
        Some(false)
    } else if word.eq_ignore_ascii_case("pm") {
        Some(true)
    } else {
        None
    }
}

/// SQL Server's default cutoff: 49 is 2049, 50 is 1950.
fn two_digit_year(year: i32) -> i32 {
    if year < 50 { 2000 + year } else { 1900 + year }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (i32, i64, Option<i16>) {
        let p = parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        (p.days, p.ticks, p.offset)
    }

    #[test]
    fn the_formats_of_us_english_are_read() {
        let day = from_civil(2024, 3, 5).unwrap();
        for text in [
            "2024-03-05",
            "20240305",
            "240305",
            "3/5/2024",
            "03-05-24",
            "Mar 5 2024",
            "5 March 2024",
            "March 5, 2024",
            "2024/3/5",
            " 2024.03.05 ",
        ] {
            assert_eq!(read(text), (day, 0, None), "{text}");
        }
        let t = (13 * 3600 + 2 * 60 + 3) * TICKS_PER_SECOND;
        assert_eq!(
            read("2024-03-05T13:02:03.1234567"),
            (day, t + 1_234_567, None)
        );
        assert_eq!(read("2024-03-05 1:02:03 PM"), (day, t, None));
        assert_eq!(read("2024-03-05T13:02:03Z"), (day, t, Some(0)));
        assert_eq!(read("2024-03-05 13:02:03 -05:30"), (day, t, Some(-330)));
        assert_eq!(read("13:02:03:004"), (DAYS_1900, t + 40_000, None));
        assert_eq!(read("1PM"), (DAYS_1900, 13 * 3600 * TICKS_PER_SECOND, None));
        assert_eq!(read(""), (DAYS_1900, 0, None));
    }

    #[test]
    fn nonsense_and_impossible_dates_are_told_apart() {
        for text in ["hello", "2024-03", "2024-03-05T", "2024-03-05x", "12:", "ж"] {
            assert_eq!(parse(text), Err(ParseDateError::Syntax), "{text}");
        }
        for text in [
            "2023-02-29",
            "13/13/2024",
            "2024-01-01 25:00",
            "2024-01-01 00:00 +15:00",
        ] {
            assert_eq!(parse(text), Err(ParseDateError::OutOfRange), "{text}");
        }
    }
}
