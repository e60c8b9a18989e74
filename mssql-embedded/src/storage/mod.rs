//! Rows, their versions, their indexes, and the transactions that change them.
//!
//! Nothing here locks or waits: [`crate::access`] asks for the locks first. Every change pushes a
//! version and notes how to take it back; a commit stamps the versions with its place in the order
//! of commits and throws away what no reader can need.

mod chain;
mod ddl;
mod durability;
#[cfg(test)]
pub(crate) mod fixtures;
mod ghosts;
mod identity;
mod key;
mod local;
mod state;
mod store;
mod table;
#[cfg(test)]
mod tests;
mod txn;

use std::sync::Arc;

pub use chain::Chain;
pub use ddl::Rebuilt;
pub use ghosts::GhostCleanup;
pub use identity::Identity;
pub use key::{Bounds, base_key, encode_index_key, entry_key, key_text, seek_bounds};
pub(crate) use key::{duplicate_error, is_empty_range, same_in_index};
pub use local::{LocalCursor, LocalTable};
pub use state::State;
pub use store::Store;
pub use table::{IndexStore, TableStore};
pub use txn::{Mark, Txn};

pub use crate::lock::Key;

use crate::error::SqlResult;
use crate::value::Value;

/// All columns of a row, in the order of the table's definition.
pub type Row = Arc<[Value]>;
/// Rises by one for each transaction; an age, not a place in the log.
pub type TxnId = u64;
/// The position of a commit in the order of all commits.
pub type CommitSeq = u64;

/// Whether a row belongs into the filtered index at a position of `TableDef::indexes`; only asked
/// for indexes with a filter.
pub type Qualifies<'q> = &'q mut dyn FnMut(usize, &Row) -> SqlResult<bool>;

/// What became of an inserted row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InsertOutcome {
    /// It is in, at this place.
    Inserted(Key),
    /// IGNORE_DUP_KEY left it out; the client gets message 3604.
    Ignored,
}

/// A row a cursor came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub row: Row,
    /// Stays valid while the latch is given up; the row itself may be gone.
    pub locator: Key,
}
