//! The errors of the lock protocol.

use crate::catalog::TableDef;
use crate::error::SqlError;
use crate::lock::LockOwner;

/// 1205: the victim of a deadlock.
pub(super) fn deadlock(owner: LockOwner) -> SqlError {
    SqlError::with(
        1205,
        13,
        51,
        format!(
            "Transaction (Process ID {owner}) was deadlocked on lock resources with another process \
             and has been chosen as the deadlock victim. Rerun the transaction."
        ),
    )
}

/// 1222: a lock that was not granted in time.
pub(super) fn lock_timeout() -> SqlError {
    SqlError::with(1222, 16, 51, "Lock request time out period exceeded.")
}

/// 3960: a SNAPSHOT transaction writes a row that has been changed since it began.
pub(super) fn update_conflict(table: &TableDef) -> SqlError {
    SqlError::with(
        3960,
        16,
        2,
        format!(
            "Snapshot isolation transaction aborted due to update conflict. You cannot use snapshot \
             isolation to access table '{}.{}' directly or indirectly in database '{}' to update, \
             delete, or insert the row that has been modified or deleted by another transaction. \
             Retry the transaction or change the isolation level for the update/delete statement.",
            table.schema, table.name, table.database
        ),
    )
}

/// 3961: a SNAPSHOT transaction reads a table that has been altered since it began.
pub(super) fn definition_changed(table: &TableDef) -> SqlError {
    SqlError::with(
        3961,
        16,
        1,
        format!(
            "Snapshot isolation transaction failed in database '{}' because the object accessed by \
             the statement has been modified by a DDL statement in another concurrent transaction \
             since the start of this transaction. It is disallowed because the metadata is not \
             versioned. A concurrent update to metadata can lead to inconsistency if mixed with \
             snapshot isolation.",
            table.database
        ),
    )
}

/// 601: the row a statement had found is not there any more.
pub(super) fn row_moved() -> SqlError {
    SqlError::with(
        601,
        12,
        3,
        "Could not continue scan with NOLOCK due to data movement.",
    )
}

/// 1223: a release of what the session does not hold.
pub(super) fn application_lock_not_held(name: &[u16]) -> SqlError {
    SqlError::new(
        1223,
        format!(
            "Cannot release the application lock (Database Principal: 'public', Resource: '{}') \
             because it is not currently held.",
            String::from_utf16_lossy(name)
        ),
    )
}
