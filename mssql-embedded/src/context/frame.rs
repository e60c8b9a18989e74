//! The state of one procedure call or batch.

use std::sync::Arc;

use crate::memory::{Charge, heap_bytes};
use crate::plan::VariableMap;
use crate::storage::LocalTable;
use crate::value::Value;

/// The variables of one procedure call or batch.
#[derive(Debug)]
pub struct Frame {
    /// Names, types and slots.
    pub variables: Arc<VariableMap>,
    /// Values of scalar variables, by slot.
    pub values: Vec<Value>,
    /// Contents of table variables, by slot.
    pub tables: Vec<LocalTable>,
    /// SCOPE_IDENTITY().
    pub scope_identity: Value,
    /// @@PROCID, 0 in a batch.
    pub procedure: i32,
    /// The procedure's schema-qualified name for messages, empty in a batch.
    pub procedure_name: String,
    /// The procedure's schema, where names without a schema are looked up first.
    pub schema: Option<Arc<str>>,
    /// The owner of the procedure, when permissions are checked against an ownership chain.
    pub chain_owner: Option<i32>,
    /// The database user that permissions are checked for.
    pub user: i32,
    /// How many calls deep: 0 for the batch or RPC itself.
    pub depth: u32,
    /// How many TRY blocks of this frame are active.
    pub try_depth: u32,
    /// What its variables hold of the session's memory, once that is worth counting.
    pub memory: Option<Charge>,
}

/// Values below this size are not counted: a frame has only so many variables.
const COUNTED_BYTES: usize = 4096;

impl Frame {
    /// What the variables hold in memory, as far as it is worth counting.
    pub fn held_bytes(&self) -> usize {
        let values = self.values.iter().map(heap_bytes);
        let values: usize = values.filter(|bytes| *bytes > COUNTED_BYTES).sum();
        values + self.tables.iter().map(LocalTable::bytes).sum::<usize>()
    }
}
