//! The engine: the state all sessions share, behind one latch.

use parking_lot::Mutex;

use crate::catalog::Catalog;
use crate::clock::Clock;
use crate::lock::LockManager;
use crate::storage::Store;

/// One running engine.
#[derive(Debug, Default)]
pub struct Engine {
    /// Everything sessions share. The mutex is the latch of [`crate::access::Latch`].
    pub(crate) state: Mutex<State>,
    /// The time.
    pub clock: Clock,
}

/// What the latch protects.
#[derive(Debug, Default)]
pub struct State {
    /// Definitions.
    pub catalog: Catalog,
    /// Rows.
    pub store: Store,
    /// Locks.
    pub locks: LockManager,
}
