//! Inserting, updating and deleting rows under the lock protocol.
//!
//! The row is locked and written first, then its index entries in the order of the definition, as
//! SQL Server does; a reader that comes through an index locks in the opposite order, so the classic
//! deadlock between the two is possible here as well.

use std::ops::Bound;
use std::sync::Arc;

use super::acquire::{Acquired, Patience, RowLock};
use super::tree::{Tree, entry_chain, row_chain};
use super::{Access, errors, log_bytes};
use crate::adversary::{Choices, Grain};
use crate::catalog::TableDef;
use crate::error::{SqlError, SqlResult};
use crate::lock::{Grip, Mode, Resource, Span};
use crate::storage::{
    InsertOutcome, Key, Qualifies, Row, base_key, duplicate_error, encode_index_key, entry_key,
    same_in_index,
};

/// Inserts a row. All or nothing: after an error the row and its entries are not there.
///
/// # Errors
///
/// 2627 and 2601 for a duplicate key, 1205, 1222, or the error of an interrupt.
pub fn insert(
    a: &mut Access<'_, '_>,
    table: &Arc<TableDef>,
    row: Row,
    qualifies: Qualifies<'_>,
) -> SqlResult<InsertOutcome> {
    lock_table(a, table)?;
    let mark = a.txn.undo_len();
    let written = insert_row(a, table, row, qualifies);
    end_writing(a);
    count_transaction(a, mark);
    match written {
        Ok(locator) => {
            a.stats.rows_written += 1;
            Ok(InsertOutcome::Inserted(locator))
        }
        Err(failure) => {
            a.txn.undo_to(a.latch, mark);
            match failure {
                Failure::Duplicate(index, _) if table.indexes[index].ignore_dup_key => {
                    Ok(InsertOutcome::Ignored)
                }
                Failure::Duplicate(_, error) | Failure::Error(error) => Err(error),
            }
        }
    }
}

/// Replaces a row; returns where it is now.
///
/// # Errors
///
/// As [`update_all`].
#[cfg(test)]
pub fn update(
    a: &mut Access<'_, '_>,
    table: &Arc<TableDef>,
    locator: &Key,
    new: Row,
    qualifies: Qualifies<'_>,
) -> SqlResult<Key> {
    let moved = update_all(a, table, vec![(Key::clone(locator), new)], qualifies)?;
    Ok(moved
        .into_iter()
        .next()
        .unwrap_or_else(|| Key::clone(locator)))
}

/// Replaces several rows as one statement does: a key that one row gives up may be taken by another,
/// so that `SET id = id + 1` works. Returns where the rows are now. All or nothing.
///
/// # Errors
///
/// 2627 and 2601 for a duplicate key, 3960 for a row that a SNAPSHOT transaction did not see as it is
/// now, 1205, 1222, or the error of an interrupt.
pub fn update_all(
    a: &mut Access<'_, '_>,
    table: &Arc<TableDef>,
    changes: Vec<(Key, Row)>,
    qualifies: Qualifies<'_>,
) -> SqlResult<Vec<Key>> {
    lock_table(a, table)?;
    let mark = a.txn.undo_len();
    let rows = changes.len() as u64;
    let written = update_rows(a, table, changes, qualifies);
    end_writing(a);
    count_transaction(a, mark);
    match written {
        Ok(locators) => {
            a.stats.rows_written += rows;
            Ok(locators)
        }
        Err(Failure::Duplicate(_, error) | Failure::Error(error)) => {
            a.txn.undo_to(a.latch, mark);
            Err(error)
        }
    }
}

/// Deletes a row; one that this transaction has deleted already stays deleted. All or nothing.
///
/// # Errors
///
/// 3960 for a row that a SNAPSHOT transaction did not see as it is now, 1205, 1222, or the error of
/// an interrupt.
pub fn delete(
    a: &mut Access<'_, '_>,
    table: &Arc<TableDef>,
    locator: &Key,
    qualifies: Qualifies<'_>,
) -> SqlResult<()> {
    lock_table(a, table)?;
    let mark = a.txn.undo_len();
    let result = delete_row(a, table, locator, qualifies);
    end_writing(a);
    count_transaction(a, mark);
    if result.is_err() {
        a.txn.undo_to(a.latch, mark);
    }
    result
}

/// The first write of a transaction brings the records of its beginning and its end.
fn count_transaction(a: &mut Access<'_, '_>, undo_before: usize) {
    if undo_before == 0 && a.txn.undo_len() > 0 {
        a.stats.log_bytes += log_bytes::transaction();
    }
}

enum Failure {
    /// A key of the index at this position is there already.
    Duplicate(usize, SqlError),
    Error(SqlError),
}

impl From<SqlError> for Failure {
    fn from(error: SqlError) -> Self {
        Self::Error(error)
    }
}

fn lock_table(a: &mut Access<'_, '_>, table: &TableDef) -> SqlResult<()> {
    if a.optimized {
        let own = Resource::Transaction(a.txn.id);
        a.acquire(&own, Mode::X, Span::Transaction, Patience::Wait)?;
    }
    let resource = Resource::Object(table.id);
    let whole = (a.choices).is_some_and(|choices| choices.writes() == Grain::Table);
    let mode = if whole { Mode::X } else { Mode::IX };
    a.acquire(&resource, mode, Span::Transaction, Patience::Wait)?;
    Ok(())
}

fn insert_row(
    a: &mut Access<'_, '_>,
    table: &TableDef,
    row: Row,
    qualifies: Qualifies<'_>,
) -> Result<Key, Failure> {
    let locator = new_locator(a, table, &row);
    put_row(a, table, &locator, &row)?;
    for position in 0..table.indexes.len() {
        if belongs(table, position, &row, qualifies)? {
            put_entry(a, table, position, &row, &locator)?;
        }
    }
    Ok(locator)
}

fn new_locator(a: &mut Access<'_, '_>, table: &TableDef, row: &Row) -> Key {
    let numbered = match table.indexes.first() {
        Some(index) if index.clustered => !index.unique,
        _ => true,
    };
    let number = if numbered {
        a.latch.store.next_row_number(table.id)
    } else {
        0
    };
    base_key(table, row, number)
}

/// Puts a row under a key where there must be none.
fn put_row(
    a: &mut Access<'_, '_>,
    table: &TableDef,
    locator: &Key,
    row: &Row,
) -> Result<(), Failure> {
    let grip = claim(a, table, Tree::rows(table), locator)?;
    let taken = row_chain(&a.latch.store, table.id, locator).is_some_and(|c| c.current().is_some());
    if taken {
        return Err(duplicate(a, table, 0, row, grip.as_ref()));
    }
    let txn = &mut *a.txn;
    a.latch
        .store
        .write_row(txn, table.id, locator, Some(Row::clone(row)));
    a.stats.log_bytes += log_bytes::row(row);
    Ok(())
}

/// Puts an entry into a nonclustered index where there must be none of the same key.
fn put_entry(
    a: &mut Access<'_, '_>,
    table: &TableDef,
    position: usize,
    row: &Row,
    locator: &Key,
) -> Result<(), Failure> {
    let tree = Tree::index(table, &table.indexes[position]);
    let key = entry_key(table, position, row, locator);
    let grip = claim(a, table, tree, &key)?;
    if entry_chain(&a.latch.store, tree, &key).is_some_and(|c| c.current().is_some()) {
        return Err(duplicate(a, table, position, row, grip.as_ref()));
    }
    let txn = &mut *a.txn;
    a.latch
        .store
        .write_entry(txn, (tree.table, tree.id), &key, Some(Key::clone(locator)));
    a.stats.log_bytes += log_bytes::entry(&key);
    Ok(())
}

fn duplicate(
    a: &mut Access<'_, '_>,
    table: &TableDef,
    position: usize,
    row: &Row,
    grip: Option<&Grip>,
) -> Failure {
    if let Some(grip) = grip {
        a.release(grip);
    }
    Failure::Duplicate(position, duplicate_error(table, position, row))
}

/// Makes sure that nobody protects the gap a new key falls into, and locks the key exclusively. Waits for
/// an unfinished transaction that inserted or deleted the same key.
fn claim(
    a: &mut Access<'_, '_>,
    table: &TableDef,
    tree: Tree,
    key: &Key,
) -> SqlResult<Option<Grip>> {
    let resource = tree.resource(key);
    loop {
        let mut mode = Mode::X;
        if !tree.is_heap() && a.latch.locks.has_range_locks() {
            let gap = tree.gap_end(a, Bound::Excluded(key))?;
            // The new key divides a gap this transaction protects; both halves must stay protected.
            let held = a.latch.locks.held(a.owner, &gap);
            if held.is_some_and(Mode::is_range) {
                mode = Mode::RANGE_X_X;
            }
            if waited(&a.acquire(&gap, Mode::RANGE_I_N, Span::Instant, Patience::Wait)?) {
                continue;
            }
        }
        let acquired = a.acquire_row(table, &resource, ask(a, mode))?;
        if waited(&acquired) && a.latch.locks.has_range_locks() {
            continue;
        }
        if let Some(grip) = settled(a, tree, key, acquired)? {
            return Ok(grip);
        }
    }
}

fn waited(acquired: &Acquired) -> bool {
    matches!(acquired, Acquired::Held { waited: true, .. })
}

/// Locks an existing key exclusively.
fn lock_key(a: &mut Access<'_, '_>, table: &TableDef, tree: Tree, key: &Key) -> SqlResult<()> {
    let resource = tree.resource(key);
    loop {
        let acquired = a.acquire_row(table, &resource, ask(a, Mode::X))?;
        if settled(a, tree, key, acquired)?.is_some() {
            return Ok(());
        }
    }
}

/// The lock that a write takes on a row or key.
fn ask(a: &Access<'_, '_>, mode: Mode) -> RowLock {
    RowLock {
        mode,
        span: Span::Transaction,
        patience: Patience::Wait,
        grain: a.choices.map_or(Grain::Row, Choices::writes),
    }
}

/// With optimized locking, the lock on a row protects it only while it is written, and what somebody else
/// has written is waited for by the writer's id: `None` after such a wait, when the lock must be asked for
/// anew. Otherwise the lock, kept until the transaction ends.
fn settled(
    a: &mut Access<'_, '_>,
    tree: Tree,
    key: &Key,
    acquired: Acquired,
) -> SqlResult<Option<Option<Grip>>> {
    let (grip, page) = match acquired {
        Acquired::Held { grip, page, .. } => (grip, page),
        Acquired::Unavailable => (None, None),
    };
    if !a.optimized {
        return Ok(Some(grip));
    }
    if let Some(writer) = a.other_writer(tree, key) {
        for grip in page.iter().chain(&grip) {
            a.release(grip);
        }
        a.await_transaction(writer)?;
        return Ok(None);
    }
    // The gap before a key has no writer whose id could stand for it.
    if !grip.as_ref().is_some_and(Grip::is_range) {
        a.writing.extend(page.iter().chain(&grip).cloned());
    }
    Ok(Some(grip))
}

/// The rows have been written: from here on the transaction's id protects them.
fn end_writing(a: &mut Access<'_, '_>) {
    for grip in std::mem::take(&mut a.writing) {
        a.release(&grip);
    }
}

/// Locks a row exclusively and returns it; `None` if it is not there any more.
fn take_row(a: &mut Access<'_, '_>, table: &TableDef, locator: &Key) -> SqlResult<Option<Row>> {
    lock_key(a, table, Tree::rows(table), locator)?;
    let chain = row_chain(&a.latch.store, table.id, locator);
    if let Some(snapshot) = a.txn.snapshot
        && chain.is_none_or(|chain| chain.changed_since(snapshot))
    {
        return Err(errors::update_conflict(table));
    }
    Ok(chain.and_then(|chain| chain.current()).cloned())
}

/// A row of an UPDATE between giving up its old keys and taking its new ones.
struct Moving {
    locator: Key,
    /// It was taken out from under its clustered key.
    uprooted: bool,
    new: Row,
    /// Indexes it must be entered into.
    enter: Vec<usize>,
}

fn update_rows(
    a: &mut Access<'_, '_>,
    table: &TableDef,
    changes: Vec<(Key, Row)>,
    qualifies: Qualifies<'_>,
) -> Result<Vec<Key>, Failure> {
    let mut moving = Vec::with_capacity(changes.len());
    for (locator, new) in changes {
        // As at the wait for a lock, what is written so far is this transaction's, locked, and undone if it fails.
        a.give_way()?;
        let Some(old) = take_row(a, table, &locator)? else {
            return Err(errors::row_moved().into());
        };
        moving.push(leave_old_keys(a, table, locator, &old, new, qualifies)?);
    }
    let mut locators = Vec::with_capacity(moving.len());
    for row in moving {
        a.give_way()?;
        let locator = if row.uprooted {
            let locator = new_locator(a, table, &row.new);
            put_row(a, table, &locator, &row.new)?;
            locator
        } else {
            row.locator
        };
        for position in row.enter {
            put_entry(a, table, position, &row.new, &locator)?;
        }
        locators.push(locator);
    }
    Ok(locators)
}

/// Writes the row where its clustered key stays, removes it where it does not, and removes the index
/// entries that change. Indexes that the change does not concern are not locked.
fn leave_old_keys(
    a: &mut Access<'_, '_>,
    table: &TableDef,
    locator: Key,
    old: &Row,
    new: Row,
    qualifies: Qualifies<'_>,
) -> Result<Moving, Failure> {
    let clustered = table.indexes.first().is_some_and(|index| index.clustered);
    let uprooted = clustered && encode_index_key(table, 0, old) != encode_index_key(table, 0, &new);
    let written = (!uprooted).then(|| Row::clone(&new));
    a.latch.store.write_row(a.txn, table.id, &locator, written);
    a.stats.log_bytes += match uprooted {
        true => log_bytes::row(old),
        false => log_bytes::change(old, &new),
    };
    let mut enter = Vec::new();
    for position in 0..table.indexes.len() {
        if table.indexes[position].clustered {
            continue;
        }
        let untouched = !uprooted && same_in_index(table, position, old, &new);
        if untouched && table.indexes[position].filter.is_none() {
            continue;
        }
        let was_in = belongs(table, position, old, qualifies)?;
        let goes_in = belongs(table, position, &new, qualifies)?;
        if untouched && was_in == goes_in {
            continue;
        }
        let tree = Tree::index(table, &table.indexes[position]);
        if was_in {
            let key = entry_key(table, position, old, &locator);
            let held = a.writing.len();
            lock_key(a, table, tree, &key)?;
            let stays = goes_in && !uprooted && key == entry_key(table, position, &new, &locator);
            if stays {
                // Only INCLUDE columns change. The entry carries no version of its own that would tell of its
                // writer, so its lock stays.
                a.writing.truncate(held);
                continue;
            }
            a.latch
                .store
                .write_entry(a.txn, (tree.table, tree.id), &key, None);
            a.stats.log_bytes += log_bytes::entry(&key);
        }
        if goes_in {
            enter.push(position);
        }
    }
    Ok(Moving {
        locator,
        uprooted,
        new,
        enter,
    })
}

fn delete_row(
    a: &mut Access<'_, '_>,
    table: &TableDef,
    locator: &Key,
    qualifies: Qualifies<'_>,
) -> SqlResult<()> {
    let Some(old) = take_row(a, table, locator)? else {
        return Ok(());
    };
    a.latch.store.write_row(a.txn, table.id, locator, None);
    a.stats.rows_written += 1;
    a.stats.log_bytes += log_bytes::row(&old);
    for position in 0..table.indexes.len() {
        if belongs(table, position, &old, qualifies)? {
            let tree = Tree::index(table, &table.indexes[position]);
            let key = entry_key(table, position, &old, locator);
            lock_key(a, table, tree, &key)?;
            a.latch
                .store
                .write_entry(a.txn, (tree.table, tree.id), &key, None);
            a.stats.log_bytes += log_bytes::entry(&key);
        }
    }
    Ok(())
}

/// Whether the row has an entry in the index at a position.
fn belongs(
    table: &TableDef,
    position: usize,
    row: &Row,
    qualifies: Qualifies<'_>,
) -> SqlResult<bool> {
    let index = &table.indexes[position];
    if index.clustered {
        return Ok(false);
    }
    match index.filter {
        Some(_) => qualifies(position, row),
        None => Ok(true),
    }
}
