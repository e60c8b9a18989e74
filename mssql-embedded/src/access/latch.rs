//! The latch: exclusive access to what all sessions share.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use parking_lot::{Condvar, MutexGuard};

use crate::engine::{Engine, State};
use crate::lock::LockOwner;
use crate::storage::Txn;

/// After how many rows a long scan lets other sessions go first.
const ROWS_PER_TURN: u32 = 1000;

/// Exclusive access to the engine's state. It is given up while the session waits for a lock, and
/// briefly every thousand rows, so nothing may be remembered across those points but keys.
pub struct Latch<'e> {
    engine: &'e Engine,
    guard: MutexGuard<'e, State>,
    rows: u32,
}

impl fmt::Debug for Latch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Latch")
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl<'e> Latch<'e> {
    /// Takes the latch.
    pub fn new(engine: &'e Engine) -> Self {
        Self {
            engine,
            guard: engine.state.lock(),
            rows: 0,
        }
    }

    /// The engine behind it.
    pub fn engine(&self) -> &'e Engine {
        self.engine
    }

    /// Begins a transaction of a session.
    pub fn begin(&mut self, owner: LockOwner) -> Txn {
        Txn::begin(&mut self.guard, owner)
    }

    /// Counts a row about to be looked at. True when it is time to ask whether the client wants to stop;
    /// other sessions that wanted the latch have then had it.
    pub(super) fn give_way(&mut self) -> bool {
        self.rows += 1;
        if self.rows < ROWS_PER_TURN {
            return false;
        }
        self.rows = 0;
        MutexGuard::bump(&mut self.guard);
        true
    }

    /// Gives the latch up until signalled or the time is over.
    pub(super) fn wait(&mut self, signal: &Condvar, at_most: Duration) {
        signal.wait_for(&mut self.guard, at_most);
    }
}

impl Deref for Latch<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.guard
    }
}

impl DerefMut for Latch<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.guard
    }
}
