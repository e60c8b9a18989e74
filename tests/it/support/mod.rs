//! What the integration tests share.

pub mod canary;
pub mod checker;
pub mod database;
pub mod dice;
pub mod items;
pub mod log;
pub mod login;
pub mod moments;
pub mod mutants;
pub mod proxied;
pub mod proxy;
pub mod random;
pub mod recorder;
pub mod runtime;
pub mod session;
pub mod setting;
pub mod trace;
pub mod wait;
