//! What the latch protects.

use super::Store;
use crate::catalog::Catalog;
use crate::lock::LockManager;

/// What all sessions share and only the holder of the latch may touch: a transaction changes all
/// three together.
#[derive(Debug, Default)]
pub struct State {
    /// Definitions.
    pub catalog: Catalog,
    /// Rows.
    pub store: Store,
    /// Who holds and awaits what.
    pub locks: LockManager,
    versions: u64,
}

impl State {
    /// A version number no definition had before.
    pub fn next_version(&mut self) -> u64 {
        self.versions += 1;
        self.versions
    }
}
