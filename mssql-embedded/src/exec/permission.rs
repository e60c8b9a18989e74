//! The permissions a statement needs: EXECUTE with ownership chaining, SELECT and the like.

use crate::ast::Permission;
use crate::catalog::{ObjectId, TEMPDB, is_temporary, permission, server_fold};
use crate::context::Core;
use crate::error::{SqlError, SqlResult};
use crate::plan::Required;
use crate::storage::State;

use super::Env;

/// The owner of a schema, as ownership chains see it.
pub fn owner_of(latch: &State, core: &Core, schema: i32) -> Option<i32> {
    latch
        .catalog
        .databases
        .get(&core.database)
        .map(|d| d.schema_owner(schema))
}

/// Checks what a statement needs; objects of the running procedure's owner need nothing.
pub(super) fn check(required: &[Required], env: &Env<'_, '_>) -> SqlResult<()> {
    if required.is_empty() || env.core.sysadmin {
        return Ok(());
    }
    for item in required {
        check_one(item.object, item.permission, env)?;
    }
    Ok(())
}

pub fn check_execute(object: ObjectId, env: &Env<'_, '_>) -> SqlResult<()> {
    if env.core.sysadmin {
        return Ok(());
    }
    check_one(object, Permission::Execute, env)
}

/// In another database it is the login's user there who needs the permission, and no ownership chain
/// reaches across.
fn check_one(object: ObjectId, needed: Permission, env: &Env<'_, '_>) -> SqlResult<()> {
    // A session can name only its own temporary tables, and whoever made one may do everything with it.
    let tempdb = env.latch.catalog.databases.get(TEMPDB);
    let own = tempdb.and_then(|tempdb| tempdb.objects.get(&object));
    if own.is_some_and(|own| is_temporary(own.name())) {
        return Ok(());
    }
    let found = env.latch.catalog.object(&env.core.database, object);
    let found = found.ok_or_else(|| SqlError::internal("a permission on nothing"))?;
    let (database, found) = (found.database, found.object);
    let key = server_fold(&database.name);
    let user = crate::context::user_in(&env.latch.catalog, &key, env.core, env.frame)?;
    if user == 1 {
        return Ok(());
    }
    let owner = database.schema_owner(found.schema_id());
    if key == env.core.database && env.frame.chain_owner == Some(owner) {
        return Ok(());
    }
    if permission::has(database, user, found, needed) {
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
            "The {needed} permission was denied on the object '{}', database '{}', schema '{schema}'.",
            found.name(),
            database.name
        ),
    ))
}
