//! The real runtime on this provider, pattern by pattern.

mod lifecycle;
mod operations;
mod patterns;
mod successors;
