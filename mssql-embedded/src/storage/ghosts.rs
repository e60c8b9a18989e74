//! Ghosts: deleted index entries that have not been removed yet.
//!
//! SQL Server marks a deleted entry and leaves it in its index until a background task removes it, some time after
//! the commit and never while a snapshot may need it. Scans and seeks pass over what is marked, which takes
//! time ("Ghost cleanup process guide", docs/relational-databases/ghost-record-cleanup-process-guide.md).
//! An index entry that moves leaves a ghost where it was; a row of a heap leaves none.

use std::collections::VecDeque;

use super::{CommitSeq, Key, Store};
use crate::catalog::ObjectId;

/// When a deleted entry leaves its index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GhostCleanup {
    /// With the commit of the deletion: there are no ghosts.
    #[default]
    AtOnce,
    /// Later: every five seconds of the engine's clock, at most as many as ten pages hold; with an adversary,
    /// whenever it likes.
    Background,
    /// Only when the tester asks for it.
    Never,
}

/// A row or entry: table, index_id, key.
pub(super) type Place = (ObjectId, i32, Key);

/// What is kept of a deleted row or entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keep {
    /// Everything that a snapshot from here on can see.
    pub horizon: CommitSeq,
    /// Its key, when there is nothing left to see.
    pub ghosts: bool,
}

/// The ghosts of all indexes, oldest first. An entry may be listed that has come back to life.
#[derive(Debug, Default)]
pub(super) struct Ghosts {
    kept: bool,
    places: VecDeque<Place>,
}

impl Ghosts {
    pub fn add(&mut self, place: Place) {
        self.places.push_back(place);
    }
}

impl Store {
    pub(super) fn keep(&self) -> Keep {
        Keep {
            horizon: self.horizon(),
            ghosts: self.ghosts.kept,
        }
    }

    /// Whether entries deleted from now on stay as ghosts.
    pub fn keep_ghosts(&mut self, kept: bool) {
        self.ghosts.kept = kept;
    }

    /// How many entries are deleted and still in their index.
    pub fn ghost_count(&self) -> usize {
        self.tables.values().map(super::TableStore::ghosts).sum()
    }

    /// Removes every ghost that no snapshot needs and nobody writes.
    pub fn clean_up_all_ghosts(&mut self) {
        self.clean_up_ghosts(self.ghosts.places.len());
    }

    /// Removes at most so many ghosts, the oldest first, and tells how many it looked at.
    pub fn clean_up_ghosts(&mut self, at_most: usize) -> usize {
        let keep = Keep {
            horizon: self.horizon(),
            ghosts: false,
        };
        let looked_at = self.ghosts.places.len().min(at_most);
        for _ in 0..looked_at {
            let Some(place) = self.ghosts.places.pop_front() else {
                break;
            };
            let (table, tree, key) = &place;
            let Some(store) = self.tables.get_mut(table) else {
                continue;
            };
            if store.is_being_written(*tree, key) {
                // Whoever brings it back to life may yet roll back.
                self.ghosts.places.push_back(place);
            } else {
                store.prune(*tree, key, keep);
            }
        }
        looked_at
    }
}
