//! SELECT … INTO: a new table from the rows and columns of a query.

use std::collections::HashSet;

use crate::bind::{check_count, column_twice};
use crate::catalog::Column;
use crate::error::SqlResult;
use crate::exec::{self, Env};
use crate::memory::KeptRows;
use crate::parse::errors::empty_name;
use crate::plan::SelectInto;

use super::temporary;

/// Runs the query, makes the table and fills it; how many rows there are.
pub fn run(into: &SelectInto, env: &mut Env<'_, '_>) -> SqlResult<u64> {
    let rows = exec::collect_first(&into.query, env.row_limit(), env)?;
    if temporary::names_temporary(&into.name) {
        return temporary::in_tempdb(env, |env| fill(into, rows, env));
    }
    super::check_writable(env)?;
    fill(into, rows, env)
}

fn fill(into: &SelectInto, rows: KeptRows, env: &mut Env<'_, '_>) -> SqlResult<u64> {
    let target = super::table::target(&into.name, env)?;
    let def = super::table::add(target.table(columns(into)?), env)?;
    let rules = env.row_rules(&def)?;
    exec::fill_table(&def, rows, &rules, env)
}

/// The columns of the new table: those of the query, without constraints.
fn columns(into: &SelectInto) -> SqlResult<Vec<Column>> {
    let mut columns: Vec<Column> = Vec::new();
    let mut names = HashSet::new();
    for (i, meta) in into.query.columns.iter().enumerate() {
        if meta.name.is_empty() {
            return Err(empty_name(5, 0));
        }
        let table = into.name.parts.last().map_or("", |p| p.name.as_str());
        check_count(i, &meta.name, table)?;
        if !names.insert(meta.name.to_lowercase()) {
            return Err(column_twice(&meta.name, &super::table::shown(&into.name)));
        }
        columns.push(Column {
            id: i as i32 + 1,
            name: meta.name.clone(),
            ty: meta.ty.clone(),
            nullable: meta.nullable,
            sysname: false,
            identity: into
                .identity
                .filter(|(at, _)| *at == i)
                .map(|(_, seed)| seed),
            default: None,
            computed: None,
        });
    }
    Ok(columns)
}
