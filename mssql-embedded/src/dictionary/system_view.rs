//! The system views: finding one by its name, and its rows.

use crate::error::SqlResult;
use crate::plan::SystemView;
use crate::storage::State;
use crate::value::Value;

use super::view_list::all;
use crate::catalog::{Catalog, Database};

/// What a view reads.
pub struct Source<'s> {
    /// All databases.
    pub catalog: &'s Catalog,
    /// The current database.
    pub database: &'s Database,
    /// The latched state.
    pub latch: &'s State,
}

/// The system view of a lower-case two-part name such as `sys.tables`.
pub fn system_view(name: &str) -> Option<&'static SystemView> {
    all().map(|(v, _)| v).find(|v| v.name == name)
}

/// The rows of a system view in a database, by its folded name.
pub fn system_rows(name: &str, latch: &State, database: &str) -> SqlResult<Vec<Vec<Value>>> {
    let found = all().find(|(v, _)| v.name == name);
    let database = latch.catalog.databases.get(database);
    Ok(match (found, database) {
        (Some((_, rows)), Some(database)) => rows(&Source {
            catalog: &latch.catalog,
            database,
            latch,
        }),
        _ => Vec::new(),
    })
}
