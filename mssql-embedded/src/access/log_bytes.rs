//! How many bytes SQL Server would write to its log for what a statement changes: an estimate, since this
//! engine writes none.
//!
//! It counts row images with the fixed costs that `fn_dblog` shows: an INSERT of a row of 33 bytes is a
//! record of 124 bytes there, 91 of them header, offsets and lock information. An index entry has a record
//! of its own. A DELETE carries the whole row; an UPDATE in place carries the changed columns before and
//! after. What is left out: page splits and allocations, which come on top, and the rounding of
//! each flush to sectors of 512 bytes.

use crate::storage::Key;
use crate::value::Value;

/// What a record has besides its row image.
const RECORD: u64 = 92;
/// The records that begin and commit a transaction.
const TRANSACTION: u64 = 124 + 84;
/// A row's status bits, length, column count and number of variable columns.
const ROW: u64 = 8;
/// Larger values lie on pages of their own, each with a record.
const LOB_PAGE: u64 = 8_040;

/// The records of a transaction that writes at all.
pub(super) fn transaction() -> u64 {
    TRANSACTION
}

/// A row that is inserted or deleted.
pub(super) fn row(row: &[Value]) -> u64 {
    let null_bitmap = (row.len() as u64).div_ceil(8);
    let columns: u64 = row.iter().map(column).sum();
    RECORD + ROW + null_bitmap + columns
}

/// A row that stays where it is: one record, with the columns that change.
pub(super) fn change(old: &[Value], new: &[Value]) -> u64 {
    let both = old.iter().zip(new);
    let changed = both.filter(|(old, new)| !same(old, new));
    RECORD
        + changed
            .map(|(old, new)| column(old) + column(new))
            .sum::<u64>()
}

/// An entry of a nonclustered index: its key includes the locator.
pub(super) fn entry(key: &Key) -> u64 {
    RECORD + ROW + key.len() as u64
}

/// A column's bytes in a row; a variable one has an offset, and off-row pages have records.
fn column(value: &Value) -> u64 {
    let variable = |bytes: usize| {
        let bytes = bytes as u64;
        2 + bytes + bytes / LOB_PAGE * RECORD
    };
    match value {
        Value::Null => 0,
        Value::Bit(_) => 1,
        Value::Str(text) => variable(2 * text.len()),
        Value::Bytes(bytes) => variable(bytes.len()),
        Value::Guid(_) => 16,
        Value::Date(_) => 3,
        Value::Time(_) => 5,
        // The width of an integer is its column's; nearly all of them here are BIGINT.
        Value::Int(_)
        | Value::Decimal { .. }
        | Value::Float(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. } => 8,
    }
}

/// Whether a write leaves a column as it is. Compared as stored, not as T-SQL compares.
fn same(old: &Value, new: &Value) -> bool {
    match old {
        Value::Null => matches!(new, Value::Null),
        Value::Bit(a) => matches!(new, Value::Bit(b) if a == b),
        Value::Int(a) => matches!(new, Value::Int(b) if a == b),
        Value::Decimal { units: a, scale: s } => {
            matches!(new, Value::Decimal { units: b, scale: t } if (a, s) == (b, t))
        }
        Value::Float(a) => matches!(new, Value::Float(b) if a.to_bits() == b.to_bits()),
        Value::Str(a) => matches!(new, Value::Str(b) if a == b),
        Value::Bytes(a) => matches!(new, Value::Bytes(b) if a == b),
        Value::Guid(a) => matches!(new, Value::Guid(b) if a == b),
        Value::Date(a) => matches!(new, Value::Date(b) if a == b),
        Value::Time(a) => matches!(new, Value::Time(b) if a == b),
        Value::DateTime { days: a, ticks: s } => {
            matches!(new, Value::DateTime { days: b, ticks: t } if (a, s) == (b, t))
        }
        Value::DateTimeOffset {
            days: a,
            ticks: s,
            offset: x,
        } => matches!(
            new,
            Value::DateTimeOffset { days: b, ticks: t, offset: y } if (a, s, x) == (b, t, y)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(length: usize) -> Value {
        Value::Str(vec![u16::from(b'x'); length].into())
    }

    /// The example of the module's first words: INT, VARCHAR, CHAR(6), VARCHAR in 33 bytes of row.
    #[test]
    fn a_small_row_costs_about_what_fn_dblog_shows() {
        let bytes = |text: &str| Value::Bytes(text.as_bytes().into());
        let example = [
            Value::Int(12_345),
            bytes("ABCD"),
            bytes("DEPT01"),
            bytes("BBBBB"),
        ];
        let estimate = row(&example);
        assert!((118..=136).contains(&estimate), "{estimate}");
    }

    #[test]
    fn an_update_costs_what_changes() {
        let old = [Value::Int(1), text(1_000), Value::Null];
        let new = [Value::Int(2), text(1_000), Value::Null];
        assert_eq!(change(&old, &new), RECORD + 16);
        assert!(row(&new) > 2_000, "an insert carries the text");
    }

    /// Every kind of value can stay as it is.
    #[test]
    fn what_stays_costs_nothing() {
        let row = [
            Value::Null,
            Value::Bit(true),
            Value::Int(1),
            Value::Decimal {
                units: 150,
                scale: 2,
            },
            Value::Float(1.5),
            text(3),
            Value::Bytes([1].into()),
            Value::Guid([1; 16]),
            Value::Date(1),
            Value::Time(1),
            Value::DateTime { days: 1, ticks: 1 },
            Value::DateTimeOffset {
                days: 1,
                ticks: 1,
                offset: 60,
            },
        ];
        assert_eq!(change(&row, &row), RECORD);
        for (i, value) in row.iter().enumerate() {
            for (j, other) in row.iter().enumerate() {
                assert_eq!(same(value, other), i == j, "{value:?} and {other:?}");
            }
        }
    }

    #[test]
    fn a_large_value_has_a_record_for_every_page() {
        let pages = 100_000_u64.div_ceil(LOB_PAGE) - 1;
        assert_eq!(column(&text(50_000)), 2 + 100_000 + pages * RECORD);
    }
}
