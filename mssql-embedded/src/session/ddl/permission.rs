//! GRANT, DENY, REVOKE.

use crate::ast::{PermissionAction, PermissionStmt, Securable};
use crate::catalog::{Database, Permission};
use crate::error::{SqlError, SqlResult};
use crate::exec::Env;

/// Permissions that the engine checks; others are refused, since granting them would promise
/// something nobody keeps.
const KNOWN: &[&str] = &[
    "EXECUTE",
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "CONTROL",
    "ALTER",
    "VIEW DEFINITION",
    "REFERENCES",
    "CREATE TABLE",
    "CREATE PROCEDURE",
    "CREATE SCHEMA",
    "CREATE VIEW",
    "CREATE ROLE",
    "CONNECT",
    "ALTER ANY SCHEMA",
    "ALTER ANY ROLE",
    "ALTER ANY USER",
    "TAKE OWNERSHIP",
    "VIEW DATABASE STATE",
];

/// Runs the statement.
pub fn run(statement: &PermissionStmt, env: &mut Env<'_, '_>) -> SqlResult<()> {
    if statement.with_grant_option {
        return Err(SqlError::unsupported("WITH GRANT OPTION"));
    }
    for permission in &statement.permissions {
        if permission != "ALL" && !KNOWN.contains(&permission.as_str()) {
            return Err(SqlError::unsupported(format!(
                "the permission {permission}"
            )));
        }
    }
    let (class, major_id) = securable(statement.securable.as_ref(), env)?;
    require_owner(class, major_id, env)?;
    let grantor = env.frame.user;
    let database = env.database_mut()?;
    let mut grantees = Vec::new();
    for principal in &statement.principals {
        let found = database.find_principal(&principal.name).map(|p| p.id);
        grantees.push(found.ok_or_else(|| {
            SqlError::with(
                15151,
                16,
                1,
                format!("Cannot find the user '{}', because it does not exist or you do not have permission.", principal.name),
            )
        })?);
    }
    let previous = database.permissions.clone();
    for grantee in grantees {
        for permission in &statement.permissions {
            apply(
                database,
                statement.action,
                class,
                major_id,
                grantee,
                grantor,
                permission,
            );
        }
    }
    env.undo_with(move |database| database.permissions = previous)
}

fn apply(
    database: &mut Database,
    action: PermissionAction,
    class: u8,
    major_id: i32,
    grantee: i32,
    grantor: i32,
    permission: &str,
) {
    let same = |p: &Permission| {
        p.class == class
            && p.major_id == major_id
            && p.grantee == grantee
            && p.permission == permission
    };
    database.permissions.retain(|p| !same(p));
    let state = match action {
        PermissionAction::Grant => 'G',
        PermissionAction::Deny => 'D',
        PermissionAction::Revoke => return,
    };
    let permission = permission.to_owned();
    database.permissions.push(Permission {
        class,
        major_id,
        grantee,
        grantor,
        permission,
        state,
    });
}

fn securable(securable: Option<&Securable>, env: &Env<'_, '_>) -> SqlResult<(u8, i32)> {
    let missing = |kind: &str, name: &str| {
        SqlError::with(
            15151,
            16,
            1,
            format!(
                "Cannot find the {kind} '{name}', because it does not exist or you do not have permission."
            ),
        )
    };
    match securable {
        None | Some(Securable::Database(_)) => Ok((0, 0)),
        Some(Securable::Schema(name)) => match env.database()?.find_schema(&name.name) {
            Some(schema) => Ok((3, schema.id)),
            None => Err(missing("schema", &name.name)),
        },
        Some(Securable::Object(name)) => {
            match crate::context::resolve_object(&env.latch.catalog, env.core, env.frame, name)? {
                Some(object) => Ok((1, object.id())),
                None => {
                    let text = name.parts.last().map_or("", |p| p.name.as_str());
                    Err(missing("object", text))
                }
            }
        }
        Some(Securable::Role(name) | Securable::User(name)) => {
            match env.database()?.find_principal(&name.name) {
                Some(principal) => Ok((4, principal.id)),
                None => Err(missing("principal", &name.name)),
            }
        }
    }
}

fn require_owner(class: u8, major_id: i32, env: &Env<'_, '_>) -> SqlResult<()> {
    let database = env.database()?;
    if crate::catalog::permission::may_administer(database, env.frame.user, env.core.sysadmin) {
        return Ok(());
    }
    let owner = match class {
        1 => database
            .objects
            .get(&major_id)
            .map(|o| database.schema_owner(o.schema_id())),
        3 => Some(database.schema_owner(major_id)),
        _ => None,
    };
    if owner.is_some_and(|o| database.memberships(env.frame.user).contains(&o)) {
        return Ok(());
    }
    Err(SqlError::with(
        15151,
        16,
        1,
        "Cannot find the object, because it does not exist or you do not have permission.",
    ))
}
