//! What the dictionary reads when a name says another database: `other.sys.tables`.

use std::time::Duration;

use super::Source;
use crate::activity::Activity;
use crate::ast::{ObjectName, Switch};
use crate::catalog::{Catalog, Database, Found};
use crate::lock::{LockManager, LockOwner};
use crate::storage::Store;

/// A source whose database is another than the session's, where the session is another user.
pub struct Elsewhere<'s> {
    session: &'s dyn Source,
    database: &'s str,
    user: i32,
}

impl<'s> Elsewhere<'s> {
    /// The session in the database of that name.
    pub fn new(session: &'s dyn Source, database: &'s str, user: i32) -> Self {
        Self {
            session,
            database,
            user,
        }
    }
}

impl Source for Elsewhere<'_> {
    fn catalog(&self) -> &Catalog {
        self.session.catalog()
    }

    fn database(&self) -> Option<&Database> {
        self.session.catalog().database(self.database)
    }

    fn store(&self) -> &Store {
        self.session.store()
    }

    fn locks(&self) -> &LockManager {
        self.session.locks()
    }

    fn activity(&self) -> &Activity {
        self.session.activity()
    }

    fn elapsed(&self) -> Duration {
        self.session.elapsed()
    }

    fn resolve(&self, name: &ObjectName) -> Option<Found<'_>> {
        self.session.resolve(name)
    }

    fn lock_owner(&self) -> LockOwner {
        self.session.lock_owner()
    }

    fn login(&self) -> String {
        self.session.login()
    }

    fn sysadmin(&self) -> bool {
        self.session.sysadmin()
    }

    fn user(&self) -> i32 {
        self.user
    }

    fn set_option(&self, switch: Switch) -> Option<bool> {
        self.session.set_option(switch)
    }
}
