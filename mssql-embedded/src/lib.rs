//! An in-process engine that runs T-SQL over TDS with the locking of SQL Server, for tests and
//! trials. It is never a production database.

mod access;
mod ast;
mod bind;
mod catalog;
mod clock;
mod controls;
mod engine;
mod error;
mod exec;
mod func;
mod lock;
mod parse;
mod plan;
mod server;
mod session;
mod storage;
mod tds;
mod tls;
mod value;

pub use controls::{
    Controls, Counters, Pause, Rule, Snapshot, StatementCounters, Traffic, Trigger,
};
pub use engine::Engine;
pub use error::SqlError;
pub use lock::{LockInfo, LockOwner, LockStatus, Mode, Resource};
pub use server::{Server, ServerBuilder, StartError};
pub use tls::Encryption;
pub use value::Collation;
