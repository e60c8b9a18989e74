//! Measures duroxide's SQLite provider beside ours.
fn main() {}
