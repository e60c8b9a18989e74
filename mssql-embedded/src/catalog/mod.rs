//! What exists: databases, schemas, tables, procedures, principals.

mod database;
mod init;
mod lookup;
pub mod permission;
mod resolve;
mod table;
mod temporary;
mod visibility;

pub use database::*;
pub use resolve::{
    Found, Home, LookUp, LookedUp, Names, database_user, dotted, elsewhere, invalid_object,
    line_of, name_taken, no_database, no_object, server_fold,
};
pub use table::*;
pub use temporary::{TEMPDB, TemporaryTables, is_temporary};
pub use visibility::Viewer;

/// The identifier of an object, unique in the whole engine.
pub type ObjectId = i32;
