//! sys.dm_exec_sessions and sys.dm_exec_requests. Whoever is not a sysadmin sees only the session that asks, as without
//! VIEW SERVER STATE.

use crate::activity::SessionActivity;
use crate::dictionary::Source;
use crate::dictionary::view::view;
use crate::lock::{LockOwner, LockWait, Resource};

/// The sessions that the one which asks may see.
fn visible(source: &dyn Source) -> impl Iterator<Item = SessionActivity> {
    let (all, own) = (source.sysadmin(), source.lock_owner());
    let sessions = source.activity().sessions().into_iter();
    sessions.filter(move |s| all || LockOwner::from(s.spid) == own)
}

fn database_id(session: &SessionActivity, source: &dyn Source) -> i16 {
    let database = source.catalog().databases.get(&session.database);
    database.map_or(0, |d| small(d.id))
}

fn small(n: impl TryInto<i16>) -> i16 {
    n.try_into().unwrap_or(i16::MAX)
}

view! {
    /// Sessions, at work or idle.
    SESSIONS: "sys.dm_exec_sessions";
    each (session, database) in |s| visible(s).map(|session| {
        let database = database_id(&session, s);
        (session, database)
    });
    "session_id": SmallInt = small(session.spid),
    "login_time": DateTime = session.login_ms,
    "host_name": Name = session.host_name,
    "program_name": Name = session.program_name,
    "login_name": Name = &session.login,
    "nt_domain": Name = None::<&str>,
    "nt_user_name": Name = None::<&str>,
    "status": Text30 = if session.last_end_ms.is_none() { "running" } else { "sleeping" },
    "last_request_start_time": DateTime = session.last_start_ms,
    "last_request_end_time": DateTime = session.last_end_ms,
    "is_user_process": Bit = true,
    "language": Name = "us_english",
    "date_format": Text30 = "mdy",
    "ansi_null_dflt_on": Bit = true,
    "ansi_defaults": Bit = false,
    "ansi_warnings": Bit = true,
    "ansi_padding": Bit = true,
    "ansi_nulls": Bit = true,
    "concat_null_yields_null": Bit = true,
    "transaction_isolation_level": SmallInt = session.settings.transaction_isolation_level,
    "lock_timeout": Int = session.settings.lock_timeout,
    "deadlock_priority": Int = session.settings.deadlock_priority,
    "original_login_name": Name = &session.login,
    "database_id": SmallInt = database,
}

view! {
    /// Requests that are running, and what they wait for. The engine knows waits for locks only.
    REQUESTS: "sys.dm_exec_requests";
    each (session, database, wait, waited_ms) in |s| visible(s)
        .filter(|session| session.last_end_ms.is_none())
        .map(|session| {
            let database = database_id(&session, s);
            let wait = s.locks().wait_of(LockOwner::from(session.spid));
            let waited = wait.as_ref().map(|w| s.elapsed().saturating_sub(w.since));
            let waited_ms = waited.map_or(0, |w| i32::try_from(w.as_millis()).unwrap_or(i32::MAX));
            (session, database, wait, waited_ms)
        });
    "session_id": SmallInt = small(session.spid),
    "request_id": Int = 0,
    "start_time": DateTime = session.last_start_ms,
    "status": Text30 = if wait.is_some() { "suspended" } else { "running" },
    "database_id": SmallInt = database,
    "blocking_session_id": SmallInt = wait.as_ref().map_or(0, |w| small(w.blocker)),
    "wait_type": Text60 = wait.as_ref().map(wait_type),
    "wait_time": Int = waited_ms,
    "wait_resource": Text256 = wait.as_ref().map_or_else(String::new, |w| wait_resource(w, database)),
}

/// LCK_M_ and the mode waited for, as SQL Server spells it there.
fn wait_type(wait: &LockWait) -> String {
    let mode = wait.mode.to_string();
    let spelled = match mode.as_str() {
        "RangeI-N" => "RIn_NL",
        other => match other.split_once('-') {
            Some(("Sch", change)) => return format!("LCK_M_SCH_{change}"),
            Some(("RangeS", key)) => return format!("LCK_M_RS_{key}"),
            Some(("RangeI", key)) => return format!("LCK_M_RIn_{key}"),
            Some(("RangeX", key)) => return format!("LCK_M_RX_{key}"),
            _ => other,
        },
    };
    format!("LCK_M_{spelled}")
}

/// The kind of resource, the database, and what tells it from others of its kind.
fn wait_resource(wait: &LockWait, database: i16) -> String {
    let (kind, shown) = (wait.resource.kind(), wait.resource.to_string());
    match &wait.resource {
        Resource::Object(id) => format!("{kind}: {database}:{id}:0"),
        Resource::Key { table, .. } | Resource::KeyEnd { table, .. } => {
            format!("{kind}: {database}:{table} {shown}")
        }
        Resource::Row { .. }
        | Resource::Page { .. }
        | Resource::Transaction(_)
        | Resource::Application { .. } => {
            format!("{kind}: {database}:{shown}")
        }
    }
}
