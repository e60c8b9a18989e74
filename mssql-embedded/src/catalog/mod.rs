//! What exists: databases, schemas, tables, procedures, principals.

mod database;
mod table;

pub use database::*;
pub use table::*;

/// The identifier of an object, unique in the whole engine.
pub type ObjectId = i32;
