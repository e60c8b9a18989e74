//! GRANT, DENY, REVOKE.

use crate::ast::{PermissionAction, PermissionStmt, Securable};
use crate::catalog::{Permission, PermissionState, SecurableId, permission};
use crate::error::{SqlError, SqlResult};
use crate::exec::Env;

/// Runs the statement.
pub fn run(statement: &PermissionStmt, env: &mut Env<'_, '_>) -> SqlResult<()> {
    if statement.with_grant_option {
        return Err(SqlError::unsupported("WITH GRANT OPTION"));
    }
    for permission in &statement.permissions {
        if permission::code(permission).is_none() {
            return Err(SqlError::unsupported(format!(
                "the permission {permission}"
            )));
        }
    }
    let on = securable(statement.securable.as_ref(), env)?;
    require_owner(on, env)?;
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
            let state = match statement.action {
                PermissionAction::Grant => Some(PermissionState::Grant),
                PermissionAction::Deny => Some(PermissionState::Deny),
                PermissionAction::Revoke => None,
            };
            let same =
                |p: &Permission| p.on == on && p.grantee == grantee && p.permission == *permission;
            database.permissions.retain(|p| !same(p));
            database.permissions.extend(state.map(|state| Permission {
                on,
                grantee,
                grantor,
                permission: permission.clone(),
                state,
            }));
        }
    }
    env.undo_with(move |database| database.permissions = previous)
}

fn securable(securable: Option<&Securable>, env: &Env<'_, '_>) -> SqlResult<SecurableId> {
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
        None | Some(Securable::Database(_)) => Ok(SecurableId::Database),
        Some(Securable::Schema(name)) => match env.database()?.find_schema(&name.name) {
            Some(schema) => Ok(SecurableId::Schema(schema.id)),
            None => Err(missing("schema", &name.name)),
        },
        Some(Securable::Object(name)) => {
            match crate::context::resolve_object(&env.latch.catalog, env.core, env.frame, name)? {
                Some(object) => Ok(SecurableId::Object(object.id())),
                None => {
                    let text = name.parts.last().map_or("", |p| p.name.as_str());
                    Err(missing("object", text))
                }
            }
        }
        Some(Securable::Role(name) | Securable::User(name)) => {
            match env.database()?.find_principal(&name.name) {
                Some(principal) => Ok(SecurableId::Principal(principal.id)),
                None => Err(missing("principal", &name.name)),
            }
        }
    }
}

fn require_owner(on: SecurableId, env: &Env<'_, '_>) -> SqlResult<()> {
    let database = env.database()?;
    if permission::may_administer(database, env.frame.user, env.core.sysadmin) {
        return Ok(());
    }
    let owner = match on {
        SecurableId::Object(id) => database
            .objects
            .get(&id)
            .map(|o| database.schema_owner(o.schema_id())),
        SecurableId::Schema(id) => Some(database.schema_owner(id)),
        SecurableId::Database | SecurableId::Principal(_) => None,
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
