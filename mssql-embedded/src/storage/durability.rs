//! Commits that are not hardened yet, and the crash that forgets them.
//!
//! A delayed-durable commit keeps everything readable as it was before it, like a snapshot that somebody
//! reads. The next durable commit hardens all before it, and then nothing is kept.

use std::collections::BTreeMap;

use super::{Chain, CommitSeq, Key, Store};

impl Store {
    /// What is committed from now on is lost in a crash, until [`Store::harden`].
    pub fn delay_durability(&mut self) {
        if self.hardened.is_none() {
            self.hardened = Some(self.open_snapshot());
        }
    }

    /// Everything committed so far survives a crash.
    pub fn harden(&mut self) {
        if let Some(seq) = self.hardened.take() {
            self.close_snapshot(seq);
        }
    }

    /// Forgets every commit that is not hardened.
    pub fn forget_unhardened(&mut self) {
        let Some(seq) = self.hardened else {
            return;
        };
        for table in self.tables.values_mut() {
            forget(&mut table.rows, seq);
            for index in &mut table.indexes {
                forget(&mut index.entries, seq);
            }
            let live = table.rows.values().filter(|row| row.current().is_some());
            table.live_rows = live.count() as u64;
        }
        self.harden();
    }
}

fn forget<T>(tree: &mut BTreeMap<Key, Chain<T>>, seq: CommitSeq) {
    tree.retain(|_, chain| chain.forget_after(seq));
}
