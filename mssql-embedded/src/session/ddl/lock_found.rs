//! Looking up what a definition changes, under its schema-modification lock.

use std::sync::Arc;

use crate::access::lock_object;
use crate::ast::ObjectName;
use crate::catalog::{LookedUp, Object, ObjectId, TableDef};
use crate::context::resolve_noting;
use crate::error::SqlResult;
use crate::exec::Env;
use crate::lock::Mode;

/// Finds an object that is `wanted` and locks it. Whoever held the lock may have changed it, dropped it or put another one
/// in its place, so after the wait it is looked up again, and what this returns stays as it is. `allowed` is asked with
/// the object's schema. `None` when there is no such object, and nobody who has dropped it can bring it back.
pub fn lock_found(
    name: &ObjectName,
    env: &mut Env<'_, '_>,
    wanted: impl Fn(&Object) -> bool,
    allowed: impl Fn(i32, &Env<'_, '_>) -> SqlResult<()>,
) -> SqlResult<Option<Object>> {
    let mut locked: Option<ObjectId> = None;
    loop {
        let looked_up = LookedUp::default();
        let catalog = &env.latch.catalog;
        let found = resolve_noting(catalog, env.core, env.frame, name, &looked_up)?;
        let Some(object) = found.filter(|object| wanted(object)).cloned() else {
            if env.await_names(&looked_up)? {
                continue;
            }
            return Ok(None);
        };
        allowed(object.schema_id(), env)?;
        if locked == Some(object.id()) {
            return Ok(Some(object));
        }
        lock_object(&mut env.access()?, object.id(), Mode::SCH_M, true)?;
        locked = Some(object.id());
    }
}

/// [`lock_found`] for tables.
pub fn lock_table(
    name: &ObjectName,
    env: &mut Env<'_, '_>,
    allowed: impl Fn(i32, &Env<'_, '_>) -> SqlResult<()>,
) -> SqlResult<Option<Arc<TableDef>>> {
    let found = lock_found(name, env, |object| object.as_table().is_some(), allowed)?;
    Ok(found.and_then(|object| object.as_table().cloned()))
}
