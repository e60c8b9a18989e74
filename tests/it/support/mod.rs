//! What the integration tests share.

pub mod database;
pub mod items;
pub mod runtime;
pub mod wait;
