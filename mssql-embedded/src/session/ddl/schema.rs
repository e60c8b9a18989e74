//! CREATE, DROP and ALTER AUTHORIZATION ON SCHEMA.

use crate::ast::{Ident, ObjectName};
use crate::catalog::permission::Definition;
use crate::catalog::{Schema, SecurableId, name_taken};
use crate::error::{SqlError, SqlResult};
use crate::exec::Env;

use super::{find_principal, missing};

pub fn create(name: &Ident, owner: Option<&Ident>, env: &mut Env<'_, '_>) -> SqlResult<()> {
    super::require_ddl(Definition::CreateSchema, env)?;
    let user = env.frame.user;
    let database = env.database_mut()?;
    let key = database.fold(&name.name);
    if database.schema_names.contains_key(&key) {
        let failed = "CREATE SCHEMA failed due to previous errors.";
        return Err(SqlError::with(2759, 16, 0, failed).because(name_taken(&name.name, 6)));
    }
    let owner = match owner {
        None => user,
        Some(o) => find_principal(database, &o.name)?,
    };
    let id = database.next_schema_id;
    database.next_schema_id += 1;
    database.schemas.insert(
        id,
        Schema {
            id,
            name: name.name.clone(),
            owner,
        },
    );
    database.schema_names.insert(key.clone(), id);
    env.undo_with(move |database| {
        database.schemas.remove(&id);
        database.schema_names.remove(&key);
    })
}

/// DROP SCHEMA: only an empty one.
pub fn drop(name: &ObjectName, if_exists: bool, env: &mut Env<'_, '_>) -> SqlResult<()> {
    let text = name
        .parts
        .last()
        .map(|p| p.name.clone())
        .unwrap_or_default();
    let database = env.database()?;
    let Some(schema) = database.find_schema(&text).cloned() else {
        if if_exists {
            return Ok(());
        }
        return Err(missing("drop", "schema", &text));
    };
    super::require_ddl_or(Definition::DropSchema(schema.id), env, || {
        missing("drop", "schema", &text)
    })?;
    if let Some(object) = database
        .objects
        .values()
        .find(|o| o.schema_id() == schema.id)
    {
        return Err(SqlError::with(
            3729,
            16,
            1,
            format!(
                "Cannot drop schema '{text}' because it is being referenced by object '{}'.",
                object.name()
            ),
        ));
    }
    let database = env.database_mut()?;
    let key = database.fold(&schema.name);
    database.schemas.remove(&schema.id);
    database.schema_names.remove(&key);
    let removed: Vec<_> = database
        .permissions
        .extract_if(.., |p| p.on == SecurableId::Schema(schema.id))
        .collect();
    env.undo_with(move |database| {
        database.schema_names.insert(key, schema.id);
        database.schemas.insert(schema.id, schema);
        database.permissions.extend(removed);
    })
}

/// ALTER AUTHORIZATION ON SCHEMA::s TO owner.
pub fn authorize(name: &Ident, owner: &Ident, env: &mut Env<'_, '_>) -> SqlResult<()> {
    super::require_ddl_or(Definition::AlterAuthorization, env, || {
        missing("find", "schema", &name.name)
    })?;
    let database = env.database_mut()?;
    let owner = find_principal(database, &owner.name)?;
    let Some(id) = database.find_schema(&name.name).map(|s| s.id) else {
        return Err(missing("find", "schema", &name.name));
    };
    let schema = database.schemas.get_mut(&id);
    let schema = schema.ok_or_else(|| SqlError::internal("a schema that has only a name"))?;
    let previous = std::mem::replace(&mut schema.owner, owner);
    env.undo_with(move |database| {
        if let Some(schema) = database.schemas.get_mut(&id) {
            schema.owner = previous;
        }
    })
}
