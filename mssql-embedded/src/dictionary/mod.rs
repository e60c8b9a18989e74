//! T-SQL's view of what exists: the system views and the functions over the catalogue.

mod functions;
mod known;
pub mod property;
mod system_view;
mod view_list;
mod views;

pub use functions::catalog_function;
pub use known::is_system_view;
pub use system_view::{system_rows, system_view};
