//! What the integration tests share.

pub mod database;
pub mod items;
pub mod proxy;
pub mod runtime;
pub mod wait;
