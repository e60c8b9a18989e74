//! sys.objects and the views that list one type of object with the same columns.

use crate::catalog::Object;
use crate::dictionary::Source;
use crate::dictionary::object_type::{code, description};
use crate::dictionary::source::objects;
use crate::dictionary::view::view;

/// A view with the columns of sys.objects, and with switches of its own, none of which the engine has.
macro_rules! object_view {
    ($(#[$doc:meta])* $id:ident: $name:literal; |$s:ident| $rows:expr $(; $($more:literal),+)?) => {
        view! {
            $(#[$doc])*
            $id: $name;
            each (o, (created, modified)) in |$s| ($rows).map(|o| (o, dates(o, $s)));
            "name": Name = o.name(),
            "object_id": Int = o.id(),
            "principal_id": Int = None::<i32>,
            "schema_id": Int = o.schema_id(),
            "parent_object_id": Int = parent(o),
            "type": Char2 = code(o),
            "type_desc": Text60 = description(o),
            "create_date": DateTime = created,
            "modify_date": DateTime = modified,
            "is_ms_shipped": Bit = false,
            "is_published": Bit = false,
            "is_schema_published": Bit = false,
            $($($more: Bit = false,)+)?
        }
    };
}

object_view! {
    /// Everything that has an object id.
    OBJECTS: "sys.objects"; |s| objects(s)
}

object_view! {
    /// As sys.objects: the engine has no system objects in its catalogue.
    ALL_OBJECTS: "sys.all_objects"; |s| objects(s)
}

object_view! {
    VIEWS: "sys.views"; |s| objects(s).filter(|o| matches!(o, Object::View(_)));
    "is_replicated", "has_replication_filter", "has_opaque_metadata", "has_unchecked_assembly_data",
    "with_check_option", "is_date_correlation_view"
}

object_view! {
    PROCEDURES: "sys.procedures"; |s| objects(s).filter(|o| matches!(o, Object::Procedure(_)));
    "is_auto_executed", "is_execution_replicated", "is_repl_serializable_only", "skips_repl_constraints"
}

view! {
    TABLES: "sys.tables";
    each (o, t) in |s| objects(s).filter_map(|o| Some((o, o.as_table()?)));
    "name": Name = &t.name,
    "object_id": Int = t.id,
    "principal_id": Int = None::<i32>,
    "schema_id": Int = t.schema_id,
    "parent_object_id": Int = 0,
    "type": Char2 = code(o),
    "type_desc": Text60 = description(o),
    "create_date": DateTime = t.created_ms,
    "modify_date": DateTime = t.modified_ms,
    "is_ms_shipped": Bit = false,
    "is_published": Bit = false,
    "is_schema_published": Bit = false,
    "lob_data_space_id": Int = i32::from(t.columns.iter().any(|c| c.ty.is_max())),
    "filestream_data_space_id": Int = None::<i32>,
    "max_column_id_used": Int = t.columns.iter().map(|c| c.id).max().unwrap_or(0),
    "lock_on_bulk_load": Bit = false,
    "uses_ansi_nulls": Bit = true,
    "is_replicated": Bit = false,
    "has_replication_filter": Bit = false,
    "is_merge_published": Bit = false,
    "is_sync_tran_subscribed": Bit = false,
    "has_unchecked_assembly_data": Bit = false,
    "text_in_row_limit": Int = 0,
    "large_value_types_out_of_row": Bit = false,
    "is_tracked_by_cdc": Bit = false,
    "lock_escalation": TinyInt = u8::from(!t.lock_escalation),
    "lock_escalation_desc": Text60 = if t.lock_escalation { "TABLE" } else { "DISABLE" },
    "is_filetable": Bit = false,
    "is_memory_optimized": Bit = false,
    "durability": TinyInt = 0,
    "durability_desc": Text60 = "SCHEMA_AND_DATA",
    "temporal_type": TinyInt = 0,
    "temporal_type_desc": Text60 = "NON_TEMPORAL_TABLE",
    "history_table_id": Int = None::<i32>,
    "is_remote_data_archive_enabled": Bit = false,
    "is_external": Bit = false,
    "history_retention_period": Int = None::<i32>,
    "history_retention_period_unit": Int = None::<i32>,
    "history_retention_period_unit_desc": Text30 = None::<&str>,
    "is_node": Bit = false,
    "is_edge": Bit = false,
}

/// When an object was made and last changed; a constraint goes with its table.
fn dates(object: &Object, source: &dyn Source) -> (i64, i64) {
    match object {
        Object::Table(t) => (t.created_ms, t.modified_ms),
        Object::Procedure(p) => (p.created_ms, p.modified_ms),
        Object::View(v) => (v.created_ms, v.modified_ms),
        Object::Constraint { table, .. } => {
            let owner = source
                .database()
                .and_then(|d| d.objects.get(table)?.as_table());
            owner.map_or((0, 0), |t| (t.created_ms, t.modified_ms))
        }
    }
}

fn parent(object: &Object) -> i32 {
    match object {
        Object::Constraint { table, .. } => *table,
        Object::Table(_) | Object::Procedure(_) | Object::View(_) => 0,
    }
}
