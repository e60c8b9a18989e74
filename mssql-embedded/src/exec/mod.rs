//! The executor: runs bound statements.
//!
//! `env` is what a running statement can see; `eval` computes expressions and conditions, for statements
//! (`scope`) and for the filters of indexes (`filter`) alike; `op` holds the query
//! operators, one file per family; `spool` keeps rows for another look, with an adversary; `dml` writes.

mod dml;
mod dml_output;
mod env;
mod eval;
mod filter;
mod foreign;
mod host;
mod new_row;
mod op;
mod permission;
mod query_run;
mod row;
mod scope;
mod spool;
mod statement;
mod unsettled;

pub use dml::{fill_table, run_delete, run_insert, run_update, unequal_counts};
pub use env::Env;
pub use eval::{eval, test};
pub use filter::{constant, qualifies};
pub use foreign::check_parents;
pub use new_row::DmlResult;
pub use permission::{check_execute, owner_of};
pub use query_run::{QueryRun, collect, collect_first, collect_into, stream};
pub use row::{check_row, convert};
pub use spool::Spools;
