//! The live sessions and how to end them.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};

use super::Hooks;

/// The live sessions. A session that did not come over the wire has no socket.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    live: BTreeMap<u16, Option<TcpStream>>,
}

impl Hooks {
    pub(crate) fn session_started(&self, spid: u16) {
        self.sessions.lock().live.insert(spid, None);
    }

    /// Its connection can be ended through this socket.
    pub(crate) fn session_attached(&self, spid: u16, socket: TcpStream) {
        self.sessions.lock().live.insert(spid, Some(socket));
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
            // A socket that is closed already has the effect that is wanted.
            Some(Some(socket)) => {
                let _ = socket.shutdown(Shutdown::Both);
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
