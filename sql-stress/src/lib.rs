//! The load tester's parts: where to run, what to run, what to count, and how to show it.
//!
//! The binary `sql-stress` is a thin shell around [`execute::execute`]; the examples `compare-baseline`
//! and `growth` use the same parts to measure other providers beside ours.

pub mod backend;
pub mod cli;
pub mod compare;
pub mod connection;
pub mod every_kind;
pub mod execute;
pub mod growth;
pub mod line;
pub mod memory;
pub mod meter;
pub mod model;
pub mod progress;
pub mod proxy;
pub mod pump;
pub mod random;
pub mod recorder;
pub mod report;
pub mod run;
pub mod scenario;
pub mod scenarios;
pub mod serve;
pub mod settings;
pub mod table;
