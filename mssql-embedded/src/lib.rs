//! An in-process engine that runs T-SQL over TDS with the locking of SQL Server, for tests and
//! trials. It is never a production database.

#![allow(dead_code, missing_docs)]

pub mod access;
pub mod ast;
pub mod bind;
pub mod catalog;
pub mod clock;
pub mod controls;
pub mod engine;
pub mod error;
pub mod exec;
pub mod func;
pub mod lock;
pub mod parse;
pub mod plan;
mod server;
pub mod session;
pub mod storage;
mod tds;
mod tls;
pub mod value;

pub use controls::{
    Controls, Counters, Pause, Rule, Snapshot, StatementCounters, Traffic, Trigger,
};
pub use error::SqlError;
pub use server::{Server, ServerBuilder, StartError};
pub use tls::Encryption;
