//! What the benchmarks share.

pub mod items;
pub mod replay;
