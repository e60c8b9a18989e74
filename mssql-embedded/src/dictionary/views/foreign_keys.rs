//! sys.foreign_keys and sys.foreign_key_columns: their columns and rows.

use super::{all_tables, bit, int, text};
use crate::dictionary::system_view::Source;
use crate::dictionary::view_list::{RowsOf, view};
use crate::plan::SystemType::{Bit, Char2, Int, Name, Text60, TinyInt};
use crate::plan::SystemView;
use crate::value::Value;

/// The views of this file.
pub static VIEWS: &[(SystemView, RowsOf)] = &[
    (
        view(
            "sys.foreign_keys",
            &[
                ("name", Name),
                ("object_id", Int),
                ("schema_id", Int),
                ("parent_object_id", Int),
                ("type", Char2),
                ("type_desc", Text60),
                ("referenced_object_id", Int),
                ("is_disabled", Bit),
                ("is_not_trusted", Bit),
                ("delete_referential_action", TinyInt),
                ("delete_referential_action_desc", Text60),
                ("update_referential_action", TinyInt),
                ("update_referential_action_desc", Text60),
                ("is_system_named", Bit),
            ],
        ),
        foreign_keys,
    ),
    (
        view(
            "sys.foreign_key_columns",
            &[
                ("constraint_object_id", Int),
                ("constraint_column_id", Int),
                ("parent_object_id", Int),
                ("parent_column_id", Int),
                ("referenced_object_id", Int),
                ("referenced_column_id", Int),
            ],
        ),
        foreign_key_columns,
    ),
];

fn foreign_keys(s: &Source<'_>) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    for table in all_tables(s) {
        for key in &table.foreign_keys {
            let (action, described) = if key.cascade_delete {
                (1, "CASCADE")
            } else {
                (0, "NO_ACTION")
            };
            rows.push(vec![
                text(&key.name),
                int(key.id),
                int(table.schema_id),
                int(table.id),
                text("F "),
                text("FOREIGN_KEY_CONSTRAINT"),
                int(key.table),
                bit(false),
                bit(false),
                int(action),
                text(described),
                int(0),
                text("NO_ACTION"),
                bit(key.system_named),
            ]);
        }
    }
    rows
}

fn foreign_key_columns(s: &Source<'_>) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    for table in all_tables(s) {
        for key in &table.foreign_keys {
            let pairs = key.columns.iter().zip(&key.referenced);
            rows.extend(pairs.enumerate().map(|(i, (own, other))| {
                vec![
                    int(key.id),
                    int(i as i32 + 1),
                    int(table.id),
                    int(*own),
                    int(key.table),
                    int(*other),
                ]
            }));
        }
    }
    rows
}
