//! Who may do what, by ownership, role and grant.

use super::{Database, Object, Permission};

/// Ids of fixed roles.
const DB_OWNER: i32 = 16384;
const DB_SECURITYADMIN: i32 = 16386;
const DB_DDLADMIN: i32 = 16387;
const DB_DATAREADER: i32 = 16390;
const DB_DATAWRITER: i32 = 16391;

/// Whether a user owns the database, in effect.
fn is_owner(database: &Database, user: i32, sysadmin: bool) -> bool {
    sysadmin || user == 1 || database.memberships(user).contains(&DB_OWNER)
}

/// Whether a user may manage users, roles and permissions.
pub fn may_administer(database: &Database, user: i32, sysadmin: bool) -> bool {
    is_owner(database, user, sysadmin) || database.memberships(user).contains(&DB_SECURITYADMIN)
}

/// Whether a user may create or change objects: in any schema, or in one they own or control, with
/// the statement permission where one exists.
pub fn may_define(
    database: &Database,
    user: i32,
    sysadmin: bool,
    schema: Option<i32>,
    what: &str,
) -> bool {
    let roles = database.memberships(user);
    if is_owner(database, user, sysadmin) || roles.contains(&DB_DDLADMIN) {
        return true;
    }
    let granted = |permission: &str, class: u8, major: i32| {
        database.permissions.iter().any(|p| {
            p.state == 'G'
                && p.class == class
                && p.major_id == major
                && p.permission == permission
                && roles.contains(&p.grantee)
        })
    };
    let in_schema = match schema {
        None => true,
        Some(id) => {
            roles.contains(&database.schema_owner(id))
                || granted("ALTER", 3, id)
                || granted("CONTROL", 3, id)
        }
    };
    let statement = match what {
        "CREATE TABLE" | "CREATE PROCEDURE" | "CREATE VIEW" | "CREATE SCHEMA" => {
            granted(what, 0, 0)
        }
        _ => schema.is_some(),
    };
    in_schema && (statement || granted("CONTROL", 0, 0))
}

/// Whether a user has a permission on an object: DENY wins, then owners, roles and grants on the
/// object, its schema and the database.
pub fn has(database: &Database, user: i32, object: &Object, permission: &str) -> bool {
    let roles = database.memberships(user);
    if is_owner(database, user, false) || roles.contains(&database.schema_owner(object.schema_id()))
    {
        return true;
    }
    let covers = |p: &Permission| {
        roles.contains(&p.grantee)
            && (p.permission == permission || p.permission == "CONTROL")
            && match p.class {
                0 => true,
                1 => p.major_id == object.id(),
                3 => p.major_id == object.schema_id(),
                _ => false,
            }
    };
    if database
        .permissions
        .iter()
        .any(|p| p.state == 'D' && covers(p))
    {
        return false;
    }
    if permission == "SELECT" && roles.contains(&DB_DATAREADER)
        || matches!(permission, "INSERT" | "UPDATE" | "DELETE") && roles.contains(&DB_DATAWRITER)
    {
        return true;
    }
    database
        .permissions
        .iter()
        .any(|p| p.state == 'G' && covers(p))
}
