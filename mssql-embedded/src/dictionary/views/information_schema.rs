//! INFORMATION_SCHEMA.

use crate::catalog::Object;
use crate::dictionary::system_view::Source;
use crate::value::{DataType, Length, Value};

use super::{all_tables, int, moment, text};

type Rows = Vec<Vec<Value>>;

/// SCHEMATA.
pub fn schemata(s: &Source<'_>) -> Rows {
    s.database
        .schemas
        .values()
        .map(|x| {
            let owner = s
                .database
                .principals
                .get(&x.owner)
                .map_or("", |p| p.name.as_str());
            vec![text(&s.database.name), text(&x.name), text(owner)]
        })
        .collect()
}

fn schema_name(s: &Source<'_>, id: i32) -> Value {
    s.database
        .schemas
        .get(&id)
        .map_or(Value::Null, |x| text(&x.name))
}

/// TABLES.
pub fn tables(s: &Source<'_>) -> Rows {
    let objects = s.database.objects.values();
    objects
        .filter_map(|o| match o {
            Object::Table(_) => Some((o, "BASE TABLE")),
            Object::View(_) => Some((o, "VIEW")),
            _ => None,
        })
        .map(|(o, kind)| {
            vec![
                text(&s.database.name),
                schema_name(s, o.schema_id()),
                text(o.name()),
                text(kind),
            ]
        })
        .collect()
}

/// COLUMNS.
pub fn columns(s: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for t in all_tables(s) {
        for (i, c) in t.columns.iter().enumerate() {
            let (length, octets) = lengths(&c.ty);
            let numeric = c.ty.is_numeric();
            rows.push(vec![
                text(&s.database.name),
                text(&t.schema),
                text(&t.name),
                text(&c.name),
                int(i as i64 + 1),
                c.default.as_ref().map_or(Value::Null, |d| text(&d.text)),
                text(if c.nullable { "YES" } else { "NO" }),
                text(c.ty.name()),
                length,
                octets,
                if numeric {
                    int(c.ty.precision())
                } else {
                    Value::Null
                },
                if numeric {
                    int(c.ty.scale())
                } else {
                    Value::Null
                },
                if c.ty.is_datetime() {
                    int(c.ty.scale())
                } else {
                    Value::Null
                },
                c.ty.collation().map_or(Value::Null, |x| text(x.name())),
            ]);
        }
    }
    rows
}

/// CHARACTER_MAXIMUM_LENGTH and CHARACTER_OCTET_LENGTH; -1 is MAX.
fn lengths(ty: &DataType) -> (Value, Value) {
    match ty.length() {
        Some(Length::Max) => (int(-1), int(-1)),
        Some(Length::Limited(n)) => {
            let bytes = if ty.is_unicode() {
                i64::from(n) * 2
            } else {
                i64::from(n)
            };
            (int(n), int(bytes))
        }
        None => (Value::Null, Value::Null),
    }
}

/// ROUTINES.
pub fn routines(s: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for o in s.database.objects.values() {
        let Object::Procedure(p) = o else { continue };
        rows.push(vec![
            text(&p.schema),
            text(&p.name),
            text(&s.database.name),
            text(&p.schema),
            text(&p.name),
            text("PROCEDURE"),
            text(&p.text.chars().take(4000).collect::<String>()),
            moment(p.created_ms),
            moment(p.modified_ms),
        ]);
    }
    rows
}

/// TABLE_CONSTRAINTS.
pub fn table_constraints(s: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for t in all_tables(s) {
        let keys = t.indexes.iter().filter_map(|i| {
            let kind = if i.constraint.as_ref()?.primary {
                "PRIMARY KEY"
            } else {
                "UNIQUE"
            };
            Some((i.name.as_str(), kind))
        });
        for (name, kind) in keys.chain(t.checks.iter().map(|c| (c.name.as_str(), "CHECK"))) {
            rows.push(vec![
                text(&s.database.name),
                text(&t.schema),
                text(name),
                text(&t.schema),
                text(&t.name),
                text(kind),
            ]);
        }
    }
    rows
}

/// KEY_COLUMN_USAGE.
pub fn key_column_usage(s: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for t in all_tables(s) {
        for i in t.indexes.iter().filter(|i| i.constraint.is_some()) {
            for (n, (column, _)) in i.keys.iter().enumerate() {
                rows.push(vec![
                    text(&t.schema),
                    text(&i.name),
                    text(&t.schema),
                    text(&t.name),
                    text(&t.columns[*column].name),
                    int(n as i64 + 1),
                ]);
            }
        }
    }
    rows
}
