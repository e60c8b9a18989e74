//! Which object a name means to a session.

use std::sync::Arc;

use super::{Core, Frame};
use crate::ast::ObjectName;
use crate::catalog::{Object, ObjectId, ProcedureDef, TableDef, is_temporary};
use crate::error::{SqlError, SqlResult};
use crate::storage::State;

/// Schema and object part of a name; a database part must be the current one.
fn split<'n>(core: &Core, name: &'n ObjectName) -> SqlResult<(Option<&'n str>, &'n str)> {
    let (database, schema, object) = match name.parts.as_slice() {
        [o] => (None, None, o),
        [s, o] => (None, Some(s), o),
        [d, s, o] => (Some(d), Some(s), o),
        _ => return Err(SqlError::unsupported("a four-part name")),
    };
    if let Some(database) = database.filter(|d| d.name.to_lowercase() != core.database) {
        return Err(SqlError::unsupported(format!(
            "a name in another database ({})",
            database.name
        )));
    }
    Ok((
        schema.map(|s| s.name.as_str()).filter(|s| !s.is_empty()),
        &object.name,
    ))
}

/// An object by name: in the given schema, or the default schema and then dbo.
pub fn resolve_object<'l>(
    latch: &'l State,
    core: &Core,
    frame: &Frame,
    name: &ObjectName,
) -> SqlResult<Option<&'l Object>> {
    if let Some(last) = name.parts.last()
        && is_temporary(&last.name)
    {
        return Ok(core.temporaries.find(&latch.catalog, &last.name));
    }
    let Some(database) = latch.catalog.databases.get(&core.database) else {
        return Ok(None);
    };
    let (schema, object) = split(core, name)?;
    let default = database.default_schema(frame.user);
    let schemas = match schema {
        Some(s) => vec![s],
        None => vec![default, "dbo"],
    };
    for schema in schemas {
        if let Some(found) = database.find_object(schema, object) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// A procedure by name.
pub fn resolve_procedure(
    latch: &State,
    core: &Core,
    frame: &Frame,
    name: &ObjectName,
) -> SqlResult<Option<Arc<ProcedureDef>>> {
    match resolve_object(latch, core, frame, name)? {
        Some(Object::Procedure(p)) => Ok(Some(Arc::clone(p))),
        _ => Ok(None),
    }
}

/// A table by name; 208 when there is none.
pub fn resolve_table(
    latch: &State,
    core: &Core,
    frame: &Frame,
    name: &ObjectName,
) -> SqlResult<Arc<TableDef>> {
    match resolve_object(latch, core, frame, name)? {
        Some(Object::Table(t)) => Ok(Arc::clone(t)),
        _ => {
            let shown: Vec<&str> = name.parts.iter().map(|p| p.name.as_str()).collect();
            Err(SqlError::new(
                208,
                format!("Invalid object name '{}'.", shown.join(".")),
            ))
        }
    }
}

/// `database.schema.table` of a table.
pub fn table_name(latch: &State, core: &Core, id: ObjectId) -> String {
    match latch
        .catalog
        .databases
        .get(&core.database)
        .and_then(|d| d.objects.get(&id))
    {
        Some(Object::Table(t)) => format!("{}.{}.{}", t.database, t.schema, t.name),
        _ => String::new(),
    }
}
