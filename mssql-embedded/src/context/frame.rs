//! The state of one procedure call or batch.

use std::sync::Arc;

use crate::memory::{Charge, heap_bytes};
use crate::plan::{Module, Origin, VariableMap};
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
    pub scope_identity: Value,
    /// What it runs.
    pub origin: Origin,
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
    /// A frame for one run of a module.
    pub fn of(module: &Module, depth: u32, user: i32) -> Self {
        Self {
            variables: Arc::clone(&module.variables),
            values: vec![Value::Null; module.variables.scalars().len()],
            tables: module
                .variables
                .tables()
                .iter()
                .map(|t| LocalTable::new(&t.table))
                .collect(),
            scope_identity: Value::Null,
            origin: module.origin.clone(),
            chain_owner: None,
            user,
            depth,
            try_depth: 0,
            memory: None,
        }
    }

    /// What the variables hold in memory, as far as it is worth counting.
    pub fn held_bytes(&self) -> usize {
        let values = self.values.iter().map(heap_bytes);
        let values: usize = values.filter(|bytes| *bytes > COUNTED_BYTES).sum();
        values + self.tables.iter().map(LocalTable::bytes).sum::<usize>()
    }
}
