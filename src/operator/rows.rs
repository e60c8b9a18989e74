//! Rows of views as JSON.

use serde_json::Value;
use tiberius::{ColumnData, Row};

use super::ViewRow;
use crate::error::CallError;

/// Days from 0001-01-01, where the driver counts from, to 1970-01-01.
const DAYS_TO_1970: i64 = 719_162;

pub(super) fn to_json(row: Row) -> Result<ViewRow, CallError> {
    row.cells()
        .map(|(column, data)| Ok((column.name().to_owned(), value(column.name(), data)?)))
        .collect()
}

fn value(column: &str, data: &ColumnData<'_>) -> Result<Value, CallError> {
    Ok(match data {
        ColumnData::Bit(value) => (*value).into(),
        ColumnData::U8(value) => (*value).into(),
        ColumnData::I16(value) => (*value).into(),
        ColumnData::I32(value) => (*value).into(),
        ColumnData::I64(value) => (*value).into(),
        ColumnData::String(value) => value.as_deref().into(),
        ColumnData::DateTime2(value) => value
            .map(|at| {
                let scale = 10_i64.pow(u32::from(at.time().scale()));
                let increments = i64::try_from(at.time().increments()).unwrap_or(0);
                let day = i64::from(at.date().days()) - DAYS_TO_1970;
                instant(day * 86_400_000 + increments * 1000 / scale)
            })
            .into(),
        other => {
            return Err(CallError::Data(format!(
                "column {column} has a type that no view has: {other:?}"
            )));
        }
    })
}

/// Milliseconds since 1970 as RFC 3339 in UTC.
fn instant(ms: i64) -> String {
    let (days, in_day) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    let (year, month, day) = civil(days);
    let (seconds, millis) = (in_day / 1000, in_day % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// The date of a day counted from 1970-01-01, in the Gregorian calendar. Years are counted from
/// March, so that the leap day comes last.
fn civil(days: i64) -> (i64, i64, i64) {
    const FOUR_CENTURIES: i64 = 146_097;
    let since = days + 719_468;
    let era = since.div_euclid(FOUR_CENTURIES);
    let day_of_era = since.rem_euclid(FOUR_CENTURIES);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_those_of_the_calendar() {
        assert_eq!(instant(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(instant(951_782_400_123), "2000-02-29T00:00:00.123Z");
        assert_eq!(instant(1_735_689_599_999), "2024-12-31T23:59:59.999Z");
        assert_eq!(instant(253_402_300_799_999), "9999-12-31T23:59:59.999Z");
    }
}
