//! How T-SQL calls the types of objects.

use crate::catalog::Object;

/// sys.objects.type: two characters.
pub(super) fn code(object: &Object) -> &'static str {
    match object {
        Object::Table(_) => "U ",
        Object::Procedure(_) => "P ",
        Object::View(_) => "V ",
        Object::Constraint { kind, .. } => kind.code(),
    }
}

/// sys.objects.type_desc.
pub(super) fn description(object: &Object) -> &'static str {
    match object {
        Object::Table(_) => "USER_TABLE",
        Object::Procedure(_) => "SQL_STORED_PROCEDURE",
        Object::View(_) => "VIEW",
        Object::Constraint { kind, .. } => kind.description(),
    }
}
