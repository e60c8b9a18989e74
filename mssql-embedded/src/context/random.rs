//! NEWID() and RAND(): a small generator of each session. It is not for secrets; the engine has none.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// A splitmix64 generator, seeded from the standard library's random hash keys.
#[derive(Debug)]
pub struct Random(u64);

impl Default for Random {
    fn default() -> Self {
        Self(RandomState::new().build_hasher().finish())
    }
}

impl Random {
    /// The generator of that seed.
    pub fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A random (version 4) GUID.
    pub fn guid(&mut self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.next().to_be_bytes());
        bytes[8..].copy_from_slice(&self.next().to_be_bytes());
        bytes[6] = bytes[6] & 0x0F | 0x40;
        bytes[8] = bytes[8] & 0x3F | 0x80;
        bytes
    }

    /// A number in [0, 1); a seed restarts the sequence.
    pub fn rand(&mut self, seed: Option<i32>) -> f64 {
        if let Some(seed) = seed {
            self.0 = seed as u64;
        }
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}
