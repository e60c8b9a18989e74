//! What the latch protects.

use std::sync::Arc;

use super::Store;
use crate::catalog::{Catalog, Database, LookUp, ObjectId};
use crate::lock::{LockManager, LockOwner, Mode, Resource};

/// So many dropped names are kept before one looks whether their transactions have ended.
const NAMES_KEPT: usize = 64;

/// What all sessions share and only the holder of the latch may touch: a transaction changes all
/// three together.
#[derive(Debug, Default)]
pub struct State {
    pub catalog: Arc<Catalog>,
    pub store: Store,
    /// Who holds and awaits what.
    pub locks: LockManager,
    versions: u64,
    dropped: Dropped,
}

/// The names of objects that open transactions have dropped, for who finds nothing under them: what they mean is not known
/// before the schema-modification lock of the object is given back.
#[derive(Debug, Default)]
struct Dropped {
    /// By database, schema and folded name.
    names: Vec<((i32, i32, String), ObjectId)>,
    /// How many there may be before those of ended transactions are looked for.
    bound: usize,
}

impl State {
    /// The definitions, to be changed. Whoever keeps the catalogue as it was is not disturbed.
    pub fn catalog_mut(&mut self) -> &mut Catalog {
        Arc::make_mut(&mut self.catalog)
    }

    /// A database by its folded name, to be changed.
    pub fn database_mut(&mut self, key: &str) -> Option<&mut Database> {
        let found = self.catalog_mut().databases.get_mut(key);
        found.map(Arc::make_mut)
    }

    /// Notes that a transaction has dropped an object; it holds Sch-M on it.
    pub fn note_dropped(&mut self, place: (i32, i32, String), object: ObjectId) {
        if self.dropped.names.len() >= self.dropped.bound {
            let locks = &self.locks;
            let open = |id| !locks.available(LockOwner::MAX, &Resource::Object(id), Mode::SCH_S);
            self.dropped.names.retain(|(_, id)| open(*id));
            self.dropped.bound = (2 * self.dropped.names.len()).max(NAMES_KEPT);
        }
        self.dropped.names.push((place, object));
    }

    /// Whether any transaction may have dropped something that is not back yet.
    pub fn has_dropped(&self) -> bool {
        !self.dropped.names.is_empty()
    }

    /// What may be meant by a name when the transactions that are open now have ended: what has it, and what had it.
    pub fn claimants(&self, name: &LookUp) -> Vec<ObjectId> {
        let place = (name.database, name.schema, name.name.as_str());
        let dropped = self.dropped.names.iter();
        let dropped = dropped
            .filter(|((database, schema, name), _)| (*database, *schema, name.as_str()) == place);
        let meant = self.meaning(name).map(|(id, _)| id);
        dropped.map(|(_, id)| *id).chain(meant).collect()
    }

    /// What a name means now: an object, and its version.
    pub fn meaning(&self, name: &LookUp) -> Option<(ObjectId, u64)> {
        let mut databases = self.catalog.databases.values();
        let database = databases.find(|database| database.id == name.database)?;
        database.look_up(name.schema, &name.name).meant
    }

    /// A version number no definition had before.
    pub fn next_version(&mut self) -> u64 {
        self.versions += 1;
        self.versions
    }
}
