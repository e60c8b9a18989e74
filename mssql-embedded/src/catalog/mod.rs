//! What exists: databases, schemas, tables, procedures, principals.

mod database;
mod system_view;
mod table;

pub use database::*;
pub use system_view::system_view;
pub use table::*;

/// The identifier of an object, unique in the whole engine.
pub type ObjectId = i32;
