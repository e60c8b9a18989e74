//! Constraints of a table: from syntax to definition.

use std::collections::HashSet;
use std::sync::Arc;

use crate::ast::{ConstraintKind, TableConstraint};
use crate::catalog::{CheckDef, Database, DefaultDef, Home, KeyConstraint, TableDef};
use crate::error::{SqlError, SqlResult};

use super::errors::not_created;
use super::foreign_def::{ForeignKey, add_foreign_key};
use super::index_def::{IndexSpec, add_index, index_from_ast};

pub(super) fn has_primary_key(table: &TableDef) -> bool {
    let primary = |i: &crate::catalog::IndexDef| i.constraint.as_ref().is_some_and(|k| k.primary);
    table.indexes.iter().any(primary)
}

/// Adds the index behind a PRIMARY KEY or UNIQUE constraint.
fn add_key(table: &mut TableDef, spec: IndexSpec<'_>, database: &Database) -> SqlResult<()> {
    match add_index(table, spec, database) {
        Ok(_) => Ok(()),
        Err(cause) if matches!(cause.number, 1902 | 1904 | 1910 | 1911 | 1919 | 8111) => {
            Err(not_created(cause))
        }
        Err(other) => Err(other),
    }
}

/// Adds a constraint, and its name to the folded `names` of those that the table has.
pub(super) fn add_one(
    table: &mut TableDef,
    constraint: &TableConstraint,
    column: Option<&str>,
    clustered_taken: bool,
    names: &mut HashSet<String>,
    home: Home<'_>,
) -> SqlResult<()> {
    let database = home.database;
    let given = constraint.name.as_ref().map(|n| n.name.clone());
    let system_named = given.is_none();
    if let Some(given) = &given {
        names.insert(database.fold(given));
    }
    let mut free_name = |prefix: &str, table: &TableDef, column: Option<&str>| {
        self::free_name(prefix, table, column, names, database)
    };
    match &constraint.kind {
        ConstraintKind::PrimaryKey {
            clustered,
            columns,
            options,
        } => {
            refuse_second_primary_key(table)?;
            let spec = IndexSpec {
                name: given.unwrap_or_else(|| free_name("PK", table, None)),
                unique: true,
                clustered: clustered.unwrap_or(!clustered_taken),
                columns,
                options,
                constraint: Some(KeyConstraint {
                    id: 0,
                    primary: true,
                    system_named,
                }),
            };
            add_key(table, spec, database)
        }
        ConstraintKind::Unique {
            clustered,
            columns,
            options,
        } => {
            let spec = IndexSpec {
                name: given.unwrap_or_else(|| free_name("UQ", table, None)),
                unique: true,
                clustered: clustered.unwrap_or(false),
                columns,
                options,
                constraint: Some(KeyConstraint {
                    id: 0,
                    primary: false,
                    system_named,
                }),
            };
            add_key(table, spec, database)
        }
        ConstraintKind::Check(condition, text) => {
            let check = CheckDef {
                id: 0,
                name: given.unwrap_or_else(|| free_name("CK", table, column)),
                system_named,
                condition: Arc::new(condition.clone()),
                text: text.clone(),
                column: column.map(str::to_owned),
            };
            table.checks.push(check);
            Ok(())
        }
        ConstraintKind::ForeignKey {
            columns,
            table: parent,
            referenced,
            cascade_delete,
        } => {
            let first = columns.first().map(|c| c.name.as_str());
            let key = ForeignKey {
                name: given.unwrap_or_else(|| free_name("FK", table, first)),
                system_named,
                columns,
                parent,
                referenced,
                cascade_delete: *cascade_delete,
            };
            add_foreign_key(table, &key, home)
        }
        ConstraintKind::Default { expr, text, column } => {
            let name = given.unwrap_or_else(|| free_name("DF", table, Some(&column.name)));
            let default = DefaultDef {
                id: 0,
                name,
                system_named,
                expr: Arc::new(expr.clone()),
                text: text.clone(),
            };
            add_default(table, &column.name, default, database)
        }
        ConstraintKind::Index(index) => index_from_ast(table, index, database).map(|_| ()),
    }
}

fn refuse_second_primary_key(table: &TableDef) -> SqlResult<()> {
    if !has_primary_key(table) {
        return Ok(());
    }
    let message = format!(
        "Cannot add multiple PRIMARY KEY constraints to table '{}'.",
        table.name
    );
    Err(SqlError::with(8110, 16, 0, message))
}

fn add_default(
    table: &mut TableDef,
    column: &str,
    default: DefaultDef,
    database: &Database,
) -> SqlResult<()> {
    let folded = database.fold(column);
    let mut columns = table.columns.iter_mut();
    let Some(target) = columns.find(|c| database.fold(&c.name) == folded) else {
        let message = format!(
            "Column '{column}' does not exist in table '{}' or cannot be used here.",
            table.name
        );
        return Err(SqlError::new(1752, message));
    };
    if target.default.is_some() {
        return Err(SqlError::new(
            1781,
            "Column already has a DEFAULT bound to it.",
        ));
    }
    target.default = Some(default);
    Ok(())
}

/// A generated name that no constraint of the table has yet; it is among `names` afterwards.
fn free_name(
    prefix: &str,
    table: &TableDef,
    column: Option<&str>,
    names: &mut HashSet<String>,
    database: &Database,
) -> String {
    let mut count = table.indexes.len() + table.checks.len() + table.foreign_keys.len();
    loop {
        let name = auto_name(prefix, &table.name, column, count);
        if names.insert(database.fold(&name)) {
            return name;
        }
        // After one has been dropped, others may have been counted as many before.
        count += 1;
    }
}

/// The names of a table's constraints.
pub(super) fn constraint_names(table: &TableDef) -> impl Iterator<Item = &str> {
    let keys = table.indexes.iter().filter(|i| i.constraint.is_some());
    let defaults = table.columns.iter().filter_map(|c| c.default.as_ref());
    (keys.map(|i| i.name.as_str()))
        .chain(table.checks.iter().map(|c| c.name.as_str()))
        .chain(table.foreign_keys.iter().map(|k| k.name.as_str()))
        .chain(defaults.map(|d| d.name.as_str()))
}

/// A name like those SQL Server gives to constraints that have none: kind, table, column, and a
/// number in hexadecimal that depends on all of them and on `count`.
pub fn auto_name(prefix: &str, table: &str, column: Option<&str>, count: usize) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let text = format!("{prefix}\0{table}\0{}\0{count}", column.unwrap_or_default());
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let start = |s: &str, n: usize| s.chars().take(n).collect::<String>();
    match column {
        Some(column) => {
            format!(
                "{prefix}__{}__{}__{:08X}",
                start(table, 9),
                start(column, 5),
                hash as u32
            )
        }
        None => format!("{prefix}__{}__{hash:016X}", start(table, 9)),
    }
}
