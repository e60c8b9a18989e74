//! What the integration tests share.

pub mod database;
pub mod items;
pub mod login;
pub mod proxy;
pub mod random;
pub mod runtime;
pub mod wait;
