//! A seeded sequence, so that a run can be repeated.

/// SplitMix64: small, fast and good enough for choosing delays and letters.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The same seed gives the same sequence.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which must not be zero.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.draw() % limit
    }

    /// Text of this many bytes that does not compress to nothing.
    pub fn text(&mut self, bytes: usize) -> String {
        const LETTERS: &[u8; 64] =
            b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -";
        let mut text = String::with_capacity(bytes);
        while text.len() < bytes {
            let mut bits = self.draw();
            for _ in 0..10.min(bytes - text.len()) {
                text.push(char::from(LETTERS[(bits & 63) as usize]));
                bits >>= 6;
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_sequence() {
        assert_eq!(Random::new(7).text(100), Random::new(7).text(100));
        assert_ne!(Random::new(7).text(100), Random::new(8).text(100));
        assert_eq!(Random::new(1).text(33).len(), 33);
        assert!((0..1000).all(|n| Random::new(n).below(10) < 10));
    }
}
