//! Histories by instance, bounded in bytes; the one used longest ago goes first.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::history::History;

/// What an entry needs besides its name and its history.
const ENTRY_OVERHEAD: usize = 128;

struct Entry {
    history: Arc<History>,
    used: u64,
}

pub(super) struct Lru {
    bytes_max: usize,
    bytes: usize,
    entries: HashMap<Arc<str>, Entry>,
    by_use: BTreeMap<u64, Arc<str>>,
    uses: u64,
}

impl Lru {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            bytes_max,
            bytes: 0,
            entries: HashMap::new(),
            by_use: BTreeMap::new(),
            uses: 0,
        }
    }

    /// Counts as a use.
    pub(super) fn get(&mut self, instance: &str) -> Option<Arc<History>> {
        let entry = self.entries.get_mut(instance)?;
        if let Some(name) = self.by_use.remove(&entry.used) {
            self.uses += 1;
            entry.used = self.uses;
            self.by_use.insert(entry.used, name);
        }
        Some(entry.history.clone())
    }

    pub(super) fn take(&mut self, instance: &str) -> Option<Arc<History>> {
        let entry = self.entries.remove(instance)?;
        self.by_use.remove(&entry.used);
        self.bytes -= cost(instance, &entry.history);
        Some(entry.history)
    }

    /// Replaces what was there, and drops others until all of it fits. A history that does not fit
    /// even alone is not kept.
    pub(super) fn put(&mut self, instance: &str, history: Arc<History>) {
        self.take(instance);
        let bytes = cost(instance, &history);
        if bytes > self.bytes_max {
            return;
        }
        self.uses += 1;
        let (name, used) = (Arc::<str>::from(instance), self.uses);
        self.bytes += bytes;
        self.by_use.insert(used, name.clone());
        self.entries.insert(name, Entry { history, used });
        while self.bytes > self.bytes_max
            && let Some((_, oldest)) = self.by_use.first_key_value().map(|(k, v)| (*k, v.clone()))
        {
            self.take(&oldest);
        }
    }
}

fn cost(instance: &str, history: &History) -> usize {
    2 * instance.len() + ENTRY_OVERHEAD + history.bytes()
}

#[cfg(test)]
mod tests {
    use super::super::history::Extent;
    use super::*;
    use uuid::Uuid;

    fn history(bytes: usize) -> Arc<History> {
        let extent = Extent {
            execution_id: 1,
            first_turn: Uuid::from_u128(1),
            last_event_id: 1,
            last_turn: Uuid::from_u128(1),
        };
        Arc::new(History::new(extent, Vec::new(), bytes))
    }

    #[test]
    fn the_one_used_longest_ago_is_forgotten_first() {
        let mut lru = Lru::new(3 * (1000 + ENTRY_OVERHEAD + 2));
        for name in ["a", "b", "c"] {
            lru.put(name, history(1000));
        }
        assert!(lru.get("a").is_some());
        lru.put("d", history(1000));
        let kept = ["a", "b", "c", "d"].map(|name| lru.get(name).is_some());
        assert_eq!(kept, [true, false, true, true]);
    }

    #[test]
    fn the_bound_holds_whatever_is_put_in() {
        let mut lru = Lru::new(10_000);
        for n in 0..1000_usize {
            lru.put(&format!("instance-{}", n % 37), history(n * 13 % 4000));
            let bytes: usize = lru.entries.iter().map(|(k, v)| cost(k, &v.history)).sum();
            assert_eq!(bytes, lru.bytes);
            assert!(bytes <= 10_000 && lru.by_use.len() == lru.entries.len());
        }
        lru.put("instance-1", history(20_000));
        assert!(
            lru.get("instance-1").is_none(),
            "too large, and the old one is outdated"
        );
    }
}
