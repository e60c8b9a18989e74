//! The actions of ALTER TABLE.

use std::sync::Arc;

use crate::ast::{AlterTable, ColumnDef, Ident, TableConstraint};
use crate::bind;
use crate::catalog::{Home, TableDef};
use crate::error::{SqlError, SqlResult};
use crate::exec::Env;
use crate::interrupt::Asking;
use crate::plan::Scalar;
use crate::value::{DataType, Value};

use super::put_table::put_table;
use super::version::next;
use super::{column, foreign, rebuild};

/// Changes a table that is under its schema-modification lock.
pub fn run(table: &Arc<TableDef>, action: &AlterTable, env: &mut Env<'_, '_>) -> SqlResult<()> {
    match action {
        AlterTable::Add {
            columns,
            constraints,
        } => add(table, columns, constraints, env),
        AlterTable::DropConstraint { if_exists, names } => {
            let mut current = Arc::clone(table);
            for name in names {
                current = drop_constraint(&current, name, *if_exists, env)?;
            }
            Ok(())
        }
        AlterTable::LockEscalation(on) => {
            let mut def = next(table, env);
            def.lock_escalation = *on;
            put_table(def, Some(table), env).map(|_| ())
        }
        AlterTable::AlterColumn {
            name,
            ty,
            collate,
            nullable,
        } => {
            let new = column::NewColumn {
                name,
                ty,
                collate: collate.as_ref(),
                nullable: *nullable,
            };
            column::change(table, &new, env)
        }
        AlterTable::DropColumn { if_exists, names } => {
            let mut current = Arc::clone(table);
            for name in names {
                current = column::drop(&current, name, *if_exists, env)?;
            }
            Ok(())
        }
    }
}

fn add(
    table: &Arc<TableDef>,
    columns: &[ColumnDef],
    constraints: &[TableConstraint],
    env: &mut Env<'_, '_>,
) -> SqlResult<()> {
    let bound = |mut def: TableDef, home: Home<'_>, interrupted: Asking<'_>| {
        bind::add_to_table(&mut def, columns, constraints, home, interrupted).map(|()| def)
    };
    let own = (table.schema.as_str(), table.name.as_str());
    foreign::lock_parents(own, columns, constraints, env)?;
    let def = next(table, env);
    let def = match env.unlatched(|home, interrupted| bound(def.clone(), home, interrupted))? {
        Some(def) => def?,
        None => {
            foreign::lock_parents(own, columns, constraints, env)?;
            env.latched(|home, interrupted| bound(def, home, interrupted))??
        }
    };
    let def = put_table(def, Some(table), env)?;
    let filled: Vec<bool> = columns.iter().map(|c| c.with_values).collect();
    let rebuilt = rebuild_rows_filling(table, &def, &filled, env);
    rebuilt.map_err(|error| match error.number {
        1505 => bind::not_created(error),
        _ => error,
    })?;
    foreign::check_rows(&def, table.foreign_keys.len(), env)
}

/// Rewrites the rows for a new definition: new columns get their defaults (or NULL), and every row
/// must satisfy the new constraints.
pub fn rebuild_rows(old: &TableDef, new: &Arc<TableDef>, env: &mut Env<'_, '_>) -> SqlResult<()> {
    rebuild_rows_filling(old, new, &[], env)
}

/// As [`rebuild_rows`]; `filled` says of each new column whether it is filled WITH VALUES.
fn rebuild_rows_filling(
    old: &TableDef,
    new: &Arc<TableDef>,
    filled: &[bool],
    env: &mut Env<'_, '_>,
) -> SqlResult<()> {
    let rules = env.row_rules(new)?;
    let fillings = fillings(old, new, filled, env)?;
    rebuild::rows(new, &rules, env, |row, env| {
        refuse_null_column(old, new)?;
        let mut values = row.to_vec();
        for (position, filling) in (old.columns.len()..).zip(&fillings) {
            values.push(match filling {
                Some((expr, ty)) => {
                    let value = crate::exec::eval(expr, env)?;
                    crate::exec::convert(new, position, &value, ty)?
                }
                None => Value::Null,
            });
        }
        crate::exec::check_row(new, &mut values, &rules, env)?;
        Ok(values.into())
    })
}

/// 4901: a table with rows takes no new column that would have to be NULL in them and may not be.
fn refuse_null_column(old: &TableDef, new: &TableDef) -> SqlResult<()> {
    let added = &new.columns[old.columns.len().min(new.columns.len())..];
    let unfit = added.iter().find(|c| {
        !c.nullable && c.default.is_none() && c.identity.is_none() && c.computed.is_none()
    });
    match unfit {
        None => Ok(()),
        Some(column) => Err(SqlError::new(
            4901,
            format!(
                "ALTER TABLE only allows columns to be added that can contain nulls, or have a \
                 DEFAULT definition specified, or the column being added is an identity or timestamp \
                 column, or alternatively if none of the previous conditions are satisfied the table \
                 must be empty to allow addition of this column. Column '{}' cannot be added to \
                 non-empty table '{}' because it does not satisfy these conditions.",
                column.name, new.name
            ),
        )),
    }
}

/// What the new columns hold in the rows there are: an expression that each row computes for itself, or NULL. Without WITH
/// VALUES a nullable column stays NULL in them even if it has a default.
fn fillings(
    old: &TableDef,
    new: &TableDef,
    filled: &[bool],
    env: &mut Env<'_, '_>,
) -> SqlResult<Vec<Option<(Scalar, DataType)>>> {
    let added = old.columns.len()..new.columns.len();
    added
        .map(|position| {
            let with_values = filled.get(position - old.columns.len()) == Some(&true);
            if new.columns[position].nullable && !with_values {
                return Ok(None);
            }
            env.default_of(new, position)
        })
        .collect()
}

fn drop_constraint(
    table: &Arc<TableDef>,
    name: &Ident,
    if_exists: bool,
    env: &mut Env<'_, '_>,
) -> SqlResult<Arc<TableDef>> {
    let folded = env.database()?.fold(&name.name);
    let database_fold = |s: &str, env: &Env<'_, '_>| env.database().map(|d| d.fold(s));
    let mut def = next(table, env);
    if let Some(i) = position(&table.checks, |c| {
        database_fold(&c.name, env).is_ok_and(|n| n == folded)
    }) {
        let check = def.checks.remove(i);
        env.remove_object(check.id)?;
        return put_table(def, Some(table), env);
    }
    if let Some(i) = position(&table.foreign_keys, |k| {
        database_fold(&k.name, env).is_ok_and(|n| n == folded)
    }) {
        let key = def.foreign_keys.remove(i);
        env.remove_object(key.id)?;
        return put_table(def, Some(table), env);
    }
    let default = |c: &crate::catalog::Column| {
        c.default
            .as_ref()
            .is_some_and(|d| database_fold(&d.name, env).is_ok_and(|n| n == folded))
    };
    if let Some(i) = position(&table.columns, default) {
        if let Some(default) = def.columns[i].default.take() {
            env.remove_object(default.id)?;
        }
        return put_table(def, Some(table), env);
    }
    let key = |x: &crate::catalog::IndexDef| {
        x.constraint.is_some() && database_fold(&x.name, env).is_ok_and(|n| n == folded)
    };
    if let Some(i) = position(&table.indexes, key) {
        let index = def.indexes.remove(i);
        let columns: Vec<usize> = index.keys.iter().map(|(p, _)| *p).collect();
        if let Some((child, key)) = foreign::needs_key(table, &columns, env)? {
            return Err(not_dropped(SqlError::with(
                3725,
                16,
                0,
                format!(
                    "The constraint '{}' is being referenced by table '{child}', foreign key \
                     constraint '{key}'.",
                    index.name
                ),
            )));
        }
        if let Some(constraint) = &index.constraint {
            env.remove_object(constraint.id)?;
        }
        let def = put_table(def, Some(table), env)?;
        if index.clustered {
            rebuild_rows(table, &def, env)?;
        } else {
            let access = env.access()?;
            access
                .latch
                .store
                .drop_index(access.txn, table.id, index.index_id);
        }
        return Ok(def);
    }
    if if_exists {
        return Ok(Arc::clone(table));
    }
    let cause = SqlError::new(3728, format!("'{}' is not a constraint.", name.name));
    Err(not_dropped(cause))
}

/// 3727, the consequence of what keeps a constraint.
fn not_dropped(cause: SqlError) -> SqlError {
    SqlError::with(
        3727,
        16,
        0,
        "Could not drop constraint. See previous errors.",
    )
    .because(cause)
}

fn position<T>(list: &[T], test: impl Fn(&T) -> bool) -> Option<usize> {
    list.iter().position(test)
}
