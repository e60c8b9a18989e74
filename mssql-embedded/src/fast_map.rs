//! A fast hash for keys the engine makes itself. The lock table is consulted for every row read, and
//! the keys come from our own encodings, so resistance to chosen keys is not worth its price here.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

pub type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<FastHasher>>;
pub type FastSet<K> = HashSet<K, BuildHasherDefault<FastHasher>>;

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Folds eight bytes at a time by multiplication and mixes at the end.
#[derive(Clone, Copy, Debug, Default)]
pub struct FastHasher(u64);

impl FastHasher {
    fn fold(&mut self, word: u64) {
        let product = u128::from(self.0.rotate_left(23) ^ word) * u128::from(MULTIPLIER);
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}

impl Hasher for FastHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            self.fold(u64::from_le_bytes(word));
        }
        let rest = chunks.remainder();
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        // The length keeps "a" and "a\0" apart.
        self.fold(u64::from_le_bytes(word) ^ ((rest.len() as u64 + 1) << 56));
    }

    fn write_u8(&mut self, n: u8) {
        self.fold(u64::from(n));
    }

    fn write_u32(&mut self, n: u32) {
        self.fold(u64::from(n));
    }

    fn write_u64(&mut self, n: u64) {
        self.fold(n);
    }

    fn write_i32(&mut self, n: i32) {
        self.fold(n as u32 as u64);
    }

    fn write_usize(&mut self, n: usize) {
        self.fold(n as u64);
    }

    fn finish(&self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(MULTIPLIER);
        mixed ^ (mixed >> 29)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::{BuildHasher, BuildHasherDefault};

    /// Consecutive keys, the common case, must not pile up in the buckets or the tag bits.
    #[test]
    fn consecutive_keys_spread_over_low_and_high_bits() {
        let build = BuildHasherDefault::<FastHasher>::default();
        let mut low = FastSet::default();
        let mut high = FastSet::default();
        for n in 0_u64..4096 {
            let hash = build.hash_one(&n.to_be_bytes()[..]);
            low.insert(hash & 0xFFFF);
            high.insert(hash >> 48);
        }
        assert!(
            low.len() > 3800 && high.len() > 3800,
            "{} {}",
            low.len(),
            high.len()
        );
    }
}
