//! Which object a name means to a session, and who the session is in a database.

use std::sync::Arc;

use super::{Core, Frame};
use crate::ast::ObjectName;
use crate::catalog::{
    Catalog, Database, LookedUp, Names, Object, ObjectId, TableDef, database_user, elsewhere,
    invalid_object, is_temporary, no_database,
};
use crate::error::{SqlError, SqlResult};
use crate::storage::State;

/// Where a name without schema is looked up first: in a procedure its own schema, elsewhere the default
/// schema of the user.
pub fn default_schema<'d>(database: &'d Database, frame: &'d Frame) -> &'d str {
    match frame.origin.of_procedure() {
        Some(procedure) => &procedure.schema,
        None => database.default_schema(frame.user),
    }
}

/// Where the names of a running statement are looked up.
///
/// # Errors
///
/// 911 when the current database has been dropped.
pub fn names<'l>(catalog: &'l Catalog, core: &'l Core, frame: &'l Frame) -> SqlResult<Names<'l>> {
    let database = catalog.current(&core.database)?;
    Ok(Names {
        catalog,
        database,
        default_schema: default_schema(database, frame),
        login: &core.login,
        temporaries: &core.temporaries,
        looked_up: None,
    })
}

/// An object of the current database, or a temporary one, by name: what a definition can be about.
///
/// # Errors
///
/// Refuses other databases by name.
pub fn resolve_object<'l>(
    catalog: &'l Catalog,
    core: &'l Core,
    frame: &'l Frame,
    name: &ObjectName,
) -> SqlResult<Option<&'l Object>> {
    resolve_own(names(catalog, core, frame)?, name)
}

/// [`resolve_object`], with a note of where it looked.
///
/// # Errors
///
/// Refuses other databases by name.
pub fn resolve_noting<'l>(
    catalog: &'l Catalog,
    core: &'l Core,
    frame: &'l Frame,
    name: &ObjectName,
    looked_up: &'l LookedUp,
) -> SqlResult<Option<&'l Object>> {
    let names = names(catalog, core, frame)?;
    let looked_up = Some(looked_up);
    resolve_own(Names { looked_up, ..names }, name)
}

fn resolve_own<'l>(names: Names<'l>, name: &ObjectName) -> SqlResult<Option<&'l Object>> {
    let database = names.database_of(name)?;
    let last = name.parts.last().map_or("", |p| p.name.as_str());
    if !is_temporary(last) && database.is_none_or(|d| d.id != names.database.id) {
        return Err(elsewhere(name));
    }
    Ok(names.object(name)?.map(|found| found.object))
}

/// The user that a session is in a database: in the current one the user of the frame, in another one
/// that of its login.
///
/// # Errors
///
/// 911 when there is no such database, 916 when the login has no user there. A user somebody else acts
/// as is known in its own database only.
pub fn user_in(catalog: &Catalog, key: &str, core: &Core, frame: &Frame) -> SqlResult<i32> {
    if key == core.database {
        return Ok(frame.user);
    }
    let database = catalog.databases.get(key).ok_or_else(|| no_database(key))?;
    let user = match core.impersonated.is_empty() {
        true => database_user(database, &core.login, core.sysadmin),
        false => None,
    };
    let login = || acting_login(catalog, core, frame.user);
    user.ok_or_else(|| no_access(&login(), &database.name))
}

/// The login that a session acts as: its own, or, under EXECUTE AS USER, that of the user. A user without a login goes
/// by a SID of authority 9, whose numbers SQL Server draws at random.
pub fn acting_login(catalog: &Catalog, core: &Core, user: i32) -> String {
    let database = catalog.databases.get(&core.database);
    let principal = database.and_then(|d| d.principals.get(&user));
    match (core.impersonated.is_empty(), database, principal) {
        (false, Some(database), Some(principal)) => match &principal.login {
            Some(login) => login.clone(),
            None => format!("S-1-9-3-{}-{user}-0-0", database.id),
        },
        (true, _, _) | (false, None, _) | (false, _, None) => core.login.clone(),
    }
}

/// 3906: a change in a database that is read-only.
pub fn read_only(database: &str) -> SqlError {
    let text =
        format!("Failed to update database \"{database}\" because the database is read-only.");
    SqlError::with(3906, 16, 1, text)
}

/// 916: a database in which the login has no user.
pub fn no_access(login: &str, database: &str) -> SqlError {
    let text = format!(
        "The server principal \"{login}\" is not able to access the database \"{database}\" under the current security context."
    );
    SqlError::with(916, 14, 1, text)
}

/// A table by name; 208 when there is none.
pub fn resolve_table(
    latch: &State,
    core: &Core,
    frame: &Frame,
    name: &ObjectName,
) -> SqlResult<Arc<TableDef>> {
    let found = names(&latch.catalog, core, frame)?.object(name)?;
    let table = found.and_then(|found| found.object.as_table());
    table.cloned().ok_or_else(|| invalid_object(name))
}

/// `database.schema.table` of a table.
pub fn table_name(latch: &State, core: &Core, id: ObjectId) -> String {
    let found = latch.catalog.object(&core.database, id);
    found
        .and_then(|found| found.object.as_table())
        .map_or_else(String::new, |t| {
            format!("{}.{}.{}", t.database, t.schema, t.name)
        })
}
