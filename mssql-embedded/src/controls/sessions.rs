//! The live sessions and how to end them.

use super::Controls;
use crate::error::SqlError;

impl Controls {
    /// The @@SPID of every live session. A session is listed until it has been rolled back and has
    /// released its locks.
    pub fn sessions(&self) -> Vec<u16> {
        self.engine.hooks.live_sessions()
    }

    /// Answers every login over the wire with this error, as a server does whose database is moving;
    /// `None` lets them in again. Sessions that have begun go on.
    pub fn refuse_logins(&self, error: Option<SqlError>) {
        self.engine.hooks.refuse_logins(error);
    }

    /// Cuts the connection of a session, whether it is idle or at work; what it had open is rolled
    /// back. False when there is no such connection.
    pub fn kill(&self, spid: u16) -> bool {
        self.engine.hooks.kill(spid)
    }
}
