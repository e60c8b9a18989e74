//! Who may log in, and which databases a login may enter.

use crate::access::Latch;
use crate::catalog::{Login, database_user, no_database};
use crate::context::{Core, acting_login, no_access};
use crate::error::{SqlError, SqlResult};
use crate::storage::State;
use crate::value::Collation;

use super::LoginRequest;

/// A login that was let in.
#[derive(Debug)]
pub struct Identity {
    pub login: String,
    pub sysadmin: bool,
    /// Its user in the database.
    pub user: i32,
    /// The database, folded.
    pub database: String,
    /// The database as the client is told of it.
    pub database_name: String,
    pub collation: Collation,
}

/// The refusal of a login, which never tells why.
pub fn login_failed(user: &str) -> SqlError {
    SqlError::with(18456, 14, 1, format!("Login failed for user '{user}'."))
}

/// What Azure SQL calls whoever comes with a token.
const TOKEN_PRINCIPAL: &str = "<token-identified principal>";

/// The login that the token stands for.
fn token_login<'a>(latch: &'a Latch<'_>, token: &str, now_ms: i64) -> SqlResult<&'a Login> {
    let failed = || login_failed(TOKEN_PRINCIPAL);
    let grant = latch.catalog.tokens.get(token).ok_or_else(failed)?;
    if grant.expires_at_ms <= now_ms {
        let text = format!("Login failed for user '{TOKEN_PRINCIPAL}'. Token is expired.");
        return Err(SqlError::with(18456, 14, 1, text));
    }
    let login = latch.catalog.logins.get(&fold(&grant.login));
    login.ok_or_else(failed)
}

/// Checks name and password, or the token, and the database.
pub fn identify(latch: &Latch<'_>, request: &LoginRequest, now_ms: i64) -> SqlResult<Identity> {
    let failed = || login_failed(&request.user);
    let login = match &request.token {
        Some(token) => token_login(latch, token, now_ms)?,
        None => {
            let login = latch.catalog.logins.get(&fold(&request.user));
            let login = login.ok_or_else(failed)?;
            if login.password != request.password {
                return Err(failed());
            }
            login
        }
    };
    if login.disabled {
        let text = format!(
            "Login failed for user '{}'. Reason: The account is disabled.",
            request.user
        );
        return Err(SqlError::with(18470, 14, 1, text));
    }
    let wanted = request.database.as_ref();
    let wanted = wanted.unwrap_or(&login.default_database);
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
        database_name: database.name.clone(),
        collation: database.collation,
    })
}

/// Makes a database current; new and old name.
pub fn enter_database(latch: &State, core: &mut Core, name: &str) -> SqlResult<(String, String)> {
    let key = fold(name);
    let Some(database) = latch.catalog.databases.get(&key) else {
        return Err(no_database(name));
    };
    // "EXECUTE AS": who acts as a user of a database is known in that database only.
    let user = match core.impersonated.is_empty() {
        true => database_user(database, &core.login, core.sysadmin),
        false => (key == core.database).then_some(core.user),
    };
    let Some(user) = user else {
        let login = acting_login(&latch.catalog, core, core.user);
        return Err(no_access(&login, name));
    };
    let old = latch
        .catalog
        .databases
        .get(&core.database)
        .map_or(String::new(), |d| d.name.clone());
    core.enter(key, user);
    Ok((database.name.clone(), old))
}

/// Takes a session back to the database that it logged in to; the new and the old name if it was in another one.
///
/// # Errors
///
/// 18056 when it could not log in there any more.
pub fn return_home(latch: &State, core: &mut Core) -> SqlResult<Option<(String, String)>> {
    let databases = &latch.catalog.databases;
    let home = databases.get(&core.home);
    let user = home.and_then(|home| database_user(home, &core.login, core.sysadmin));
    let (Some(home), Some(user)) = (home, user) else {
        return Err(SqlError::with(
            18056,
            20,
            46,
            format!(
                "The client was unable to reuse a session with SPID {}, which had been reset for connection pooling. The failure ID is 46. This error may have been caused by an earlier operation failing. Check the error logs for failed operations immediately before this error message.",
                core.spid
            ),
        ));
    };
    let left = core.enter(core.home.clone(), user);
    let old = databases.get(&left).map_or("", |left| &left.name);
    Ok((left != core.home).then(|| (home.name.clone(), old.to_owned())))
}

pub use crate::catalog::server_fold as fold;
