//! NEWID() and RAND(): a small generator of each session. It is not for secrets; the engine has none.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// A splitmix64 generator, seeded from the standard library's random hash keys, and what RAND goes on from.
#[derive(Debug)]
pub struct Random {
    state: u64,
    rand: Rand,
}

/// The state of RAND: L'Ecuyer's combined generator ("Efficient and portable combined random number
/// generators", 1988), with which the values that "RAND (Transact-SQL)" shows come out digit by digit.
#[derive(Clone, Copy, Debug)]
struct Rand(u64, u64);

const MODULUS_1: u64 = 2_147_483_563;
const MODULUS_2: u64 = 2_147_483_399;
/// What stands in for a seed that the first generator cannot have, and the seed of the second.
const SEED_1: u64 = 12_345;
const SEED_2: u64 = 67_890;

impl Rand {
    fn seeded(seed: i32) -> Self {
        let seed = u64::from(seed.unsigned_abs());
        let fits = (1..MODULUS_1).contains(&seed);
        Self(if fits { seed } else { SEED_1 }, SEED_2)
    }

    fn next(&mut self) -> f64 {
        self.0 = self.0 * 40_014 % MODULUS_1;
        self.1 = self.1 * 40_692 % MODULUS_2;
        let difference = match self.0 > self.1 {
            true => self.0 - self.1,
            false => self.0 + (MODULUS_1 - 1) - self.1,
        };
        // The paper's factor, with no more digits than it gives.
        difference as f64 * 4.656_613e-10
    }
}

impl Default for Random {
    fn default() -> Self {
        Self::seeded(RandomState::new().build_hasher().finish())
    }
}

impl Random {
    pub fn seeded(seed: u64) -> Self {
        let mut random = Self {
            state: seed,
            rand: Rand(SEED_1, SEED_2),
        };
        random.rand = Rand(
            1 + random.next() % (MODULUS_1 - 1),
            1 + random.next() % (MODULUS_2 - 1),
        );
        random
    }

    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
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
            self.rand = Rand::seeded(seed);
        }
        self.rand.next()
    }
}
