//! The views of INFORMATION_SCHEMA.

use crate::catalog::{Database, Object};
use crate::dictionary::Source;
use crate::dictionary::source::{objects, ordinal, reads, tables};
use crate::dictionary::view::view;
use crate::value::{DataType, Length};

fn database_name(source: &dyn Source) -> &str {
    source.database().map_or("", |d| &d.name)
}

fn owner(database: &Database, schema: i32) -> &str {
    let owner = database.principals.get(&database.schema_owner(schema));
    owner.map_or("", |p| p.name.as_str())
}

fn schema_name(source: &dyn Source, id: i32) -> Option<&str> {
    let schema = source.database()?.schemas.get(&id)?;
    Some(&schema.name)
}

view! {
    /// The schemas of the current database.
    SCHEMATA: "information_schema.schemata";
    each (d, schema) in |s| s.database()
        .into_iter()
        .flat_map(|d| d.schemas.values().map(move |schema| (d, schema)));
    "CATALOG_NAME": Name = &d.name,
    "SCHEMA_NAME": Name = &schema.name,
    "SCHEMA_OWNER": Name = owner(d, schema.id),
    "DEFAULT_CHARACTER_SET_CATALOG": Name = None::<&str>,
    "DEFAULT_CHARACTER_SET_SCHEMA": Name = None::<&str>,
    "DEFAULT_CHARACTER_SET_NAME": Name = "iso_1",
}

view! {
    TABLES: "information_schema.tables";
    each (database, schema, o, kind) in |s| objects(s).filter_map(|o| {
        let kind = match o {
            Object::Table(_) => "BASE TABLE",
            Object::View(_) => "VIEW",
            Object::Procedure(_) | Object::Constraint { .. } => return None,
        };
        Some((database_name(s), schema_name(s, o.schema_id()), o, kind))
    });
    "TABLE_CATALOG": Name = database,
    "TABLE_SCHEMA": Name = schema,
    "TABLE_NAME": Name = o.name(),
    "TABLE_TYPE": Text60 = kind,
}

view! {
    /// The columns of tables.
    COLUMNS: "information_schema.columns";
    each (database, t, i, c, read) in |s| tables(s).flat_map(|t| {
        let (columns, read) = (t.columns.iter().enumerate(), reads(s, t.id));
        columns.map(move |(i, c)| (database_name(s), t, i, c, read))
    });
    "TABLE_CATALOG": Name = database,
    "TABLE_SCHEMA": Name = &t.schema,
    "TABLE_NAME": Name = &t.name,
    "COLUMN_NAME": Name = &c.name,
    "ORDINAL_POSITION": Int = ordinal(i),
    "COLUMN_DEFAULT": Max = c.default.as_ref().filter(|_| read).map(|d| &d.text),
    "IS_NULLABLE": Text60 = if c.nullable { "YES" } else { "NO" },
    "DATA_TYPE": Name = c.ty.name(),
    "CHARACTER_MAXIMUM_LENGTH": Int = lengths(&c.ty).map(|(characters, _)| characters),
    "CHARACTER_OCTET_LENGTH": Int = lengths(&c.ty).map(|(_, bytes)| bytes),
    "NUMERIC_PRECISION": TinyInt = c.ty.is_numeric().then(|| c.ty.precision()),
    "NUMERIC_PRECISION_RADIX": SmallInt = radix(&c.ty),
    "NUMERIC_SCALE": Int = c.ty.is_numeric().then(|| i32::from(c.ty.scale())),
    "DATETIME_PRECISION": SmallInt = c.ty.is_datetime().then(|| i16::from(c.ty.scale())),
    "CHARACTER_SET_CATALOG": Name = None::<&str>,
    "CHARACTER_SET_SCHEMA": Name = None::<&str>,
    "CHARACTER_SET_NAME": Name = c.ty.is_string().then(|| if c.ty.is_unicode() { "UNICODE" } else { "iso_1" }),
    "COLLATION_CATALOG": Name = None::<&str>,
    "COLLATION_SCHEMA": Name = None::<&str>,
    "COLLATION_NAME": Name = c.ty.collation().map(|x| x.name()),
    "DOMAIN_CATALOG": Name = None::<&str>,
    "DOMAIN_SCHEMA": Name = None::<&str>,
    "DOMAIN_NAME": Name = None::<&str>,
}

/// The base in which precision and scale count: 2 for binary floating point.
fn radix(ty: &DataType) -> Option<i16> {
    let binary = matches!(ty, DataType::Real | DataType::Float);
    (ty.is_numeric() && *ty != DataType::Bit).then_some(if binary { 2 } else { 10 })
}

/// The most characters and bytes of a type; -1 is MAX.
fn lengths(ty: &DataType) -> Option<(i32, i32)> {
    Some(match ty.length()? {
        Length::Max => (-1, -1),
        Length::Limited(n) => {
            let n = i32::from(n);
            (n, if ty.is_unicode() { n * 2 } else { n })
        }
    })
}

view! {
    /// Procedures, with the first 4,000 characters of their texts.
    ROUTINES: "information_schema.routines";
    each (database, p, read) in |s| objects(s)
        .filter_map(Object::as_procedure)
        .map(|p| (database_name(s), p, reads(s, p.id)));
    "SPECIFIC_SCHEMA": Name = &p.schema,
    "SPECIFIC_NAME": Name = &p.name,
    "ROUTINE_CATALOG": Name = database,
    "ROUTINE_SCHEMA": Name = &p.schema,
    "ROUTINE_NAME": Name = &p.name,
    "ROUTINE_TYPE": Text60 = "PROCEDURE",
    "ROUTINE_DEFINITION": Max = read.then(|| p.text.chars().take(4000).collect::<String>()),
    "CREATED": DateTime = p.created_ms,
    "LAST_ALTERED": DateTime = p.modified_ms,
}

view! {
    /// PRIMARY KEY, UNIQUE and CHECK constraints.
    TABLE_CONSTRAINTS: "information_schema.table_constraints";
    each (database, t, name, kind) in |s| tables(s).flat_map(|t| {
        let keys = t.indexes.iter().filter_map(|i| {
            let primary = i.constraint.as_ref()?.primary;
            Some((&i.name, if primary { "PRIMARY KEY" } else { "UNIQUE" }))
        });
        let all = keys.chain(t.checks.iter().map(|c| (&c.name, "CHECK")));
        all.map(move |(name, kind)| (database_name(s), t, name, kind))
    });
    "CONSTRAINT_CATALOG": Name = database,
    "CONSTRAINT_SCHEMA": Name = &t.schema,
    "CONSTRAINT_NAME": Name = name,
    "TABLE_CATALOG": Name = database,
    "TABLE_SCHEMA": Name = &t.schema,
    "TABLE_NAME": Name = &t.name,
    "CONSTRAINT_TYPE": Text60 = kind,
    "IS_DEFERRABLE": Text30 = "NO",
    "INITIALLY_DEFERRED": Text30 = "NO",
}

view! {
    /// The columns of PRIMARY KEY and UNIQUE constraints.
    KEY_COLUMN_USAGE: "information_schema.key_column_usage";
    each (database, t, i, n, column) in |s| tables(s)
        .flat_map(|t| t.indexes.iter().map(move |i| (t, i)))
        .filter(|(_, i)| i.constraint.is_some())
        .flat_map(|(t, i)| {
            let keys = i.keys.iter().enumerate();
            keys.map(move |(n, (column, _))| (database_name(s), t, i, n, &t.columns[*column]))
        });
    "CONSTRAINT_CATALOG": Name = database,
    "CONSTRAINT_SCHEMA": Name = &t.schema,
    "CONSTRAINT_NAME": Name = &i.name,
    "TABLE_CATALOG": Name = database,
    "TABLE_SCHEMA": Name = &t.schema,
    "TABLE_NAME": Name = &t.name,
    "COLUMN_NAME": Name = &column.name,
    "ORDINAL_POSITION": Int = ordinal(n),
}
