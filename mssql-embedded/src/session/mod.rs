//! One client's session: its settings, transaction and the interpreter of its requests.

mod wire;

pub use wire::*;
