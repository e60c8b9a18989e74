//! The rows of the system views, one file per family.

pub mod foreign_keys;
pub mod information_schema;
pub mod locks;
pub mod objects;
pub mod principals;
pub mod tables;

use std::sync::Arc;

use crate::value::Value;

use super::system_view::Source;
use crate::catalog::{Object, TableDef};

fn int(n: impl Into<i64>) -> Value {
    Value::Int(n.into())
}

fn bit(b: bool) -> Value {
    Value::Bit(b)
}

fn text(s: &str) -> Value {
    Value::text(s)
}

/// A DATETIME from Unix milliseconds, rounded to its 1/300 s.
fn moment(unix_ms: i64) -> Value {
    const DAY_MS: i64 = 86_400_000;
    const UNIX_EPOCH_DAYS: i64 = 719_162;
    let days = unix_ms.div_euclid(DAY_MS) + UNIX_EPOCH_DAYS;
    let thirds = (unix_ms.rem_euclid(DAY_MS) * 3 + 5) / 10;
    Value::DateTime {
        days: days as i32,
        ticks: thirds * 100_000 / 3,
    }
}

fn all_tables<'s>(source: &'s Source<'_>) -> impl Iterator<Item = &'s Arc<TableDef>> {
    source.database.objects.values().filter_map(|o| match o {
        Object::Table(t) => Some(t),
        _ => None,
    })
}
