//! What the benchmark and the test of allocations share.

pub mod calls;
pub mod items;
pub mod replay;
