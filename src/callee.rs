//! What is needed of a procedure at each of its calls and is always the same: made once, and kept.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::observe::metrics::CallKeys;

/// A procedure of one schema.
pub(crate) struct Callee {
    /// `[schema].[procedure]`.
    pub(crate) name: String,
    pub(crate) keys: CallKeys,
}

/// The procedures of one schema that have been called. Names of procedures are literals of this crate, so
/// they are few.
pub(crate) struct Callees {
    schema: String,
    known: Mutex<BTreeMap<&'static str, Arc<Callee>>>,
}

impl Callees {
    /// `schema` is quoted.
    pub(crate) fn new(schema: String) -> Self {
        Self {
            schema,
            known: Mutex::default(),
        }
    }

    pub(crate) fn get(&self, procedure: &'static str) -> Arc<Callee> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let callee = known.entry(procedure).or_insert_with(|| {
            Arc::new(Callee {
                name: format!("{}.[{procedure}]", self.schema),
                keys: CallKeys::new(procedure),
            })
        });
        callee.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_once() {
        let callees = Callees::new("[s]".to_owned());
        let read = callees.get("read");
        assert_eq!(read.name, "[s].[read]");
        assert_eq!(callees.get("prune").name, "[s].[prune]");
        assert!(Arc::ptr_eq(&read, &callees.get("read")));
    }
}
