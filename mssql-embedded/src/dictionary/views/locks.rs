//! sys.dm_tran_locks.

use crate::dictionary::Source;
use crate::dictionary::view::view;
use crate::dictionary::views::indexes::partition_id;
use crate::lock::{LockInfo, LockStatus, Mode, Resource};

struct Shown {
    kind: &'static str,
    database: i32,
    description: String,
    entity: i64,
    mode: Mode,
    status: LockStatus,
    session: i32,
    owner: &'static str,
}

/// The locks of transactions and sessions, and the S lock on its database that each session has. In master and tempdb,
/// which nobody can drop, no session takes one.
fn locks(source: &dyn Source) -> impl Iterator<Item = Shown> {
    let held = source.locks().list().into_iter();
    let held = held.map(|lock| shown(&lock, source));
    let sessions = source.activity().sessions().into_iter();
    let shared = sessions.filter_map(|session| {
        let database = source.catalog().databases.get(&session.database)?;
        let lasting = matches!(session.database.as_str(), "master" | "tempdb");
        (!lasting).then(|| Shown {
            kind: "DATABASE",
            database: database.id,
            description: String::new(),
            entity: 0,
            mode: Mode::S,
            status: LockStatus::Grant,
            session: i32::from(session.spid),
            owner: "SHARED_TRANSACTION_WORKSPACE",
        })
    });
    held.chain(shared)
}

fn shown(lock: &LockInfo, source: &dyn Source) -> Shown {
    let resource = &lock.resource;
    let current = source.database().map_or(0, |d| d.id);
    let home = |object: i32| {
        let mut databases = source.catalog().databases.values();
        let home = databases.find(|d| d.objects.contains_key(&object));
        home.map_or(current, |d| d.id)
    };
    let database = match resource {
        Resource::Application { database, .. } => *database,
        Resource::Object(_)
        | Resource::Key { .. }
        | Resource::KeyEnd { .. }
        | Resource::Row { .. }
        | Resource::Page { .. }
        | Resource::Transaction(_) => resource.object().map_or(current, home),
    };
    let entity = match resource {
        Resource::Object(id) => i64::from(*id),
        Resource::Key { table, index, .. }
        | Resource::KeyEnd { table, index }
        | Resource::Page { table, index, .. } => partition_id(*table, *index),
        Resource::Row { table, .. } => partition_id(*table, 0),
        Resource::Transaction(_) | Resource::Application { .. } => 0,
    };
    Shown {
        kind: resource.kind(),
        database,
        description: resource.to_string(),
        entity,
        mode: lock.mode,
        status: lock.status,
        session: lock.owner.cast_signed(),
        owner: if lock.session {
            "SESSION"
        } else {
            "TRANSACTION"
        },
    }
}

view! {
    /// Locks held and awaited. What locks count by inside SQL Server (references, lifetimes, addresses) is left out.
    TRAN_LOCKS: "sys.dm_tran_locks";
    each l in |s| locks(s);
    "resource_type": Text60 = l.kind,
    "resource_subtype": Text60 = "",
    "resource_database_id": Int = l.database,
    "resource_description": Text256 = l.description,
    "resource_associated_entity_id": BigInt = l.entity,
    "resource_lock_partition": Int = 0,
    "request_mode": Text60 = l.mode.to_string(),
    "request_type": Text60 = "LOCK",
    "request_status": Text60 = status(l.status),
    "request_session_id": Int = l.session,
    "request_exec_context_id": Int = 0,
    "request_request_id": Int = 0,
    "request_owner_type": Text60 = l.owner,
}

fn status(status: LockStatus) -> &'static str {
    match status {
        LockStatus::Grant => "GRANT",
        LockStatus::Wait => "WAIT",
        LockStatus::Convert => "CONVERT",
    }
}
