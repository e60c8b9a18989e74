//! What exists: databases, schemas, tables, procedures, principals.

mod database;
mod functions;
mod init;
mod known;
mod lookup;
pub mod property;
mod system_view;
mod table;
mod temporary;
mod view_list;
mod views;

pub use database::*;
pub use functions::catalog_function;
pub use known::is_system_view;
pub use system_view::{system_rows, system_view};
pub use table::*;
pub use temporary::{TEMPDB, TemporaryTables, is_temporary};

/// The identifier of an object, unique in the whole engine.
pub type ObjectId = i32;
