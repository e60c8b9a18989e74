//! The session, as functions and the dictionary see it.

use std::time::Duration;

use crate::activity::Activity;
use crate::ast::{ObjectName, Switch};
use crate::catalog::{Catalog, Database, Found};
use crate::dictionary::Source;
use crate::error::SqlResult;
use crate::func::{Host, SessionValue};
use crate::lock::{LockManager, LockOwner};
use crate::storage::Store;
use crate::value::Value;

use super::Env;
use super::eval::Scope;

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

    fn room(&self, bytes: usize) -> SqlResult<()> {
        self.core.memory.room(bytes)
    }

    fn go_on(&mut self) -> SqlResult<()> {
        self.ask()
    }
}

impl Source for Env<'_, '_> {
    fn catalog(&self) -> &Catalog {
        &self.latch.catalog
    }

    fn database(&self) -> Option<&Database> {
        self.latch.catalog.database(&self.core.database)
    }

    fn store(&self) -> &Store {
        &self.latch.store
    }

    fn locks(&self) -> &LockManager {
        &self.latch.locks
    }

    fn activity(&self) -> &Activity {
        &self.core.engine.activity
    }

    fn elapsed(&self) -> Duration {
        self.latch.clock().elapsed()
    }

    fn resolve(&self, name: &ObjectName) -> Option<Found<'_>> {
        let names = crate::context::names(&self.latch.catalog, self.core, self.frame).ok()?;
        names.object(name).ok().flatten()
    }

    fn lock_owner(&self) -> LockOwner {
        self.core.lock_owner()
    }

    fn login(&self) -> String {
        let user = self.frame.user;
        crate::context::acting_login(&self.latch.catalog, self.core, user)
    }

    fn sysadmin(&self) -> bool {
        self.core.sysadmin
    }

    fn user(&self) -> i32 {
        self.frame.user
    }

    fn set_option(&self, switch: Switch) -> Option<bool> {
        self.core.settings.option(switch)
    }
}
