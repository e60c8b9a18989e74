//! Local temporary tables: made and dropped in tempdb, named only by their session.

use crate::ast::{Ddl, ObjectName};
use crate::catalog::{ObjectId, TEMPDB, is_temporary, name_taken};
use crate::error::SqlResult;
use crate::exec::Env;

pub fn names_temporary(name: &ObjectName) -> bool {
    name.parts.last().is_some_and(|p| is_temporary(&p.name))
}

/// Whether a definition is about one temporary table.
pub fn concerns(ddl: &Ddl) -> bool {
    match ddl {
        Ddl::CreateTable { name, .. } | Ddl::AlterTable { name, .. } | Ddl::Truncate(name) => {
            names_temporary(name)
        }
        Ddl::CreateIndex(index) => index.table.as_ref().is_some_and(names_temporary),
        Ddl::DropIndex { table, .. } => names_temporary(table),
        Ddl::CreateSchema { .. }
        | Ddl::CreateProcedure(_)
        | Ddl::CreateView(_)
        | Ddl::Drop { .. }
        | Ddl::CreateLogin { .. }
        | Ddl::AlterLogin { .. }
        | Ddl::CreateUser { .. }
        | Ddl::AlterUser { .. }
        | Ddl::CreateRole { .. }
        | Ddl::AlterRole { .. }
        | Ddl::AlterServerRole { .. }
        | Ddl::Permission(_)
        | Ddl::AlterAuthorization { .. }
        | Ddl::AlterDatabase { .. }
        | Ddl::CreateDatabase { .. } => false,
    }
}

/// Runs `f` in tempdb as its owner: everybody may do what they like with their own temporary tables.
pub fn in_tempdb<T>(
    env: &mut Env<'_, '_>,
    f: impl FnOnce(&mut Env<'_, '_>) -> SqlResult<T>,
) -> SqlResult<T> {
    let database = std::mem::replace(&mut env.core.database, TEMPDB.to_owned());
    let user = std::mem::replace(&mut env.frame.user, 1);
    let result = f(env);
    env.frame.user = user;
    env.core.database = database;
    result
}

/// The schema id of a new temporary table. Each has one of its own, so that tables of the same name
/// and their constraints do not meet in tempdb.
///
/// # Errors
///
/// 2714 when the running scope has a table of this name.
pub fn new_schema(name: &str, env: &mut Env<'_, '_>) -> SqlResult<i32> {
    let depth = env.frame.depth;
    if env.core.temporaries.has(&env.latch.catalog, name, depth) {
        return Err(name_taken(name, 6));
    }
    Ok(-env.new_object_id())
}

/// Lets the session name a new temporary table.
pub fn announce(name: &str, id: ObjectId, env: &mut Env<'_, '_>) -> SqlResult<()> {
    let folded = env.database()?.fold(name);
    env.core.temporaries.add(folded, env.frame.depth, id);
    Ok(())
}
