//! The lock manager: who holds what, who waits for whom, and who must give up.

mod mode;

pub use mode::{Gap, Mode, Strength};

/// The session that owns a lock; its @@SPID.
pub type LockOwner = u32;

/// All locks of the engine.
#[derive(Debug, Default)]
pub struct LockManager {}
