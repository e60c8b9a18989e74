//! The definition of a view.

use std::collections::HashSet;

use crate::ast::{Ident, SelectStmt};
use crate::error::{SqlError, SqlResult};

use super::collate::require_settled;
use super::context::{BindContext, Binder};
use super::source::rename;
use super::state::QueryUse;
use super::table_def::COLUMNS_MAX;

/// Checks the query of a view, whose names must be found when it is created, unlike those of a procedure.
///
/// # Errors
///
/// Those of the query; 4505, 4506, 4511, 8158 and 8159 for the names of its columns.
pub fn check_view<'a>(
    ctx: &'a BindContext<'a>,
    view: &str,
    names: &[Ident],
    select: &'a SelectStmt,
) -> SqlResult<()> {
    let mut binder = Binder::new(ctx);
    binder.push_ctes(&select.with)?;
    let mut query = binder.bind_nested(&select.query, QueryUse::Closed)?;
    rename(&mut query.columns, names, view)?;
    let mut column_names = HashSet::new();
    for (i, column) in query.columns.iter().enumerate() {
        if column.name.is_empty() {
            return Err(SqlError::new(
                4511,
                format!(
                    "Create View or Function failed because no column name was specified for column \
                     {}.",
                    i + 1
                ),
            ));
        }
        if i == COLUMNS_MAX {
            return Err(SqlError::new(
                4505,
                format!(
                    "CREATE VIEW failed because column '{}' in view '{view}' exceeds the maximum of \
                     {COLUMNS_MAX} columns.",
                    column.name
                ),
            ));
        }
        if !column_names.insert(ctx.database.fold(&column.name)) {
            return Err(SqlError::new(
                4506,
                format!(
                    "Column names in each view or function must be unique. Column name '{}' in view or \
                     function '{view}' is specified more than once.",
                    column.name
                ),
            ));
        }
    }
    require_settled(&query.columns, "SELECT")
}
