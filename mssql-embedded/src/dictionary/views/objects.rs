//! sys.objects and the views that list one type of object with the same columns.

use crate::catalog::Object;
use crate::dictionary::Source;
use crate::dictionary::object_type::{code, description};
use crate::dictionary::source::objects;
use crate::dictionary::view::view;

/// A view with the columns of sys.objects.
macro_rules! object_view {
    ($(#[$doc:meta])* $id:ident: $name:literal; |$s:ident| $rows:expr) => {
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
    /// Views.
    VIEWS: "sys.views"; |s| objects(s).filter(|o| matches!(o, Object::View(_)))
}

object_view! {
    /// Procedures.
    PROCEDURES: "sys.procedures"; |s| objects(s).filter(|o| matches!(o, Object::Procedure(_)))
}

view! {
    /// Tables.
    TABLES: "sys.tables";
    each (o, t) in |s| objects(s).filter_map(|o| match o {
        Object::Table(t) => Some((o, t)),
        Object::Procedure(_) | Object::View(_) | Object::Constraint { .. } => None,
    });
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
    "lock_escalation": TinyInt = u8::from(!t.lock_escalation),
    "lock_escalation_desc": Text60 = if t.lock_escalation { "TABLE" } else { "DISABLE" },
}

/// When an object was made and last changed; a constraint goes with its table.
fn dates(object: &Object, source: &dyn Source) -> (i64, i64) {
    match object {
        Object::Table(t) => (t.created_ms, t.modified_ms),
        Object::Procedure(p) => (p.created_ms, p.modified_ms),
        Object::View(v) => (v.created_ms, v.created_ms),
        Object::Constraint { table, .. } => {
            let database = source.database();
            match database.and_then(|d| d.objects.get(table)) {
                Some(Object::Table(t)) => (t.created_ms, t.modified_ms),
                _ => (0, 0),
            }
        }
    }
}

fn parent(object: &Object) -> i32 {
    match object {
        Object::Constraint { table, .. } => *table,
        Object::Table(_) | Object::Procedure(_) | Object::View(_) => 0,
    }
}
