//! What the integration tests share.

pub mod database;
pub mod items;
pub mod proxy;
pub mod random;
pub mod runtime;
pub mod wait;
