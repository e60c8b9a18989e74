//! Users, roles, logins and permissions.

use crate::catalog::Permission;
use crate::dictionary::property::sid;
use crate::dictionary::system_view::Source;
use crate::value::Value;

use super::{bit, int, text};

type Rows = Vec<Vec<Value>>;

/// sys.database_principals.
pub fn database_principals(s: &Source<'_>) -> Rows {
    s.database
        .principals
        .values()
        .map(|p| {
            let login = p
                .login
                .as_ref()
                .and_then(|l| s.catalog.logins.get(&l.to_lowercase()));
            vec![
                text(&p.name),
                int(p.id),
                text(if p.role { "R " } else { "S " }),
                text(if p.role { "DATABASE_ROLE" } else { "SQL_USER" }),
                p.default_schema.as_ref().map_or(Value::Null, |x| text(x)),
                login.map_or(Value::Null, |l| Value::Bytes(sid(l.id).into())),
                bit(p.fixed && p.role && p.id != 0),
                if p.role { int(p.owner) } else { Value::Null },
            ]
        })
        .collect()
}

/// sys.database_role_members.
pub fn role_members(s: &Source<'_>) -> Rows {
    s.database
        .members
        .iter()
        .map(|(role, member)| vec![int(*role), int(*member)])
        .collect()
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

/// sys.database_permissions.
pub fn permissions(s: &Source<'_>) -> Rows {
    s.database.permissions.iter().map(permission_row).collect()
}

fn permission_row(p: &Permission) -> Vec<Value> {
    let class = match p.class {
        0 => "DATABASE",
        1 => "OBJECT_OR_COLUMN",
        3 => "SCHEMA",
        _ => "DATABASE_PRINCIPAL",
    };
    vec![
        int(p.class),
        text(class),
        int(p.major_id),
        int(0),
        int(p.grantee),
        int(p.grantor),
        text(code(&p.permission)),
        text(&p.permission),
        text(if p.state == 'D' { "D " } else { "G " }),
        text(if p.state == 'D' { "DENY" } else { "GRANT" }),
    ]
}

/// sys.server_principals and sys.sql_logins.
pub fn server_principals(s: &Source<'_>) -> Rows {
    s.catalog
        .logins
        .values()
        .map(|l| {
            vec![
                text(&l.name),
                int(l.id),
                Value::Bytes(sid(l.id).into()),
                text("S "),
                text("SQL_LOGIN"),
                bit(l.disabled),
                text(&l.default_database),
            ]
        })
        .collect()
}
