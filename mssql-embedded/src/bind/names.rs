//! Which object a name means.

use std::sync::Arc;

use crate::ast::ObjectName;
use crate::catalog::{Database, Object, TableDef, ViewDef, is_temporary};
use crate::dictionary::{is_system_view, system_view};
use crate::error::{SqlError, SqlResult};
use crate::plan::SystemView;

use super::{BindContext, errors};

/// What a name in FROM can mean.
pub enum Resolved<'a> {
    /// A table.
    Table(&'a Arc<TableDef>),
    /// A view.
    View(&'a Arc<ViewDef>),
    /// A system view.
    System(&'static SystemView),
}

/// Finds any kind of object: in the given schema, or in the default schema and then in dbo.
///
/// # Errors
///
/// Refuses linked servers by name; 911 for an unknown database.
pub fn resolve_object<'a>(
    ctx: &BindContext<'a>,
    name: &ObjectName,
) -> SqlResult<Option<&'a Object>> {
    if let Some(last) = name.parts.last()
        && is_temporary(&last.name)
    {
        return Ok(ctx.temporaries.find(ctx.catalog, &last.name));
    }
    let (database, schema, object) = split(ctx, name)?;
    let find = |schema: &str| {
        let id = database.schema_names.get(&database.fold(schema))?;
        let object = database.object_names.get(&(*id, database.fold(object)))?;
        database.objects.get(object)
    };
    Ok(match schema {
        Some(schema) => find(schema),
        None => find(ctx.default_schema).or_else(|| find("dbo")),
    })
}

/// Splits a dotted name into database, schema (if written) and object.
fn split<'a, 'n>(
    ctx: &BindContext<'a>,
    name: &'n ObjectName,
) -> SqlResult<(&'a Database, Option<&'n str>, &'n str)> {
    let parts: Vec<&str> = name.parts.iter().map(|p| p.name.as_str()).collect();
    let (database, schema, object) = match parts.as_slice() {
        [object] => (None, None, *object),
        [schema, object] => (None, Some(*schema), *object),
        [database, schema, object] => (Some(*database), Some(*schema), *object),
        _ => {
            return Err(SqlError::unsupported(format!(
                "the four-part name {}",
                errors::dotted(name)
            )));
        }
    };
    let database = match database {
        Some(d) if !d.is_empty() && !d.eq_ignore_ascii_case(&ctx.database.name) => {
            let by_name = ctx
                .catalog
                .databases
                .values()
                .find(|x| x.name.eq_ignore_ascii_case(d));
            by_name.ok_or_else(|| errors::invalid_object(name))?
        }
        _ => ctx.database,
    };
    Ok((database, schema.filter(|s| !s.is_empty()), object))
}

/// Finds what FROM may name; 208 when there is nothing of that name.
pub(super) fn resolve_source<'a>(
    ctx: &BindContext<'a>,
    name: &ObjectName,
) -> SqlResult<Resolved<'a>> {
    if let [.., schema, object] = name.parts.as_slice()
        && (schema.name.eq_ignore_ascii_case("sys")
            || schema.name.eq_ignore_ascii_case("information_schema"))
    {
        let full = format!("{}.{}", schema.name, object.name).to_lowercase();
        return system_view(&full).map(Resolved::System).ok_or_else(|| {
            if is_system_view(&full) {
                let what = format!("the system view {}", errors::dotted(name));
                return SqlError::unsupported(what).at(errors::line(name));
            }
            errors::invalid_object(name)
        });
    }
    match resolve_object(ctx, name)? {
        Some(Object::Table(table)) => Ok(Resolved::Table(table)),
        Some(Object::View(view)) => Ok(Resolved::View(view)),
        _ => Err(errors::invalid_object(name)),
    }
}
