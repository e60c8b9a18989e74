//! sys.indexes, sys.index_columns, sys.partitions and sys.dm_db_partition_stats.

use std::sync::Arc;

use crate::catalog::{IndexDef, TableDef};
use crate::dictionary::Source;
use crate::dictionary::source::{ordinal, tables};
use crate::dictionary::view::view;

/// Where the rows or keys of a table are: in the heap, or in an index.
type Place<'s> = (&'s Arc<TableDef>, Option<&'s IndexDef>);

/// Every heap and index; a heap counts as index 0 and has no name.
fn places(source: &dyn Source) -> impl Iterator<Item = Place<'_>> {
    tables(source).flat_map(|t| {
        let heap = (!t.indexes.iter().any(|i| i.clustered)).then_some(None);
        let places = heap.into_iter().chain(t.indexes.iter().map(Some));
        places.map(move |place| (t, place))
    })
}

fn is_constraint(index: &IndexDef, primary: bool) -> bool {
    let constraint = index.constraint.as_ref();
    constraint.is_some_and(|c| c.primary == primary)
}

view! {
    /// Heaps and indexes.
    INDEXES: "sys.indexes";
    each (t, i) in |s| places(s);
    "object_id": Int = t.id,
    "name": Name = i.map(|i| &i.name),
    "index_id": Int = i.map_or(0, |i| i.index_id),
    "type": TinyInt = i.map_or(0, |i| if i.clustered { 1 } else { 2 }),
    "type_desc": Text60 = i.map_or("HEAP", |i| if i.clustered { "CLUSTERED" } else { "NONCLUSTERED" }),
    "is_unique": Bit = i.is_some_and(|i| i.unique),
    "data_space_id": Int = 1,
    "ignore_dup_key": Bit = i.is_some_and(|i| i.ignore_dup_key),
    "is_primary_key": Bit = i.is_some_and(|i| is_constraint(i, true)),
    "is_unique_constraint": Bit = i.is_some_and(|i| is_constraint(i, false)),
    "is_disabled": Bit = false,
    "is_hypothetical": Bit = false,
    "is_ignored_in_optimization": Bit = false,
    "allow_row_locks": Bit = true,
    "allow_page_locks": Bit = i.is_none_or(|i| i.allow_page_locks),
    "has_filter": Bit = i.is_some_and(|i| i.filter.is_some()),
    "filter_definition": Max = i.and_then(|i| i.filter.as_ref()).map(|(_, text)| text),
    "compression_delay": Int = None::<i32>,
    "suppress_dup_key_messages": Bit = false,
    "auto_created": Bit = false,
}

/// A column of an index: its place among all of them, its position in the table, and how it is used.
struct Part {
    place: usize,
    column: usize,
    descending: bool,
    included: bool,
}

fn parts(index: &IndexDef) -> impl Iterator<Item = Part> {
    let keys = index.keys.iter().map(|(c, d)| (*c, *d, false));
    let all = keys.chain(index.include.iter().map(|c| (*c, false, true)));
    all.enumerate()
        .map(|(place, (column, descending, included))| Part {
            place,
            column,
            descending,
            included,
        })
}

view! {
    /// Key and included columns of indexes.
    INDEX_COLUMNS: "sys.index_columns";
    each (t, i, part) in |s| places(s)
        .filter_map(|(t, i)| Some((t, i?)))
        .flat_map(|(t, i)| parts(i).map(move |part| (t, i, part)));
    "object_id": Int = t.id,
    "index_id": Int = i.index_id,
    "index_column_id": Int = ordinal(part.place),
    "column_id": Int = t.columns[part.column].id,
    "key_ordinal": TinyInt = if part.included { 0 } else { key_ordinal(part.place) },
    "partition_ordinal": TinyInt = 0,
    "is_descending_key": Bit = part.descending,
    "is_included_column": Bit = part.included,
}

/// An index has at most 32 key columns.
fn key_ordinal(place: usize) -> u8 {
    u8::try_from(place).map_or(u8::MAX, |n| n.saturating_add(1))
}

/// partition_id and hobt_id of a heap or index.
pub(super) fn partition_id(table: i32, index: i32) -> i64 {
    (i64::from(table) << 16) | i64::from(index)
}

/// A view with a row per heap and index, each of which has one partition.
macro_rules! partition_view {
    ($(#[$doc:meta])* $id:ident: $name:literal, [$($hobt:literal)?], $rows:literal) => {
        view! {
            $(#[$doc])*
            $id: $name;
            each (t, index, rows) in |s| places(s)
                .map(|(t, i)| (t, i.map_or(0, |i| i.index_id), s.store().row_count(t.id)));
            "partition_id": BigInt = partition_id(t.id, index),
            "object_id": Int = t.id,
            "index_id": Int = index,
            "partition_number": Int = 1,
            $($hobt: BigInt = partition_id(t.id, index),)?
            $rows: BigInt = rows.cast_signed(),
        }
    };
}

partition_view! {
    /// Partitions with their rows.
    PARTITIONS: "sys.partitions", ["hobt_id"], "rows"
}

partition_view! {
    /// Partitions with their rows, as the management view names them.
    PARTITION_STATS: "sys.dm_db_partition_stats", [], "row_count"
}
