//! Scalar and aggregate functions.
