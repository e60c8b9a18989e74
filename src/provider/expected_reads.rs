//! The reads that workers are about to make.
//!
//! The runtime reads an instance's history whenever it has fetched an activity of it, with the very
//! call that clients use to ask whether the instance has ended. A worker must not queue behind those
//! clients, so the first read of an instance after a fetch counts as the worker's.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// More than any process has workers that have fetched and not yet read. What is forgotten is still
/// read, only in the clients' lane.
const REMEMBERED_MAX: usize = 256;

/// Instances, the last fetched at the back; one entry for each fetch.
#[derive(Default)]
pub(crate) struct ExpectedReads(Mutex<VecDeque<String>>);

impl ExpectedReads {
    /// A worker of this process has fetched an activity of `instance`.
    pub(crate) fn expect(&self, instance: &str) {
        let mut expected = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if expected.len() == REMEMBERED_MAX {
            expected.pop_front();
        }
        expected.push_back(instance.to_owned());
    }

    /// True when a read of `instance` is a worker's; each fetch accounts for one read.
    pub(crate) fn take(&self, instance: &str) -> bool {
        let mut expected = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = expected.iter().position(|name| name == instance);
        found.and_then(|at| expected.remove(at)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fetch_accounts_for_one_read() {
        let reads = ExpectedReads::default();
        for instance in ["a", "b", "a"] {
            reads.expect(instance);
        }
        let taken = ["a", "a", "a", "b", "c"].map(|instance| reads.take(instance));
        assert_eq!(taken, [true, true, false, true, false]);
    }

    #[test]
    fn only_the_latest_are_remembered() {
        let reads = ExpectedReads::default();
        for n in 0..=REMEMBERED_MAX {
            reads.expect(&n.to_string());
        }
        assert!(!reads.take("0"));
        assert!(reads.take("1") && reads.take(&REMEMBERED_MAX.to_string()));
    }
}
