//! ALTER TABLE … DROP COLUMN and ALTER COLUMN.

use std::sync::Arc;

use crate::ast::{Ident, TypeName};
use crate::bind;
use crate::catalog::{Column, Object, TableDef};
use crate::error::{SqlError, SqlResult};
use crate::exec::{self, Env};
use crate::plan::Cond;
use crate::storage::Row;
use crate::value::precedence::check_implicit;
use crate::value::{BareLength, DataType, Value};

use super::put_table::put_table;
use super::version::next;

/// The parts of ALTER COLUMN.
pub struct NewColumn<'a> {
    pub name: &'a Ident,
    pub ty: &'a TypeName,
    pub collate: Option<&'a Ident>,
    /// NULL or NOT NULL; a column of which nothing is said takes NULL, whatever it was.
    pub nullable: Option<bool>,
}

pub fn drop(
    table: &Arc<TableDef>,
    name: &Ident,
    if_exists: bool,
    env: &mut Env<'_, '_>,
) -> SqlResult<Arc<TableDef>> {
    let Some(position) = position(table, name, env)? else {
        if if_exists {
            return Ok(Arc::clone(table));
        }
        return Err(missing(table, name, "DROP"));
    };
    if table.columns.len() == 1 {
        return Err(SqlError::new(
            4923,
            format!(
                "ALTER TABLE DROP COLUMN failed because '{}' is the only data column in table '{}'. \
                 A table must have at least one data column.",
                table.columns[0].name, table.name
            ),
        ));
    }
    let dependent = dependents(table, position, env, |_| true)?;
    refuse(table, position, dependent, "DROP")?;
    let mut def = next(table, env);
    def.columns.remove(position);
    let shift = |p: &mut usize| *p -= usize::from(*p > position);
    for index in &mut def.indexes {
        index.keys.iter_mut().for_each(|(p, _)| shift(p));
        index.include.iter_mut().for_each(shift);
    }
    let def = put_table(def, Some(table), env)?;
    rewrite(&def, env, |row| {
        let mut values = row.to_vec();
        values.remove(position);
        Ok(values)
    })?;
    Ok(def)
}

pub fn change(table: &Arc<TableDef>, new: &NewColumn<'_>, env: &mut Env<'_, '_>) -> SqlResult<()> {
    let position =
        position(table, new.name, env)?.ok_or_else(|| missing(table, new.name, "ALTER"))?;
    let old = table.columns[position].clone();
    if old.computed.is_some() {
        return Err(SqlError::new(
            4928,
            format!(
                "Cannot alter column '{}' because it is 'COMPUTED'.",
                old.name
            ),
        ));
    }
    let collation = match new.collate {
        Some(name) => bind::resolve_collation(name, env.database()?.collation)?,
        None => env.database()?.collation,
    };
    let ty = bind::resolve_type(new.ty, collation, BareLength::One)?;
    check_implicit(&old.ty, &ty)?;
    let column = Column {
        ty,
        nullable: new.nullable.unwrap_or(!new.ty.is_sysname()),
        sysname: new.ty.is_sysname(),
        ..old.clone()
    };
    let grows = lengthens(&old, &column);
    // A DEFAULT bears another length, precision or scale, as long as "the data type isn't changed".
    let other_type = std::mem::discriminant(&old.ty) != std::mem::discriminant(&column.ty);
    let dependent = dependents(table, position, env, |kind| match kind {
        Dependent::Default => other_type,
        Dependent::Check | Dependent::Index => !grows,
        Dependent::PrimaryKey | Dependent::Computed => true,
    })?;
    refuse(table, position, dependent, "ALTER")?;
    let mut def = next(table, env);
    def.columns[position] = column;
    let def = put_table(def, Some(table), env)?;
    let target = Arc::clone(&def);
    rewrite(&def, env, move |row| {
        let mut values = row.to_vec();
        values[position] = exec::convert(&target, position, &values[position], &old.ty)?;
        Ok(values)
    })
}

/// Whether a column only becomes longer, which indexes and checks bear.
fn lengthens(old: &Column, new: &Column) -> bool {
    let same_kind = match (&old.ty, &new.ty) {
        (DataType::VarChar(..), DataType::VarChar(..))
        | (DataType::NVarChar(..), DataType::NVarChar(..)) => {
            old.ty.collation() == new.ty.collation()
        }
        (DataType::VarBinary(_), DataType::VarBinary(_)) => true,
        (a, b) => a == b,
    };
    let longer = new.ty.is_max() || new.ty.max_length() >= old.ty.max_length() && !old.ty.is_max();
    same_kind && longer && old.nullable == new.nullable
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dependent {
    Default,
    Check,
    Index,
    PrimaryKey,
    Computed,
}

/// 5074 for each thing that depends on a column and counts.
fn dependents(
    table: &TableDef,
    position: usize,
    env: &mut Env<'_, '_>,
    counts: impl Fn(Dependent) -> bool,
) -> SqlResult<Vec<SqlError>> {
    let mut found = Vec::new();
    let column = &table.columns[position];
    let mut add = |kind: Dependent, what: &str, name: &str| {
        if counts(kind) {
            found.push(SqlError::new(
                5074,
                format!(
                    "The {what} '{name}' is dependent on column '{}'.",
                    column.name
                ),
            ));
        }
    };
    if let Some(default) = &column.default {
        add(Dependent::Default, "object", &default.name);
    }
    let rules = env.row_rules(table)?;
    for (check, cond) in table.checks.iter().zip(&rules.checks) {
        if reads(cond, position) {
            add(Dependent::Check, "object", &check.name);
        }
    }
    for (at, expr, _) in &rules.computed {
        let mut uses = false;
        expr.each_slot(&mut |_, slot| uses |= slot == position);
        if uses && *at != position {
            add(Dependent::Computed, "column", &table.columns[*at].name);
        }
    }
    for key in &table.foreign_keys {
        if key.columns.contains(&column.id) {
            add(Dependent::PrimaryKey, "object", &key.name);
        }
    }
    for id in &table.referenced_by {
        if let Some(child) = env.database()?.objects.get(id).and_then(Object::as_table) {
            let keys = child.foreign_keys.iter().filter(|k| k.table == table.id);
            for key in keys.filter(|k| k.referenced.contains(&column.id)) {
                add(Dependent::PrimaryKey, "object", &key.name);
            }
        }
    }
    for (index, filter) in table.indexes.iter().zip(&rules.filters) {
        let used = index.keys.iter().any(|(p, _)| *p == position)
            || index.include.contains(&position)
            || filter.as_ref().is_some_and(|cond| reads(cond, position));
        let (kind, what) = match &index.constraint {
            Some(key) if key.primary => (Dependent::PrimaryKey, "object"),
            Some(_) => (Dependent::Index, "object"),
            None => (Dependent::Index, "index"),
        };
        if used {
            add(kind, what, &index.name);
        }
    }
    Ok(found)
}

fn reads(cond: &Cond, position: usize) -> bool {
    let mut uses = false;
    cond.each_slot(&mut |_, slot| uses |= slot == position);
    uses
}

/// 4922 after what depends on the column.
fn refuse(table: &TableDef, position: usize, found: Vec<SqlError>, verb: &str) -> SqlResult<()> {
    let chained = |first: Option<SqlError>, error: SqlError| match first {
        Some(first) => error.because(first),
        None => error,
    };
    let cause = found
        .into_iter()
        .fold(None, |first, e| Some(chained(first, e)));
    match cause {
        None => Ok(()),
        Some(cause) => Err(SqlError::with(
            4922,
            16,
            9,
            format!(
                "ALTER TABLE {verb} COLUMN {} failed because one or more objects access this column.",
                table.columns[position].name
            ),
        )
        .because(cause)),
    }
}

fn missing(table: &TableDef, name: &Ident, verb: &str) -> SqlError {
    SqlError::new(
        4924,
        format!(
            "ALTER TABLE {verb} COLUMN failed because column '{}' does not exist in table '{}'.",
            name.name, table.name
        ),
    )
}

fn position(table: &TableDef, name: &Ident, env: &Env<'_, '_>) -> SqlResult<Option<usize>> {
    let database = env.database()?;
    let wanted = database.fold(&name.name);
    Ok(table
        .columns
        .iter()
        .position(|c| database.fold(&c.name) == wanted))
}

/// Rewrites every row for a new definition and checks it against the constraints.
fn rewrite(
    new: &Arc<TableDef>,
    env: &mut Env<'_, '_>,
    mut changed: impl FnMut(&Row) -> SqlResult<Vec<Value>>,
) -> SqlResult<()> {
    let rules = env.row_rules(new)?;
    super::rebuild::rows(new, &rules, env, |row, env| {
        let mut values = changed(row)?;
        exec::check_row(new, &mut values, &rules, env)?;
        Ok(values.into())
    })
}
