//! Deleted index entries that are still there.

use super::Controls;
use crate::storage::GhostCleanup;

impl Controls {
    /// When deleted entries leave their index from now on. [`GhostCleanup::AtOnce`] removes what has gathered.
    pub fn set_ghost_cleanup(&self, cleanup: GhostCleanup) {
        self.engine.set_ghost_cleanup(cleanup);
    }

    /// How many entries of clustered and nonclustered indexes are deleted and still in their place.
    pub fn ghosts(&self) -> usize {
        self.engine.latch().store.ghost_count()
    }

    /// Removes every ghost that no snapshot needs, as an index rebuild does.
    pub fn clean_up_ghosts(&self) {
        self.engine.latch().store.clean_up_all_ghosts();
    }
}
