//! Storing a new row, for INSERT and for OUTPUT … INTO alike.

use std::sync::Arc;

use crate::access;
use crate::error::{SqlError, SqlResult};
use crate::memory::KeptRows;
use crate::plan::{RowRules, Target};
use crate::storage::{InsertOutcome, Row};
use crate::value::{ColumnMeta, Value};

use super::Env;
use super::filter::qualifies;

/// What a writing statement did.
#[derive(Debug, Default)]
pub struct DmlResult {
    pub rows: u64,
    /// The rows of OUTPUT for the client.
    pub output: Option<(Vec<ColumnMeta>, KeptRows)>,
    /// Warnings (3604 of IGNORE_DUP_KEY).
    pub messages: Vec<SqlError>,
}

/// A table variable can always be written.
pub(super) fn check_target(target: &Target, env: &Env<'_, '_>) -> SqlResult<()> {
    match target {
        Target::Table(table) => env.check_writable(table),
        Target::Local(..) => Ok(()),
    }
}

pub(super) fn next_identity(target: &Target, env: &mut Env<'_, '_>) -> SqlResult<Value> {
    let next = match target {
        Target::Table(table) => env.latch.store.next_identity(table)?,
        Target::Local(slot, _) => env.frame.tables[*slot].next_identity()?,
    };
    Ok(Value::Int(next))
}

/// Stores a new row; false when IGNORE_DUP_KEY dropped it.
pub(super) fn write_new(
    target: &Target,
    row: &Row,
    rules: &RowRules,
    result: &mut DmlResult,
    env: &mut Env<'_, '_>,
) -> SqlResult<bool> {
    let mut filter = |index: usize, row: &Row| qualifies(rules, index, row);
    let outcome = match target {
        Target::Table(table) => {
            access::insert(&mut env.access()?, table, Arc::clone(row), &mut filter)?
        }
        Target::Local(slot, _) => env.frame.tables[*slot].insert(Arc::clone(row))?,
    };
    match outcome {
        InsertOutcome::Inserted(_) => Ok(true),
        InsertOutcome::Ignored => {
            if result.messages.is_empty() {
                result
                    .messages
                    .push(SqlError::with(3604, 0, 1, "Duplicate key was ignored."));
            }
            Ok(false)
        }
    }
}
