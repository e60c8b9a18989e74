//! An in-process engine that runs T-SQL over TDS with the locking of SQL Server, for tests and
//! trials. It is never a production database.

// A new statement, node, hint, type or kind must make the compiler name every place that decides by it.
#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod access;
mod activity;
mod adversary;
mod ast;
mod bind;
mod catalog;
mod clock;
mod commit_log;
mod context;
mod controls;
mod dictionary;
mod engine;
mod error;
mod exec;
mod fast_map;
mod func;
mod ghost_cleaner;
mod hooks;
mod interrupt;
mod lock;
mod memory;
mod parse;
mod plan;
mod refused;
mod server;
mod session;
mod storage;
mod tds;
mod tls;
mod value;

pub use adversary::{Decision, Detour, OpenPath, Question};
pub use controls::{Controls, Pause, Rule};
pub use engine::Engine;
pub use error::SqlError;
pub use hooks::{Counters, Snapshot, StatementCounters, Traffic, Trigger};
pub use lock::{Deadlock, LockInfo, LockOwner, LockStatus, Mode, Resource};
pub use server::{Server, ServerBuilder, StartError};
pub use storage::GhostCleanup;
pub use tls::Encryption;
pub use value::Collation;
