//! Date parts: DATEADD, DATEDIFF and DATEPART arithmetic.

use super::date_parse::MONTHS;
use super::datetime::{Moment, TICKS_PER_SECOND, days_in_month, from_civil, to_civil, weekday};
use super::{DataType, Value, errors};
use crate::error::{SqlError, SqlResult};

/// What is done with a part, on which depends whether a type has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartUse {
    /// So many of it are added.
    Add,
    Read,
}

/// A part of a date, as DATEADD and its kin name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatePart {
    /// year, yy, yyyy.
    Year,
    /// quarter, qq, q.
    Quarter,
    /// month, mm, m.
    Month,
    /// dayofyear, dy, y.
    DayOfYear,
    /// day, dd, d.
    Day,
    /// week, wk, ww.
    Week,
    /// iso_week, isowk, isoww.
    IsoWeek,
    /// weekday, dw, w.
    Weekday,
    /// hour, hh.
    Hour,
    /// minute, mi, n.
    Minute,
    /// second, ss, s.
    Second,
    /// millisecond, ms.
    Millisecond,
    /// microsecond, mcs.
    Microsecond,
    /// nanosecond, ns.
    Nanosecond,
    /// tzoffset, tz.
    TzOffset,
}

impl DatePart {
    /// The part of this name or abbreviation, in any case.
    pub fn by_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "year" | "yy" | "yyyy" => Self::Year,
            "quarter" | "qq" | "q" => Self::Quarter,
            "month" | "mm" | "m" => Self::Month,
            "dayofyear" | "dy" | "y" => Self::DayOfYear,
            "day" | "dd" | "d" => Self::Day,
            "week" | "wk" | "ww" => Self::Week,
            "iso_week" | "isowk" | "isoww" => Self::IsoWeek,
            "weekday" | "dw" | "w" => Self::Weekday,
            "hour" | "hh" => Self::Hour,
            "minute" | "mi" | "n" => Self::Minute,
            "second" | "ss" | "s" => Self::Second,
            "millisecond" | "ms" => Self::Millisecond,
            "microsecond" | "mcs" => Self::Microsecond,
            "nanosecond" | "ns" => Self::Nanosecond,
            "tzoffset" | "tz" => Self::TzOffset,
            _ => return None,
        })
    }

    /// The full name, as messages show it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Year => "year",
            Self::Quarter => "quarter",
            Self::Month => "month",
            Self::DayOfYear => "dayofyear",
            Self::Day => "day",
            Self::Week => "week",
            Self::IsoWeek => "iso_week",
            Self::Weekday => "weekday",
            Self::Hour => "hour",
            Self::Minute => "minute",
            Self::Second => "second",
            Self::Millisecond => "millisecond",
            Self::Microsecond => "microsecond",
            Self::Nanosecond => "nanosecond",
            Self::TzOffset => "tzoffset",
        }
    }

    fn is_time(self) -> bool {
        matches!(
            self,
            Self::Hour
                | Self::Minute
                | Self::Second
                | Self::Millisecond
                | Self::Microsecond
                | Self::Nanosecond
        )
    }

    /// Ticks of a part of fixed length that is at least a tick.
    fn ticks(self) -> Option<i64> {
        Some(match self {
            Self::Hour => 3600 * TICKS_PER_SECOND,
            Self::Minute => 60 * TICKS_PER_SECOND,
            Self::Second => TICKS_PER_SECOND,
            Self::Millisecond => 10_000,
            Self::Microsecond => 10,
            Self::Year
            | Self::Quarter
            | Self::Month
            | Self::DayOfYear
            | Self::Day
            | Self::Week
            | Self::IsoWeek
            | Self::Weekday
            | Self::Nanosecond
            | Self::TzOffset => return None,
        })
    }

    /// Refuses a part that a type does not have for this use, as `function` would.
    pub fn check(self, part_use: PartUse, function: &str, ty: &DataType) -> SqlResult<()> {
        let missing = match ty {
            DataType::Date => self.is_time() || self == Self::TzOffset,
            DataType::Time(_) => !self.is_time(),
            DataType::DateTime | DataType::SmallDateTime => {
                self == Self::TzOffset
                    || (part_use == PartUse::Add
                        && matches!(self, Self::Microsecond | Self::Nanosecond))
            }
            DataType::DateTime2(_) => self == Self::TzOffset && part_use != PartUse::Read,
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
            | DataType::UniqueIdentifier
            | DataType::DateTimeOffset(_) => false,
        };
        let only_read = matches!(self, Self::TzOffset | Self::IsoWeek);
        if missing || only_read && part_use != PartUse::Read {
            return Err(SqlError::new(
                9810,
                format!(
                    "The datepart {} is not supported by date function {} for data type {}.",
                    self.name(),
                    function.to_ascii_lowercase(),
                    ty.error_name()
                ),
            ));
        }
        Ok(())
    }
}

/// `DATEADD(part, number, value)` for a value of type `ty`.
///
/// # Errors
///
/// 517 when the result leaves the type's range, 9810 for a part the type does not have.
pub fn add(part: DatePart, number: i64, value: &Value, ty: &DataType) -> SqlResult<Value> {
    part.check(PartUse::Add, "dateadd", ty)?;
    let Some(moment) = Moment::of(value) else {
        return Err(errors::invalid_argument(ty, 3, "dateadd"));
    };
    let overflow = || errors::date_overflow(ty);
    let moved = match part {
        DatePart::Year => add_months(moment, number.checked_mul(12).ok_or_else(overflow)?),
        DatePart::Quarter => add_months(moment, number.checked_mul(3).ok_or_else(overflow)?),
        DatePart::Month => add_months(moment, number),
        DatePart::Day | DatePart::DayOfYear | DatePart::Weekday => add_days(moment, number),
        DatePart::Week => add_days(moment, number.checked_mul(7).ok_or_else(overflow)?),
        DatePart::Nanosecond => add_ticks(
            moment,
            Some(number.saturating_add(50 * number.signum()) / 100),
        ),
        DatePart::IsoWeek
        | DatePart::Hour
        | DatePart::Minute
        | DatePart::Second
        | DatePart::Millisecond
        | DatePart::Microsecond
        | DatePart::TzOffset => add_ticks(moment, part.ticks().and_then(|t| t.checked_mul(number))),
    };
    let mut moved = moved.ok_or_else(overflow)?;
    if matches!(ty, DataType::Time(_)) {
        moved.days = moment.days;
    }
    moved.to_value(ty, ty).map_err(|_| overflow())
}

fn add_days(moment: Moment, days: i64) -> Option<Moment> {
    let days = i64::from(moment.days).checked_add(days)?;
    let days = i32::try_from(days)
        .ok()
        .filter(|d| (0..super::datetime::DAYS_END).contains(d))?;
    Some(Moment { days, ..moment })
}

fn add_months(moment: Moment, months: i64) -> Option<Moment> {
    let (year, month, day) = to_civil(moment.days);
    let total = (i64::from(year) * 12 + i64::from(month) - 1).checked_add(months)?;
    let year = i32::try_from(total.div_euclid(12)).ok()?;
    let month = total.rem_euclid(12) as u32 + 1;
    let days = from_civil(year, month, day.min(days_in_month(year, month)))?;
    Some(Moment { days, ..moment })
}

fn add_ticks(moment: Moment, ticks: Option<i64>) -> Option<Moment> {
    Moment::from_total_ticks(moment.total_ticks().checked_add(ticks?)?, moment.offset)
}

/// The number of boundaries of `part` between two moments, in either direction.
///
/// Values with an offset are compared in UTC.
pub fn diff(part: DatePart, from: Moment, to: Moment) -> i128 {
    let (a, b) = (from.to_utc(), to.to_utc());
    let months = |m: Moment| {
        let (y, month, _) = to_civil(m.days);
        i64::from(y) * 12 + i64::from(month) - 1
    };
    let count = |f: &dyn Fn(Moment) -> i64| i128::from(f(b)) - i128::from(f(a));
    match part {
        DatePart::Year => count(&|m| months(m).div_euclid(12)),
        DatePart::Quarter => count(&|m| months(m).div_euclid(3)),
        DatePart::Month => count(&months),
        // Weeks begin on Sunday whatever DATEFIRST says.
        DatePart::Week | DatePart::IsoWeek => count(&|m| i64::from(m.days + 1).div_euclid(7)),
        DatePart::Nanosecond => count(&Moment::total_ticks) * 100,
        DatePart::DayOfYear
        | DatePart::Day
        | DatePart::Weekday
        | DatePart::Hour
        | DatePart::Minute
        | DatePart::Second
        | DatePart::Millisecond
        | DatePart::Microsecond
        | DatePart::TzOffset => match part.ticks() {
            Some(unit) => count(&|m| m.total_ticks().div_euclid(unit)),
            None => count(&|m| i64::from(m.days)),
        },
    }
}

/// `DATEPART(part, value)`; `date_first` is SET DATEFIRST, 7 by default.
pub fn extract(part: DatePart, moment: Moment, ty: &DataType, date_first: i32) -> i64 {
    let (year, month, day) = to_civil(moment.days);
    let seconds = moment.ticks / TICKS_PER_SECOND;
    let fraction = moment.ticks % TICKS_PER_SECOND;
    // DATETIME's fraction is a rounded third of a millisecond and reads as it is shown.
    let milliseconds = if matches!(ty, DataType::DateTime) {
        (fraction + 5_000) / 10_000
    } else {
        fraction / 10_000
    };
    match part {
        DatePart::Year => i64::from(year),
        DatePart::Quarter => i64::from((month - 1) / 3 + 1),
        DatePart::Month => i64::from(month),
        DatePart::Day => i64::from(day),
        DatePart::DayOfYear => i64::from(day_of_year(moment.days)),
        DatePart::Week => {
            let first = moment.days - day_of_year(moment.days) + 1;
            let lead = (weekday(first) - date_first).rem_euclid(7);
            i64::from((day_of_year(moment.days) - 1 + lead) / 7 + 1)
        }
        DatePart::IsoWeek => i64::from(iso_week(moment.days)),
        DatePart::Weekday => i64::from((weekday(moment.days) - date_first).rem_euclid(7) + 1),
        DatePart::Hour => seconds / 3600,
        DatePart::Minute => seconds / 60 % 60,
        DatePart::Second => seconds % 60,
        DatePart::Millisecond => milliseconds,
        DatePart::Microsecond => fraction / 10,
        DatePart::Nanosecond => fraction * 100,
        DatePart::TzOffset => i64::from(moment.offset),
    }
}

/// `DATENAME(part, value)`.
pub fn name(part: DatePart, moment: Moment, ty: &DataType, date_first: i32) -> String {
    const DAYS: [&str; 7] = [
        "Sunday",
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
        "Saturday",
    ];
    match part {
        DatePart::Month => MONTHS[(to_civil(moment.days).1 - 1) as usize].to_owned(),
        DatePart::Weekday => DAYS[weekday(moment.days) as usize].to_owned(),
        DatePart::TzOffset => super::date_format::offset_text(moment.offset),
        DatePart::Year
        | DatePart::Quarter
        | DatePart::DayOfYear
        | DatePart::Day
        | DatePart::Week
        | DatePart::IsoWeek
        | DatePart::Hour
        | DatePart::Minute
        | DatePart::Second
        | DatePart::Millisecond
        | DatePart::Microsecond
        | DatePart::Nanosecond => extract(part, moment, ty, date_first).to_string(),
    }
}

fn day_of_year(days: i32) -> i32 {
    let (year, _, _) = to_civil(days);
    days - from_civil(year, 1, 1).unwrap_or(0) + 1
}

/// The ISO week is that of the same week's Thursday.
fn iso_week(days: i32) -> i32 {
    let thursday = days - (weekday(days) + 6) % 7 + 3;
    (day_of_year(thursday) - 1) / 7 + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::date_parse;

    fn moment(text: &str) -> Moment {
        let p = date_parse::parse(text).unwrap();
        Moment {
            days: p.days,
            ticks: p.ticks,
            offset: p.offset.unwrap_or(0),
        }
    }

    #[test]
    fn differences_count_boundaries_not_durations() {
        let (a, b) = (moment("2023-12-31 23:59:59.9999999"), moment("2024-01-01"));
        for part in [
            "year", "quarter", "month", "day", "hour", "minute", "second", "ms",
        ] {
            assert_eq!(diff(DatePart::by_name(part).unwrap(), a, b), 1, "{part}");
        }
        assert_eq!(
            diff(DatePart::Week, moment("2024-01-06"), moment("2024-01-07")),
            1
        );
        assert_eq!(diff(DatePart::Day, b, a), -1);
        let epoch = moment("1970-01-01");
        assert_eq!(
            diff(DatePart::Millisecond, epoch, moment("2024-01-01")),
            1_704_067_200_000
        );
    }

    #[test]
    fn adding_months_clamps_the_day_and_leaving_the_range_is_517() {
        let ty = DataType::Date;
        let value = Value::Date(moment("2024-01-31").days);
        let added = add(DatePart::Month, 1, &value, &ty).unwrap();
        assert_eq!(added, Value::Date(moment("2024-02-29").days));
        assert_eq!(
            add(DatePart::Year, 9999, &value, &ty).unwrap_err().number,
            517
        );
        assert_eq!(
            add(DatePart::Hour, 1, &value, &ty).unwrap_err().number,
            9810
        );
    }

    #[test]
    fn parts_of_a_date() {
        let m = moment("2024-12-30 01:02:03.4567891");
        let ty = DataType::DateTime2(7);
        let part = |p| extract(p, m, &ty, 7);
        assert_eq!(part(DatePart::IsoWeek), 1);
        assert_eq!(part(DatePart::Week), 53);
        assert_eq!(part(DatePart::Weekday), 2);
        assert_eq!(part(DatePart::DayOfYear), 365);
        assert_eq!(part(DatePart::Nanosecond), 456_789_100);
        assert_eq!(name(DatePart::Month, m, &ty, 7), "December");
        assert_eq!(name(DatePart::Weekday, m, &ty, 7), "Monday");
    }
}
