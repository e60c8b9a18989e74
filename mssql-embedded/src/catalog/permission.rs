//! Who may do what, by ownership, role and grant.

use super::{Database, Object, Permission, PermissionState, SecurableId};

/// The permissions that the engine checks, with their codes in sys.database_permissions; others are refused, since
/// granting them would promise something nobody keeps.
const CODES: &[(&str, &str)] = &[
    ("EXECUTE", "EX  "),
    ("SELECT", "SL  "),
    ("INSERT", "IN  "),
    ("UPDATE", "UP  "),
    ("DELETE", "DL  "),
    ("CONTROL", "CL  "),
    ("ALTER", "AL  "),
    ("VIEW DEFINITION", "VW  "),
    ("REFERENCES", "RF  "),
    ("CREATE TABLE", "CRTB"),
    ("CREATE PROCEDURE", "CRPR"),
    ("CREATE SCHEMA", "CRSM"),
    ("CREATE VIEW", "CRVW"),
    ("CREATE ROLE", "CRRL"),
    ("CONNECT", "CO  "),
    ("ALTER ANY SCHEMA", "ALSM"),
    ("ALTER ANY ROLE", "ALRL"),
    ("ALTER ANY USER", "ALUS"),
    ("TAKE OWNERSHIP", "TO  "),
    ("VIEW DATABASE STATE", "VWDS"),
];

/// The four-letter code of a permission; `None` for one that the engine does not check.
pub fn code(permission: &str) -> Option<&'static str> {
    let found = CODES.iter().find(|(name, _)| *name == permission)?;
    Some(found.1)
}

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
    let granted = |permission: &str, on: SecurableId| {
        database.permissions.iter().any(|p| {
            p.state == PermissionState::Grant
                && p.on == on
                && p.permission == permission
                && roles.contains(&p.grantee)
        })
    };
    let in_schema = match schema {
        None => true,
        Some(id) => {
            roles.contains(&database.schema_owner(id))
                || granted("ALTER", SecurableId::Schema(id))
                || granted("CONTROL", SecurableId::Schema(id))
        }
    };
    let statement = match what {
        "CREATE TABLE" | "CREATE PROCEDURE" | "CREATE VIEW" | "CREATE SCHEMA" => {
            granted(what, SecurableId::Database)
        }
        _ => schema.is_some(),
    };
    in_schema && (statement || granted("CONTROL", SecurableId::Database))
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
            && match p.on {
                SecurableId::Database => true,
                SecurableId::Object(id) => id == object.id(),
                SecurableId::Schema(id) => id == object.schema_id(),
                SecurableId::Principal(_) => false,
            }
    };
    if database
        .permissions
        .iter()
        .any(|p| p.state == PermissionState::Deny && covers(p))
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
        .any(|p| p.state == PermissionState::Grant && covers(p))
}
