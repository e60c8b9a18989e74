//! Aggregate functions.

/// An aggregate function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// COUNT(*) and COUNT(x).
    Count,
}
