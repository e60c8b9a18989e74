//! The live sessions and how to end them.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Hooks;

/// Ends a connection from elsewhere.
#[derive(Debug)]
pub(crate) struct KillSwitch {
    socket: TcpStream,
    /// Seen by a running request whatever its client has sent meanwhile.
    killed: Arc<AtomicBool>,
}

impl KillSwitch {
    pub(crate) fn new(socket: TcpStream, killed: Arc<AtomicBool>) -> Self {
        Self { socket, killed }
    }

    fn throw(&self) {
        self.killed.store(true, Ordering::Relaxed);
        // A socket that is closed already has the effect that is wanted.
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

/// The live sessions. One that did not come over the wire has no connection.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    live: BTreeMap<u16, Option<KillSwitch>>,
}

impl Hooks {
    pub(crate) fn session_started(&self, spid: u16) {
        self.sessions.lock().live.insert(spid, None);
    }

    /// Its connection can be ended by this.
    pub(crate) fn session_attached(&self, spid: u16, switch: KillSwitch) {
        self.sessions.lock().live.insert(spid, Some(switch));
    }

    /// A session is over, rolled back and without locks.
    pub(crate) fn session_ended(&self, spid: u16) {
        self.sessions.lock().live.remove(&spid);
    }

    /// Whether there is such a session.
    pub(crate) fn is_live(&self, spid: u16) -> bool {
        self.sessions.lock().live.contains_key(&spid)
    }

    /// Ends a session's connection: an idle one wakes up to it at once, a running request within
    /// milliseconds. False when there is no such connection.
    pub(crate) fn kill(&self, spid: u16) -> bool {
        match self.sessions.lock().live.get(&spid) {
            Some(Some(switch)) => {
                switch.throw();
                true
            }
            _ => false,
        }
    }

    /// The sessions that have begun and are not yet over.
    pub(crate) fn live_sessions(&self) -> Vec<u16> {
        self.sessions.lock().live.keys().copied().collect()
    }
}
