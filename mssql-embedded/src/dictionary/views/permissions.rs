//! sys.database_permissions.

use crate::dictionary::view::view;

view! {
    /// What was granted and denied.
    DATABASE_PERMISSIONS: "sys.database_permissions";
    each p in |s| s.database().into_iter().flat_map(|d| d.permissions.iter());
    "class": TinyInt = p.class,
    "class_desc": Text60 = class(p.class),
    "major_id": Int = p.major_id,
    "minor_id": Int = 0,
    "grantee_principal_id": Int = p.grantee,
    "grantor_principal_id": Int = p.grantor,
    "type": Char4 = code(&p.permission),
    "permission_name": Text60 = &p.permission,
    "state": Char2 = if p.state == 'D' { "D " } else { "G " },
    "state_desc": Text60 = if p.state == 'D' { "DENY" } else { "GRANT" },
}

fn class(class: u8) -> &'static str {
    match class {
        0 => "DATABASE",
        1 => "OBJECT_OR_COLUMN",
        3 => "SCHEMA",
        _ => "DATABASE_PRINCIPAL",
    }
}

/// The four-letter code of a permission.
fn code(permission: &str) -> &'static str {
    match permission {
        "EXECUTE" => "EX  ",
        "SELECT" => "SL  ",
        "INSERT" => "IN  ",
        "UPDATE" => "UP  ",
        "DELETE" => "DL  ",
        "CONTROL" => "CL  ",
        "ALTER" => "AL  ",
        "REFERENCES" => "RF  ",
        "VIEW DEFINITION" => "VW  ",
        "CONNECT" => "CO  ",
        "CREATE TABLE" => "CRTB",
        "CREATE PROCEDURE" => "CRPR",
        "CREATE SCHEMA" => "CRSM",
        "CREATE VIEW" => "CRVW",
        "CREATE ROLE" => "CRRL",
        _ => "    ",
    }
}
