//! Names whose meaning others are changing.
//!
//! The catalogue shows what open transactions have defined and dropped. Who finds an object there waits for its schema lock
//! before it is used; who does not find one, or another than it needs, must wait as well before it says so: "the Database
//! Engine uses schema stability (Sch-S) locks when compiling and executing queries" (Transaction locking and row versioning
//! guide).

use crate::access::await_object;
use crate::catalog::{LookUp, LookedUp};
use crate::error::SqlResult;
use crate::lock::{Mode, Resource};

use super::Env;

impl Env<'_, '_> {
    /// Waits until no other session is redefining what these names mean or meant. Whether any of them may mean
    /// something else now, so that what came of them is to be looked at again.
    pub fn await_names(&mut self, looked_up: &LookedUp) -> SqlResult<bool> {
        let mut anew = false;
        for name in looked_up.list() {
            anew |= self.latch.meaning(&name) != name.meant;
            anew |= self.await_name(&name)?;
        }
        Ok(anew)
    }

    /// The same for one name; whether there was something to wait for.
    pub fn await_name(&mut self, name: &LookUp) -> SqlResult<bool> {
        let owner = self.core.lock_owner();
        let mut waited = false;
        for object in self.latch.claimants(name) {
            let resource = Resource::Object(object);
            if !self.latch.locks.available(owner, &resource, Mode::SCH_S) {
                await_object(&mut self.access()?, object)?;
                waited = true;
            }
        }
        Ok(waited)
    }
}
