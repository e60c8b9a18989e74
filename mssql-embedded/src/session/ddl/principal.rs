//! Logins, users and roles.

use crate::ast::{Ident, LoginChange, ObjectName};
use crate::catalog::{Database, Login, Principal, permission};
use crate::error::{SqlError, SqlResult};
use crate::exec::Env;
use crate::session::login::fold;

use super::{find_principal, missing};

/// Logins and what they may do in the server are sysadmin's business. To others what exists does not, says `refused`.
fn require_server(env: &Env<'_, '_>, refused: impl FnOnce() -> SqlError) -> SqlResult<()> {
    if env.core.sysadmin {
        return Ok(());
    }
    Err(refused())
}

/// Users and roles are the business of the database's owner, likewise.
fn require_security(env: &Env<'_, '_>, refused: impl FnOnce() -> SqlError) -> SqlResult<()> {
    let database = env.database()?;
    if permission::may_administer(database, env.frame.user, env.core.sysadmin) {
        return Ok(());
    }
    Err(refused())
}

/// 15247: who may not make a login, user or role.
fn not_permitted() -> SqlError {
    SqlError::new(
        15247,
        "User does not have permission to perform this action.",
    )
}

/// CREATE LOGIN … WITH PASSWORD.
pub fn create_login(
    name: &Ident,
    password: &str,
    default_database: Option<&Ident>,
    env: &mut Env<'_, '_>,
) -> SqlResult<()> {
    require_server(env, not_permitted)?;
    let key = fold(&name.name);
    let catalog = env.latch.catalog_mut();
    if catalog.logins.contains_key(&key) {
        return Err(SqlError::with(
            15025,
            16,
            1,
            format!("The server principal '{}' already exists.", name.name),
        ));
    }
    let id = 256 + catalog.logins.len() as i32;
    catalog.logins.insert(
        key.clone(),
        Login {
            name: name.name.clone(),
            id,
            password: password.to_owned(),
            sysadmin: false,
            default_database: default_database.map_or("master".to_owned(), |d| d.name.clone()),
            disabled: false,
        },
    );
    env.access()?.txn.on_rollback(move |state| {
        state.catalog_mut().logins.remove(&key);
    });
    Ok(())
}

/// ALTER LOGIN: enabled or not, password, default database.
pub fn alter_login(name: &Ident, change: &LoginChange, env: &mut Env<'_, '_>) -> SqlResult<()> {
    let missing = || missing("alter", "login", &name.name);
    require_server(env, missing)?;
    let key = fold(&name.name);
    let Some(login) = env.latch.catalog_mut().logins.get_mut(&key) else {
        return Err(missing());
    };
    let previous = login.clone();
    match change {
        LoginChange::Enable => login.disabled = false,
        LoginChange::Disable => login.disabled = true,
        LoginChange::Options {
            password,
            default_database,
        } => {
            if let Some(password) = password {
                login.password.clone_from(password);
            }
            if let Some(database) = default_database {
                login.default_database.clone_from(&database.name);
            }
        }
    }
    env.access()?.txn.on_rollback(move |state| {
        state.catalog_mut().logins.insert(key, previous);
    });
    Ok(())
}

pub fn drop_login(name: &ObjectName, env: &mut Env<'_, '_>) -> SqlResult<()> {
    let text = last(name);
    let missing = || missing("drop", "login", &text);
    require_server(env, missing)?;
    let key = fold(&text);
    let Some(login) = env.latch.catalog_mut().logins.remove(&key) else {
        return Err(missing());
    };
    env.access()?.txn.on_rollback(move |state| {
        state.catalog_mut().logins.insert(key, login);
    });
    Ok(())
}

fn last(name: &ObjectName) -> String {
    name.parts
        .last()
        .map(|p| p.name.clone())
        .unwrap_or_default()
}

fn add(principal: Principal, env: &mut Env<'_, '_>) -> SqlResult<()> {
    let database = env.database_mut()?;
    if database.find_principal(&principal.name).is_some() {
        return Err(SqlError::with(
            15023,
            16,
            1,
            format!(
                "User, group, or role '{}' already exists in the current database.",
                principal.name
            ),
        ));
    }
    let id = database.next_principal_id;
    database.next_principal_id += 1;
    database
        .principals
        .insert(id, Principal { id, ..principal });
    env.undo_with(move |database| {
        database.principals.remove(&id);
    })
}

pub fn create_user(
    name: &Ident,
    login: Option<&Ident>,
    without_login: bool,
    default_schema: Option<&Ident>,
    env: &mut Env<'_, '_>,
) -> SqlResult<()> {
    require_security(env, not_permitted)?;
    let login = if without_login {
        None
    } else {
        let login = login.map_or(&name.name, |l| &l.name);
        if !env.latch.catalog.logins.contains_key(&fold(login)) {
            return Err(SqlError::with(
                15007,
                16,
                1,
                format!("'{login}' is not a valid login or you do not have permission."),
            ));
        }
        let taken = env
            .database()?
            .principals
            .values()
            .any(|p| !p.role && p.login.as_deref().is_some_and(|l| fold(l) == fold(login)));
        if taken {
            return Err(SqlError::with(
                15063,
                16,
                1,
                "The login already has an account under a different user name.",
            ));
        }
        Some(login.clone())
    };
    add(
        Principal {
            id: 0,
            name: name.name.clone(),
            role: false,
            login,
            default_schema: default_schema.map(|s| s.name.clone()),
            owner: 1,
            fixed: false,
        },
        env,
    )
}

/// ALTER USER … WITH DEFAULT_SCHEMA.
pub fn alter_user(name: &Ident, schema: &Ident, env: &mut Env<'_, '_>) -> SqlResult<()> {
    let missing = || missing("alter", "user", &name.name);
    require_security(env, missing)?;
    let database = env.database_mut()?;
    let Some(id) = database
        .find_principal(&name.name)
        .filter(|p| !p.role)
        .map(|p| p.id)
    else {
        return Err(missing());
    };
    let user = database.principals.get_mut(&id);
    let user = user.ok_or_else(|| SqlError::internal("a user that has only a name"))?;
    let previous = user.default_schema.replace(schema.name.clone());
    env.undo_with(move |database| {
        if let Some(user) = database.principals.get_mut(&id) {
            user.default_schema = previous;
        }
    })
}

pub fn create_role(name: &Ident, owner: Option<&Ident>, env: &mut Env<'_, '_>) -> SqlResult<()> {
    if !permission::may_create_roles(env.database()?, env.frame.user) {
        require_security(env, not_permitted)?;
    }
    let owner = match owner {
        None => env.frame.user,
        Some(o) => find_principal(env.database()?, &o.name)?,
    };
    add(
        Principal {
            id: 0,
            name: name.name.clone(),
            role: true,
            login: None,
            default_schema: None,
            owner,
            fixed: false,
        },
        env,
    )
}

/// ALTER ROLE r ADD|DROP MEMBER m.
pub fn alter_role(
    role: &Ident,
    add_member: bool,
    member: &Ident,
    env: &mut Env<'_, '_>,
) -> SqlResult<()> {
    let (user, sysadmin) = (env.frame.user, env.core.sysadmin);
    let database = env.database_mut()?;
    let found = database.find_principal(&role.name).filter(|p| p.role);
    let found = found.filter(|p| permission::may_change_role(database, user, sysadmin, p));
    let Some(role) = found.map(|p| p.id) else {
        return Err(missing("alter", "role", &role.name));
    };
    let Some(member) = database.find_principal(&member.name).map(|p| p.id) else {
        return Err(missing("add", "principal", &member.name));
    };
    let previous = database.members.clone();
    if !add_member {
        database.members.retain(|m| *m != (role, member));
    } else if !database.members.contains(&(role, member)) {
        if database.memberships(role).contains(&member) {
            return Err(SqlError::with(
                15413,
                11,
                1,
                "Cannot make a role a member of itself.",
            ));
        }
        database.members.push((role, member));
    }
    env.undo_with(move |database| database.members = previous)
}

/// ALTER SERVER ROLE: only sysadmin exists here.
pub fn alter_server_role(
    role: &Ident,
    add_member: bool,
    member: &Ident,
    env: &mut Env<'_, '_>,
) -> SqlResult<()> {
    require_server(env, || missing("alter", "server role", &role.name))?;
    if !role.name.eq_ignore_ascii_case("sysadmin") {
        return Err(SqlError::unsupported(format!(
            "the server role {}",
            role.name
        )));
    }
    let key = fold(&member.name);
    let Some(login) = env.latch.catalog_mut().logins.get_mut(&key) else {
        return Err(missing("add", "principal", &member.name));
    };
    let previous = std::mem::replace(&mut login.sysadmin, add_member);
    env.access()?.txn.on_rollback(move |state| {
        if let Some(login) = state.catalog_mut().logins.get_mut(&key) {
            login.sysadmin = previous;
        }
    });
    Ok(())
}

pub fn drop_role(name: &ObjectName, if_exists: bool, env: &mut Env<'_, '_>) -> SqlResult<()> {
    drop(true, name, if_exists, env)
}

pub fn drop_user(name: &ObjectName, if_exists: bool, env: &mut Env<'_, '_>) -> SqlResult<()> {
    drop(false, name, if_exists, env)
}

fn drop(role: bool, name: &ObjectName, if_exists: bool, env: &mut Env<'_, '_>) -> SqlResult<()> {
    let text = last(name);
    let word = if role { "role" } else { "user" };
    let missing = || missing("drop", word, &text);
    let (user, sysadmin) = (env.frame.user, env.core.sysadmin);
    let database = env.database_mut()?;
    let found = database
        .find_principal(&text)
        .filter(|p| p.role == role)
        .cloned();
    let Some(principal) = found else {
        return if if_exists { Ok(()) } else { Err(missing()) };
    };
    let may = match role {
        true => permission::may_change_role(database, user, sysadmin, &principal),
        false => permission::may_administer(database, user, sysadmin),
    };
    if !may {
        return Err(missing());
    }
    check_droppable(database, &principal)?;
    let id = principal.id;
    let members = database.members.clone();
    let permissions = database.permissions.clone();
    database.members.retain(|(_, member)| *member != id);
    database.permissions.retain(|p| p.grantee != id);
    database.principals.remove(&id);
    env.undo_with(move |database| {
        database.principals.insert(id, principal);
        database.members = members;
        database.permissions = permissions;
    })
}

fn check_droppable(database: &Database, principal: &Principal) -> SqlResult<()> {
    if principal.fixed {
        return Err(SqlError::with(
            15150,
            16,
            1,
            format!("Cannot drop the principal '{}'.", principal.name),
        ));
    }
    if principal.role
        && database
            .members
            .iter()
            .any(|(role, _)| *role == principal.id)
    {
        return Err(SqlError::with(
            15144,
            16,
            1,
            "The role has members. It must be empty before it can be dropped.",
        ));
    }
    if database.schemas.values().any(|s| s.owner == principal.id) {
        return Err(SqlError::with(
            15138,
            16,
            1,
            "The database principal owns a schema in the database, and cannot be dropped.",
        ));
    }
    Ok(())
}
