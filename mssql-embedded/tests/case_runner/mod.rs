//! The runner behind `tests/cases.rs`: reads case files, runs them over TDS, compares.

mod ask;
mod call;
mod clean;
mod compare;
mod expect;
mod format;
mod listen;
mod model;
mod read;
mod run;
mod target;
mod types;

pub use model::Case;
pub use read::load;
pub use run::run;
pub use target::Target;
