//! sys.dm_tran_locks.

use crate::dictionary::view::view;
use crate::lock::LockStatus;

view! {
    /// Locks held and awaited.
    TRAN_LOCKS: "sys.dm_tran_locks";
    each (database, l) in |s| s.database()
        .into_iter()
        .flat_map(|d| s.locks().list().into_iter().map(|l| (d.id, l)));
    "resource_type": Text60 = l.resource.kind(),
    "resource_database_id": Int = database,
    "resource_associated_entity_id": BigInt = i64::from(l.resource.object().unwrap_or(0)),
    "resource_description": Name = l.resource.to_string(),
    "request_mode": Text60 = l.mode.to_string(),
    "request_status": Text60 = status(l.status),
    "request_session_id": Int = l.owner.cast_signed(),
}

fn status(status: LockStatus) -> &'static str {
    match status {
        LockStatus::Grant => "GRANT",
        LockStatus::Wait => "WAIT",
        LockStatus::Convert => "CONVERT",
    }
}
