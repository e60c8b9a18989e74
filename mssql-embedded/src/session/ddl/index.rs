//! CREATE and DROP INDEX.

use crate::ast::{CreateIndex, ObjectName};
use crate::bind;
use crate::catalog::permission::Definition;
use crate::catalog::{Home, TableDef};
use crate::error::{SqlError, SqlResult};
use crate::exec::Env;

use super::alter::rebuild_rows;
use super::lock_found::lock_table;
use super::put_table::put_table;
use super::rebuild;
use super::table::shown;
use super::version::next;

pub fn create(create: &CreateIndex, env: &mut Env<'_, '_>) -> SqlResult<()> {
    let name = create.table.as_ref();
    let name = name.ok_or_else(|| SqlError::internal("CREATE INDEX without a table"))?;
    let missing = || super::not_found(1088, 12, name);
    let table = lock_table(name, env, |schema, env| {
        super::require_ddl_or(Definition::Alter(schema), env, missing)
    })?;
    let table = table.ok_or_else(missing)?;
    if create.filter.is_some() && !env.core.settings.quoted_identifier {
        return Err(bind::wrong_settings("CREATE INDEX"));
    }
    let def = next(&table, env);
    let bound = |mut def: TableDef, home: Home<'_>| {
        bind::index_from_ast(&mut def, create, home.database).map(|position| (def, position))
    };
    let (def, position) = match env.unlatched(|home, _| bound(def.clone(), home))? {
        Some(bound) => bound?,
        None => env.latched(|home, _| bound(def, home))??,
    };
    let clustered = def.indexes[position].clustered;
    let def = put_table(def, Some(&table), env)?;
    if clustered {
        return rebuild_rows(&table, &def, env);
    }
    let rules = env.row_rules(&def)?;
    rebuild::index(&def, position, &rules, env)
}

pub fn drop(
    if_exists: bool,
    index: &str,
    table: &ObjectName,
    env: &mut Env<'_, '_>,
) -> SqlResult<()> {
    let shown = format!("{}.{index}", shown(table));
    let missing = || super::not_dropped(11, 7, "index", &shown);
    let table = lock_table(table, env, |schema, env| {
        super::require_ddl_or(Definition::Alter(schema), env, missing)
    })?;
    let Some(table) = table else {
        return if if_exists { Ok(()) } else { Err(missing()) };
    };
    let database = env.database()?;
    let folded = database.fold(index);
    let found = table
        .indexes
        .iter()
        .position(|i| database.fold(&i.name) == folded);
    let Some(position) = found else {
        return if if_exists { Ok(()) } else { Err(missing()) };
    };
    if table.indexes[position].constraint.is_some() {
        return Err(SqlError::with(
            3723,
            16,
            4,
            format!(
                "An explicit DROP INDEX is not allowed on index '{}.{index}'. It is being used for constraint enforcement.",
                table.name
            ),
        ));
    }
    let mut def = next(&table, env);
    let removed = def.indexes.remove(position);
    let def = put_table(def, Some(&table), env)?;
    if removed.clustered {
        return rebuild_rows(&table, &def, env);
    }
    let access = env.access()?;
    access
        .latch
        .store
        .drop_index(access.txn, table.id, removed.index_id);
    Ok(())
}
