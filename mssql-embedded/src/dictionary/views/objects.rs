//! sys.databases, sys.schemas, sys.objects and its kin, sys.sql_modules, sys.parameters, sys.types.

use crate::catalog::Object;
use crate::dictionary::property::{TYPES, object_type, object_type_desc, system_type_id};
use crate::dictionary::system_view::Source;
use crate::value::Value;

use super::{bit, int, moment, text};

type Rows = Vec<Vec<Value>>;

/// sys.databases.
pub fn databases(s: &Source<'_>) -> Rows {
    s.catalog
        .databases
        .values()
        .map(|d| {
            let snapshot = d.allow_snapshot_isolation;
            vec![
                text(&d.name),
                int(d.id),
                int(d.compatibility_level),
                text(d.collation.name()),
                bit(d.read_committed_snapshot),
                int(snapshot),
                text(if snapshot { "ON" } else { "OFF" }),
                int(0),
                text("ONLINE"),
                text("MULTI_USER"),
                bit(false),
                text("SIMPLE"),
            ]
        })
        .collect()
}

/// sys.schemas.
pub fn schemas(s: &Source<'_>) -> Rows {
    s.database
        .schemas
        .values()
        .map(|x| vec![text(&x.name), int(x.id), int(x.owner)])
        .collect()
}

fn dates(o: &Object, s: &Source<'_>) -> (i64, i64) {
    match o {
        Object::Table(t) => (t.created_ms, t.modified_ms),
        Object::Procedure(p) => (p.created_ms, p.modified_ms),
        Object::View(v) => (v.created_ms, v.created_ms),
        Object::Constraint { table, .. } => match s.database.objects.get(table) {
            Some(Object::Table(t)) => (t.created_ms, t.modified_ms),
            _ => (0, 0),
        },
    }
}

fn object_row(o: &Object, s: &Source<'_>) -> Vec<Value> {
    let parent = match o {
        Object::Constraint { table, .. } => *table,
        _ => 0,
    };
    let (created, modified) = dates(o, s);
    vec![
        text(o.name()),
        int(o.id()),
        Value::Null,
        int(o.schema_id()),
        int(parent),
        text(object_type(o)),
        text(object_type_desc(o)),
        moment(created),
        moment(modified),
        bit(false),
        bit(false),
        bit(false),
    ]
}

/// sys.objects.
pub fn objects(s: &Source<'_>) -> Rows {
    s.database
        .objects
        .values()
        .map(|o| object_row(o, s))
        .collect()
}

fn of_type(s: &Source<'_>, wanted: &str) -> Rows {
    let objects = s.database.objects.values();
    objects
        .filter(|o| object_type(o) == wanted)
        .map(|o| object_row(o, s))
        .collect()
}

/// sys.tables.
pub fn tables(s: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for o in s.database.objects.values() {
        if let Object::Table(t) = o {
            let mut row = object_row(o, s);
            row.truncate(10);
            row.push(int(if t.lock_escalation { 0 } else { 1 }));
            row.push(text(if t.lock_escalation {
                "TABLE"
            } else {
                "DISABLE"
            }));
            rows.push(row);
        }
    }
    rows
}

/// sys.views.
pub fn views(s: &Source<'_>) -> Rows {
    of_type(s, "V ")
}

/// sys.procedures.
pub fn procedures(s: &Source<'_>) -> Rows {
    of_type(s, "P ")
}

/// sys.sql_modules.
pub fn sql_modules(s: &Source<'_>) -> Rows {
    let objects = s.database.objects.values();
    objects
        .filter_map(|o| match o {
            Object::Procedure(p) => Some((p.id, &p.text, p.ansi_nulls, p.quoted_identifier)),
            Object::View(v) => Some((v.id, &v.text, true, true)),
            _ => None,
        })
        .map(|(id, definition, nulls, quoted)| {
            vec![
                int(id),
                text(definition),
                bit(nulls),
                bit(quoted),
                bit(false),
                bit(false),
                Value::Null,
            ]
        })
        .collect()
}

/// sys.parameters.
pub fn parameters(s: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for o in s.database.objects.values() {
        let Object::Procedure(p) = o else { continue };
        for (i, param) in p.params.iter().enumerate() {
            let id = system_type_id(&param.ty);
            rows.push(vec![
                int(p.id),
                text(&param.name),
                int(i as i64 + 1),
                int(id),
                int(id),
                int(param.ty.max_length()),
                int(param.ty.precision()),
                int(param.ty.scale()),
                bit(param.output),
                // SQL Server never parses the defaults of T-SQL procedures into this column.
                bit(false),
            ]);
        }
    }
    rows
}

/// sys.types.
pub fn types(_s: &Source<'_>) -> Rows {
    TYPES
        .iter()
        .map(|(name, id)| {
            let system = if *name == "sysname" { 231 } else { *id };
            vec![
                text(name),
                int(system),
                int(*id),
                int(4),
                bit(false),
                bit(false),
            ]
        })
        .collect()
}
