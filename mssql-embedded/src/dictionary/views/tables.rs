//! What tables are made of: columns, indexes, constraints, row counts.

use crate::dictionary::property::system_type_id;
use crate::dictionary::system_view::Source;
use crate::value::Value;

use super::{all_tables, bit, int, text};

type Rows = Vec<Vec<Value>>;

/// sys.columns.
pub fn columns(s: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for t in all_tables(s) {
        for c in &t.columns {
            let id = system_type_id(&c.ty);
            rows.push(vec![
                int(t.id),
                text(&c.name),
                int(c.id),
                int(id),
                int(id),
                int(c.ty.max_length()),
                int(c.ty.precision()),
                int(c.ty.scale()),
                c.ty.collation().map_or(Value::Null, |x| text(x.name())),
                bit(c.nullable),
                bit(c.identity.is_some()),
                bit(c.computed.is_some()),
                int(c.default.as_ref().map_or(0, |d| d.id)),
            ]);
        }
    }
    rows
}

/// sys.computed_columns.
pub fn computed_columns(s: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for t in all_tables(s) {
        for c in &t.columns {
            if let Some((_, definition, persisted)) = &c.computed {
                rows.push(vec![
                    int(t.id),
                    text(&c.name),
                    int(c.id),
                    text(definition),
                    bit(*persisted),
                ]);
            }
        }
    }
    rows
}

/// sys.identity_columns.
pub fn identity_columns(s: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for t in all_tables(s) {
        for c in &t.columns {
            if let Some((seed, increment)) = c.identity {
                let last = s.latch.store.identity(t.id).and_then(|i| i.last());
                rows.push(vec![
                    int(t.id),
                    text(&c.name),
                    int(c.id),
                    int(seed),
                    int(increment),
                    last.map_or(Value::Null, int),
                ]);
            }
        }
    }
    rows
}

/// sys.indexes; a heap has a row with index_id 0 and no name.
pub fn indexes(s: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for t in all_tables(s) {
        if !t.indexes.iter().any(|i| i.clustered) {
            let mut row = vec![int(t.id), Value::Null, int(0), int(0), text("HEAP")];
            row.extend([false, false, false, false, false, true, true, false].map(bit));
            row.push(Value::Null);
            rows.push(row);
        }
        for i in &t.indexes {
            let primary = i.constraint.as_ref().is_some_and(|c| c.primary);
            rows.push(vec![
                int(t.id),
                text(&i.name),
                int(i.index_id),
                int(if i.clustered { 1 } else { 2 }),
                text(if i.clustered {
                    "CLUSTERED"
                } else {
                    "NONCLUSTERED"
                }),
                bit(i.unique),
                bit(i.ignore_dup_key),
                bit(primary),
                bit(i.constraint.is_some() && !primary),
                bit(false),
                bit(true),
                bit(i.allow_page_locks),
                bit(i.filter.is_some()),
                i.filter.as_ref().map_or(Value::Null, |(_, f)| text(f)),
            ]);
        }
    }
    rows
}

/// sys.index_columns.
pub fn index_columns(s: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for t in all_tables(s) {
        for i in &t.indexes {
            let keys = i.keys.iter().map(|(c, d)| (*c, *d, false));
            let all = keys.chain(i.include.iter().map(|c| (*c, false, true)));
            for (n, (column, descending, included)) in all.enumerate() {
                let ordinal = n as i64 + 1;
                rows.push(vec![
                    int(t.id),
                    int(i.index_id),
                    int(ordinal),
                    int(t.columns[column].id),
                    int(if included { 0 } else { ordinal }),
                    bit(descending),
                    bit(included),
                ]);
            }
        }
    }
    rows
}

/// sys.key_constraints.
pub fn key_constraints(s: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for t in all_tables(s) {
        for i in &t.indexes {
            let Some(c) = &i.constraint else { continue };
            let (kind, desc) = if c.primary {
                ("PK", "PRIMARY_KEY_CONSTRAINT")
            } else {
                ("UQ", "UNIQUE_CONSTRAINT")
            };
            rows.push(vec![
                text(&i.name),
                int(c.id),
                int(t.schema_id),
                int(t.id),
                text(kind),
                text(desc),
                int(i.index_id),
                bit(c.system_named),
            ]);
        }
    }
    rows
}

/// sys.check_constraints.
pub fn check_constraints(s: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for t in all_tables(s) {
        for c in &t.checks {
            let column = c
                .column
                .as_ref()
                .and_then(|n| t.columns.iter().find(|x| x.name == *n));
            rows.push(vec![
                text(&c.name),
                int(c.id),
                int(t.schema_id),
                int(t.id),
                text("C "),
                text("CHECK_CONSTRAINT"),
                text(&c.text),
                bit(c.system_named),
                bit(false),
                int(column.map_or(0, |x| x.id)),
            ]);
        }
    }
    rows
}

/// sys.default_constraints.
pub fn default_constraints(s: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for t in all_tables(s) {
        for c in &t.columns {
            let Some(d) = &c.default else { continue };
            rows.push(vec![
                text(&d.name),
                int(d.id),
                int(t.schema_id),
                int(t.id),
                text("D "),
                text("DEFAULT_CONSTRAINT"),
                text(&d.text),
                bit(d.system_named),
                int(c.id),
            ]);
        }
    }
    rows
}

/// sys.partitions and sys.dm_db_partition_stats: every index has one partition.
pub fn partitions(s: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for t in all_tables(s) {
        let count = int(s.latch.store.row_count(t.id) as i64);
        let heap = !t.indexes.iter().any(|i| i.clustered);
        let ids = heap
            .then_some(0)
            .into_iter()
            .chain(t.indexes.iter().map(|i| i.index_id));
        for id in ids {
            let partition = (i64::from(t.id) << 16) | i64::from(id);
            rows.push(vec![
                int(partition),
                int(t.id),
                int(id),
                int(1),
                count.clone(),
            ]);
        }
    }
    rows
}
