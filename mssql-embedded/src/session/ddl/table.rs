//! CREATE, ALTER, DROP and TRUNCATE TABLE.

use std::sync::Arc;

use crate::ast::{AlterTable, ColumnDef, ObjectName, TableConstraint};
use crate::bind::{self, TableName};
use crate::catalog::permission::Definition;
use crate::catalog::{ConstraintType, Object, TableDef, is_temporary};
use crate::error::{SqlError, SqlResult};
use crate::exec::Env;

use super::temporary::{self, names_temporary};
use super::{alter, foreign};

/// CREATE TABLE.
pub fn create(
    name: &ObjectName,
    columns: &[ColumnDef],
    constraints: &[TableConstraint],
    env: &mut Env<'_, '_>,
) -> SqlResult<()> {
    let target = target(name, env)?;
    let def = bind::table_def_from_ast(&target, columns, constraints, env.home()?)?;
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

/// Gives ids to new constraints, checks their names, and puts table and constraints into the
/// catalogue. `previous` is the definition that this one replaces.
pub fn put_table(
    mut def: TableDef,
    previous: Option<&TableDef>,
    env: &mut Env<'_, '_>,
) -> SqlResult<Arc<TableDef>> {
    let mut added = Vec::new();
    for index in &mut def.indexes {
        if let Some(constraint) = &mut index.constraint
            && constraint.id == 0
        {
            constraint.id = env.new_object_id();
            added.push((constraint.id, index.name.clone(), constraint.kind()));
        }
    }
    for check in def.checks.iter_mut().filter(|c| c.id == 0) {
        check.id = env.new_object_id();
        added.push((check.id, check.name.clone(), ConstraintType::Check));
    }
    for key in &mut def.foreign_keys {
        if key.table == 0 {
            key.table = def.id;
        }
        if key.id == 0 {
            key.id = env.new_object_id();
            added.push((key.id, key.name.clone(), ConstraintType::ForeignKey));
        }
    }
    let refers_to_itself = def.foreign_keys.iter().any(|k| k.table == def.id);
    def.referenced_by.retain(|id| *id != def.id);
    if refers_to_itself {
        def.referenced_by.push(def.id);
    }
    for default in def
        .columns
        .iter_mut()
        .filter_map(|c| c.default.as_mut())
        .filter(|d| d.id == 0)
    {
        default.id = env.new_object_id();
        added.push((default.id, default.name.clone(), ConstraintType::Default));
    }
    for (_, name, _) in &added {
        env.require_free_name(def.schema_id, name)?;
    }
    for index in &def.indexes {
        let known =
            previous.is_some_and(|p| p.indexes.iter().any(|i| i.index_id == index.index_id));
        if !known {
            env.core.notices.extend(bind::key_size_warning(&def, index));
        }
    }
    let (schema_id, table) = (def.schema_id, def.id);
    let def = Arc::new(def);
    env.put_object(Object::Table(Arc::clone(&def)))?;
    foreign::link(&def, previous, env)?;
    for (id, name, kind) in added {
        env.put_object(Object::Constraint {
            id,
            name,
            schema_id,
            table,
            kind,
        })?;
    }
    if previous.is_none() {
        let access = env.access()?;
        access.latch.store.create_table(access.txn, &def);
    }
    Ok(def)
}

/// ALTER TABLE.
pub fn alter(name: &ObjectName, action: &AlterTable, env: &mut Env<'_, '_>) -> SqlResult<()> {
    let table = find(name, env)?;
    super::require_ddl(Definition::Alter(table.schema_id), env)?;
    alter::run(&table, action, env)
}

/// The table of this name; 4902 when there is none.
fn find(name: &ObjectName, env: &Env<'_, '_>) -> SqlResult<Arc<TableDef>> {
    match crate::context::resolve_object(&env.latch.catalog, env.core, env.frame, name)? {
        Some(Object::Table(t)) => Ok(Arc::clone(t)),
        _ => Err(SqlError::with(
            4902,
            16,
            1,
            format!(
                "Cannot find the object \"{}\" because it does not exist or you do not have permissions.",
                shown(name)
            ),
        )),
    }
}

/// A name as it was written.
pub fn shown(name: &ObjectName) -> String {
    let parts: Vec<&str> = name.parts.iter().map(|p| p.name.as_str()).collect();
    parts.join(".")
}

/// DROP TABLE.
pub fn drop(name: &ObjectName, if_exists: bool, env: &mut Env<'_, '_>) -> SqlResult<()> {
    let found = crate::context::resolve_object(&env.latch.catalog, env.core, env.frame, name)?;
    let Some(Object::Table(table)) = found else {
        if if_exists && found.is_none() {
            return Ok(());
        }
        return Err(SqlError::with(
            3701,
            11,
            5,
            format!(
                "Cannot drop the table '{}', because it does not exist or you do not have permission.",
                shown(name)
            ),
        ));
    };
    let table = Arc::clone(table);
    super::require_ddl(Definition::Drop(table.schema_id), env)?;
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

/// TRUNCATE TABLE.
pub fn truncate(name: &ObjectName, env: &mut Env<'_, '_>) -> SqlResult<()> {
    let found = crate::context::resolve_object(&env.latch.catalog, env.core, env.frame, name)?;
    let Some(Object::Table(table)) = found else {
        return Err(SqlError::with(
            4701,
            16,
            1,
            format!(
                "Cannot find the object \"{}\" because it does not exist or you do not have permissions.",
                shown(name)
            ),
        ));
    };
    let table = Arc::clone(table);
    super::require_ddl(Definition::Alter(table.schema_id), env)?;
    if foreign::is_referenced(&table) {
        return Err(SqlError::new(
            4712,
            format!(
                "Cannot truncate table '{}' because it is being referenced by a FOREIGN KEY constraint.",
                shown(name)
            ),
        ));
    }
    crate::access::lock_object(&mut env.access()?, table.id, crate::lock::Mode::SCH_M, true)?;
    let access = env.access()?;
    access.latch.store.truncate(access.txn, &table);
    Ok(())
}
