//! What every session is and does, as sys.dm_exec_sessions and sys.dm_exec_requests show it.

use std::collections::BTreeMap;

use parking_lot::Mutex;

/// The live sessions of an engine.
#[derive(Debug, Default)]
pub struct Activity {
    sessions: Mutex<BTreeMap<u16, SessionActivity>>,
}

/// One session. Times are Unix milliseconds of the engine's clock.
#[derive(Clone, Debug)]
pub struct SessionActivity {
    pub spid: u16,
    /// The login it was opened with.
    pub login: String,
    pub host_name: String,
    /// APP_NAME().
    pub program_name: String,
    pub login_ms: i64,
    /// The folded name of its database.
    pub database: String,
    /// When its last request began; the login counts as one.
    pub last_start_ms: i64,
    /// When its last request ended; `None` while one is running.
    pub last_end_ms: Option<i64>,
    pub settings: SessionSettings,
}

/// What a session has set that others can see, as sys.dm_exec_sessions numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionSettings {
    pub transaction_isolation_level: i16,
    /// Milliseconds; -1 for ever.
    pub lock_timeout: i32,
    pub deadlock_priority: i32,
}

impl Activity {
    pub fn opened(&self, session: SessionActivity) {
        self.sessions.lock().insert(session.spid, session);
    }

    pub fn closed(&self, spid: u16) {
        self.sessions.lock().remove(&spid);
    }

    pub fn begun(&self, spid: u16, database: &str, now_ms: i64) {
        self.note(spid, database, |session| {
            session.last_start_ms = now_ms;
            session.last_end_ms = None;
        });
    }

    pub fn ended(&self, spid: u16, database: &str, now_ms: i64) {
        self.note(spid, database, |session| session.last_end_ms = Some(now_ms));
    }

    /// Notes that a session is in another database than before.
    pub fn entered(&self, spid: u16, database: &str) {
        self.note(spid, database, |_| {});
    }

    /// Whether a session is in a database, by its folded name.
    pub fn is_used(&self, database: &str) -> bool {
        let sessions = self.sessions.lock();
        sessions.values().any(|s| s.database == database)
    }

    pub fn set(&self, spid: u16, settings: SessionSettings) {
        if let Some(session) = self.sessions.lock().get_mut(&spid) {
            session.settings = settings;
        }
    }

    fn note(&self, spid: u16, database: &str, change: impl FnOnce(&mut SessionActivity)) {
        if let Some(session) = self.sessions.lock().get_mut(&spid) {
            if session.database != database {
                database.clone_into(&mut session.database);
            }
            change(session);
        }
    }

    /// All sessions, by @@SPID.
    pub fn sessions(&self) -> Vec<SessionActivity> {
        self.sessions.lock().values().cloned().collect()
    }
}
