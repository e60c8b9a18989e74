//! The lock manager and the deadlock detector.
