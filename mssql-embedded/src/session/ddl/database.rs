//! CREATE, ALTER and DROP DATABASE.

use std::sync::Arc;

use crate::ast::{DatabaseSetting, Ident, ObjectName};
use crate::catalog::{Database, Object, TEMPDB};
use crate::error::{SqlError, SqlResult};
use crate::exec::Env;
use crate::session::login::fold;
use crate::value::Collation;

/// The ids up to this one belong to master, tempdb, model and msdb.
const LAST_SYSTEM_DATABASE: i32 = 4;

fn require_sysadmin(env: &Env<'_, '_>, what: &str) -> SqlResult<()> {
    if env.core.sysadmin {
        return Ok(());
    }
    Err(super::denied(what, "master"))
}

fn outside_transaction(env: &Env<'_, '_>, what: &str) -> SqlResult<()> {
    if env.core.trancount == 0 {
        return Ok(());
    }
    Err(SqlError::with(
        226,
        16,
        6,
        format!("{what} statement not allowed within multi-statement transaction."),
    ))
}

pub fn create(name: &Ident, collate: Option<&Ident>, env: &mut Env<'_, '_>) -> SqlResult<()> {
    require_sysadmin(env, "CREATE DATABASE")?;
    outside_transaction(env, "CREATE DATABASE")?;
    let key = fold(&name.name);
    if env.latch.catalog.databases.contains_key(&key) {
        return Err(SqlError::with(
            1801,
            16,
            3,
            format!(
                "Database '{}' already exists. Choose a different database name.",
                name.name
            ),
        ));
    }
    let collation = match collate {
        None => env.database()?.collation,
        Some(c) => collation(&c.name)?,
    };
    let id = env
        .latch
        .catalog
        .databases
        .values()
        .map(|d| d.id)
        .max()
        .unwrap_or(0)
        .max(LAST_SYSTEM_DATABASE)
        + 1;
    let database = Database::new(id, &name.name, collation);
    let databases = &mut env.latch.catalog_mut().databases;
    databases.insert(key, Arc::new(database));
    Ok(())
}

fn collation(name: &str) -> SqlResult<Collation> {
    crate::bind::named_collation(name)
}

pub fn drop(name: &ObjectName, if_exists: bool, env: &mut Env<'_, '_>) -> SqlResult<()> {
    require_sysadmin(env, "DROP DATABASE")?;
    outside_transaction(env, "DROP DATABASE")?;
    let text = name
        .parts
        .last()
        .map(|p| p.name.clone())
        .unwrap_or_default();
    let key = fold(&text);
    if key == "master" || key == TEMPDB {
        return Err(SqlError::with(
            3708,
            16,
            4,
            format!("Cannot drop the database '{text}' because it is a system database."),
        ));
    }
    let used = key == env.core.database || env.core.engine.activity.is_used(&key);
    if used {
        return Err(SqlError::with(
            3702,
            16,
            3,
            format!("Cannot drop database \"{text}\" because it is currently in use."),
        ));
    }
    let Some(database) = env.latch.catalog_mut().databases.remove(&key) else {
        if if_exists {
            return Ok(());
        }
        return Err(super::not_dropped(11, 1, "database", &text));
    };
    for object in database.objects.values() {
        match object {
            Object::Table(table) => {
                let access = env.access()?;
                access.latch.store.drop_table(access.txn, table.id);
            }
            Object::Procedure(procedure) => env.core.engine.forget_module(procedure.id),
            Object::View(_) | Object::Constraint { .. } => {}
        }
    }
    Ok(())
}

/// ALTER DATABASE … SET.
pub fn alter(
    name: Option<&Ident>,
    setting: &DatabaseSetting,
    env: &mut Env<'_, '_>,
) -> SqlResult<()> {
    require_sysadmin(env, "ALTER DATABASE")?;
    outside_transaction(env, "ALTER DATABASE")?;
    let key = name.map_or_else(|| env.core.database.clone(), |n| fold(&n.name));
    let Some(database) = env.latch.database_mut(&key) else {
        let text = name.map_or("", |n| n.name.as_str());
        return Err(SqlError::with(
            5011,
            14,
            5,
            format!(
                "User does not have permission to alter database '{text}', the database does not exist, or the database is not in a state that allows access checks."
            ),
        ));
    };
    match setting {
        DatabaseSetting::ReadCommittedSnapshot(on) => database.read_committed_snapshot = *on,
        DatabaseSetting::AllowSnapshotIsolation(on) => database.allow_snapshot_isolation = *on,
        DatabaseSetting::DelayedDurability(setting) => database.delayed_durability = *setting,
        DatabaseSetting::CompatibilityLevel(level) => {
            if !matches!(level, 100 | 110 | 120 | 130 | 140 | 150) {
                return Err(SqlError::with(
                    15048,
                    16,
                    1,
                    "Valid values of the database compatibility level are 100, 110, 120, 130, 140, or 150.",
                ));
            }
            database.compatibility_level = *level;
            // What was read and bound at another level may mean something else now.
            env.core.engine.forget_plans();
        }
        DatabaseSetting::Collate(name) => {
            if !database.objects.is_empty() {
                return Err(SqlError::unsupported(
                    "ALTER DATABASE COLLATE on a database with objects",
                ));
            }
            database.collation = collation(&name.name)?;
        }
    }
    Ok(())
}
