//! Indexes and the keys behind constraints: from syntax to definition.

use std::sync::Arc;

use crate::ast::{Condition, CreateIndex, Expr, ExprKind, Ident, IndexColumn, IndexOption};
use crate::catalog::{Database, IndexDef, KeyConstraint, TableDef};
use crate::error::{SqlError, SqlResult};
use crate::value::DataType;

/// How many columns a key may have ("Maximum capacity specifications for SQL Server").
const KEY_COLUMNS_MAX: usize = 32;
/// How many indexes a table may have besides the clustered one.
const NONCLUSTERED_MAX: usize = 999;
/// The most bytes of a clustered key.
const CLUSTERED_LIMIT: usize = 900;
/// The most bytes of a nonclustered key.
const NONCLUSTERED_LIMIT: usize = 1700;

pub(super) struct IndexSpec<'s> {
    pub(super) name: String,
    pub(super) unique: bool,
    pub(super) clustered: bool,
    pub(super) columns: &'s [IndexColumn],
    pub(super) options: &'s [IndexOption],
    pub(super) constraint: Option<KeyConstraint>,
}

/// Adds the index of CREATE INDEX, or of INDEX inside CREATE TABLE, and returns its position; a
/// clustered index comes first.
///
/// # Errors
///
/// 1904, 1910, 1911, 1909, 1919, 1902, 1913, 1944 and others, as SQL Server has them.
pub fn index_from_ast(
    table: &mut TableDef,
    index: &CreateIndex,
    database: &Database,
) -> SqlResult<usize> {
    let spec = IndexSpec {
        name: index.name.name.clone(),
        unique: index.unique,
        clustered: index.clustered,
        columns: &index.columns,
        options: &index.options,
        constraint: None,
    };
    let include = included(table, index, database)?;
    if index.clustered && (index.filter.is_some() || !include.is_empty()) {
        return Err(SqlError::with(
            10601,
            16,
            1,
            "Cannot specify included columns or a filter for a clustered index.",
        ));
    }
    let ignores = |o: &IndexOption| matches!(o, IndexOption::IgnoreDupKey(true));
    let ignores = index.options.iter().any(ignores);
    if ignores && !index.unique {
        return Err(SqlError::new(
            1916,
            "CREATE INDEX options nonunique and ignore_dup_key are mutually exclusive.",
        ));
    }
    if ignores && index.filter.is_some() {
        let (index, table) = (&index.name.name, &table.name);
        let message = format!(
            "Cannot create filtered index '{index}' on table '{table}' because the statement sets the IGNORE_DUP_KEY option to \
             ON. Rewrite the statement so that it does not use the IGNORE_DUP_KEY option."
        );
        return Err(SqlError::new(10618, message));
    }
    if let Some((condition, _)) = &index.filter
        && !filters(condition)
    {
        let (index, table) = (&index.name.name, &table.name);
        let message =
            format!("Incorrect WHERE clause for filtered index '{index}' on table '{table}'.");
        return Err(SqlError::with(10735, 15, 1, message));
    }
    let position = add_index(table, spec, database)?;
    table.indexes[position].include = include;
    table.indexes[position].filter = index
        .filter
        .as_ref()
        .map(|(cond, text)| (Arc::new(cond.clone()), text.clone()));
    Ok(position)
}

/// Whether a condition can be that of a filtered index: comparisons of a column with a constant and IN, joined by AND
/// ("CREATE INDEX").
fn filters(condition: &Condition) -> bool {
    let column = |expr: &Expr| matches!(expr.kind, ExprKind::Column(_));
    match condition {
        Condition::And(left, right) => filters(left) && filters(right),
        Condition::Compare(_, left, right) => {
            column(left) && constant(right) || constant(left) && column(right)
        }
        Condition::IsNull { expr, .. } => column(expr),
        Condition::InList {
            expr,
            list,
            negated,
        } => !negated && column(expr) && list.iter().all(constant),
        Condition::Or(..)
        | Condition::Not(_)
        | Condition::Quantified { .. }
        | Condition::Between { .. }
        | Condition::InQuery { .. }
        | Condition::Like { .. }
        | Condition::Exists(_) => false,
    }
}

/// A literal, with a sign or converted: "move the data conversion from the left to the right side of the comparison"
/// (Create filtered indexes).
fn constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(_) => true,
        ExprKind::Unary(_, operand) => constant(operand),
        ExprKind::Cast { expr, .. } | ExprKind::Convert { expr, .. } => constant(expr),
        ExprKind::Variable(_)
        | ExprKind::GlobalVariable(_)
        | ExprKind::Column(_)
        | ExprKind::Binary(..)
        | ExprKind::Call(_)
        | ExprKind::SimpleCase { .. }
        | ExprKind::SearchedCase { .. }
        | ExprKind::Iif { .. }
        | ExprKind::Subquery(_)
        | ExprKind::Collate(..)
        | ExprKind::AtTimeZone(..) => false,
    }
}

fn included(table: &TableDef, index: &CreateIndex, database: &Database) -> SqlResult<Vec<usize>> {
    let mut include = Vec::new();
    for name in &index.include {
        let position = key_column(table, name, database)?;
        let is_key = index
            .columns
            .iter()
            .any(|k| database.fold(&k.name.name) == database.fold(&name.name));
        if is_key || include.contains(&position) {
            return Err(duplicate_column(&name.name));
        }
        include.push(position);
    }
    Ok(include)
}

/// Adds an index and returns its position.
pub(super) fn add_index(
    table: &mut TableDef,
    spec: IndexSpec<'_>,
    database: &Database,
) -> SqlResult<usize> {
    check_counts(table, &spec)?;
    let mut keys: Vec<(usize, bool)> = Vec::with_capacity(spec.columns.len());
    for column in spec.columns {
        let position = key_column(table, &column.name, database)?;
        if keys.iter().any(|k| k.0 == position) {
            return Err(duplicate_column(&column.name.name));
        }
        if !indexable(&table.columns[position].ty) {
            return Err(SqlError::new(
                1919,
                format!(
                    "Column '{}' in table '{}' is of a type that is invalid for use as a key column \
                     in an index.",
                    column.name.name, table.name
                ),
            ));
        }
        keys.push((position, column.descending));
    }
    check_name(table, &spec, database)?;
    check_clustered(table, &spec)?;
    if spec.constraint.as_ref().is_some_and(|k| k.primary) {
        make_not_null(table, &spec, &keys)?;
    }
    check_key_size(table, &spec, &keys)?;
    let option = |f: fn(&IndexOption) -> Option<bool>| spec.options.iter().find_map(f);
    let highest = table
        .indexes
        .iter()
        .map(|i| i.index_id)
        .max()
        .unwrap_or(1)
        .max(1);
    let index = IndexDef {
        index_id: if spec.clustered { 1 } else { highest + 1 },
        unique: spec.unique,
        clustered: spec.clustered,
        keys,
        include: Vec::new(),
        filter: None,
        ignore_dup_key: option(|o| {
            if let IndexOption::IgnoreDupKey(on) = o {
                Some(*on)
            } else {
                None
            }
        })
        .unwrap_or(false),
        allow_page_locks: option(|o| {
            if let IndexOption::AllowPageLocks(on) = o {
                Some(*on)
            } else {
                None
            }
        })
        .unwrap_or(true),
        name: spec.name,
        constraint: spec.constraint,
    };
    let position = if index.clustered {
        0
    } else {
        table.indexes.len()
    };
    table.indexes.insert(position, index);
    Ok(position)
}

/// 1904 and 1910: too many columns in the key, too many indexes on the table.
fn check_counts(table: &TableDef, spec: &IndexSpec<'_>) -> SqlResult<()> {
    let columns = spec.columns.len();
    if columns > KEY_COLUMNS_MAX {
        return Err(SqlError::new(
            1904,
            format!(
                "The index '{}' on table '{}' has {columns} columns in the key list. The maximum limit \
                 for index key column list is {KEY_COLUMNS_MAX}.",
                spec.name, table.name
            ),
        ));
    }
    let others = table.indexes.iter().filter(|i| !i.clustered).count();
    if !spec.clustered && others >= NONCLUSTERED_MAX {
        return Err(SqlError::new(
            1910,
            format!(
                "Could not create nonclustered index '{}' because it exceeds the maximum of \
                 {NONCLUSTERED_MAX} allowed per table or view.",
                spec.name
            ),
        ));
    }
    Ok(())
}

fn key_column(table: &TableDef, name: &Ident, database: &Database) -> SqlResult<usize> {
    let folded = database.fold(&name.name);
    table
        .columns
        .iter()
        .position(|c| database.fold(&c.name) == folded)
        .ok_or_else(|| {
            SqlError::new(
                1911,
                format!(
                    "Column name '{}' does not exist in the target table or view.",
                    name.name
                ),
            )
        })
}

fn indexable(ty: &DataType) -> bool {
    !ty.is_max()
}

fn duplicate_column(name: &str) -> SqlError {
    SqlError::new(
        1909,
        format!(
            "Cannot use duplicate column names in index. Column name '{name}' listed more than once."
        ),
    )
}

fn check_name(table: &TableDef, spec: &IndexSpec<'_>, database: &Database) -> SqlResult<()> {
    let folded = database.fold(&spec.name);
    if table
        .indexes
        .iter()
        .any(|i| database.fold(&i.name) == folded)
    {
        return Err(SqlError::new(
            1913,
            format!(
                "The operation failed because an index or statistics with name '{}' already exists \
                 on table '{}'.",
                spec.name, table.name
            ),
        ));
    }
    Ok(())
}

fn check_clustered(table: &TableDef, spec: &IndexSpec<'_>) -> SqlResult<()> {
    let Some(existing) = table
        .indexes
        .iter()
        .find(|i| i.clustered)
        .filter(|_| spec.clustered)
    else {
        return Ok(());
    };
    Err(if spec.constraint.is_some() {
        SqlError::with(
            8112,
            16,
            0,
            format!(
                "Cannot add more than one clustered index for constraints on table '{}'.",
                table.name
            ),
        )
    } else {
        SqlError::with(
            1902,
            16,
            3,
            format!(
                "Cannot create more than one clustered index on table '{}'. Drop the existing \
                 clustered index '{}' before creating another.",
                table.name, existing.name
            ),
        )
    })
}

/// Columns of a PRIMARY KEY become NOT NULL while the table is being created; those of a table that
/// exists already must be so (8111).
fn make_not_null(
    table: &mut TableDef,
    spec: &IndexSpec<'_>,
    keys: &[(usize, bool)],
) -> SqlResult<()> {
    let exists = table.id != 0;
    for (position, _) in keys {
        if exists && table.columns[*position].nullable {
            return Err(nullable_key(table));
        }
        table.columns[*position].nullable = false;
    }
    debug_assert!(spec.unique, "a primary key is unique");
    Ok(())
}

/// 8111: a primary key over a column that may be NULL.
pub(super) fn nullable_key(table: &TableDef) -> SqlError {
    SqlError::new(
        8111,
        format!(
            "Cannot define PRIMARY KEY constraint on nullable column in table '{}'.",
            table.name
        ),
    )
}

/// 1944: a key whose fixed-length columns alone are too long. A variable-length key that can grow
/// too long is created, and 1946 stops the row that is.
fn check_key_size(table: &TableDef, spec: &IndexSpec<'_>, keys: &[(usize, bool)]) -> SqlResult<()> {
    let types = keys.iter().map(|(p, _)| &table.columns[*p].ty);
    let bytes: usize = types
        .filter(|t| !t.is_variable())
        .filter_map(DataType::key_bytes)
        .sum();
    let (limit, kind) = if spec.clustered {
        (CLUSTERED_LIMIT, "clustered")
    } else {
        (NONCLUSTERED_LIMIT, "nonclustered")
    };
    if bytes > limit {
        return Err(SqlError::new(
            1944,
            format!(
                "Index '{}' was not created. This index has a key length of at least {bytes} bytes. \
                 The maximum permissible key length for a {kind} index is {limit} bytes.",
                spec.name
            ),
        ));
    }
    Ok(())
}

/// The message 1945 for an index whose key can grow beyond the limit; severity 10, to be shown.
pub fn key_size_warning(table: &TableDef, index: &IndexDef) -> Option<SqlError> {
    let bytes: usize = index
        .keys
        .iter()
        .filter_map(|(p, _)| table.columns[*p].ty.key_bytes())
        .sum();
    let (limit, kind) = if index.clustered {
        (CLUSTERED_LIMIT, "clustered")
    } else {
        (NONCLUSTERED_LIMIT, "nonclustered")
    };
    (bytes > limit).then(|| {
        SqlError::with(
            1945,
            10,
            1,
            format!(
                "Warning! The maximum key length for a {kind} index is {limit} bytes. The index '{}' \
                 has maximum length of {bytes} bytes. For some combination of large values, the \
                 insert/update operation will fail.",
                index.name
            ),
        )
    })
}
