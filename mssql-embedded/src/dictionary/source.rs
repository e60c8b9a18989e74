//! What the dictionary reads.

use std::sync::Arc;
use std::time::Duration;

use crate::activity::Activity;
use crate::ast::ObjectName;
use crate::catalog::{Catalog, Database, Object, TableDef};
use crate::lock::{LockManager, LockOwner};
use crate::storage::Store;

/// The server and the session that asks, as system views and metadata functions see them.
pub trait Source {
    /// All databases and logins.
    fn catalog(&self) -> &Catalog;
    /// The current database, unless it has been dropped.
    fn database(&self) -> Option<&Database>;
    /// Row counts and identity values.
    fn store(&self) -> &Store;
    /// Locks, held and awaited.
    fn locks(&self) -> &LockManager;
    /// Every session and what it does.
    fn activity(&self) -> &Activity;
    /// The time by which waits are measured.
    fn elapsed(&self) -> Duration;
    /// The object that a name means to the session.
    fn resolve(&self, name: &ObjectName) -> Option<&Object>;
    /// The session as an owner of locks.
    fn lock_owner(&self) -> LockOwner;
    /// The session's login.
    fn login(&self) -> &str;
    /// Whether the session acts as a member of sysadmin.
    fn sysadmin(&self) -> bool;
    /// The database user that the session acts as.
    fn user(&self) -> i32;
    /// A SET option by the name that SESSIONPROPERTY gives it.
    fn set_option(&self, name: &str) -> Option<bool>;
}

/// The tables of the current database.
pub(super) fn tables(source: &dyn Source) -> impl Iterator<Item = &Arc<TableDef>> {
    objects(source).filter_map(|o| match o {
        Object::Table(t) => Some(t),
        Object::Procedure(_) | Object::View(_) | Object::Constraint { .. } => None,
    })
}

/// The objects of the current database.
pub(super) fn objects(source: &dyn Source) -> impl Iterator<Item = &Object> {
    source
        .database()
        .into_iter()
        .flat_map(|d| d.objects.values())
}

/// The place of something in a list, counted from 1.
pub(super) fn ordinal(place: usize) -> i32 {
    i32::try_from(place).map_or(i32::MAX, |n| n.saturating_add(1))
}
