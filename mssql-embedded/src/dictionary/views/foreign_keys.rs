//! sys.foreign_keys and sys.foreign_key_columns.

use std::sync::Arc;

use crate::catalog::{ConstraintType, ForeignKeyDef, TableDef};
use crate::dictionary::Source;
use crate::dictionary::source::{ordinal, tables};
use crate::dictionary::view::view;

fn keys(source: &dyn Source) -> impl Iterator<Item = (&Arc<TableDef>, &ForeignKeyDef)> {
    tables(source).flat_map(|t| t.foreign_keys.iter().map(move |key| (t, key)))
}

view! {
    FOREIGN_KEYS: "sys.foreign_keys";
    each (t, key) in |s| keys(s);
    "name": Name = &key.name,
    "object_id": Int = key.id,
    "principal_id": Int = None::<i32>,
    "schema_id": Int = t.schema_id,
    "parent_object_id": Int = t.id,
    "type": Char2 = ConstraintType::ForeignKey.code(),
    "type_desc": Text60 = ConstraintType::ForeignKey.description(),
    "create_date": DateTime = t.created_ms,
    "modify_date": DateTime = t.modified_ms,
    "is_ms_shipped": Bit = false,
    "is_published": Bit = false,
    "is_schema_published": Bit = false,
    "referenced_object_id": Int = key.table,
    "is_disabled": Bit = false,
    "is_not_for_replication": Bit = false,
    "is_not_trusted": Bit = false,
    "delete_referential_action": TinyInt = u8::from(key.cascade_delete),
    "delete_referential_action_desc": Text60 = if key.cascade_delete { "CASCADE" } else { "NO_ACTION" },
    "update_referential_action": TinyInt = 0,
    "update_referential_action_desc": Text60 = "NO_ACTION",
    "is_system_named": Bit = key.system_named,
}

view! {
    /// The pairs of columns of foreign keys.
    FOREIGN_KEY_COLUMNS: "sys.foreign_key_columns";
    each (t, key, i, (own, other)) in |s| keys(s).flat_map(|(t, key)| {
        let pairs = key.columns.iter().zip(&key.referenced);
        pairs.enumerate().map(move |(i, pair)| (t, key, i, pair))
    });
    "constraint_object_id": Int = key.id,
    "constraint_column_id": Int = ordinal(i),
    "parent_object_id": Int = t.id,
    "parent_column_id": Int = *own,
    "referenced_object_id": Int = key.table,
    "referenced_column_id": Int = *other,
}
