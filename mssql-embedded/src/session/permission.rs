//! The permissions a statement needs: EXECUTE with ownership chaining, SELECT and the like.

use crate::catalog::{ObjectId, permission};
use crate::context::Core;
use crate::error::{SqlError, SqlResult};
use crate::exec::Env;
use crate::plan::Required;
use crate::storage::State;

/// The owner of a schema, as ownership chains see it.
pub fn owner_of(latch: &State, core: &Core, schema: i32) -> Option<i32> {
    latch
        .catalog
        .databases
        .get(&core.database)
        .map(|d| d.schema_owner(schema))
}

/// Checks what a statement needs; objects of the running procedure's owner need nothing.
pub fn check(required: &[Required], env: &Env<'_, '_>) -> SqlResult<()> {
    if required.is_empty() || env.core.sysadmin || env.frame.user == 1 {
        return Ok(());
    }
    for item in required {
        check_one(item.object, item.permission, env.frame.chain_owner, env)?;
    }
    Ok(())
}

/// Checks EXECUTE on a procedure.
pub fn check_execute(object: ObjectId, _owner: Option<i32>, env: &Env<'_, '_>) -> SqlResult<()> {
    if env.core.sysadmin || env.frame.user == 1 {
        return Ok(());
    }
    check_one(object, "EXECUTE", env.frame.chain_owner, env)
}

fn check_one(
    object: ObjectId,
    needed: &str,
    chain_owner: Option<i32>,
    env: &Env<'_, '_>,
) -> SqlResult<()> {
    let Some(database) = env.latch.catalog.databases.get(&env.core.database) else {
        return Ok(());
    };
    let Some(found) = database.objects.get(&object) else {
        return Ok(());
    };
    let owner = database.schema_owner(found.schema_id());
    if chain_owner == Some(owner) {
        return Ok(());
    }
    if permission::has(database, env.frame.user, found, needed) {
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
