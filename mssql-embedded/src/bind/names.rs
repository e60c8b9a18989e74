//! What a name in FROM means.

use crate::ast::ObjectName;
use crate::catalog::{Database, Found, invalid_object, line_of};
use crate::dictionary::{self, View};
use crate::error::{SqlError, SqlResult};
use crate::refused::{Kind, refusal};

use super::BindContext;

/// What a name in FROM can mean.
#[derive(Clone, Copy, Debug)]
pub(super) enum Relation<'a> {
    /// A table or view.
    Object(Found<'a>),
    /// A system view, and the database whose objects it shows.
    System(&'a Database, &'static View),
}

/// Why the rows of a relation that is no table are not changed.
pub(super) fn not_changed(relation: &Relation<'_>) -> SqlError {
    match relation {
        Relation::Object(found) => SqlError::unsupported(format!(
            "changing rows through the view {}",
            found.object.name()
        )),
        Relation::System(..) => {
            SqlError::new(259, "Ad hoc updates to system catalogs are not allowed.")
        }
    }
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
        return match dictionary::view(&full) {
            Some(view) => Ok(Relation::System(database, view)),
            None => Err(match refusal(Kind::View, &full) {
                Some(refused) => refused.at(line_of(name)),
                None => invalid_object(name),
            }),
        };
    }
    let found = names
        .object(name)?
        .filter(|found| found.object.is_relation());
    found
        .map(Relation::Object)
        .ok_or_else(|| invalid_object(name))
}
