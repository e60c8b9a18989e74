//! sys.key_constraints, sys.check_constraints and sys.default_constraints.

use crate::catalog::{CheckDef, ConstraintType, TableDef};
use crate::dictionary::source::{reads, tables};
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
    "principal_id": Int = None::<i32>,
    "schema_id": Int = t.schema_id,
    "parent_object_id": Int = t.id,
    "type": Char2 = kind.code(),
    "type_desc": Text60 = kind.description(),
    "create_date": DateTime = t.created_ms,
    "modify_date": DateTime = t.modified_ms,
    "is_ms_shipped": Bit = false,
    "is_published": Bit = false,
    "is_schema_published": Bit = false,
    "unique_index_id": Int = i.index_id,
    "is_system_named": Bit = c.system_named,
    "is_enforced": Bit = true,
}

/// The id of the column that a CHECK was written with; 0 for one of the whole table.
fn column_of(check: &CheckDef, table: &TableDef) -> i32 {
    let column = check.column.as_ref();
    column
        .and_then(|name| table.columns.iter().find(|c| c.name == *name))
        .map_or(0, |c| c.id)
}

view! {
    CHECK_CONSTRAINTS: "sys.check_constraints";
    each (t, c, text) in |s| tables(s).flat_map(|t| {
        let read = reads(s, t.id);
        t.checks.iter().map(move |c| (t, c, read.then_some(&c.text)))
    });
    "name": Name = &c.name,
    "object_id": Int = c.id,
    "principal_id": Int = None::<i32>,
    "schema_id": Int = t.schema_id,
    "parent_object_id": Int = t.id,
    "type": Char2 = ConstraintType::Check.code(),
    "type_desc": Text60 = ConstraintType::Check.description(),
    "create_date": DateTime = t.created_ms,
    "modify_date": DateTime = t.modified_ms,
    "is_ms_shipped": Bit = false,
    "is_published": Bit = false,
    "is_schema_published": Bit = false,
    "is_disabled": Bit = false,
    "is_not_for_replication": Bit = false,
    "is_not_trusted": Bit = false,
    "parent_column_id": Int = column_of(c, t),
    "definition": Max = text,
    "is_system_named": Bit = c.system_named,
}

view! {
    DEFAULT_CONSTRAINTS: "sys.default_constraints";
    each (t, c, d, text) in |s| tables(s)
        .flat_map(|t| t.columns.iter().map(move |c| (t, c)))
        .filter_map(|(t, c)| Some((t, c, c.default.as_ref()?)))
        .map(|(t, c, d)| (t, c, d, reads(s, t.id).then_some(&d.text)));
    "name": Name = &d.name,
    "object_id": Int = d.id,
    "principal_id": Int = None::<i32>,
    "schema_id": Int = t.schema_id,
    "parent_object_id": Int = t.id,
    "type": Char2 = ConstraintType::Default.code(),
    "type_desc": Text60 = ConstraintType::Default.description(),
    "create_date": DateTime = t.created_ms,
    "modify_date": DateTime = t.modified_ms,
    "is_ms_shipped": Bit = false,
    "is_published": Bit = false,
    "is_schema_published": Bit = false,
    "parent_column_id": Int = c.id,
    "definition": Max = text,
    "is_system_named": Bit = d.system_named,
}
