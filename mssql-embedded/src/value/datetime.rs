//! The civil calendar and the precision of each date and time type.

use super::{DataType, Value, errors};
use crate::error::SqlResult;

/// 100 ns ticks of a second.
pub const TICKS_PER_SECOND: i64 = 10_000_000;
/// 100 ns ticks of a day.
pub const TICKS_PER_DAY: i64 = 86_400 * TICKS_PER_SECOND;
/// Days from 0001-01-01 to 1900-01-01, the zero of DATETIME.
pub const DAYS_1900: i32 = 693_595;
/// The day after the last, 9999-12-31.
pub const DAYS_END: i32 = 3_652_059;
/// 9999-12-31.
const LAST_DAY: i32 = DAYS_END - 1;
/// The first day of DATETIME, 1753-01-01.
const DAYS_1753: i32 = 639_905;
/// The last day of SMALLDATETIME, 2079-06-06.
const DAYS_2079: i32 = 759_130;

/// Days since 0001-01-01 of a date of the proleptic Gregorian calendar, years 1 to 9999.
pub fn from_civil(year: i32, month: u32, day: u32) -> Option<i32> {
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    if day == 0 || day > days_in_month(year, month) {
        return None;
    }
    // Years counted from March put the leap day last, so a month's start is a linear formula.
    let (y, m) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m as i32 + 2) / 5 + day as i32 - 1;
    Some(days - 306)
}

/// Year, month and day of a number of days since 0001-01-01.
pub fn to_civil(days: i32) -> (i32, u32, u32) {
    let shifted = days + 306;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let m = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * m + 2) / 5 + 1) as u32;
    let month = if m < 10 { m + 3 } else { m - 9 } as u32;
    let year = year_of_era + era * 400 + i32::from(month <= 2);
    (year, month, day)
}

pub fn days_in_month(year: i32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Day of the week, 0 for Sunday.
pub fn weekday(days: i32) -> i32 {
    (days + 1).rem_euclid(7)
}

/// A moment and, where the source has one, its offset in minutes; days and ticks are local to the
/// offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Days since 0001-01-01.
    pub days: i32,
    /// Ticks since midnight.
    pub ticks: i64,
    /// Minutes east of UTC.
    pub offset: i16,
}

impl Moment {
    /// The moment a date or time value means; a TIME is on 1900-01-01.
    pub fn of(value: &Value) -> Option<Self> {
        match *value {
            Value::Date(days) => Some(Self {
                days,
                ticks: 0,
                offset: 0,
            }),
            Value::Time(ticks) => Some(Self {
                days: DAYS_1900,
                ticks,
                offset: 0,
            }),
            Value::DateTime { days, ticks } => Some(Self {
                days,
                ticks,
                offset: 0,
            }),
            Value::DateTimeOffset {
                days,
                ticks,
                offset,
            } => Some(
                Self {
                    days,
                    ticks,
                    offset: 0,
                }
                .shifted(offset)
                .with_offset(offset),
            ),
            Value::Null
            | Value::Bit(_)
            | Value::Int(_)
            | Value::Decimal { .. }
            | Value::Float(_)
            | Value::Str(_)
            | Value::Bytes(_)
            | Value::Guid(_) => None,
        }
    }

    fn with_offset(self, offset: i16) -> Self {
        Self { offset, ..self }
    }

    fn shifted(self, minutes: i16) -> Self {
        let ticks = self.ticks + i64::from(minutes) * 60 * TICKS_PER_SECOND;
        Self {
            days: self.days + ticks.div_euclid(TICKS_PER_DAY) as i32,
            ticks: ticks.rem_euclid(TICKS_PER_DAY),
            offset: self.offset,
        }
    }

    /// The same instant in UTC.
    #[must_use]
    pub fn to_utc(self) -> Self {
        self.shifted(-self.offset).with_offset(0)
    }

    /// Ticks since 0001-01-01 of the local form.
    pub fn total_ticks(self) -> i64 {
        i64::from(self.days) * TICKS_PER_DAY + self.ticks
    }

    /// The moment at this many ticks since 0001-01-01, unless it is outside years 1 to 9999.
    pub fn from_total_ticks(total: i64, offset: i16) -> Option<Self> {
        let days = i32::try_from(total.div_euclid(TICKS_PER_DAY)).ok()?;
        let moment = Self {
            days,
            ticks: total.rem_euclid(TICKS_PER_DAY),
            offset,
        };
        (0..DAYS_END).contains(&days).then_some(moment)
    }

    /// The moment so many days and ticks after 1900-01-01, unless it is outside years 1 to 9999. The days may be any
    /// number; the ticks are those of a day, or reach the next one.
    pub fn since_1900(days: i64, ticks: i64) -> Option<Self> {
        let days = days.checked_add(i64::from(DAYS_1900))?;
        // Days beyond the calendar would not be ticks that can be counted.
        let days = i32::try_from(days).ok().filter(|d| *d < DAYS_END)?;
        let total = i64::from(days).checked_mul(TICKS_PER_DAY)?;
        Self::from_total_ticks(total.checked_add(ticks)?, 0)
    }

    /// Whether the calendar knows the moment, years 1 to 9999, both as it is shown and in UTC.
    pub fn is_in_calendar(self) -> bool {
        let known = |moment: Self| (0..DAYS_END).contains(&moment.days);
        known(self) && known(self.to_utc())
    }

    /// The value of this moment as a date or time type, rounded to its precision.
    ///
    /// # Errors
    ///
    /// 242 outside the range of the type, naming `from` as the source.
    pub fn to_value(self, from: &DataType, to: &DataType) -> SqlResult<Value> {
        let out_of_range = || errors::date_out_of_range(from, to);
        // A type without an offset takes the moment as it is shown.
        let shown = self.with_offset(0);
        let between = |moment: Self, first: i32, last: i32| {
            let known = (first..=last).contains(&moment.days) && moment.is_in_calendar();
            known.then_some(moment).ok_or_else(out_of_range)
        };
        let stored = |moment: Self| Value::DateTime {
            days: moment.days,
            ticks: moment.ticks,
        };
        Ok(match to {
            DataType::Date => Value::Date(between(shown, 0, LAST_DAY)?.days),
            DataType::Time(scale) => {
                Value::Time(round_fraction(self.ticks, *scale).rem_euclid(TICKS_PER_DAY))
            }
            DataType::DateTime2(scale) => {
                let rounded = shown.rounded(round_fraction(self.ticks, *scale));
                stored(between(rounded, 0, LAST_DAY)?)
            }
            DataType::DateTimeOffset(scale) => {
                let rounded = self.rounded(round_fraction(self.ticks, *scale));
                let utc = between(rounded, 0, LAST_DAY)?.to_utc();
                Value::DateTimeOffset {
                    days: utc.days,
                    ticks: utc.ticks,
                    offset: self.offset,
                }
            }
            DataType::DateTime => {
                let rounded = shown.rounded(round_datetime(self.ticks));
                stored(between(rounded, DAYS_1753, LAST_DAY)?)
            }
            DataType::SmallDateTime => {
                let rounded = shown.rounded(round_minutes(self.ticks));
                stored(between(rounded, DAYS_1900, DAYS_2079)?)
            }
            DataType::Null
            | DataType::Bit
            | DataType::TinyInt
            | DataType::SmallInt
            | DataType::Int
            | DataType::BigInt
            | DataType::Decimal { .. }
            | DataType::Real
            | DataType::Float
            | DataType::Char(..)
            | DataType::VarChar(..)
            | DataType::NChar(..)
            | DataType::NVarChar(..)
            | DataType::Binary(_)
            | DataType::VarBinary(_)
            | DataType::UniqueIdentifier => return Err(errors::explicit_refused(from, to)),
        })
    }

    /// Takes over rounded ticks, which may have reached the next day.
    fn rounded(self, ticks: i64) -> Self {
        if ticks < TICKS_PER_DAY {
            return Self { ticks, ..self };
        }
        Self {
            days: self.days.saturating_add(1),
            ticks: ticks - TICKS_PER_DAY,
            ..self
        }
    }
}

/// Ticks rounded to a number of fractional digits.
pub fn round_fraction(ticks: i64, scale: u8) -> i64 {
    let unit = 10_i64.pow(u32::from(7 - scale.min(7)));
    (ticks + unit / 2) / unit * unit
}

/// Ticks rounded to 1/300 of a second, shown as .000, .003 and .007.
pub fn round_datetime(ticks: i64) -> i64 {
    datetime_ticks(ticks_to_datetime(ticks))
}

/// Ticks to units of 1/300 of a second, as DATETIME stores and sends them.
pub fn ticks_to_datetime(ticks: i64) -> i64 {
    (ticks * 3 + 50_000) / 100_000
}

/// Units of 1/300 of a second to ticks.
pub fn datetime_ticks(units: i64) -> i64 {
    (units * 100_000 + 1) / 3
}

/// Ticks rounded to minutes; DATETIME's precision comes first, so 29.999 seconds round up.
fn round_minutes(ticks: i64) -> i64 {
    let minute = 60 * TICKS_PER_SECOND;
    (round_fraction(ticks, 3) + minute / 2 + 10_000) / minute * minute
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calendar_is_consistent_over_all_days() {
        for days in 0..DAYS_END {
            let (y, m, d) = to_civil(days);
            assert_eq!(from_civil(y, m, d), Some(days));
        }
        assert_eq!(to_civil(0), (1, 1, 1));
        assert_eq!(from_civil(1900, 1, 1), Some(DAYS_1900));
        assert_eq!(from_civil(1753, 1, 1), Some(DAYS_1753));
        assert_eq!(from_civil(2079, 6, 6), Some(DAYS_2079));
        assert_eq!(from_civil(9999, 12, 31), Some(DAYS_END - 1));
        assert_eq!(from_civil(2023, 2, 29), None);
        assert_eq!(weekday(DAYS_1900), 1);
    }

    #[test]
    fn datetime_rounds_to_three_hundredths() {
        for (ms, shown) in [(1, 0), (2, 3), (4, 3), (5, 7), (6, 7), (8, 7), (9, 10)] {
            let ticks = round_datetime(ms * 10_000);
            assert_eq!((ticks + 5_000) / 10_000, shown, "{ms}");
            assert_eq!(datetime_ticks(ticks_to_datetime(ticks)), ticks);
        }
    }

    #[test]
    fn rounding_carries_into_the_next_day() {
        let late = Moment {
            days: 10,
            ticks: TICKS_PER_DAY - 1,
            offset: 0,
        };
        let next = late
            .to_value(&DataType::DateTime2(7), &DataType::DateTime2(3))
            .unwrap();
        assert_eq!(next, Value::DateTime { days: 11, ticks: 0 });
    }
}
