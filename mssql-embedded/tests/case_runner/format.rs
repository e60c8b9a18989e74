//! Values as the case files write them.

use tiberius::ColumnData;
use tiberius::numeric::Numeric;
use tiberius::time::{Date, Time};

/// Days from 0001-01-01 to 1900-01-01, where DATETIME counts from.
const DAYS_TO_1900: i64 = 693_595;

/// One value.
pub fn value(data: &ColumnData<'_>) -> String {
    let text = match data {
        ColumnData::U8(v) => v.map(|v| v.to_string()),
        ColumnData::I16(v) => v.map(|v| v.to_string()),
        ColumnData::I32(v) => v.map(|v| v.to_string()),
        ColumnData::I64(v) => v.map(|v| v.to_string()),
        ColumnData::F32(v) => v.map(|v| v.to_string()),
        ColumnData::F64(v) => v.map(|v| v.to_string()),
        ColumnData::Bit(v) => v.map(|v| u8::from(v).to_string()),
        ColumnData::String(v) => v.as_ref().map(|v| quoted(v)),
        ColumnData::Guid(v) => v.map(|v| v.to_string().to_uppercase()),
        ColumnData::Binary(v) => v.as_ref().map(|v| {
            v.iter()
                .fold("0x".to_owned(), |text, byte| format!("{text}{byte:02X}"))
        }),
        ColumnData::Numeric(v) => v.map(decimal),
        ColumnData::Date(v) => v.map(date),
        ColumnData::Time(v) => v.map(time),
        ColumnData::DateTime2(v) => v.map(|v| format!("{} {}", date(v.date()), time(v.time()))),
        ColumnData::DateTimeOffset(v) => v.map(|v| offset(v.datetime2(), v.offset())),
        ColumnData::DateTime(v) => v.map(|v| {
            // 1/300 s, shown in milliseconds as T-SQL rounds them: .000, .003, .007.
            let ms = (i64::from(v.seconds_fragments()) * 1000 + 150) / 300;
            format!(
                "{} {}",
                civil(i64::from(v.days()) + DAYS_TO_1900),
                time(Time::new(ms.unsigned_abs(), 3))
            )
        }),
        ColumnData::SmallDateTime(v) => v.map(|v| {
            let minutes = u64::from(v.seconds_fragments());
            let days = i64::from(v.days()) + DAYS_TO_1900;
            format!("{} {}", civil(days), time(Time::new(minutes * 60, 0)))
        }),
        ColumnData::Xml(_) => Some("xml".to_owned()),
    };
    text.unwrap_or_else(|| "NULL".to_owned())
}

fn quoted(text: &str) -> String {
    let text = text.replace('\'', "''");
    let text = text.replace('\r', "\\r").replace('\n', "\\n");
    format!("'{text}'")
}

fn decimal(v: Numeric) -> String {
    let scale = usize::from(v.scale());
    let sign = if v.value() < 0 { "-" } else { "" };
    let digits = v.value().unsigned_abs().to_string();
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

fn date(v: Date) -> String {
    civil(i64::from(v.days()))
}

/// The calendar date so many days after 0001-01-01.
fn civil(days: i64) -> String {
    let days = days + 306;
    let era = days / 146_097;
    let in_era = days % 146_097;
    let year_of_era = (in_era - in_era / 1_460 + in_era / 36_524 - in_era / 146_096) / 365;
    let in_year = in_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * in_year + 2) / 153;
    let day = in_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

fn time(v: Time) -> String {
    let unit = 10u64.pow(u32::from(v.scale()));
    let seconds = v.increments() / unit;
    let clock = format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    );
    if v.scale() == 0 {
        return clock;
    }
    let fraction = v.increments() % unit;
    format!("{clock}.{fraction:0width$}", width = usize::from(v.scale()))
}

/// A DATETIMEOFFSET travels in UTC and is shown in its own offset.
fn offset(utc: tiberius::time::DateTime2, minutes: i16) -> String {
    let unit = 10i64.pow(u32::from(utc.time().scale()));
    let day = 86_400 * unit;
    let increments = i64::try_from(utc.time().increments()).unwrap_or_default();
    let total = i64::from(utc.date().days()) * day + increments + i64::from(minutes) * 60 * unit;
    let local = Time::new(total.rem_euclid(day).unsigned_abs(), utc.time().scale());
    let sign = if minutes < 0 { '-' } else { '+' };
    let minutes = minutes.unsigned_abs();
    format!(
        "{} {} {sign}{:02}:{:02}",
        civil(total.div_euclid(day)),
        time(local),
        minutes / 60,
        minutes % 60
    )
}
