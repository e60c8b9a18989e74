//! Reading tables: base tables under locks, table variables, system views.

use std::ops::Bound;
use std::sync::Arc;

use crate::access::{Cursor, ReadLock, ReadMode};
use crate::adversary::{Grain, Question};
use crate::ast::IsolationLevel;
use crate::catalog::{AccessPath, TableDef, is_temporary, server_fold};
use crate::context::user_in;
use crate::dictionary::{Elsewhere, View, check_access};
use crate::error::{SqlError, SqlResult};
use crate::interrupt::{Interrupt, never, stop_if};
use crate::memory::KeptRows;
use crate::plan::{Hints, LocalScan, Purpose, Scan, Seek, SeekEq};
use crate::storage::{Bounds, Found, LocalCursor, seek_bounds};
use crate::value::Value;

use super::super::{Env, eval, test};
use super::filter_place::{FilterPlace, all, columns_of_entries};
use super::{Operator, Rows};

/// A scan or seek of a base table.
pub struct TableScan<'p> {
    scan: &'p Scan,
    level: usize,
    /// The row is locked, and looked at again, only when it has passed what can be tested before.
    look_again: bool,
    filter: FilterPlace<'p>,
    cursor: Option<Cursor>,
}

impl<'p> TableScan<'p> {
    /// Computes the bounds and opens the cursor; nothing is locked before the first row is asked for.
    pub fn open(scan: &'p Scan, level: usize, env: &mut Env<'_, '_>) -> SqlResult<Self> {
        let mut mode = read_mode(scan, env)?;
        mode.qualify_first &= scan.qualify_first;
        let bounds = match scan.path {
            AccessPath::Heap => Some((Bound::Unbounded, Bound::Unbounded)),
            AccessPath::Index(index) => bounds(&scan.table, index, &scan.seek, env)?,
        };
        let covered = scan.purpose == Purpose::Read && covers(&scan.table, scan.path, &scan.needed);
        if !covered {
            note_detour(scan, mode, env);
        }
        let filter = FilterPlace::choose(scan, level, mode, covered, env);
        let on_entry = matches!(filter, FilterPlace::Entry(_));
        let cursor = bounds.map(|(low, high)| {
            let cursor = Cursor::open(&scan.table, scan.path, low, high, scan.reverse, mode);
            match (covered, on_entry) {
                (true, _) => cursor.covering(),
                (false, true) => cursor.entries_first(),
                (false, false) => cursor,
            }
        });
        Ok(Self {
            scan,
            level,
            look_again: mode.qualify_first || on_entry,
            filter,
            cursor,
        })
    }
}

impl Operator for TableScan<'_> {
    fn next(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        let Some(cursor) = &mut self.cursor else {
            return Ok(false);
        };
        let scan = self.scan;
        while let Some(found) = cursor.next(&mut env.access()?)? {
            let Found { row: seen, locator } = found;
            let buffer = &mut env.rows[self.level];
            fill(scan, &seen, buffer);
            if let Some(slot) = scan.locator {
                buffer[slot] = Value::Bytes(Arc::clone(&locator));
            }
            let mut passes = match &self.filter {
                FilterPlace::Entry(conds) => all(conds, env)?,
                FilterPlace::Row | FilterPlace::Above => passes(scan, env)?,
            };
            if passes && self.look_again {
                // The version that qualified may be history by now.
                let whole = !matches!(self.filter, FilterPlace::Entry(_));
                passes = match cursor.requalify(&mut env.access()?, &locator)? {
                    Some(row) if whole && Arc::ptr_eq(&row, &seen) => true,
                    Some(row) => {
                        fill(scan, &row, &mut env.rows[self.level]);
                        self::passes(scan, env)?
                    }
                    None => false,
                };
            }
            if passes {
                return Ok(true);
            }
            if !matches!(self.filter, FilterPlace::Above) {
                cursor.reject(&mut env.access()?);
            }
        }
        Ok(false)
    }
}

fn fill(scan: &Scan, row: &[Value], buffer: &mut [Value]) {
    for &column in &scan.needed {
        buffer[scan.base + column] = row[column].clone();
    }
}

fn passes(scan: &Scan, env: &mut Env<'_, '_>) -> SqlResult<bool> {
    match &scan.residual {
        Some(cond) => Ok(test(cond, env)? == Some(true)),
        None => Ok(true),
    }
}

/// Whether an index holds every column that the query reads, so that the row itself is neither
/// visited nor locked.
fn covers(table: &TableDef, path: AccessPath, needed: &[usize]) -> bool {
    columns_of_entries(table, path).is_some_and(|held| needed.iter().all(|c| held.contains(c)))
}

/// Tells whoever wants to know that entries of an index are locked, and then the rows.
fn note_detour(scan: &Scan, mode: ReadMode, env: &Env<'_, '_>) {
    let index = scan.path.index(&scan.table).filter(|i| !i.clustered);
    let (Some(choices), Some(index)) = (&env.core.choices, index) else {
        return;
    };
    if takes_row_locks(mode.lock) && !mode.readpast && !is_temporary(&scan.table.name) {
        let is_shared = mode.lock == ReadLock::Shared;
        choices.note_detour(&scan.table.name, &index.name, is_shared);
    }
}

/// The bounds of a seek in key bytes; `None` when a NULL makes it find nothing.
pub fn bounds(
    table: &TableDef,
    index: usize,
    seek: &Seek,
    env: &mut Env<'_, '_>,
) -> SqlResult<Option<Bounds>> {
    let mut prefix = Vec::with_capacity(seek.prefix.len());
    for eq in &seek.prefix {
        prefix.push(match eq {
            SeekEq::IsNull => Value::Null,
            SeekEq::Value(expr) => {
                let value = eval(expr, env)?;
                if value.is_null() {
                    return Ok(None);
                }
                value
            }
        });
    }
    let low = bound(seek.low.as_ref(), env)?;
    let high = bound(seek.high.as_ref(), env)?;
    let (Some(low), Some(high)) = (low, high) else {
        return Ok(None);
    };
    Ok(Some(seek_bounds(table, index, &prefix, low, high)))
}

/// One end of a range: the value and whether it belongs to it. The outer `None` says that the end is
/// NULL and nothing can be found.
fn bound(
    bound: Option<&(crate::plan::Scalar, bool)>,
    env: &mut Env<'_, '_>,
) -> SqlResult<Option<Option<(Value, bool)>>> {
    let Some((expr, inclusive)) = bound else {
        return Ok(Some(None));
    };
    let value = eval(expr, env)?;
    Ok((!value.is_null()).then_some(Some((value, *inclusive))))
}

/// The locks of a table access, from isolation level, hints and purpose.
fn read_mode(scan: &Scan, env: &mut Env<'_, '_>) -> SqlResult<ReadMode> {
    let Hints {
        nolock: _,
        holdlock: _,
        repeatableread: _,
        readcommitted: _,
        readpast,
        updlock,
        xlock,
        readcommittedlock,
        tablock,
        tablockx,
        nowait,
        rowlock,
    } = scan.hints;
    let session = env.core.settings.isolation;
    let hinted = hinted_level(&scan.hints);
    let level = hinted.unwrap_or(session);
    let modifies = scan.purpose == Purpose::Modify;
    if readpast {
        check_readpast(level, modifies)?;
    }
    // Also before a change: it must notice what others changed since.
    let past = match session {
        IsolationLevel::Snapshot => Some(env.transaction_snapshot(&scan.table)?),
        IsolationLevel::ReadUncommitted
        | IsolationLevel::ReadCommitted
        | IsolationLevel::RepeatableRead
        | IsolationLevel::Serializable => None,
    };
    let by_versions = level == IsolationLevel::ReadCommitted
        && !(readcommittedlock || tablock)
        && env.core.has_versions(&env.latch, &scan.table);
    let lock = if xlock || tablockx {
        ReadLock::Exclusive
    } else if updlock || modifies {
        ReadLock::Update
    } else if level == IsolationLevel::ReadUncommitted && !tablock {
        ReadLock::None
    } else if let Some(past) = past.filter(|_| hinted.is_none() && !tablock) {
        ReadLock::Snapshot(past)
    } else if by_versions {
        ReadLock::Snapshot(env.statement_snapshot()?)
    } else {
        ReadLock::Shared
    };
    if readpast && by_versions && env.core.choices.is_some() {
        return Err(readpast_refused());
    }
    let grain = match &env.core.choices {
        _ if tablock || tablockx => Grain::Table,
        Some(choices) if !rowlock && takes_row_locks(lock) => choices.grain(),
        _ => Grain::Row,
    };
    let qualify_first = lock == ReadLock::Update
        && grain == Grain::Row
        && env.core.engine.optimized_locking
        && level == IsolationLevel::ReadCommitted
        && hinted.is_none()
        && !(updlock || tablock)
        && env.core.has_versions(&env.latch, &scan.table)
        && (env.core.choices.as_ref())
            .is_none_or(|choices| !choices.chance(Question::LockAfterQualification, 4));
    let serializable = level == IsolationLevel::Serializable;
    let repeatable = level == IsolationLevel::RepeatableRead;
    Ok(ReadMode {
        lock,
        hold: serializable || repeatable || updlock || xlock || tablockx,
        range: serializable,
        keep: points_to_rows(scan),
        readpast,
        nowait,
        grain,
        qualify_first,
    })
}

/// The level that the hints of a table put in place of the session's.
fn hinted_level(hints: &Hints) -> Option<IsolationLevel> {
    let Hints {
        nolock,
        holdlock,
        repeatableread,
        readcommitted,
        readcommittedlock,
        readpast: _,
        updlock: _,
        xlock: _,
        tablock: _,
        tablockx: _,
        nowait: _,
        rowlock: _,
    } = *hints;
    // Two of them are a conflict, which the binder has refused.
    if nolock {
        Some(IsolationLevel::ReadUncommitted)
    } else if holdlock {
        Some(IsolationLevel::Serializable)
    } else if repeatableread {
        Some(IsolationLevel::RepeatableRead)
    } else if readcommitted || readcommittedlock {
        Some(IsolationLevel::ReadCommitted)
    } else {
        None
    }
}

/// Whether what is handed on holds values that are too large to be copied. SQL Server then hands on pointers, and locks the rows until
/// the statement ends so that they stay valid, however small the values are: [Read Committed and Large
/// Objects](https://learn.microsoft.com/archive/blogs/craigfr/read-committed-and-large-objects).
fn points_to_rows(scan: &Scan) -> bool {
    let columns = &scan.table.columns;
    scan.needed.iter().any(|&at| columns[at].ty.is_max())
}

fn takes_row_locks(lock: ReadLock) -> bool {
    match lock {
        ReadLock::None | ReadLock::Snapshot(_) => false,
        ReadLock::Shared | ReadLock::Update | ReadLock::Exclusive => true,
    }
}

/// READPAST goes by the level at which the table is read, whatever locks the other hints ask for: SQL Server refuses it
/// beside UPDLOCK, too, in a session at SNAPSHOT, though "Table hints" demands such a hint there. What a statement
/// changes it locks even at READ UNCOMMITTED.
fn check_readpast(level: IsolationLevel, modifies: bool) -> SqlResult<()> {
    match level {
        IsolationLevel::ReadCommitted | IsolationLevel::RepeatableRead => Ok(()),
        IsolationLevel::ReadUncommitted if modifies => Ok(()),
        IsolationLevel::ReadUncommitted
        | IsolationLevel::Snapshot
        | IsolationLevel::Serializable => Err(readpast_refused()),
    }
}

/// "Table hints" says of a database with READ_COMMITTED_SNAPSHOT that READPAST cannot be specified under READ
/// COMMITTED unless READCOMMITTEDLOCK stands beside it. Servers have been seen to take it, beside UPDLOCK above all; so an
/// adversary goes by the letter, and the engine alone does not.
fn readpast_refused() -> SqlError {
    SqlError::new(
        650,
        "You can only specify the READPAST lock in the READ COMMITTED or REPEATABLE READ isolation levels.",
    )
}

/// A scan or seek of a table variable.
pub struct LocalTableScan<'p> {
    scan: &'p LocalScan,
    level: usize,
    cursor: Option<LocalCursor>,
}

impl<'p> LocalTableScan<'p> {
    pub fn open(scan: &'p LocalScan, level: usize, env: &mut Env<'_, '_>) -> SqlResult<Self> {
        let cursor = match &scan.seek {
            None => Some((AccessPath::Heap, (Bound::Unbounded, Bound::Unbounded))),
            Some((index, seek)) => {
                bounds(&scan.table, *index, seek, env)?.map(|b| (AccessPath::Index(*index), b))
            }
        };
        let backwards = scan.seek.is_none()
            && (env.core.choices.as_ref()).is_some_and(|c| c.chance(Question::RowOrder, 2));
        let reverse = scan.reverse || backwards;
        let cursor = cursor.map(|(path, b)| LocalCursor::open(path, b, reverse));
        Ok(Self {
            scan,
            level,
            cursor,
        })
    }
}

impl Operator for LocalTableScan<'_> {
    fn next(&mut self, env: &mut Env<'_, '_>) -> SqlResult<bool> {
        let Some(cursor) = &mut self.cursor else {
            return Ok(false);
        };
        let scan = self.scan;
        while let Some(Found { row, locator }) = cursor.next(&env.frame.tables[scan.variable]) {
            env.tick()?;
            env.stats.rows_read += 1;
            let buffer = &mut env.rows[self.level];
            for (i, value) in row.iter().enumerate() {
                buffer[scan.base + i] = value.clone();
            }
            if let Some(slot) = scan.locator {
                buffer[slot] = Value::Bytes(locator);
            }
            match &scan.residual {
                Some(cond) if test(cond, env)? != Some(true) => {}
                _ => return Ok(true),
            }
        }
        Ok(false)
    }
}

/// The rows of a system view.
pub fn system_view(
    view: &View,
    database: Option<&str>,
    base: usize,
    level: usize,
    env: &mut Env<'_, '_>,
) -> SqlResult<Rows> {
    check_access(view, env)?;
    let elsewhere = match database {
        None => None,
        Some(other) => {
            let key = server_fold(other);
            let user = user_in(&env.latch.catalog, &key, env.core, env.frame)?;
            Some((key, user))
        }
    };
    let mut rows = KeptRows::new(&env.core.memory);
    // The view reads the environment meanwhile, so the question is taken out of it. The latch stays: what the view
    // walks over must not change under it.
    let asking = std::mem::replace(&mut env.interrupted, nobody());
    let mut take = |row| {
        rows.push(row)?;
        if rows.len().is_multiple_of(ROWS_PER_QUESTION) {
            stop_if(asking())?;
        }
        Ok(())
    };
    let read = match elsewhere {
        None => (view.rows)(env, &mut take),
        Some((key, user)) => (view.rows)(&Elsewhere::new(env, &key, user), &mut take),
    };
    env.interrupted = asking;
    read?;
    let (rows, charge) = rows.into_parts();
    Ok(Rows::new(rows, base, level).charged(charge))
}

/// After so many rows of a system view it is asked whether to go on.
const ROWS_PER_QUESTION: usize = 1000;

/// A question that nobody answers. A function takes no place, so none is lost with the box.
fn nobody() -> &'static mut dyn FnMut() -> Option<Interrupt> {
    Box::leak(Box::new(never))
}
