//! A table's definition goes into the catalogue.

use std::sync::Arc;

use crate::bind;
use crate::catalog::{ConstraintType, Object, TableDef};
use crate::error::SqlResult;
use crate::exec::Env;

use super::foreign;

/// Gives ids to new constraints, checks their names, and puts table and constraints into the
/// catalogue. `previous` is the definition that this one replaces.
pub fn put_table(
    mut def: TableDef,
    previous: Option<&TableDef>,
    env: &mut Env<'_, '_>,
) -> SqlResult<Arc<TableDef>> {
    bind::check_row_size(&def)?;
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
    // First, because it may wait: whoever holds Sch-M on a table finds all that refer to it.
    foreign::link(&def, previous, env)?;
    env.put_object(Object::Table(Arc::clone(&def)))?;
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
