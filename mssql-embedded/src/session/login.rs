//! Who may log in, and which databases a login may enter.

use crate::access::Latch;
use crate::catalog::Database;
use crate::context::Core;
use crate::error::{SqlError, SqlResult};
use crate::storage::State;

use super::LoginRequest;

/// A login that was let in.
#[derive(Debug)]
pub struct Identity {
    /// Its name.
    pub login: String,
    /// sysadmin.
    pub sysadmin: bool,
    /// Its user in the database.
    pub user: i32,
    /// The database, folded.
    pub database: String,
}

/// The refusal of a login, which never tells why.
pub fn login_failed(user: &str) -> SqlError {
    SqlError::with(18456, 14, 1, format!("Login failed for user '{user}'."))
}

/// Checks name, password and database.
pub fn identify(latch: &Latch<'_>, request: &LoginRequest) -> SqlResult<Identity> {
    let failed = || login_failed(&request.user);
    let login = latch
        .catalog
        .logins
        .get(&fold(&request.user))
        .ok_or_else(failed)?;
    if login.password != request.password {
        return Err(failed());
    }
    if login.disabled {
        let text = format!(
            "Login failed for user '{}'. Reason: The account is disabled.",
            request.user
        );
        return Err(SqlError::with(18470, 14, 1, text));
    }
    let wanted = if request.database.is_empty() {
        &login.default_database
    } else {
        &request.database
    };
    let cannot_open = || {
        SqlError::with(
            4060,
            11,
            1,
            format!("Cannot open database \"{wanted}\" requested by the login. The login failed."),
        )
    };
    let key = fold(wanted);
    let database = latch.catalog.databases.get(&key).ok_or_else(cannot_open)?;
    let user = database_user(database, &login.name, login.sysadmin).ok_or_else(cannot_open)?;
    Ok(Identity {
        login: login.name.clone(),
        sysadmin: login.sysadmin,
        user,
        database: key,
    })
}

/// The user of a login in a database: dbo for a sysadmin, guest only in master.
pub fn database_user(database: &Database, login: &str, sysadmin: bool) -> Option<i32> {
    if sysadmin {
        return Some(1);
    }
    let mapped = database
        .principals
        .values()
        .find(|p| !p.role && p.login.as_deref().is_some_and(|l| fold(l) == fold(login)));
    match mapped {
        Some(p) => Some(p.id),
        None if fold(&database.name) == "master" => Some(2),
        None => None,
    }
}

/// Makes a database current; new and old name.
pub fn enter_database(latch: &State, core: &mut Core, name: &str) -> SqlResult<(String, String)> {
    let key = fold(name);
    let Some(database) = latch.catalog.databases.get(&key) else {
        return Err(SqlError::new(
            911,
            format!(
                "Database '{name}' does not exist. Make sure that the name is entered correctly."
            ),
        ));
    };
    let Some(user) = database_user(database, &core.login, core.sysadmin) else {
        return Err(SqlError::with(
            916,
            14,
            1,
            format!(
                "The server principal \"{}\" is not able to access the database \"{name}\" under the current security context.",
                core.login
            ),
        ));
    };
    let old = latch
        .catalog
        .databases
        .get(&core.database)
        .map_or(String::new(), |d| d.name.clone());
    core.user = user;
    core.database = key;
    Ok((database.name.clone(), old))
}

/// Names of logins and databases, which the server's case-insensitive collation compares.
pub fn fold(name: &str) -> String {
    name.to_lowercase()
}
