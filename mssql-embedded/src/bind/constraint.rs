//! Constraints of a table: from syntax to definition.

use std::sync::Arc;

use crate::ast::{ConstraintKind, TableConstraint};
use crate::catalog::{CheckDef, Database, DefaultDef, Home, KeyConstraint, TableDef};
use crate::error::{SqlError, SqlResult};

use super::foreign_def::{ForeignKey, add_foreign_key};
use super::index_def::{IndexSpec, add_index, index_from_ast};
use super::table_def::validate;

/// Adds a constraint to an existing definition (ALTER TABLE ADD CONSTRAINT).
///
/// # Errors
///
/// As [`table_def_from_ast`].
pub fn add_constraint(
    table: &mut TableDef,
    constraint: &TableConstraint,
    column: Option<&str>,
    home: Home<'_>,
) -> SqlResult<()> {
    let taken = table.indexes.iter().any(|i| i.clustered);
    if matches!(constraint.kind, ConstraintKind::PrimaryKey { .. }) && has_primary_key(table) {
        let message = format!(
            "Table '{}' already has a primary key defined on it.",
            table.name
        );
        return Err(not_created(SqlError::with(1779, 16, 0, message)));
    }
    add_one(table, constraint, column, taken, home)?;
    validate(table, home.database)
}

fn has_primary_key(table: &TableDef) -> bool {
    let primary = |i: &crate::catalog::IndexDef| i.constraint.as_ref().is_some_and(|k| k.primary);
    table.indexes.iter().any(primary)
}

/// Adds the index behind a PRIMARY KEY or UNIQUE constraint.
fn add_key(table: &mut TableDef, spec: IndexSpec<'_>, database: &Database) -> SqlResult<()> {
    match add_index(table, spec, database) {
        Ok(_) => Ok(()),
        Err(cause) if matches!(cause.number, 1902 | 1911 | 1919 | 8111) => Err(not_created(cause)),
        Err(other) => Err(other),
    }
}

/// 1750, the consequence of what makes a constraint impossible.
pub fn not_created(cause: SqlError) -> SqlError {
    SqlError::with(
        1750,
        16,
        0,
        "Could not create constraint or index. See previous errors.",
    )
    .because(cause)
}

pub(super) fn add_one(
    table: &mut TableDef,
    constraint: &TableConstraint,
    column: Option<&str>,
    clustered_taken: bool,
    home: Home<'_>,
) -> SqlResult<()> {
    let database = home.database;
    let given = constraint.name.as_ref().map(|n| n.name.clone());
    let system_named = given.is_none();
    let count = table.indexes.len() + table.checks.len();
    let name = |prefix: &str| {
        given
            .clone()
            .unwrap_or_else(|| auto_name(prefix, &table.name, column, count))
    };
    match &constraint.kind {
        ConstraintKind::PrimaryKey {
            clustered,
            columns,
            options,
        } => {
            let key = KeyConstraint {
                id: 0,
                primary: true,
                system_named,
            };
            if has_primary_key(table) {
                return Err(SqlError::with(
                    8110,
                    16,
                    0,
                    format!(
                        "Cannot add multiple PRIMARY KEY constraints to table '{}'.",
                        table.name
                    ),
                ));
            }
            let spec = IndexSpec {
                name: given
                    .clone()
                    .unwrap_or_else(|| auto_name("PK", &table.name, None, count)),
                unique: true,
                clustered: clustered.unwrap_or(!clustered_taken),
                columns,
                options,
                constraint: Some(key),
            };
            add_key(table, spec, database)
        }
        ConstraintKind::Unique {
            clustered,
            columns,
            options,
        } => {
            let spec = IndexSpec {
                name: given
                    .clone()
                    .unwrap_or_else(|| auto_name("UQ", &table.name, None, count)),
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
                name: name("CK"),
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
            let keys = count + table.foreign_keys.len();
            let key = ForeignKey {
                name: given.unwrap_or_else(|| auto_name("FK", &table.name, first, keys)),
                system_named,
                columns,
                parent,
                referenced,
                cascade_delete: *cascade_delete,
            };
            add_foreign_key(table, &key, home)
        }
        ConstraintKind::Default { expr, text, column } => {
            let position = positions(table, [column.name.as_str()].into_iter(), database, 1752)?;
            let target = &table.columns[position[0]];
            if target.default.is_some() {
                return Err(SqlError::new(
                    1781,
                    "Column already has a DEFAULT bound to it.",
                ));
            }
            let name =
                given.unwrap_or_else(|| auto_name("DF", &table.name, Some(&column.name), count));
            let expr = Arc::new(expr.clone());
            table.columns[position[0]].default = Some(DefaultDef {
                id: 0,
                name,
                system_named,
                expr,
                text: text.clone(),
            });
            Ok(())
        }
        ConstraintKind::Index(index) => index_from_ast(table, index, database).map(|_| ()),
    }
}

fn positions<'n>(
    table: &TableDef,
    names: impl Iterator<Item = &'n str>,
    database: &Database,
    number: i32,
) -> SqlResult<Vec<usize>> {
    names
        .map(|name| {
            let folded = database.fold(name);
            table
                .columns
                .iter()
                .position(|c| database.fold(&c.name) == folded)
                .ok_or_else(|| {
                    SqlError::new(
                        number,
                        format!(
                            "Column '{name}' does not exist in table '{}' or cannot be used here.",
                            table.name
                        ),
                    )
                })
        })
        .collect()
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
