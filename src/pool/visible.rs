//! What the keeping of idle connections needs of a connection, so that it can be tested without one.

use crate::observe::events::Closed;

/// What can be seen of a connection without asking its server.
pub(super) trait Visible {
    /// The server has hung up.
    fn is_closed(&self) -> bool;
    /// It will be closed for this reason.
    fn condemn(&mut self, reason: Closed);
}
