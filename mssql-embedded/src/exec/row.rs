//! Making a row that may be stored: conversions, defaults, NOT NULL, CHECK, index filters.

use crate::catalog::TableDef;
use crate::error::{SqlError, SqlResult};
use crate::plan::{ColumnSource, Cond, Conflict, RowRules};
use crate::value::{DataType, StoreTarget, Value, store};

use super::{Env, eval, test};

/// The verb of the statement, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Insert,
    Update,
    /// ALTER TABLE, which checks the rows there are.
    Alter,
}

impl Verb {
    fn name(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Update => "UPDATE",
            Self::Alter => "ALTER TABLE",
        }
    }

    /// What 515 says has failed: to ALTER TABLE, filling a column is an update.
    fn writes(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Update | Self::Alter => "UPDATE",
        }
    }
}

/// The row of an INSERT from the outputs of its source.
pub fn new_row(
    table: &TableDef,
    sources: &[ColumnSource],
    values: &[Value],
    rules: &RowRules,
    identity: &mut dyn FnMut(&mut Env<'_, '_>) -> SqlResult<Value>,
    env: &mut Env<'_, '_>,
) -> SqlResult<Vec<Value>> {
    let mut row = Vec::with_capacity(table.columns.len());
    for (position, source) in sources.iter().enumerate() {
        row.push(match source {
            ColumnSource::Output(n, from) => convert(table, position, &values[*n], from)?,
            ColumnSource::Default(expr, from) => {
                let value = eval(expr, env)?;
                convert(table, position, &value, from)?
            }
            ColumnSource::Identity => identity(env)?,
            ColumnSource::Computed | ColumnSource::Null => Value::Null,
        });
    }
    finish_row(table, &mut row, rules, Verb::Insert, env)?;
    Ok(row)
}

/// Converts a value for a column; text that does not fit is refused (2628).
pub fn convert(
    table: &TableDef,
    position: usize,
    value: &Value,
    from: &DataType,
) -> SqlResult<Value> {
    let column = &table.columns[position];
    if value.is_null() {
        return Ok(Value::Null);
    }
    store(
        value,
        from,
        &column.ty,
        &StoreTarget {
            table: &qualified(table),
            column: &column.name,
        },
    )
}

fn qualified(table: &TableDef) -> String {
    if table.name.starts_with('@') {
        return table.name.clone();
    }
    format!("{}.{}.{}", table.database, table.schema, table.name)
}

/// Checks a row that already exists against a changed definition.
pub fn check_row(
    table: &TableDef,
    row: &mut [Value],
    rules: &RowRules,
    env: &mut Env<'_, '_>,
) -> SqlResult<()> {
    finish_row(table, row, rules, Verb::Alter, env)
}

/// 1946: an index whose columns allow longer keys than indexes can hold refuses the row that has one.
fn check_key_sizes(table: &TableDef, row: &[Value]) -> SqlResult<()> {
    for index in &table.indexes {
        let (limit, kind) = if index.clustered {
            (900, "clustered")
        } else {
            (1700, "nonclustered")
        };
        let columns = index.keys.iter().map(|(position, _)| *position);
        let longest: usize = columns
            .clone()
            .filter_map(|c| table.columns[c].ty.key_bytes())
            .sum();
        if longest <= limit {
            continue;
        }
        let bytes: usize = columns
            .map(|c| stored_bytes(&row[c], &table.columns[c].ty))
            .sum();
        if bytes > limit {
            return Err(SqlError::with(
                1946,
                16,
                3,
                format!(
                    "Operation failed. The index entry of length {bytes} bytes for the index '{}' \
                     exceeds the maximum length of {limit} bytes for {kind} indexes.",
                    index.name
                ),
            ));
        }
    }
    Ok(())
}

/// How many bytes a value takes in an index key.
fn stored_bytes(value: &Value, ty: &DataType) -> usize {
    if value.is_null() {
        return 0;
    }
    match (ty, value) {
        (DataType::NVarChar(..), Value::Str(s)) => s.len() * 2,
        (DataType::VarChar(_, collation), Value::Str(s)) if collation.is_utf8() => {
            String::from_utf16_lossy(s).len()
        }
        (DataType::VarChar(..), Value::Str(s)) => s.len(),
        (DataType::VarBinary(_), Value::Bytes(b)) => b.len(),
        (
            DataType::Null
            | DataType::Bit
            | DataType::TinyInt
            | DataType::SmallInt
            | DataType::Int
            | DataType::BigInt
            | DataType::Decimal { .. }
            | DataType::Real
            | DataType::Float
            | DataType::Char(..)
            | DataType::VarChar(..)
            | DataType::NChar(..)
            | DataType::NVarChar(..)
            | DataType::Binary(_)
            | DataType::VarBinary(_)
            | DataType::UniqueIdentifier
            | DataType::Date
            | DataType::Time(_)
            | DataType::SmallDateTime
            | DataType::DateTime
            | DataType::DateTime2(_)
            | DataType::DateTimeOffset(_),
            _,
        ) => ty.key_bytes().unwrap_or(0),
    }
}

/// Fills computed columns and checks NOT NULL and CHECK constraints.
pub fn finish_row(
    table: &TableDef,
    row: &mut [Value],
    rules: &RowRules,
    verb: Verb,
    env: &mut Env<'_, '_>,
) -> SqlResult<()> {
    if !rules.computed.is_empty() || !rules.checks.is_empty() {
        with_row(row, env, |row, env| {
            for (position, expr, ty) in &rules.computed {
                let value = eval(expr, env)?;
                row[*position] = convert(table, *position, &value, ty)?;
                env.rows[0][*position] = row[*position].clone();
            }
            for (i, cond) in rules.checks.iter().enumerate() {
                if test(cond, env)? == Some(false) {
                    return Err(check_failed(table, i, cond, verb));
                }
            }
            Ok(())
        })?;
    }
    check_key_sizes(table, row)?;
    for (column, value) in table.columns.iter().zip(row.iter()) {
        if value.is_null() && !column.nullable {
            return Err(SqlError::with(
                515,
                16,
                2,
                format!(
                    "Cannot insert the value NULL into column '{}', table '{}'; column does not allow nulls. {} fails.",
                    column.name,
                    qualified(table),
                    verb.writes()
                ),
            ));
        }
    }
    Ok(())
}

/// Runs `f` with a row in the slots of level 0 and puts back what was there.
pub fn over_row<T>(
    row: &[Value],
    env: &mut Env<'_, '_>,
    f: impl FnOnce(&mut Env<'_, '_>) -> SqlResult<T>,
) -> SqlResult<T> {
    if env.rows.is_empty() {
        env.rows.push(Vec::new());
    }
    let saved = std::mem::replace(&mut env.rows[0], row.to_vec());
    let result = f(env);
    env.rows[0] = saved;
    result
}

/// Runs `f` with the row in the slots of level 0, where the rules expect it, and puts back what was there.
fn with_row(
    row: &mut [Value],
    env: &mut Env<'_, '_>,
    f: impl FnOnce(&mut [Value], &mut Env<'_, '_>) -> SqlResult<()>,
) -> SqlResult<()> {
    if env.rows.is_empty() {
        env.rows.push(Vec::new());
    }
    let saved = std::mem::replace(&mut env.rows[0], row.to_vec());
    let result = f(row, env);
    env.rows[0] = saved;
    result
}

/// 547; the column is named when the condition is about a single one.
fn check_failed(table: &TableDef, index: usize, cond: &Cond, verb: Verb) -> SqlError {
    let check = &table.checks[index];
    let mut columns = Vec::new();
    cond.each_slot(&mut |_, slot| {
        if !columns.contains(&slot) {
            columns.push(slot);
        }
    });
    let only = match columns.as_slice() {
        [only] => table.columns.get(*only).map(|c| c.name.clone()),
        [] | [_, _, ..] => None,
    };
    let broken = Conflict {
        constraint: check.name.clone(),
        database: table.database.clone(),
        table: format!("{}.{}", table.schema, table.name),
        column: check.column.clone().or(only),
        same_table: false,
    };
    conflict(&broken, verb.name(), "CHECK")
}

/// 547: a row that a constraint of this kind does not allow.
pub fn conflict(conflict: &Conflict, verb: &str, kind: &str) -> SqlError {
    let column = match &conflict.column {
        Some(column) => format!(", column '{column}'"),
        None => String::new(),
    };
    SqlError::with(
        547,
        16,
        0,
        format!(
            "The {verb} statement conflicted with the {kind} constraint \"{}\". The conflict occurred \
             in database \"{}\", table \"{}\"{column}.",
            conflict.constraint, conflict.database, conflict.table
        ),
    )
}
