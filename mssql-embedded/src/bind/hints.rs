//! Table hints.

use crate::ast::TableHint;
use crate::catalog::{AccessPath, Database, TableDef};
use crate::error::{SqlError, SqlResult};
use crate::plan::Hints;

#[derive(Clone, Default)]
pub(super) struct TableHints {
    pub(super) lock: Hints,
    /// The only indexes that may be used, or the heap.
    pub(super) indexes: Option<Vec<AccessPath>>,
    pub(super) force_seek: bool,
    pub(super) force_scan: bool,
}

/// A `target` of a write takes no hint that reads without locks.
pub(super) fn table_hints(
    hints: &[TableHint],
    table: &TableDef,
    home: &Database,
    target: bool,
) -> SqlResult<TableHints> {
    let mut result = TableHints::default();
    for hint in hints {
        match hint {
            TableHint::ForceSeek => result.force_seek = true,
            TableHint::ForceScan => result.force_scan = true,
            TableHint::Index(names) => {
                for name in names {
                    let path = index_named(table, home, &name.name)?;
                    result.indexes.get_or_insert_default().push(path);
                }
            }
            TableHint::IndexId(id) => {
                let path = index_numbered(table, *id)?;
                result.indexes.get_or_insert_default().push(path);
            }
            TableHint::RowLock => result.lock.rowlock = true,
            TableHint::NoLock => result.lock.nolock = true,
            TableHint::ReadPast => result.lock.readpast = true,
            TableHint::UpdLock => result.lock.updlock = true,
            TableHint::XLock => result.lock.xlock = true,
            TableHint::HoldLock => result.lock.holdlock = true,
            TableHint::RepeatableRead => result.lock.repeatableread = true,
            TableHint::ReadCommittedLock => result.lock.readcommittedlock = true,
            TableHint::ReadCommitted => result.lock.readcommitted = true,
            TableHint::TabLock => result.lock.tablock = true,
            TableHint::TabLockX => result.lock.tablockx = true,
            TableHint::NoWait => result.lock.nowait = true,
        }
    }
    check(&result, target)?;
    Ok(result)
}

/// The index of this name, which follows the collation of its database.
fn index_named(table: &TableDef, home: &Database, name: &str) -> SqlResult<AccessPath> {
    let folded = home.fold(name);
    table
        .indexes
        .iter()
        .position(|i| home.fold(&i.name) == folded)
        .map(AccessPath::Index)
        .ok_or_else(|| {
            SqlError::new(
                308,
                format!(
                    "Index '{name}' on table '{}' (specified in the FROM clause) does not exist.",
                    table.name
                ),
            )
        })
}

fn index_numbered(table: &TableDef, id: u32) -> SqlResult<AccessPath> {
    let clustered = table.indexes.first().is_some_and(|i| i.clustered);
    let found = match id {
        0 if clustered => Some(AccessPath::Index(0)),
        0 => Some(AccessPath::Heap),
        id => table
            .indexes
            .iter()
            .position(|i| i64::from(i.index_id) == i64::from(id))
            .map(AccessPath::Index),
    };
    found.ok_or_else(|| {
        SqlError::new(
            307,
            format!(
                "Index ID {id} on table '{}' (specified in the FROM clause) does not exist.",
                table.name
            ),
        )
    })
}

fn check(hints: &TableHints, target: bool) -> SqlResult<()> {
    let Hints {
        nolock,
        readcommitted,
        readcommittedlock,
        repeatableread,
        holdlock,
        rowlock,
        tablock,
        tablockx,
        updlock,
        xlock,
        // They go with everything: where READPAST does not, the server notices when it reads.
        readpast: _,
        nowait: _,
    } = hints.lock;
    if target && nolock {
        return Err(SqlError::with(
            1065,
            15,
            1,
            "The NOLOCK and READUNCOMMITTED lock hints are not allowed for target tables of INSERT, \
             UPDATE, DELETE or MERGE statements.",
        ));
    }
    let several = |group: &[bool]| group.iter().filter(|hint| **hint).count() > 1;
    // "Table hints": one hint of each group, and NOLOCK is in all of them.
    let conflict = several(&[
        nolock,
        readcommitted,
        readcommittedlock,
        repeatableread,
        holdlock,
    ]) || several(&[nolock, rowlock, tablock, tablockx])
        || several(&[nolock, updlock, xlock]);
    if conflict {
        return Err(SqlError::with(
            1047,
            15,
            1,
            "Conflicting locking hints specified.",
        ));
    }
    if hints.force_seek && hints.force_scan {
        return Err(SqlError::with(
            10746,
            15,
            1,
            "The FORCESCAN hint is specified simultaneously with the FORCESEEK hint. Remove one of the hints \
             and resubmit the query.",
        ));
    }
    Ok(())
}
