//! Where the conditions on a table are tested: an adversary's choice.
//!
//! A condition that only needs the columns of a nonclustered index can be tested on the index entry, before the row
//! is looked up and locked, or after that. And it can be tested by the scan itself, which gives the locks of a row
//! that fails back at once, or by a filter above it, which cannot: then they last as long as isolation level and
//! hints say, as if the row had qualified.

use crate::access::{ReadLock, ReadMode};
use crate::adversary::Question;
use crate::ast::IsolationLevel;
use crate::catalog::{AccessPath, TableDef};
use crate::error::SqlResult;
use crate::plan::{Cond, Scan};

use super::super::{Env, test};

/// How often, with an adversary, locks of rows that fail are not given back.
const ABOVE_ONE_IN: usize = 8;

/// Where the conditions on a table are tested.
pub(super) enum FilterPlace<'p> {
    /// These on the index entry, all of them once the row is locked.
    Entry(Vec<&'p Cond>),
    /// On the locked row, whose locks are given back if it fails.
    Row,
    /// On the locked row, whose locks stay.
    Above,
}

impl<'p> FilterPlace<'p> {
    /// Asks the adversary, if there is one and the scan leaves a choice.
    pub(super) fn choose(
        scan: &'p Scan,
        level: usize,
        mode: ReadMode,
        covered: bool,
        env: &Env<'_, '_>,
    ) -> Self {
        let (Some(choices), Some(residual)) = (&env.core.choices, &scan.residual) else {
            return Self::Row;
        };
        let locks = match mode.lock {
            ReadLock::None | ReadLock::Snapshot(_) => false,
            ReadLock::Shared | ReadLock::Update | ReadLock::Exclusive => true,
        };
        if !locks || mode.qualify_first || env.core.settings.isolation == IsolationLevel::Snapshot {
            return Self::Row;
        }
        // A gap that was read stays locked whatever becomes of the row.
        if !covered && !mode.range {
            let conds = on_entry(scan, level, residual);
            if !conds.is_empty() && choices.chance(Question::Filter, 2) {
                return Self::Entry(conds);
            }
        }
        if choices.chance(Question::Filter, ABOVE_ONE_IN) {
            Self::Above
        } else {
            Self::Row
        }
    }
}

/// The conditions that need no column but those of the index.
fn on_entry<'p>(scan: &Scan, level: usize, residual: &'p Cond) -> Vec<&'p Cond> {
    let Some(held) = columns_of_entries(&scan.table, scan.path) else {
        return Vec::new();
    };
    let parts = if let Cond::And(parts) = residual {
        parts.as_slice()
    } else {
        std::slice::from_ref(residual)
    };
    let columns = scan.base..scan.base + scan.table.columns.len();
    let answered = |cond: &&Cond| {
        let mut answered = true;
        cond.each_slot(&mut |l, slot| {
            let own = l == level && columns.contains(&slot);
            answered &= !own || held.contains(&(slot - columns.start));
        });
        answered
    };
    parts.iter().filter(answered).collect()
}

/// The columns that the entries of a nonclustered index hold: its own, and the clustering key as locator.
pub(super) fn columns_of_entries(table: &TableDef, path: AccessPath) -> Option<Vec<usize>> {
    let index = path.index(table).filter(|i| !i.clustered)?;
    let clustering = table.indexes.iter().filter(|i| i.clustered);
    let keys = (index.keys.iter()).chain(clustering.flat_map(|i| &i.keys));
    let keys = keys.map(|(column, _)| *column);
    Some(keys.chain(index.include.iter().copied()).collect())
}

pub(super) fn all(conds: &[&Cond], env: &mut Env<'_, '_>) -> SqlResult<bool> {
    for cond in conds {
        if test(cond, env)? != Some(true) {
            return Ok(false);
        }
    }
    Ok(true)
}
