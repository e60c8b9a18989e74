//! Keys of rows and index entries, and the bounds of a seek.

use std::ops::Bound;

use super::{Key, Row};
use crate::catalog::TableDef;
use crate::error::SqlError;
use crate::value::compare::encode_key;
use crate::value::{CastMode, Collation, DataType, Value, cast, guid};

/// Where a seek begins and ends.
pub type Bounds = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// Appends the key columns of the index at position `index`.
pub fn encode_columns(def: &TableDef, index: usize, row: &[Value], out: &mut Vec<u8>) {
    let Some(index) = def.indexes.get(index) else {
        return;
    };
    for (column, descending) in &index.keys {
        let value = row.get(*column).unwrap_or(&Value::Null);
        encode_key(value, &def.columns[*column].ty, *descending, out);
    }
}

/// The key columns of the index at position `index`, encoded.
pub fn encode_index_key(def: &TableDef, index: usize, row: &Row) -> Vec<u8> {
    let mut out = Vec::with_capacity(32);
    encode_columns(def, index, row, &mut out);
    out
}

/// The key under which a row is kept, its locator: the clustered key, made unique by the row's number
/// where the index is not; on a heap the number alone.
pub fn base_key(def: &TableDef, row: &Row, number: u64) -> Key {
    let mut out = Vec::with_capacity(32);
    match def.indexes.first() {
        Some(index) if index.clustered => {
            encode_columns(def, 0, row, &mut out);
            if !index.unique {
                out.extend_from_slice(&number.to_be_bytes());
            }
        }
        _ => out.extend_from_slice(&number.to_be_bytes()),
    }
    out.into()
}

/// The key of a row in the nonclustered index at position `index`: its key columns, followed by the
/// locator unless the index is unique.
pub fn entry_key(def: &TableDef, index: usize, row: &Row, locator: &Key) -> Key {
    let mut out = Vec::with_capacity(32 + locator.len());
    encode_columns(def, index, row, &mut out);
    if !def.indexes[index].unique {
        out.extend_from_slice(locator);
    }
    out.into()
}

/// Whether two versions of a row are the same as far as an index stores them: its key columns and
/// those it includes.
pub(crate) fn same_in_index(def: &TableDef, index: usize, a: &Row, b: &Row) -> bool {
    let index = &def.indexes[index];
    let keys = index.keys.iter().map(|(column, _)| column);
    keys.chain(&index.include).all(|c| a[*c] == b[*c])
}

/// The bounds of a seek: the first key columns equal `prefix`, and the next one lies between `low`
/// and `high`, each with whether it is included. Values must already have the columns' types. A
/// range on the next column leaves NULLs out, as comparison does; without one they are included.
///
/// Equality on all columns of a unique index gives equal inclusive bounds, by which a cursor knows
/// that at most one row can be found.
pub fn seek_bounds(
    def: &TableDef,
    index: usize,
    prefix: &[Value],
    low: Option<(Value, bool)>,
    high: Option<(Value, bool)>,
) -> Bounds {
    let Some(index) = def.indexes.get(index) else {
        return (Bound::Unbounded, Bound::Unbounded);
    };
    let mut start = Vec::with_capacity(32);
    for (value, (column, descending)) in prefix.iter().zip(&index.keys) {
        encode_key(value, &def.columns[*column].ty, *descending, &mut start);
    }
    let next = index.keys.get(prefix.len());
    let Some((column, descending)) = next.filter(|_| low.is_some() || high.is_some()) else {
        if next.is_none() && index.unique {
            return (Bound::Included(start.clone()), Bound::Included(start));
        }
        if start.is_empty() {
            return (Bound::Unbounded, Bound::Unbounded);
        }
        let end = successor(&start);
        return (Bound::Included(start), end);
    };
    let encode = |value: &Value| {
        let mut key = start.clone();
        encode_key(value, &def.columns[*column].ty, *descending, &mut key);
        key
    };
    let (first, last) = if *descending {
        (high, low)
    } else {
        (low, high)
    };
    let begin = match first {
        Some((v, true)) => Bound::Included(encode(&v)),
        Some((v, false)) => after(&encode(&v)),
        None if *descending => Bound::Included(start.clone()),
        None => after(&encode(&Value::Null)),
    };
    let end = match last {
        Some((v, true)) => successor(&encode(&v)),
        Some((v, false)) => Bound::Excluded(encode(&v)),
        None if *descending => Bound::Excluded(encode(&Value::Null)),
        None => successor(&start),
    };
    (begin, end)
}

/// The end of all keys that start with `prefix`.
fn successor(prefix: &[u8]) -> Bound<Vec<u8>> {
    match prefix.iter().rposition(|b| *b != 0xFF) {
        Some(last) => {
            let mut end = prefix[..=last].to_vec();
            end[last] += 1;
            Bound::Excluded(end)
        }
        None => Bound::Unbounded,
    }
}

/// The beginning of what follows all keys that start with `prefix`.
fn after(prefix: &[u8]) -> Bound<Vec<u8>> {
    match successor(prefix) {
        Bound::Excluded(key) => Bound::Included(key),
        // Every key that is not greater starts with 0xFF bytes only, so nothing follows.
        Bound::Included(_) | Bound::Unbounded => Bound::Excluded(vec![0xFF; prefix.len() + 1]),
    }
}

/// The key columns of a row as the messages about duplicates show them: `(1, abc)`.
pub fn key_text(def: &TableDef, index: usize, row: &Row) -> String {
    let texts: Vec<String> = def.indexes[index]
        .keys
        .iter()
        .map(|(column, _)| value_text(&row[*column], &def.columns[*column].ty))
        .collect();
    format!("({})", texts.join(", "))
}

fn value_text(value: &Value, ty: &DataType) -> String {
    match value {
        Value::Null => "<NULL>".to_owned(),
        Value::Bytes(bytes) => bytes.iter().fold("0x".to_owned(), |mut text, byte| {
            text.push_str(&format!("{byte:02x}"));
            text
        }),
        Value::Guid(bytes) => guid::format(bytes).to_lowercase(),
        other @ (Value::Bit(_)
        | Value::Int(_)
        | Value::Decimal { .. }
        | Value::Float(_)
        | Value::Str(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. }) => {
            let to = DataType::nvarchar_max(Collation::SqlLatin1CiAs);
            match cast(other, ty, &to, None, CastMode::Explicit) {
                Ok(Value::Str(text)) => String::from_utf16_lossy(&text),
                // No type is like that; should one come, the message says why instead of nothing.
                Ok(other) => format!("{other:?}"),
                Err(error) => error.message,
            }
        }
    }
}

/// The error about a key that is there already: 2627 for a constraint, 2601 for an index.
pub(crate) fn duplicate_error(def: &TableDef, index: usize, row: &Row) -> SqlError {
    let values = key_text(def, index, row);
    let index = &def.indexes[index];
    let (schema, table, name) = (&def.schema, &def.name, &index.name);
    match &index.constraint {
        Some(constraint) => {
            let kind = if constraint.primary {
                "PRIMARY"
            } else {
                "UNIQUE"
            };
            SqlError::with(
                2627,
                14,
                1,
                format!(
                    "Violation of {kind} KEY constraint '{name}'. Cannot insert duplicate key in \
                     object '{schema}.{table}'. The duplicate key value is {values}."
                ),
            )
        }
        None => SqlError::with(
            2601,
            14,
            1,
            format!(
                "Cannot insert duplicate key row in object '{schema}.{table}' with unique index \
                 '{name}'. The duplicate key value is {values}."
            ),
        ),
    }
}

/// Whether no key can lie between two bounds; `BTreeMap::range` must not be asked then.
pub(crate) fn is_empty_range(low: Bound<&[u8]>, high: Bound<&[u8]>) -> bool {
    match (low, high) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        (Bound::Included(l), Bound::Included(h)) => l > h,
        (Bound::Included(l) | Bound::Excluded(l), Bound::Included(h) | Bound::Excluded(h)) => {
            l >= h
        }
    }
}
