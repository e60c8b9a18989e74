//! CREATE, ALTER, DROP and TRUNCATE TABLE.

use std::sync::Arc;

use crate::ast::{AlterTable, ColumnDef, ObjectName, TableConstraint};
use crate::bind::{self, TableName};
use crate::catalog::permission::Definition;
use crate::catalog::{Home, Object, ObjectId, TableDef, is_temporary};
use crate::error::{SqlError, SqlResult};
use crate::exec::Env;
use crate::interrupt::Asking;

use super::lock_found::lock_table;
use super::put_table::put_table;
use super::temporary::{self, names_temporary};
use super::{alter, foreign};

pub fn create(
    name: &ObjectName,
    columns: &[ColumnDef],
    constraints: &[TableConstraint],
    env: &mut Env<'_, '_>,
) -> SqlResult<()> {
    let bound = |at: &TableName, home: Home<'_>, interrupted: Asking<'_>| {
        bind::table_def_from_ast(at, columns, constraints, home, interrupted)
    };
    let ready = |env: &mut Env<'_, '_>| {
        let at = target(name, env)?;
        if foreign::lock_parents((&at.schema, &at.name), columns, constraints, env)? {
            // Others have had the latch meanwhile.
            return target(name, env);
        }
        Ok(at)
    };
    let at = ready(env)?;
    let def = match env.unlatched(|home, interrupted| bound(&at, home, interrupted))? {
        Some(def) => def?,
        None => {
            let at = ready(env)?;
            env.latched(|home, interrupted| bound(&at, home, interrupted))??
        }
    };
    add(def, env)?;
    Ok(())
}

/// Where a new table goes; its name must be free there.
pub fn target(name: &ObjectName, env: &mut Env<'_, '_>) -> SqlResult<TableName> {
    let (schema_id, schema, table) = if names_temporary(name) {
        let table = name.parts.last().map_or("", |p| p.name.as_str());
        let schema_id = temporary::new_schema(table, env)?;
        (schema_id, "dbo".to_owned(), table.to_owned())
    } else {
        let found = env.target_schema(name)?;
        super::require_ddl(Definition::CreateTable(found.0), env)?;
        if env.await_free_name(found.0, &found.2)? {
            return target(name, env);
        }
        env.require_free_name(found.0, &found.2)?;
        found
    };
    Ok(TableName {
        schema_id,
        schema,
        name: table,
        database: env.database()?.name.clone(),
    })
}

/// Numbers a new table and puts it into the catalogue.
pub fn add(mut def: TableDef, env: &mut Env<'_, '_>) -> SqlResult<Arc<TableDef>> {
    let now = env.latch.clock().unix_ms();
    def.id = env.new_object_id();
    def.created_ms = now;
    def.modified_ms = now;
    def.version = env.latch.next_version();
    let def = put_table(def, None, env)?;
    if is_temporary(&def.name) {
        temporary::announce(&def.name, def.id, env)?;
    }
    Ok(def)
}

pub fn alter(name: &ObjectName, action: &AlterTable, env: &mut Env<'_, '_>) -> SqlResult<()> {
    let table = lock_table(name, env, |schema, env| {
        super::require_ddl_or(Definition::Alter(schema), env, || {
            super::not_found(1088, 13, name)
        })
    })?;
    let table = table.ok_or_else(|| super::not_found(4902, 1, name))?;
    alter::run(&table, action, env)
}

/// A name as it was written.
pub fn shown(name: &ObjectName) -> String {
    let parts: Vec<&str> = name.parts.iter().map(|p| p.name.as_str()).collect();
    parts.join(".")
}

pub fn drop(name: &ObjectName, if_exists: bool, env: &mut Env<'_, '_>) -> SqlResult<()> {
    let table = lock_table(name, env, |schema, env| {
        super::require_ddl_or(Definition::Drop(schema), env, || {
            super::not_dropped(14, 20, "table", &shown(name))
        })
    })?;
    let Some(table) = table else {
        let found = crate::context::resolve_object(&env.latch.catalog, env.core, env.frame, name)?;
        if let Some(other) = found {
            super::refuse_other_kind(other, "TABLE", &shown(name))?;
        }
        if if_exists && found.is_none() {
            return Ok(());
        }
        return Err(super::not_dropped(11, 5, "table", &shown(name)));
    };
    foreign::refuse_drop(&table)?;
    remove(&table, env)
}

/// Takes a table and its constraints out of the catalogue, and its rows out of the store.
pub fn remove(table: &TableDef, env: &mut Env<'_, '_>) -> SqlResult<()> {
    foreign::unlink(table, env)?;
    env.remove_object(table.id)?;
    for id in constraint_ids(table) {
        env.remove_object(id)?;
    }
    let access = env.access()?;
    access.latch.store.drop_table(access.txn, table.id);
    Ok(())
}

/// The ids of everything in the catalogue that belongs to a table.
fn constraint_ids(table: &TableDef) -> Vec<i32> {
    let keys = table
        .indexes
        .iter()
        .filter_map(|i| i.constraint.as_ref().map(|c| c.id));
    let checks = table.checks.iter().map(|c| c.id);
    let defaults = table
        .columns
        .iter()
        .filter_map(|c| c.default.as_ref().map(|d| d.id));
    let foreign = table.foreign_keys.iter().map(|k| k.id);
    keys.chain(checks).chain(defaults).chain(foreign).collect()
}

pub fn truncate(name: &ObjectName, env: &mut Env<'_, '_>) -> SqlResult<()> {
    let table = lock_table(name, env, |schema, env| {
        super::require_ddl_or(Definition::Alter(schema), env, || {
            super::not_found(1088, 7, name)
        })
    })?;
    let table = table.ok_or_else(|| super::not_found(4701, 1, name))?;
    if foreign::is_referenced(&table) {
        return Err(SqlError::new(
            4712,
            format!(
                "Cannot truncate table '{}' because it is being referenced by a FOREIGN KEY constraint.",
                shown(name)
            ),
        ));
    }
    let access = env.access()?;
    access.latch.store.truncate(access.txn, &table);
    Ok(())
}

/// Drops the temporary tables of a scope that has ended.
pub fn drop_temporaries(ids: &[ObjectId], env: &mut Env<'_, '_>) -> SqlResult<()> {
    temporary::in_tempdb(env, |env| {
        for id in ids {
            let found = env.database()?.objects.get(id);
            if let Some(table) = found.and_then(Object::as_table) {
                let table = Arc::clone(table);
                remove(&table, env)?;
            }
        }
        Ok(())
    })
}
