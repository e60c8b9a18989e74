//! GRANT, DENY, REVOKE.

use std::collections::{BTreeSet, HashSet};

use crate::ast::{Ident, Permission, PermissionAction, PermissionStmt, Securable};
use crate::catalog::{Object, PermissionRow, PermissionState, SecurableId, permission};
use crate::error::{SqlError, SqlResult};
use crate::exec::Env;
use crate::interrupt::stop_if;

use super::{find_principal, missing};

pub fn run(statement: &PermissionStmt, env: &mut Env<'_, '_>) -> SqlResult<()> {
    let on = securable(statement.securable.as_ref(), env)?;
    require_owner(on, statement.securable.as_ref(), env)?;
    require_compatible(on, &statement.permissions, env)?;
    let grantor = env.frame.user;
    // Each once, however often they are named: what follows is as long as both lists multiplied.
    let mut names = HashSet::new();
    let mut grantees = BTreeSet::new();
    for principal in &statement.principals {
        let database = env.database()?;
        if !names.insert(database.fold(&principal.name)) {
            continue;
        }
        grantees.insert(find_principal(database, &principal.name)?);
        stop_if((env.interrupted)())?;
    }
    let permissions: BTreeSet<Permission> = statement.permissions.iter().copied().collect();
    let state = match statement.action {
        PermissionAction::Grant => Some(PermissionState::Grant),
        PermissionAction::Deny => Some(PermissionState::Deny),
        PermissionAction::Revoke => None,
    };
    let database = env.database_mut()?;
    let previous = database.permissions.clone();
    database.permissions.retain(|p| {
        p.on != on || !grantees.contains(&p.grantee) || !permissions.contains(&p.permission)
    });
    if let Some(state) = state {
        for grantee in grantees {
            let row = |permission: &Permission| PermissionRow {
                on,
                grantee,
                grantor,
                permission: *permission,
                state,
            };
            database.permissions.extend(permissions.iter().map(row));
        }
    }
    env.undo_with(move |database| database.permissions = previous)
}

/// 4606: EXECUTE is for procedures, and what reads and writes rows for tables and views.
fn require_compatible(
    on: SecurableId,
    permissions: &[Permission],
    env: &Env<'_, '_>,
) -> SqlResult<()> {
    let SecurableId::Object(id) = on else {
        return Ok(());
    };
    let procedure = match env.database()?.objects.get(&id) {
        Some(Object::Procedure(_)) => true,
        Some(Object::Table(_) | Object::View(_)) => false,
        Some(Object::Constraint { .. }) | None => return Ok(()),
    };
    for permission in permissions {
        let wrong = match permission {
            Permission::Execute => !procedure,
            Permission::Select
            | Permission::Insert
            | Permission::Update
            | Permission::Delete
            | Permission::References => procedure,
            // Those that all objects have, and those of databases, which are another matter.
            Permission::Control
            | Permission::Alter
            | Permission::ViewDefinition
            | Permission::TakeOwnership
            | Permission::CreateTable
            | Permission::CreateProcedure
            | Permission::CreateSchema
            | Permission::CreateView
            | Permission::CreateRole
            | Permission::Connect
            | Permission::AlterAnySchema
            | Permission::AlterAnyRole
            | Permission::AlterAnyUser
            | Permission::ViewDatabaseState => false,
        };
        if wrong {
            let message =
                format!("Granted or revoked privilege {permission} is not compatible with object.");
            return Err(SqlError::new(4606, message));
        }
    }
    Ok(())
}

fn securable(securable: Option<&Securable>, env: &Env<'_, '_>) -> SqlResult<SecurableId> {
    match securable {
        None | Some(Securable::Database(_)) => Ok(SecurableId::Database),
        Some(Securable::Schema(name)) => match env.database()?.find_schema(&name.name) {
            Some(schema) => Ok(SecurableId::Schema(schema.id)),
            None => Err(missing("find", "schema", &name.name)),
        },
        Some(Securable::Object(name)) => {
            match crate::context::resolve_object(&env.latch.catalog, env.core, env.frame, name)? {
                Some(object) => Ok(SecurableId::Object(object.id())),
                None => {
                    let text = name.parts.last().map_or("", |p| p.name.as_str());
                    Err(missing("find", "object", text))
                }
            }
        }
        Some(Securable::Role(name)) => principal("role", name, env),
        Some(Securable::User(name)) => principal("user", name, env),
    }
}

fn principal(kind: &str, name: &Ident, env: &Env<'_, '_>) -> SqlResult<SecurableId> {
    match env.database()?.find_principal(&name.name) {
        Some(principal) => Ok(SecurableId::Principal(principal.id)),
        None => Err(missing("find", kind, &name.name)),
    }
}

/// Only who may administer, or owns or controls what it is about, may grant; to others it does not exist.
fn require_owner(on: SecurableId, written: Option<&Securable>, env: &Env<'_, '_>) -> SqlResult<()> {
    let database = env.database()?;
    if permission::may_administer(database, env.frame.user, env.core.sysadmin) {
        return Ok(());
    }
    let (user, control) = (env.frame.user, Permission::Control);
    let controls = match on {
        SecurableId::Object(id) => database
            .objects
            .get(&id)
            .is_some_and(|object| permission::has(database, user, object, control)),
        SecurableId::Schema(id) => permission::has_on_schema(database, user, id, control),
        SecurableId::Database => permission::has_on_database(database, user, control),
        SecurableId::Principal(_) => false,
    };
    if controls {
        return Ok(());
    }
    Err(match written {
        Some(Securable::Object(name)) => missing(
            "find",
            "object",
            name.parts.last().map_or("", |p| p.name.as_str()),
        ),
        Some(Securable::Schema(name)) => missing("find", "schema", &name.name),
        Some(Securable::Role(name)) => missing("find", "role", &name.name),
        Some(Securable::User(name)) => missing("find", "user", &name.name),
        Some(Securable::Database(_)) | None => {
            let message = "Grantor does not have GRANT permission.";
            SqlError::new(4613, message)
        }
    })
}
