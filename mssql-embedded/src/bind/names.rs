//! What a name in FROM means.

use crate::ast::ObjectName;
use crate::catalog::{Database, Found, invalid_object};
use crate::dictionary::{self, View};
use crate::error::SqlResult;
use crate::refused::{Kind, refusal};

use super::{BindContext, errors};

/// What a name in FROM can mean.
#[derive(Clone, Copy, Debug)]
pub(super) enum Relation<'a> {
    /// A table or view.
    Object(Found<'a>),
    /// A system view, and the database whose objects it shows.
    System(&'a Database, &'static View),
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
                Some(refused) => refused.at(errors::line(name)),
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
