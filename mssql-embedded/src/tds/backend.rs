//! What the wire needs of an engine, so that the protocol can be tested without one.

use crate::error::SqlResult;
use crate::hooks::KillSwitch;
use crate::session::{
    LoginAck, LoginRequest, RequestEnd, ResultSink, RpcRequest, TransactionRequest,
};

/// An engine that can be logged into. Cloned once per connection.
pub(crate) trait Backend: Clone + Send + 'static {
    /// What a login yields.
    type Session: BackendSession;

    /// Opens a session, or says why not (18456 and its kin).
    fn login(&self, request: &LoginRequest) -> SqlResult<(Self::Session, LoginAck)>;
}

/// One client's session. Dropping it rolls back what is open.
pub(crate) trait BackendSession {
    /// The connection can be ended from elsewhere by this.
    fn attach(&mut self, switch: KillSwitch);

    fn batch(&mut self, text: &str, sink: &mut dyn ResultSink) -> RequestEnd;

    fn rpc(&mut self, request: RpcRequest, sink: &mut dyn ResultSink) -> RequestEnd;

    fn transaction(&mut self, request: TransactionRequest, sink: &mut dyn ResultSink)
    -> RequestEnd;

    /// Puts the session back to its state after login, for the next user of a pooled connection.
    fn reset(&mut self, keep_transaction: bool, sink: &mut dyn ResultSink) -> RequestEnd;
}
