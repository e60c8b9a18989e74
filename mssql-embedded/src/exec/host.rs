//! The session, as functions see it.

use crate::error::SqlResult;
use crate::func::{CatalogFunction, Host, SessionValue};
use crate::value::Value;

use super::Env;

impl Host for Env<'_, '_> {
    fn now_utc(&self) -> (i32, i64) {
        self.now
    }

    fn newid(&mut self) -> [u8; 16] {
        self.core.random.guid()
    }

    fn rand(&mut self, seed: Option<i32>) -> f64 {
        self.core.random.rand(seed)
    }

    fn session_value(&self, value: SessionValue) -> Value {
        crate::context::session_value(value, self.core, self.frame, &self.latch)
    }

    fn catalog_function(&mut self, function: CatalogFunction, args: &[Value]) -> SqlResult<Value> {
        crate::dictionary::catalog_function(function, args, &self.latch, self.core, self.frame)
    }
}
