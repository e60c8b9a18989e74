//! Making the rows and index entries of a table anew when its definition changes.
//!
//! That lasts as long as the table is large. The definition holds Sch-M, so nobody reads or writes the table meanwhile, and
//! what is being made is not in the store yet: others may have the latch after every thousand rows.

use std::sync::Arc;

use crate::catalog::TableDef;
use crate::error::SqlResult;
use crate::exec::{Env, qualifies};
use crate::plan::RowRules;
use crate::storage::{Chain, IndexStore, Key, Rebuilt, Row};

/// Runs `each` on every row of a table, with its locator.
pub fn each_row(
    table: &TableDef,
    env: &mut Env<'_, '_>,
    mut each: impl FnMut(&Key, &Chain<Row>, &mut Env<'_, '_>) -> SqlResult<()>,
) -> SqlResult<()> {
    let mut after: Option<Key> = None;
    loop {
        let page = env.latch.store.page(table.id, after.as_ref());
        for (locator, chain) in &page {
            env.tick()?;
            each(locator, chain, env)?;
        }
        match page.into_iter().next_back() {
            Some((last, _)) => after = Some(last),
            None => return Ok(()),
        }
    }
}

/// Puts what `changed` makes of each row in its place, and builds the indexes of the new definition.
///
/// # Errors
///
/// What `changed` says, and 1505 for duplicate keys; the table is then unchanged.
pub fn rows(
    new: &Arc<TableDef>,
    rules: &RowRules,
    env: &mut Env<'_, '_>,
    mut changed: impl FnMut(&Row, &mut Env<'_, '_>) -> SqlResult<Row>,
) -> SqlResult<()> {
    let mut rebuilt = Rebuilt::begin(&env.latch.store, new);
    each_row(new, env, |_, chain, env| match chain.current() {
        Some(old) => {
            let row = changed(old, env)?;
            rebuilt.add(new, chain, row)
        }
        None => Ok(()),
    })?;
    let mut filter = |index: usize, row: &Row| qualifies(rules, index, row);
    for (position, index) in new.indexes.iter().enumerate() {
        if !index.clustered {
            rebuilt.build_index(new, position, &mut filter, &mut || env.tick())?;
        }
    }
    let access = env.access()?;
    access.latch.store.put_rebuilt(access.txn, new.id, rebuilt);
    Ok(())
}

/// Builds the nonclustered index at a position of the new definition from the rows there are.
///
/// # Errors
///
/// 1505 if the index is unique and two rows have the same key.
pub fn index(
    new: &Arc<TableDef>,
    position: usize,
    rules: &RowRules,
    env: &mut Env<'_, '_>,
) -> SqlResult<()> {
    let mut filter = |index: usize, row: &Row| qualifies(rules, index, row);
    let mut built = IndexStore::new(&new.indexes[position]);
    each_row(new, env, |locator, chain, _| {
        built.enter(new, position, (locator, chain), &mut filter)
    })?;
    let access = env.access()?;
    access.latch.store.add_index(access.txn, new.id, built);
    Ok(())
}
