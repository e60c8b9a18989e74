//! What a name in FROM means.

use crate::ast::ObjectName;
use crate::catalog::{Database, Found, Object, invalid_object};
use crate::dictionary::{is_system_view, system_view};
use crate::error::{SqlError, SqlResult};
use crate::plan::SystemView;

use super::{BindContext, errors};

/// What a name in FROM can mean.
#[derive(Clone, Copy, Debug)]
pub(super) enum Relation<'a> {
    /// A table or view.
    Object(Found<'a>),
    /// A system view, and the database whose objects it shows.
    System(&'a Database, &'static SystemView),
}

/// Finds what FROM may name; 208 when there is nothing of that name.
pub(super) fn relation<'a>(ctx: &BindContext<'a>, name: &ObjectName) -> SqlResult<Relation<'a>> {
    let names = ctx.names();
    if let [.., schema, object] = name.parts.as_slice()
        && (schema.name.eq_ignore_ascii_case("sys")
            || schema.name.eq_ignore_ascii_case("information_schema"))
    {
        let database = names.database_of(name)?;
        let database = database.ok_or_else(|| invalid_object(name))?;
        let full = format!("{}.{}", schema.name, object.name).to_lowercase();
        return match system_view(&full) {
            Some(view) => Ok(Relation::System(database, view)),
            None if is_system_view(&full) => {
                let what = format!("the system view {}", errors::dotted(name));
                Err(SqlError::unsupported(what).at(errors::line(name)))
            }
            None => Err(invalid_object(name)),
        };
    }
    match names.object(name)? {
        Some(found) if matches!(found.object, Object::Table(_) | Object::View(_)) => {
            Ok(Relation::Object(found))
        }
        _ => Err(invalid_object(name)),
    }
}
