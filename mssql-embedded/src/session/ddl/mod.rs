//! Definitions: schemas, tables, indexes, procedures, views, principals, permissions.
//!
//! Every change is undone when its transaction rolls back, and holds a schema-modification lock until
//! the transaction ends, so that nobody sees a definition that may vanish.

mod alter;
mod change;
mod column;
mod database;
mod foreign;
mod index;
mod into;
mod lock_found;
mod permission;
mod principal;
mod procedure;
mod put_table;
mod rebuild;
mod schema;
mod table;
mod temporary;
mod version;

pub use into::run as select_into;
pub use principal::alter_role;
pub use table::drop_temporaries;

use crate::ast::{Ddl, DropKind, ObjectName};
use crate::catalog::permission::{Definition, may_define};
use crate::catalog::{Database, Object};
use crate::error::{SqlError, SqlResult};
use crate::exec::Env;

pub fn run(ddl: &Ddl, env: &mut Env<'_, '_>) -> SqlResult<()> {
    if temporary::concerns(ddl) {
        return temporary::in_tempdb(env, |env| define(ddl, env));
    }
    if changes_the_database(ddl) {
        check_writable(env)?;
    }
    define(ddl, env)
}

/// 3906 when the current database is read-only.
fn check_writable(env: &Env<'_, '_>) -> SqlResult<()> {
    let database = env.latch.catalog.databases.get(&env.core.database);
    match database.filter(|database| database.read_only) {
        Some(database) => Err(crate::context::read_only(&database.name)),
        None => Ok(()),
    }
}

/// Whether a definition is kept in the current database; the others are the server's.
fn changes_the_database(ddl: &Ddl) -> bool {
    match ddl {
        Ddl::CreateLogin { .. }
        | Ddl::AlterLogin { .. }
        | Ddl::AlterServerRole { .. }
        | Ddl::AlterDatabase { .. }
        | Ddl::CreateDatabase { .. } => false,
        Ddl::Drop { kind, names, .. } => match kind {
            DropKind::Login | DropKind::Database => false,
            DropKind::Table => !names.iter().all(temporary::names_temporary),
            DropKind::Procedure
            | DropKind::View
            | DropKind::Schema
            | DropKind::Role
            | DropKind::User => true,
        },
        Ddl::CreateSchema { .. }
        | Ddl::CreateTable { .. }
        | Ddl::AlterTable { .. }
        | Ddl::CreateIndex(_)
        | Ddl::CreateProcedure(_)
        | Ddl::CreateView(_)
        | Ddl::DropIndex { .. }
        | Ddl::Truncate(_)
        | Ddl::CreateUser { .. }
        | Ddl::AlterUser { .. }
        | Ddl::CreateRole { .. }
        | Ddl::AlterRole { .. }
        | Ddl::Permission(_)
        | Ddl::AlterAuthorization { .. } => true,
    }
}

fn define(ddl: &Ddl, env: &mut Env<'_, '_>) -> SqlResult<()> {
    match ddl {
        Ddl::CreateSchema { name, owner } => schema::create(name, owner.as_ref(), env),
        Ddl::CreateTable {
            name,
            columns,
            constraints,
        } => table::create(name, columns, constraints, env),
        Ddl::AlterTable { name, action } => table::alter(name, action, env),
        Ddl::CreateIndex(index) => index::create(index, env),
        Ddl::CreateProcedure(procedure) => procedure::create(procedure, env),
        Ddl::CreateView(view) => procedure::create_view(view, env),
        Ddl::Drop {
            kind,
            if_exists,
            names,
        } => {
            for name in names {
                env.pause()?;
                match kind {
                    DropKind::Table if temporary::names_temporary(name) => {
                        temporary::in_tempdb(env, |env| table::drop(name, *if_exists, env))?;
                    }
                    DropKind::Table => table::drop(name, *if_exists, env)?,
                    DropKind::Procedure => procedure::drop(name, *if_exists, env)?,
                    DropKind::View => procedure::drop_view(name, *if_exists, env)?,
                    DropKind::Schema => schema::drop(name, *if_exists, env)?,
                    DropKind::Role => principal::drop_role(name, *if_exists, env)?,
                    DropKind::User => principal::drop_user(name, *if_exists, env)?,
                    DropKind::Login => principal::drop_login(name, env)?,
                    DropKind::Database => database::drop(name, *if_exists, env)?,
                }
            }
            Ok(())
        }
        Ddl::DropIndex {
            if_exists,
            index,
            table,
        } => index::drop(*if_exists, &index.name, table, env),
        Ddl::Truncate(name) => table::truncate(name, env),
        Ddl::CreateLogin {
            name,
            password,
            default_database,
        } => principal::create_login(name, password, default_database.as_ref(), env),
        Ddl::AlterLogin { name, change } => principal::alter_login(name, change, env),
        Ddl::CreateUser {
            name,
            login,
            without_login,
            default_schema,
        } => principal::create_user(
            name,
            login.as_ref(),
            *without_login,
            default_schema.as_ref(),
            env,
        ),
        Ddl::AlterUser {
            name,
            default_schema,
        } => principal::alter_user(name, default_schema, env),
        Ddl::CreateRole { name, owner } => principal::create_role(name, owner.as_ref(), env),
        Ddl::AlterRole { role, add, member } => principal::alter_role(role, *add, member, env),
        Ddl::AlterServerRole { role, add, member } => {
            principal::alter_server_role(role, *add, member, env)
        }
        Ddl::Permission(statement) => permission::run(statement, env),
        Ddl::AlterAuthorization { schema, owner } => schema::authorize(schema, owner, env),
        Ddl::AlterDatabase { name, setting } => database::alter(name.as_ref(), setting, env),
        Ddl::CreateDatabase { name, collate } => database::create(name, collate.as_ref(), env),
    }
}

/// 3705: DROP of one kind of object names another. That a constraint has the name is not said.
fn refuse_other_kind(object: &Object, wanted: &str, name: &str) -> SqlResult<()> {
    let (kind, statement) = match object {
        Object::Table(_) => ("table", "TABLE"),
        Object::Procedure(_) => ("procedure", "PROCEDURE"),
        Object::View(_) => ("view", "VIEW"),
        Object::Constraint { .. } => return Ok(()),
    };
    Err(SqlError::new(
        3705,
        format!(
            "Cannot use DROP {wanted} with '{name}' because '{name}' is a {kind}. Use DROP {statement}."
        ),
    ))
}

/// Refuses a definition to a user who is not dbo, not in db_owner or db_ddladmin, and does not own
/// the schema it goes to.
fn require_ddl(what: Definition, env: &Env<'_, '_>) -> SqlResult<()> {
    let database = env.database()?;
    if may_define(database, env.frame.user, env.core.sysadmin, what) {
        return Ok(());
    }
    Err(denied(what.name(), &database.name))
}

/// The same for what exists: to who may not change it, it does not exist, says `missing`.
fn require_ddl_or(
    what: Definition,
    env: &Env<'_, '_>,
    missing: impl FnOnce() -> SqlError,
) -> SqlResult<()> {
    require_ddl(what, env).map_err(|_| missing())
}

/// 1088 and its kin, which hide whether an object exists.
fn not_found(number: i32, state: u8, name: &ObjectName) -> SqlError {
    let message = format!(
        "Cannot find the object \"{}\" because it does not exist or you do not have permissions.",
        table::shown(name)
    );
    SqlError::with(number, 16, state, message)
}

/// 15151, likewise for what belongs to no schema: `verb` is what could not be done to it.
fn missing(verb: &str, kind: &str, name: &str) -> SqlError {
    let message = format!(
        "Cannot {verb} the {kind} '{name}', because it does not exist or you do not have permission."
    );
    SqlError::with(15151, 16, 1, message)
}

/// The id of a user or role; 15151 when there is none of that name.
fn find_principal(database: &Database, name: &str) -> SqlResult<i32> {
    let found = database.find_principal(name).map(|p| p.id);
    found.ok_or_else(|| missing("find", "user", name))
}

/// 262: what only some may do in a database.
fn denied(what: &str, database: &str) -> SqlError {
    let message = format!("{what} permission denied in database '{database}'.");
    SqlError::with(262, 14, 1, message)
}

/// 3701 for a DROP, likewise.
fn not_dropped(severity: u8, state: u8, kind: &str, name: &str) -> SqlError {
    let message = format!(
        "Cannot drop the {kind} '{name}', because it does not exist or you do not have permission."
    );
    SqlError::with(3701, severity, state, message)
}
