//! Foreign keys: which tables refer to which, and the check of rows there are.

use std::sync::Arc;

use crate::access::lock_object;
use crate::ast::{ColumnDef, TableConstraint};
use crate::bind::{self, Touched, bind_foreign};
use crate::catalog::{Object, ObjectId, TableDef};
use crate::error::{SqlError, SqlResult};
use crate::exec::{self, Env};
use crate::interrupt::stop_if;
use crate::lock::Mode;

use super::rebuild;
use super::version::next;

/// Takes the schema-modification locks of the tables that the foreign keys of a definition refer to, other than the table
/// `own` (schema and name). Before they are bound: what they are bound against must stay. Whether there were any.
pub fn lock_parents(
    own: (&str, &str),
    columns: &[ColumnDef],
    constraints: &[TableConstraint],
    env: &mut Env<'_, '_>,
) -> SqlResult<bool> {
    let mut locked: Vec<ObjectId> = Vec::new();
    loop {
        stop_if((env.interrupted)())?;
        let mut waited = false;
        for name in bind::referenced_names(columns, constraints, env.home()?) {
            // One that is being dropped may come back.
            waited |= env.await_name(&name)?;
        }
        if waited {
            continue;
        }
        let parents = bind::referenced_tables(own, columns, constraints, env.home()?);
        let Some(parent) = parents.into_iter().find(|id| !locked.contains(id)) else {
            return Ok(!locked.is_empty());
        };
        lock_object(&mut env.access()?, parent, Mode::SCH_M, true)?;
        locked.push(parent);
    }
}

/// Notes in the referenced tables that a table refers to them, or no longer does. Statements on them are
/// bound anew by it.
pub fn link(child: &TableDef, previous: Option<&TableDef>, env: &mut Env<'_, '_>) -> SqlResult<()> {
    let parents = |t: &TableDef| -> Vec<ObjectId> {
        let others = t.foreign_keys.iter().map(|k| k.table);
        others.filter(|id| *id != t.id).collect()
    };
    let (now, before) = (parents(child), previous.map(parents).unwrap_or_default());
    for id in now.iter().filter(|id| !before.contains(id)) {
        edit(*id, env, |by| by.push(child.id))?;
    }
    for id in before.iter().filter(|id| !now.contains(id)) {
        edit(*id, env, |by| by.retain(|c| *c != child.id))?;
    }
    Ok(())
}

/// Undoes all that `link` noted of a table.
pub fn unlink(child: &TableDef, env: &mut Env<'_, '_>) -> SqlResult<()> {
    for key in child.foreign_keys.iter().filter(|k| k.table != child.id) {
        edit(key.table, env, |by| by.retain(|c| *c != child.id))?;
    }
    Ok(())
}

fn edit(
    parent: ObjectId,
    env: &mut Env<'_, '_>,
    change: impl FnOnce(&mut Vec<ObjectId>),
) -> SqlResult<()> {
    lock_object(&mut env.access()?, parent, Mode::SCH_M, true)?;
    let found = env.database()?.objects.get(&parent);
    let Some(found) = found.and_then(Object::as_table).map(Arc::clone) else {
        return Ok(());
    };
    let mut def = next(&found, env);
    change(&mut def.referenced_by);
    env.put_object(Object::Table(Arc::new(def)))
}

/// Whether another table refers to this one.
pub fn is_referenced(table: &TableDef) -> bool {
    table.referenced_by.iter().any(|id| *id != table.id)
}

/// The foreign key that needs a key of a table, with the name of its table.
pub fn needs_key(
    table: &TableDef,
    columns: &[usize],
    env: &Env<'_, '_>,
) -> SqlResult<Option<(String, String)>> {
    let ids: Vec<i32> = columns.iter().map(|p| table.columns[*p].id).collect();
    for id in &table.referenced_by {
        if let Some(child) = env.database()?.objects.get(id).and_then(Object::as_table) {
            let uses = child.foreign_keys.iter().find(|k| {
                k.table == table.id
                    && k.referenced.len() == ids.len()
                    && k.referenced.iter().all(|c| ids.contains(c))
            });
            if let Some(key) = uses {
                return Ok(Some((child.name.clone(), key.name.clone())));
            }
        }
    }
    Ok(None)
}

/// Checks the rows of a table against the foreign keys from `first` on.
pub fn check_rows(table: &Arc<TableDef>, first: usize, env: &mut Env<'_, '_>) -> SqlResult<()> {
    if table.foreign_keys.len() <= first {
        return Ok(());
    }
    let (mut rules, _) =
        env.bind_rules(|context| bind_foreign(context, table, Touched::Inserted))?;
    rules.parents.drain(..first);
    rebuild::each_row(table, env, |_, chain, env| {
        let row = chain.current().map_or(&[][..], std::slice::from_ref);
        exec::check_parents(&rules, row, "ALTER TABLE", env)
    })
}

/// 3726: what other tables refer to cannot be dropped.
pub fn refuse_drop(table: &TableDef) -> SqlResult<()> {
    if !is_referenced(table) {
        return Ok(());
    }
    Err(SqlError::new(
        3726,
        format!(
            "Could not drop object '{}.{}' because it is referenced by a FOREIGN KEY constraint.",
            table.schema, table.name
        ),
    ))
}
