//! The bound form of statements: names resolved, types settled, access paths chosen.
//!
//! A query runs over a row buffer: a vector of values with one slot per column that any of its
//! sources, aggregates or computed expressions produces. Every operator fills its slots and pulls
//! the next row from its input, so a join is nothing but two operators writing to different slots of
//! the same buffer. A nested query (subquery, derived table, CTE, APPLY) has a buffer of its own, one
//! level deeper, and reads the slots of the levels above it.

mod dml;
mod foreign;
mod module;
mod node;
mod origin;
mod rules;
mod same;
mod scalar;
mod target;
mod variables;
mod walk;

pub use dml::*;
pub use foreign::*;
pub use module::{Against, Module};
pub use node::*;
pub use origin::Origin;
pub use rules::RowRules;
pub use scalar::*;
pub use variables::{VariableMap, undeclared};
pub use walk::Part;
