//! The generator behind all decisions: splitmix64.

/// 2^64 divided by the golden ratio. It is odd, so that adding it comes by every number before one
/// returns.
pub(super) const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Spreads every bit of the input over all bits of the result, so that neighbouring inputs have
/// nothing in common.
pub(super) fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
