//! sys.key_constraints, sys.check_constraints and sys.default_constraints.

use crate::catalog::{CheckDef, ConstraintType, TableDef};
use crate::dictionary::source::tables;
use crate::dictionary::view::view;

view! {
    /// PRIMARY KEY and UNIQUE constraints.
    KEY_CONSTRAINTS: "sys.key_constraints";
    each (t, i, c, kind) in |s| tables(s)
        .flat_map(|t| t.indexes.iter().map(move |i| (t, i)))
        .filter_map(|(t, i)| Some((t, i, i.constraint.as_ref()?)))
        .map(|(t, i, c)| (t, i, c, c.kind()));
    "name": Name = &i.name,
    "object_id": Int = c.id,
    "schema_id": Int = t.schema_id,
    "parent_object_id": Int = t.id,
    "type": Char2 = kind.code(),
    "type_desc": Text60 = kind.description(),
    "unique_index_id": Int = i.index_id,
    "is_system_named": Bit = c.system_named,
}

/// The id of the column that a CHECK was written with; 0 for one of the whole table.
fn column_of(check: &CheckDef, table: &TableDef) -> i32 {
    let column = check.column.as_ref();
    column
        .and_then(|name| table.columns.iter().find(|c| c.name == *name))
        .map_or(0, |c| c.id)
}

view! {
    /// CHECK constraints.
    CHECK_CONSTRAINTS: "sys.check_constraints";
    each (t, c) in |s| tables(s).flat_map(|t| t.checks.iter().map(move |c| (t, c)));
    "name": Name = &c.name,
    "object_id": Int = c.id,
    "schema_id": Int = t.schema_id,
    "parent_object_id": Int = t.id,
    "type": Char2 = ConstraintType::Check.code(),
    "type_desc": Text60 = ConstraintType::Check.description(),
    "definition": Max = &c.text,
    "is_system_named": Bit = c.system_named,
    "is_disabled": Bit = false,
    "parent_column_id": Int = column_of(c, t),
}

view! {
    /// DEFAULT constraints.
    DEFAULT_CONSTRAINTS: "sys.default_constraints";
    each (t, c, d) in |s| tables(s)
        .flat_map(|t| t.columns.iter().map(move |c| (t, c)))
        .filter_map(|(t, c)| Some((t, c, c.default.as_ref()?)));
    "name": Name = &d.name,
    "object_id": Int = d.id,
    "schema_id": Int = t.schema_id,
    "parent_object_id": Int = t.id,
    "type": Char2 = ConstraintType::Default.code(),
    "type_desc": Text60 = ConstraintType::Default.description(),
    "definition": Max = &d.text,
    "is_system_named": Bit = d.system_named,
    "parent_column_id": Int = c.id,
}
