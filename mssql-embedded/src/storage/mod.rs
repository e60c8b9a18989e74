//! Rows, their versions, their indexes, and the transactions that change them.

use std::sync::Arc;

use crate::value::Value;

/// All columns of a row, in the order of the table's definition.
pub type Row = Arc<[Value]>;
/// A key whose byte order is the order of the index.
pub type Key = Arc<[u8]>;
/// A transaction.
pub type TxnId = u64;
/// The position of a commit in the order of all commits.
pub type CommitSeq = u64;

/// All rows of the engine.
#[derive(Debug, Default)]
pub struct Store {}

/// A transaction: what it must undo and what it can see.
#[derive(Debug, Default)]
pub struct Txn {
    /// Its id.
    pub id: TxnId,
    /// SNAPSHOT isolation: what it sees.
    pub snapshot: Option<CommitSeq>,
}
