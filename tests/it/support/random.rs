//! Numbers that look random and are the same in every run.

/// A xorshift generator.
pub struct Random(u64);

impl Random {
    /// `seed` must not be zero.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number from zero up to, not including, `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
