//! What the dictionary reads.

use std::sync::Arc;
use std::time::Duration;

use crate::activity::Activity;
use crate::ast::{ObjectName, Switch};
use crate::catalog::{Catalog, Database, Found, Object, ObjectId, TableDef, Viewer};
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
    fn resolve(&self, name: &ObjectName) -> Option<Found<'_>>;
    fn lock_owner(&self) -> LockOwner;
    /// The login that the session acts as.
    fn login(&self) -> String;
    /// Whether the session acts as a member of sysadmin.
    fn sysadmin(&self) -> bool;
    /// The database user that the session acts as.
    fn user(&self) -> i32;
    /// A SET option, if SESSIONPROPERTY knows it.
    fn set_option(&self, switch: Switch) -> Option<bool>;
}

/// The tables of the current database.
pub(super) fn tables(source: &dyn Source) -> impl Iterator<Item = &Arc<TableDef>> {
    objects(source).filter_map(Object::as_table)
}

/// The objects of the current database that the session's user sees.
pub(super) fn objects(source: &dyn Source) -> impl Iterator<Item = &Object> {
    viewer(source).into_iter().flat_map(|(database, viewer)| {
        let objects = database.objects.values();
        objects.filter(move |object| viewer.sees(object))
    })
}

/// Whether the session's user sees the text of an object of the current database, or of the table it belongs to.
pub(super) fn reads(source: &dyn Source, object: ObjectId) -> bool {
    viewer(source).is_some_and(|(database, viewer)| {
        let object = database.objects.get(&object);
        object.is_some_and(|object| viewer.reads(object))
    })
}

/// The current database, and its user who looks at it.
pub(super) fn viewer(source: &dyn Source) -> Option<(&Database, Viewer<'_>)> {
    let database = source.database()?;
    let viewer = Viewer::new(database, source.user(), source.sysadmin());
    Some((database, viewer))
}

/// The place of something in a list, counted from 1.
pub(super) fn ordinal(place: usize) -> i32 {
    i32::try_from(place).map_or(i32::MAX, |n| n.saturating_add(1))
}
