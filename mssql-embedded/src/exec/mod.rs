//! The executor: runs bound statements.
//!
//! `env` is what a running statement can see; `eval` computes expressions; `op` holds the query
//! operators, one file per family; `dml` writes.

mod dml;
mod env;
mod eval;
mod host;
mod op;
mod query;
mod row;
mod statement;

pub use dml::{DmlResult, run_delete, run_insert, run_update};
pub use env::{Env, Frame};
pub use eval::{eval, test};
pub use query::{QueryRun, collect, collect_into};
pub use row::{check_row, constant, convert, qualifies};
