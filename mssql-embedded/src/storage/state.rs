//! What the latch protects.

use std::sync::Arc;

use super::Store;
use crate::catalog::{Catalog, Database};
use crate::lock::LockManager;

/// What all sessions share and only the holder of the latch may touch: a transaction changes all
/// three together.
#[derive(Debug, Default)]
pub struct State {
    pub catalog: Arc<Catalog>,
    pub store: Store,
    /// Who holds and awaits what.
    pub locks: LockManager,
    versions: u64,
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

    /// A version number no definition had before.
    pub fn next_version(&mut self) -> u64 {
        self.versions += 1;
        self.versions
    }
}
