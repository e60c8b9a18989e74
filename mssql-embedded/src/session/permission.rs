//! Who may do what: EXECUTE with ownership chaining, SELECT and the like, definitions.

use crate::catalog::{Database, Object, ObjectId};
use crate::engine::State;
use crate::error::{SqlError, SqlResult};
use crate::exec::Env;
use crate::plan::Required;

use super::Core;

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

/// The owner of a schema, as ownership chains see it.
pub fn owner_of(latch: &State, core: &Core, schema: i32) -> Option<i32> {
    latch
        .catalog
        .databases
        .get(&core.database)
        .map(|d| d.schema_owner(schema))
}

/// Checks what a statement needs; objects of the running procedure's owner need nothing.
pub fn check(required: &[Required], env: &Env<'_, '_>) -> SqlResult<()> {
    if required.is_empty() || env.core.sysadmin || env.frame.user == 1 {
        return Ok(());
    }
    for item in required {
        check_one(item.object, item.permission, env.frame.chain_owner, env)?;
    }
    Ok(())
}

/// Checks EXECUTE on a procedure.
pub fn check_execute(object: ObjectId, _owner: Option<i32>, env: &Env<'_, '_>) -> SqlResult<()> {
    if env.core.sysadmin || env.frame.user == 1 {
        return Ok(());
    }
    check_one(object, "EXECUTE", env.frame.chain_owner, env)
}

fn check_one(
    object: ObjectId,
    permission: &str,
    chain_owner: Option<i32>,
    env: &Env<'_, '_>,
) -> SqlResult<()> {
    let Some(database) = env.latch.catalog.databases.get(&env.core.database) else {
        return Ok(());
    };
    let Some(found) = database.objects.get(&object) else {
        return Ok(());
    };
    let owner = database.schema_owner(found.schema_id());
    if chain_owner == Some(owner) {
        return Ok(());
    }
    if has(database, env.frame.user, found, permission) {
        return Ok(());
    }
    let schema = database
        .schemas
        .get(&found.schema_id())
        .map_or("", |s| s.name.as_str());
    Err(SqlError::with(
        229,
        14,
        5,
        format!(
            "The {permission} permission was denied on the object '{}', database '{}', schema '{schema}'.",
            found.name(),
            database.name
        ),
    ))
}

/// Whether a user has a permission on an object: DENY wins, then owners, roles and grants on the
/// object, its schema and the database.
pub fn has(database: &Database, user: i32, object: &Object, permission: &str) -> bool {
    let roles = database.memberships(user);
    if is_owner(database, user, false) || roles.contains(&database.schema_owner(object.schema_id()))
    {
        return true;
    }
    let covers = |p: &crate::catalog::Permission| {
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
