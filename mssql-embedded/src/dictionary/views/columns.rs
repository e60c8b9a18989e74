//! sys.columns, sys.computed_columns and sys.identity_columns.

use std::sync::Arc;

use crate::catalog::{Column, TableDef};
use crate::dictionary::Source;
use crate::dictionary::source::tables;
use crate::dictionary::view::view;

fn columns(source: &dyn Source) -> impl Iterator<Item = (&Arc<TableDef>, &Column)> {
    tables(source).flat_map(|t| t.columns.iter().map(move |c| (t, c)))
}

view! {
    /// The columns of tables.
    COLUMNS: "sys.columns";
    each (t, c) in |s| columns(s);
    "object_id": Int = t.id,
    "name": Name = &c.name,
    "column_id": Int = c.id,
    "system_type_id": TinyInt = c.ty.system_type_id(),
    "user_type_id": Int = i32::from(c.ty.system_type_id()),
    "max_length": SmallInt = c.ty.max_length(),
    "precision": TinyInt = c.ty.precision(),
    "scale": TinyInt = c.ty.scale(),
    "collation_name": Name = c.ty.collation().map(|x| x.name()),
    "is_nullable": Bit = c.nullable,
    "is_identity": Bit = c.identity.is_some(),
    "is_computed": Bit = c.computed.is_some(),
    "default_object_id": Int = c.default.as_ref().map_or(0, |d| d.id),
}

view! {
    /// Computed columns with their expressions.
    COMPUTED_COLUMNS: "sys.computed_columns";
    each (t, c, (_, definition, persisted)) in |s| {
        columns(s).filter_map(|(t, c)| Some((t, c, c.computed.as_ref()?)))
    };
    "object_id": Int = t.id,
    "name": Name = &c.name,
    "column_id": Int = c.id,
    "definition": Max = definition,
    "is_persisted": Bit = *persisted,
}

view! {
    /// Identity columns with the value handed out last.
    IDENTITY_COLUMNS: "sys.identity_columns";
    each (t, c, (seed, increment), last) in |s| columns(s).filter_map(|(t, c)| {
        let last = s.store().identity(t.id).and_then(|i| i.last());
        Some((t, c, c.identity?, last))
    });
    "object_id": Int = t.id,
    "name": Name = &c.name,
    "column_id": Int = c.id,
    "seed_value": BigInt = seed,
    "increment_value": BigInt = increment,
    "last_value": BigInt = last,
}
