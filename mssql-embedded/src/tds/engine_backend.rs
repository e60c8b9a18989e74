//! The engine as the backend of the wire.

use std::sync::Arc;

use super::backend::{Backend, BackendSession};
use crate::engine::Engine;
use crate::error::SqlResult;
use crate::hooks::KillSwitch;
use crate::session::{
    LoginAck, LoginRequest, RequestEnd, ResultSink, RpcRequest, Session, TransactionRequest,
};

impl Backend for Arc<Engine> {
    type Session = Session;

    fn login(&self, request: &LoginRequest) -> SqlResult<(Session, LoginAck)> {
        match self.hooks.login_refusal() {
            Some(error) => Err(error),
            None => Session::login(self, request),
        }
    }
}

impl BackendSession for Session {
    fn attach(&mut self, switch: KillSwitch) {
        Session::attach(self, switch);
    }

    fn batch(&mut self, text: &str, sink: &mut dyn ResultSink) -> RequestEnd {
        Session::batch(self, text, sink)
    }

    fn rpc(&mut self, request: RpcRequest, sink: &mut dyn ResultSink) -> RequestEnd {
        Session::rpc(self, request, sink)
    }

    fn transaction(
        &mut self,
        request: TransactionRequest,
        sink: &mut dyn ResultSink,
    ) -> RequestEnd {
        Session::transaction(self, request, sink)
    }

    fn reset(&mut self, keep_transaction: bool, sink: &mut dyn ResultSink) -> RequestEnd {
        Session::reset(self, keep_transaction, sink)
    }
}
