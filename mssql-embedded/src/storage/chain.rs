//! The versions of one row or index entry, newest first.

use super::{CommitSeq, TxnId};

/// Who wrote a version: an unfinished transaction, or a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp(u64);

/// Marks the stamp of an unfinished transaction.
const UNCOMMITTED: u64 = 1 << 63;

impl Stamp {
    fn writer(self) -> Option<TxnId> {
        (self.0 & UNCOMMITTED != 0).then_some(self.0 & !UNCOMMITTED)
    }

    fn committed(self) -> Option<CommitSeq> {
        (self.0 & UNCOMMITTED == 0).then_some(self.0)
    }
}

#[derive(Clone, Debug)]
struct Version<T> {
    /// `None` is a deletion.
    value: Option<T>,
    stamp: Stamp,
}

/// The versions of one row or index entry. There is always at least one.
#[derive(Clone, Debug)]
pub struct Chain<T> {
    head: Version<T>,
    /// Superseded versions, newest last.
    older: Vec<Version<T>>,
}

impl<T> Chain<T> {
    /// A chain whose only version was written by an unfinished transaction.
    pub fn new(value: Option<T>, txn: TxnId) -> Self {
        Self {
            head: Version {
                value,
                stamp: Stamp(txn | UNCOMMITTED),
            },
            older: Vec::new(),
        }
    }

    /// The newest value, committed or not; `None` if the newest version is a deletion.
    pub fn current(&self) -> Option<&T> {
        self.head.value.as_ref()
    }

    /// The unfinished transaction that wrote the newest version.
    pub fn writer(&self) -> Option<TxnId> {
        self.head.stamp.writer()
    }

    /// The commit that wrote the newest version, unless it is uncommitted.
    pub fn committed(&self) -> Option<CommitSeq> {
        self.head.stamp.committed()
    }

    /// Whether the row is gone for everybody who does not read an old snapshot.
    pub fn is_dead(&self) -> bool {
        self.head.value.is_none() && self.writer().is_none()
    }

    /// What a reader of a snapshot sees; its own transaction's changes included.
    pub fn visible(&self, snapshot: CommitSeq, txn: TxnId) -> Option<&T> {
        std::iter::once(&self.head)
            .chain(self.older.iter().rev())
            .find(|v| match v.stamp.committed() {
                Some(seq) => seq <= snapshot,
                None => v.stamp.writer() == Some(txn),
            })
            .and_then(|v| v.value.as_ref())
    }

    /// Whether a commit after the snapshot changed the row.
    pub fn changed_since(&self, snapshot: CommitSeq) -> bool {
        self.committed().is_some_and(|seq| seq > snapshot)
    }

    pub fn push(&mut self, value: Option<T>, txn: TxnId) {
        let version = Version {
            value,
            stamp: Stamp(txn | UNCOMMITTED),
        };
        self.older.push(std::mem::replace(&mut self.head, version));
    }

    /// Takes the newest version back; false if it was the only one, which then stays.
    pub fn pop(&mut self) -> bool {
        match self.older.pop() {
            Some(version) => {
                self.head = version;
                true
            }
            None => false,
        }
    }

    /// Makes a deletion of the only version, so that its key stays while somebody locks the gap
    /// before it.
    pub fn bury(&mut self, txn: TxnId) {
        self.head = Version {
            value: None,
            stamp: Stamp(txn | UNCOMMITTED),
        };
    }

    /// Stamps what the transaction wrote and forgets its intermediate versions. Changes nothing the
    /// second time.
    pub fn commit(&mut self, txn: TxnId, seq: CommitSeq) {
        let mine = Stamp(txn | UNCOMMITTED);
        if self.head.stamp == mine {
            self.head.stamp = Stamp(seq);
            self.older.retain(|v| v.stamp != mine);
        }
    }

    /// Forgets what was committed after `seq`. False if nothing is left.
    pub(super) fn forget_after(&mut self, seq: CommitSeq) -> bool {
        let survives = |v: &Version<T>| v.stamp.committed().is_none_or(|s| s <= seq);
        self.older.retain(survives);
        survives(&self.head) || self.pop()
    }

    /// Forgets versions that no snapshot from `horizon` on can see. True if nothing is left to see:
    /// the row is deleted for all of them.
    pub fn prune(&mut self, horizon: CommitSeq) -> bool {
        let visible = |v: &Version<T>| v.stamp.committed().is_some_and(|seq| seq <= horizon);
        if visible(&self.head) {
            self.older = Vec::new();
            return self.head.value.is_none();
        }
        if let Some(keep) = self.older.iter().rposition(visible) {
            self.older.drain(..keep);
        }
        false
    }

    /// The newest value with the stamp of its version, as another type of value.
    pub(super) fn map_current<U>(&self, value: U) -> Chain<U> {
        Chain {
            head: Version {
                value: Some(value),
                stamp: self.head.stamp,
            },
            older: Vec::new(),
        }
    }

    #[cfg(test)]
    pub fn versions(&self) -> usize {
        1 + self.older.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_sees_the_last_commit_before_it_and_its_own_changes() {
        let mut chain = Chain::new(Some("a"), 1);
        assert_eq!(chain.visible(0, 2), None);
        assert_eq!(chain.visible(0, 1), Some(&"a"));
        chain.commit(1, 10);
        chain.push(Some("b"), 2);
        assert_eq!(chain.visible(10, 3), Some(&"a"));
        assert_eq!(chain.visible(10, 2), Some(&"b"));
        chain.commit(2, 11);
        chain.push(None, 3);
        chain.commit(3, 12);
        assert_eq!(chain.visible(9, 9), None);
        assert_eq!(chain.visible(10, 9), Some(&"a"));
        assert_eq!(chain.visible(11, 9), Some(&"b"));
        assert_eq!(chain.visible(12, 9), None);
    }

    #[test]
    fn pruning_keeps_what_the_oldest_snapshot_sees() {
        let mut chain = Chain::new(Some(1), 1);
        chain.commit(1, 1);
        for n in 2..=5 {
            chain.push(Some(n), n);
            chain.commit(n, n);
        }
        assert!(!chain.prune(3));
        assert_eq!(chain.versions(), 3);
        assert_eq!(chain.visible(3, 99), Some(&3));
        assert!(!chain.prune(5));
        assert_eq!(chain.versions(), 1);
        chain.push(None, 6);
        chain.commit(6, 6);
        assert!(!chain.prune(5));
        assert!(chain.prune(6));
    }

    #[test]
    fn a_commit_forgets_the_intermediate_versions_of_its_transaction() {
        let mut chain = Chain::new(Some(0), 1);
        chain.commit(1, 1);
        for n in 1..=100 {
            chain.push(Some(n), 2);
        }
        assert_eq!(chain.visible(1, 9), Some(&0));
        chain.commit(2, 2);
        assert_eq!(chain.versions(), 2);
    }
}
