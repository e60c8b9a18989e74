//! The latch: exclusive access to what all sessions share.

use std::cell::OnceCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::clock::Clock;
use crate::lock::LockOwner;
use crate::storage::{State, Txn};

/// After how many rows a long scan lets other sessions go first.
const ROWS_PER_TURN: u32 = 1000;

/// Exclusive access to the engine's state, taken at its first use: most statements of a procedure only
/// compute, and they shall not wait for those that read and write. It is given up while the session waits
/// for a lock, and briefly every thousand rows, so nothing may be remembered across those points but keys.
pub struct Latch<'e> {
    state: &'e Mutex<State>,
    clock: &'e Clock,
    guard: OnceCell<MutexGuard<'e, State>>,
    rows: u32,
    /// It has been held before and was released.
    released: bool,
}

impl fmt::Debug for Latch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Latch")
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl<'e> Latch<'e> {
    /// The latch on a state, not yet taken; waits are measured by the clock.
    pub fn new(state: &'e Mutex<State>, clock: &'e Clock) -> Self {
        Self {
            state,
            clock,
            guard: OnceCell::new(),
            rows: 0,
            released: false,
        }
    }

    pub fn clock(&self) -> &'e Clock {
        self.clock
    }

    /// Whether the state has been looked at; if not, nothing in it is of this statement's making.
    pub fn is_taken(&self) -> bool {
        self.released || self.guard.get().is_some()
    }

    /// Gives the latch up until the state is next looked at. Nothing may be remembered across this point
    /// but keys.
    pub fn release(&mut self) {
        self.released |= self.guard.take().is_some();
    }

    pub fn begin(&mut self, owner: LockOwner) -> Txn {
        Txn::begin(self, owner)
    }

    /// Counts a row about to be looked at. True when it is time to ask whether the client wants to stop;
    /// other sessions that wanted the latch have then had it.
    pub fn give_way(&mut self) -> bool {
        self.rows += 1;
        if self.rows < ROWS_PER_TURN {
            return false;
        }
        self.bump();
        true
    }

    /// Lets other sessions that want the latch have it first.
    pub fn bump(&mut self) {
        self.rows = 0;
        if let Some(guard) = self.guard.get_mut() {
            MutexGuard::bump(guard);
        }
    }

    /// Gives the latch up for a while, so that other sessions can have it.
    pub(super) fn let_others_go(&mut self, at_most: Duration) {
        if let Some(guard) = self.guard.get_mut() {
            MutexGuard::unlocked_fair(guard, || std::thread::sleep(at_most));
        }
    }

    /// Gives the latch up while `f` runs.
    pub(super) fn unlatched(&mut self, f: impl FnOnce()) {
        match self.guard.get_mut() {
            Some(guard) => MutexGuard::unlocked_fair(guard, f),
            None => f(),
        }
    }

    /// Gives the latch up until signalled or the time is over.
    pub(super) fn wait(&mut self, signal: &Condvar, at_most: Duration) {
        if let Some(guard) = self.guard.get_mut() {
            signal.wait_for(guard, at_most);
        }
    }
}

impl Deref for Latch<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        self.guard.get_or_init(|| self.state.lock())
    }
}

impl DerefMut for Latch<'_> {
    fn deref_mut(&mut self) -> &mut State {
        self.guard.get_or_init(|| self.state.lock());
        match self.guard.get_mut() {
            Some(guard) => guard,
            None => unreachable!("the latch was taken on the line before"),
        }
    }
}
