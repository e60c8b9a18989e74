//! Dates and times to text, by CONVERT's styles.

use super::date_parse::MONTHS;
use super::datetime::{Moment, TICKS_PER_SECOND, to_civil};
use super::facts::Family;
use super::{DataType, Value, errors};
use crate::error::SqlResult;

/// The style CAST uses for a type.
fn default_style(ty: &DataType) -> i32 {
    match ty.facts().family {
        Family::OldDate => 0,
        Family::Date
        | Family::Time
        | Family::NewDate
        | Family::Exact
        | Family::Float
        | Family::Text
        | Family::Binary
        | Family::Guid => 121,
    }
}

/// Whether a style shows the time of a date or the date of a time of day.
pub fn shows_nothing_of(ty: &DataType, style: i32) -> bool {
    match ty {
        DataType::Date => matches!(style, 8 | 24 | 108),
        DataType::Time(_) => matches!(style, 1..=7 | 10..=12 | 23 | 101..=107 | 110..=112),
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
        | DataType::SmallDateTime
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_) => false,
    }
}

/// The text of a date or time value of type `ty` in a style.
///
/// # Errors
///
/// 281 for a style that does not exist; the Hijri ones are refused before.
pub fn format(value: &Value, ty: &DataType, style: Option<i32>) -> SqlResult<String> {
    let style = style.unwrap_or_else(|| default_style(ty));
    let Some(mut moment) = Moment::of(value) else {
        return Err(errors::explicit_refused(ty, ty));
    };
    let mut suffix = String::new();
    if matches!(ty, DataType::DateTimeOffset(_)) {
        if style == 127 {
            moment = moment.to_utc();
            suffix.push('Z');
        } else {
            let space = if style == 126 { "" } else { " " };
            suffix = format!("{space}{}", offset_text(moment.offset));
        }
    } else if style == 127 && !matches!(ty, DataType::Date | DataType::Time(_)) {
        // Without an offset style 127 shows the same as 126.
        suffix.clear();
    }
    let parts = Parts { ty, moment };
    let (date, time) = parts
        .styled(style)
        .ok_or_else(|| errors::bad_style(style, ty))?;
    Ok(match ty {
        DataType::Date if date.is_empty() => return Err(errors::bad_style(style, ty)),
        DataType::Date => date,
        DataType::Time(_) if time.is_empty() => return Err(errors::bad_style(style, ty)),
        DataType::Time(_) => time.trim_start().to_owned(),
        _ if date.is_empty() || time.is_empty() => format!("{date}{time}"),
        _ if matches!(style, 126 | 127) => format!("{date}T{time}{suffix}"),
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
        | DataType::SmallDateTime
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_) => format!("{date} {time}{suffix}"),
    })
}

/// `+hh:mm`.
pub fn offset_text(offset: i16) -> String {
    let sign = if offset < 0 { '-' } else { '+' };
    let minutes = offset.unsigned_abs();
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

struct Parts<'a> {
    ty: &'a DataType,
    moment: Moment,
}

impl Parts<'_> {
    /// The date's and the time's text; one is empty where the style shows only the other.
    fn styled(&self, style: i32) -> Option<(String, String)> {
        let (y, m, d) = to_civil(self.moment.days);
        let mon = &MONTHS[(m - 1) as usize][..3];
        let yy = y % 100;
        let none = String::new;
        Some(match style {
            0 | 100 => (format!("{mon} {d:>2} {y:04}"), self.clock12("")),
            1 => (format!("{m:02}/{d:02}/{yy:02}"), none()),
            101 => (format!("{m:02}/{d:02}/{y:04}"), none()),
            2 => (format!("{yy:02}.{m:02}.{d:02}"), none()),
            102 => (format!("{y:04}.{m:02}.{d:02}"), none()),
            3 => (format!("{d:02}/{m:02}/{yy:02}"), none()),
            103 => (format!("{d:02}/{m:02}/{y:04}"), none()),
            4 => (format!("{d:02}.{m:02}.{yy:02}"), none()),
            104 => (format!("{d:02}.{m:02}.{y:04}"), none()),
            5 => (format!("{d:02}-{m:02}-{yy:02}"), none()),
            105 => (format!("{d:02}-{m:02}-{y:04}"), none()),
            6 => (format!("{d:02} {mon} {yy:02}"), none()),
            106 => (format!("{d:02} {mon} {y:04}"), none()),
            7 => (format!("{mon} {d:02}, {yy:02}"), none()),
            107 => (format!("{mon} {d:02}, {y:04}"), none()),
            8 | 24 | 108 => (none(), self.clock24("")),
            9 | 109 => (
                format!("{mon} {d:>2} {y:04}"),
                self.clock12(&self.fraction(true)),
            ),
            10 => (format!("{m:02}-{d:02}-{yy:02}"), none()),
            110 => (format!("{m:02}-{d:02}-{y:04}"), none()),
            11 => (format!("{yy:02}/{m:02}/{d:02}"), none()),
            111 => (format!("{y:04}/{m:02}/{d:02}"), none()),
            12 => (format!("{yy:02}{m:02}{d:02}"), none()),
            112 => (format!("{y:04}{m:02}{d:02}"), none()),
            13 | 113 => (
                format!("{d:02} {mon} {y:04}"),
                self.clock24(&self.fraction(true)),
            ),
            14 | 114 => (none(), self.clock24(&self.fraction(true))),
            20 | 120 => (format!("{y:04}-{m:02}-{d:02}"), self.clock24("")),
            21 | 25 | 121 => (
                format!("{y:04}-{m:02}-{d:02}"),
                self.clock24(&self.fraction(false)),
            ),
            22 => {
                let (h, minute, second) = self.clock();
                let half = if h < 12 { "AM" } else { "PM" };
                let hour = if h % 12 == 0 { 12 } else { h % 12 };
                (
                    format!("{m:02}/{d:02}/{yy:02}"),
                    format!("{hour:>2}:{minute:02}:{second:02} {half}"),
                )
            }
            23 => (format!("{y:04}-{m:02}-{d:02}"), none()),
            126 | 127 => {
                let fraction = self.fraction(false);
                let zero = fraction.bytes().all(|b| matches!(b, b'.' | b'0'));
                let shown = if zero { "" } else { fraction.as_str() };
                (format!("{y:04}-{m:02}-{d:02}"), self.clock24(shown))
            }
            _ => return None,
        })
    }

    fn clock(&self) -> (i64, i64, i64) {
        let mut ticks = self.moment.ticks;
        if matches!(self.ty, DataType::DateTime) {
            // 1/300 of a second shows as whole milliseconds, which cannot reach the next second.
            ticks = (ticks + 5_000) / 10_000 * 10_000;
        }
        let seconds = ticks / TICKS_PER_SECOND;
        (seconds / 3600, seconds / 60 % 60, seconds % 60)
    }

    fn clock24(&self, fraction: &str) -> String {
        let (h, m, s) = self.clock();
        format!("{h:02}:{m:02}:{s:02}{fraction}")
    }

    fn clock12(&self, fraction: &str) -> String {
        let (h, m, s) = self.clock();
        let half = if h < 12 { "AM" } else { "PM" };
        let hour = if h % 12 == 0 { 12 } else { h % 12 };
        if fraction.is_empty() {
            format!("{hour:>2}:{m:02}{half}")
        } else {
            format!("{hour:>2}:{m:02}:{s:02}{fraction}{half}")
        }
    }

    /// The fraction with its point; the styles with a colon use it for DATETIME only.
    fn fraction(&self, colon: bool) -> String {
        let ticks = self.moment.ticks % TICKS_PER_SECOND;
        match self.ty {
            DataType::DateTime | DataType::SmallDateTime => {
                let ms = (ticks + 5_000) / 10_000;
                let point = if colon { ':' } else { '.' };
                format!("{point}{ms:03}")
            }
            DataType::Time(n) | DataType::DateTime2(n) | DataType::DateTimeOffset(n) if *n > 0 => {
                let digits = format!("{ticks:07}");
                format!(".{}", &digits[..usize::from(*n)])
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
            | DataType::UniqueIdentifier
            | DataType::Date
            | DataType::Time(_)
            | DataType::DateTime2(_)
            | DataType::DateTimeOffset(_) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::date_parse;

    fn show(text: &str, ty: DataType, style: Option<i32>) -> String {
        let p = date_parse::parse(text).unwrap();
        let moment = Moment {
            days: p.days,
            ticks: p.ticks,
            offset: p.offset.unwrap_or(0),
        };
        let value = moment.to_value(&ty, &ty).unwrap();
        format(&value, &ty, style).unwrap()
    }

    #[test]
    fn styles_match_the_documented_forms() {
        let text = "2024-03-05 13:02:03.456";
        let dt = || DataType::DateTime;
        assert_eq!(show(text, dt(), None), "Mar  5 2024  1:02PM");
        assert_eq!(show(text, dt(), Some(121)), "2024-03-05 13:02:03.457");
        assert_eq!(show(text, dt(), Some(120)), "2024-03-05 13:02:03");
        assert_eq!(show(text, dt(), Some(112)), "20240305");
        assert_eq!(show(text, dt(), Some(109)), "Mar  5 2024  1:02:03:457PM");
        assert_eq!(show(text, dt(), Some(126)), "2024-03-05T13:02:03.457");
        assert_eq!(show("2024-03-05", dt(), Some(126)), "2024-03-05T00:00:00");
        assert_eq!(
            show(text, DataType::DateTime2(7), None),
            "2024-03-05 13:02:03.4560000"
        );
        assert_eq!(show(text, DataType::Date, None), "2024-03-05");
        assert_eq!(show(text, DataType::Time(3), None), "13:02:03.456");
        let dto = DataType::DateTimeOffset(0);
        assert_eq!(
            show("2024-03-05 13:02 +02:00", dto.clone(), None),
            "2024-03-05 13:02:00 +02:00"
        );
        assert_eq!(
            show("2024-03-05 13:02 +02:00", dto, Some(127)),
            "2024-03-05T11:02:00Z"
        );
    }

    #[test]
    fn an_unknown_style_is_refused() {
        let value = Value::Date(0);
        assert_eq!(
            format(&value, &DataType::Date, Some(99))
                .unwrap_err()
                .number,
            281
        );
    }
}
