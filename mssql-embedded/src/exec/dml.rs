//! INSERT, UPDATE, DELETE.
//!
//! The rows to write are collected before the first one is written, so that a statement never sees
//! its own work (the Halloween problem). Undoing a failed statement is the interpreter's business.

use std::sync::Arc;

use crate::access;
use crate::adversary::Question;
use crate::catalog::{AccessPath, IndexDef, TableDef};
use crate::error::{SqlError, SqlResult};
use crate::fast_map::FastSet;
use crate::lock::Mode;
use crate::memory::{KeptRows, row_bytes};
use crate::plan::{ColumnSource, Delete, Insert, Query, RowRules, Scalar, Source, Target, Update};
use crate::storage::{Key, Row};
use crate::value::{CastMode, DataType, Value, cast};

use super::dml_output::Outputs;
use super::env::tick;
use super::filter::qualifies;
use super::foreign::{check_parents, settle_children};
use super::new_row::{DmlResult, check_target, next_identity, write_new};
use super::query_run::within;
use super::row::{Verb, convert, finish_row, new_row};
use super::{Env, QueryRun, collect_first, eval};

/// Runs an INSERT; `given` are the rows of INSERT … EXEC.
pub fn run_insert(
    insert: &Insert,
    given: Option<KeptRows>,
    env: &mut Env<'_, '_>,
) -> SqlResult<DmlResult> {
    check_target(&insert.target, env)?;
    check_identity_insert(insert, env)?;
    // Nobody else meets the rows of a table variable, whatever stands for them.
    if let (Some(choices), Target::Table(_)) = (&env.core.choices, &insert.target) {
        choices.decide_writes(insert.hints.rowlock);
    }
    lock_target(insert, env)?;
    let rows = match (&insert.source, given) {
        (Source::Query(query), _) => collect_first(query, env.row_limit(), env)?,
        (Source::Exec, Some(rows)) => fitting(rows, &insert.columns, env)?,
        (Source::Exec, None) => return Err(SqlError::internal("INSERT EXEC without its rows")),
    };
    let table = insert.target.table();
    let mut result = DmlResult::default();
    let mut outputs = Outputs::new(env);
    let mut written = Vec::new();
    for values in rows {
        env.tick()?;
        let mut identity = None;
        let target = &insert.target;
        let mut next = |env: &mut Env<'_, '_>| {
            let value = next_identity(target, env)?;
            identity = Some(value.clone());
            Ok(value)
        };
        let row = new_row(
            table,
            &insert.columns,
            &values,
            &insert.rules,
            &mut next,
            env,
        )?;
        if insert.explicit_identity {
            identity = note_explicit_identity(target, &row, env);
        }
        let row: Row = row.into();
        if !write_new(&insert.target, &row, &insert.rules, &mut result, env)? {
            continue;
        }
        if !insert.foreign.is_empty() {
            env.keep(size_of::<Row>())?;
            written.push(Arc::clone(&row));
        }
        if let Some(value) = identity {
            last_identity(value, env);
        }
        result.rows += 1;
        if let Some(output) = &insert.output {
            if env.rows.is_empty() {
                env.rows.push(Vec::new());
            }
            let width = output.width.max(env.rows[0].len());
            env.rows[0].resize(width, Value::Null);
            if let Some(inserted) = output.inserted {
                put(env, 0, inserted, &row);
            }
            outputs.add(output, env)?;
        }
    }
    check_parents(&insert.foreign, &written, "INSERT", env)?;
    outputs.finish(insert.output.as_ref(), &mut result, env)?;
    if !table.columns.iter().any(|c| c.identity.is_some()) {
        last_identity(Value::Null, env);
    }
    Ok(result)
}

/// What @@IDENTITY and SCOPE_IDENTITY say from now on.
fn last_identity(value: Value, env: &mut Env<'_, '_>) {
    env.core.identity = value.clone();
    env.frame.scope_identity = value;
}

/// Fills a new table; how many rows were written.
pub fn fill_table(
    table: &Arc<TableDef>,
    rows: KeptRows,
    rules: &RowRules,
    env: &mut Env<'_, '_>,
) -> SqlResult<u64> {
    let target = Target::Table(Arc::clone(table));
    let mut result = DmlResult::default();
    if !table.columns.iter().any(|c| c.identity.is_some()) {
        last_identity(Value::Null, env);
    }
    for values in rows {
        env.tick()?;
        note_explicit_identity(&target, &values, env);
        write_new(&target, &values.into(), rules, &mut result, env)?;
        result.rows += 1;
    }
    Ok(result.rows)
}

/// TABLOCK on the target locks the table; the other hints that INSERT allows change nothing, because
/// new rows are locked exclusively until the end of the transaction in any case.
fn lock_target(insert: &Insert, env: &mut Env<'_, '_>) -> SqlResult<()> {
    if let Target::Table(table) = &insert.target
        && (insert.hints.tablock || insert.hints.tablockx)
    {
        access::lock_object(&mut env.access()?, table.id, Mode::X, true)
    } else {
        Ok(())
    }
}

/// 213: other columns than the target's; the state says where they came from.
pub fn unequal_counts(state: u8) -> SqlError {
    let message = "Column name or number of supplied values does not match table definition.";
    SqlError::with(213, 16, state, message)
}

/// 213 when a result set of INSERT … EXEC has not as many columns as the INSERT takes.
fn fitting(rows: KeptRows, columns: &[ColumnSource], env: &mut Env<'_, '_>) -> SqlResult<KeptRows> {
    let taken = |c: &&ColumnSource| matches!(c, ColumnSource::Output(..));
    let width = columns.iter().filter(taken).count();
    for row in rows.iter() {
        env.tick()?;
        if row.len() != width {
            return Err(unequal_counts(7));
        }
    }
    Ok(rows)
}

fn check_identity_insert(insert: &Insert, env: &Env<'_, '_>) -> SqlResult<()> {
    let Target::Table(table) = &insert.target else {
        return Ok(());
    };
    if !table.columns.iter().any(|c| c.identity.is_some()) {
        return Ok(());
    }
    let on = env.core.settings.identity_insert == Some(table.id);
    if insert.explicit_identity && !on {
        return Err(SqlError::new(
            544,
            format!(
                "Cannot insert explicit value for identity column in table '{}' when IDENTITY_INSERT is set to OFF.",
                table.name
            ),
        ));
    }
    if on && !insert.explicit_identity {
        return Err(SqlError::new(
            545,
            format!(
                "Explicit value must be specified for identity column in table '{}' either when IDENTITY_INSERT is set to ON or when a replication user is inserting into a NOT FOR REPLICATION identity column.",
                table.name
            ),
        ));
    }
    Ok(())
}

fn note_explicit_identity(target: &Target, row: &[Value], env: &mut Env<'_, '_>) -> Option<Value> {
    let Target::Table(table) = target else {
        return None;
    };
    let position = table.columns.iter().position(|c| c.identity.is_some())?;
    if let Value::Int(n) = row[position] {
        env.latch.store.raise_identity(table, n);
        return Some(Value::Int(n));
    }
    None
}

/// The rows that a statement has found, each of which it writes once, however often a join finds it. Most statements
/// find one row, and that costs nothing.
#[derive(Default)]
struct Seen {
    first: Option<Key>,
    others: FastSet<Key>,
}

impl Seen {
    /// False when it was there.
    fn add(&mut self, locator: &Key, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        let Some(first) = &self.first else {
            self.first = Some(Arc::clone(locator));
            return Ok(true);
        };
        let is_new = first != locator && self.others.insert(Arc::clone(locator));
        if is_new {
            env.keep(size_of::<Key>() + locator.len())?;
        }
        Ok(is_new)
    }
}

pub fn run_update(update: &Update, env: &mut Env<'_, '_>) -> SqlResult<DmlResult> {
    check_target(&update.target, env)?;
    let mut changes = Vec::new();
    let mut seen = Seen::default();
    let mut outputs = Outputs::new(env);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let limit = env.row_limit();
    let by_row = writes_by_row(&update.query, &update.target, Some(&update.set), env);
    let mut written = 0;
    let mut filter = |index: usize, row: &Row| qualifies(&update.rules, index, row);
    let mut run = QueryRun::open(&update.query, env)?;
    while within(limit, written + changes.len())
        && let Some(change) = run.next_with(env, |env| {
            let Some(locator) = locator_of(env, update.query.level, update.locator)? else {
                return Ok(None);
            };
            if !seen.add(&locator, env)? {
                return Ok(None);
            }
            let row = changed_row(update, env)?;
            if let Some(output) = &update.output {
                let level = update.query.level;
                if let Some(inserted) = output.inserted {
                    put(env, level, inserted, &row);
                }
                if let Some(deleted) = output.deleted {
                    copy_slots(env, level, update.base, deleted, row.len());
                }
                outputs.add(output, env)?;
            }
            env.keep(size_of::<(Key, Row)>() + row_bytes(&row))?;
            let row = Row::from(row);
            if !update.foreign.is_empty() {
                let old =
                    env.rows[update.query.level][update.base..update.base + row.len()].to_vec();
                env.keep(2 * size_of::<Row>() + row_bytes(&old))?;
                before.push(Row::from(old));
                after.push(Arc::clone(&row));
            }
            Ok(Some((locator, row)))
        })?
    {
        changes.extend(change);
        if let (Some(table), false) = (by_row, changes.is_empty()) {
            written += changes.len();
            let changes = std::mem::take(&mut changes);
            access::update_all(&mut env.access()?, table, changes, &mut filter)?;
        }
    }
    drop(run);
    let mut result = DmlResult {
        rows: (written + changes.len()) as u64,
        ..DmlResult::default()
    };
    match &update.target {
        Target::Table(table) => {
            access::update_all(&mut env.access()?, table, changes, &mut filter)?;
        }
        Target::Local(slot, _) => {
            let (latch, interrupted) = (&mut env.latch, &mut *env.interrupted);
            let mut ask = || tick(latch, interrupted);
            env.frame.tables[*slot].update_all(changes, &mut ask)?;
        }
    }
    check_parents(&update.foreign, &after, "UPDATE", env)?;
    settle_children(&update.foreign, &before, "UPDATE", env)?;
    outputs.finish(update.output.as_ref(), &mut result, env)?;
    Ok(result)
}

/// Whether each row is written as soon as it is found, rather than all of them when the search is over, and
/// into which table. SQL Server does either, as the plan has it; not where the search could meet a row again that
/// the statement has moved, where one row's old key may be another's new one, or where the statement reads the table
/// anywhere else: it must not see its own work.
fn writes_by_row<'p>(
    query: &'p Query,
    target: &'p Target,
    set: Option<&[(usize, Scalar, DataType)]>,
    env: &Env<'_, '_>,
) -> Option<&'p Arc<TableDef>> {
    let choices = env.core.choices.as_ref()?;
    let Target::Table(table) = target else {
        return None;
    };
    choices.decide_writes(query.root.target_rows_only());
    let scan = query.root.target_scan()?;
    let set_reads = set
        .unwrap_or_default()
        .iter()
        .any(|(_, new, _)| new.has_query());
    if set_reads || !query.root.reads_only_as_target(table.id) {
        return None;
    }
    let position = scan.path;
    let moved = |index: &IndexDef| {
        let set = set.unwrap_or_default();
        (index.keys.iter()).any(|(key, _)| set.iter().any(|(column, _, _)| column == key))
    };
    let rows_move = (table.indexes.iter().enumerate()).any(|(i, index)| {
        (AccessPath::Index(i) == position || index.unique || index.clustered) && moved(index)
    });
    (!rows_move && choices.chance(Question::WriteOrder, 2)).then_some(table)
}

/// The row to write; none where an outer join found no row of the target.
fn locator_of(env: &Env<'_, '_>, level: usize, slot: usize) -> SqlResult<Option<Key>> {
    match env.slot(level, slot) {
        Value::Bytes(key) => Ok(Some(Arc::clone(key))),
        Value::Null => Ok(None),
        Value::Bit(_)
        | Value::Int(_)
        | Value::Decimal { .. }
        | Value::Float(_)
        | Value::Str(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. } => Err(SqlError::internal("a target row without a locator")),
    }
}

/// The new row of an UPDATE; also assigns the variables of its SET clause.
fn changed_row(update: &Update, env: &mut Env<'_, '_>) -> SqlResult<Vec<Value>> {
    let table = update.target.table();
    let level = update.query.level;
    let width = table.columns.len();
    let mut row = env.rows[level][update.base..update.base + width].to_vec();
    for (position, expr, from) in &update.set {
        let value = eval(expr, env)?;
        row[*position] = convert(table, *position, &value, from)?;
    }
    finish_row(table, &mut row, &update.rules, Verb::Update, env)?;
    put(env, level, update.inserted, &row);
    for assign in &update.assign {
        let value = eval(&assign.value, env)?;
        let to = env.frame.variables.scalars()[assign.variable].ty.clone();
        env.frame.values[assign.variable] = cast(&value, &assign.ty, &to, None, CastMode::Assign)?;
    }
    Ok(row)
}

pub fn run_delete(delete: &Delete, env: &mut Env<'_, '_>) -> SqlResult<DmlResult> {
    check_target(&delete.target, env)?;
    let width = delete.target.table().columns.len();
    let mut locators = Vec::new();
    let mut seen = Seen::default();
    let mut outputs = Outputs::new(env);
    let mut gone = Vec::new();
    let limit = env.row_limit();
    let by_row = writes_by_row(&delete.query, &delete.target, None, env);
    let mut result = DmlResult::default();
    let mut filter = |index: usize, row: &Row| qualifies(&delete.rules, index, row);
    let mut found_rows = 0;
    let mut run = QueryRun::open(&delete.query, env)?;
    while within(limit, found_rows)
        && let Some(found) = run.next_with(env, |env| {
            let Some(locator) = locator_of(env, delete.query.level, delete.locator)? else {
                return Ok(None);
            };
            if !seen.add(&locator, env)? {
                return Ok(None);
            }
            if let Some(output) = &delete.output {
                if let Some(deleted) = output.deleted {
                    copy_slots(env, delete.query.level, delete.base, deleted, width);
                }
                outputs.add(output, env)?;
            }
            if !delete.foreign.is_empty() {
                let old = env.rows[delete.query.level][delete.base..delete.base + width].to_vec();
                env.keep(size_of::<Row>() + row_bytes(&old))?;
                gone.push(Row::from(old));
            }
            Ok(Some(locator))
        })?
    {
        let Some(locator) = found else { continue };
        found_rows += 1;
        match by_row {
            Some(table) => {
                result.rows += 1;
                access::delete(&mut env.access()?, table, &locator, &mut filter)?;
            }
            None => {
                env.keep(size_of::<Key>())?;
                locators.push(locator);
            }
        }
    }
    drop(run);
    for locator in locators {
        env.tick()?;
        result.rows += 1;
        match &delete.target {
            Target::Table(table) => {
                access::delete(&mut env.access()?, table, &locator, &mut filter)?;
            }
            Target::Local(slot, _) => {
                env.frame.tables[*slot].delete(&locator);
            }
        }
    }
    settle_children(&delete.foreign, &gone, "DELETE", env)?;
    outputs.finish(delete.output.as_ref(), &mut result, env)?;
    Ok(result)
}

fn put(env: &mut Env<'_, '_>, level: usize, base: usize, row: &[Value]) {
    let buffer = &mut env.rows[level];
    if buffer.len() < base + row.len() {
        buffer.resize(base + row.len(), Value::Null);
    }
    buffer[base..base + row.len()].clone_from_slice(row);
}

fn copy_slots(env: &mut Env<'_, '_>, level: usize, from: usize, to: usize, count: usize) {
    if from == to {
        return;
    }
    let row = env.rows[level][from..from + count].to_vec();
    put(env, level, to, &row);
}
