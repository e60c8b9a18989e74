//! sys.dm_tran_locks.

use crate::dictionary::system_view::Source;
use crate::lock::{LockStatus, Resource};
use crate::value::Value;

use super::{int, text};

/// sys.dm_tran_locks.
pub fn tran_locks(s: &Source<'_>) -> Vec<Vec<Value>> {
    s.latch
        .locks
        .list()
        .into_iter()
        .map(|l| {
            let status = match l.status {
                LockStatus::Grant => "GRANT",
                LockStatus::Wait => "WAIT",
                LockStatus::Convert => "CONVERT",
            };
            vec![
                text(l.resource.kind()),
                int(s.database.id),
                int(l
                    .resource
                    .row_of()
                    .or(match l.resource {
                        Resource::Object(id) => Some(id),
                        _ => None,
                    })
                    .unwrap_or(0)),
                text(&l.resource.to_string()),
                text(&l.mode.to_string()),
                text(status),
                int(l.owner),
            ]
        })
        .collect()
}
