//! JSON over UTF-16 text: scanning, paths, and the functions of SQL Server on top.

mod escape;
mod for_json;
mod modify;
mod open_json;
mod path;
mod query;
mod scan;

pub use escape::escape_into;
pub use for_json::{ForJson, ForJsonOptions};
pub use modify::{NewValue, modify};
pub use open_json::{JsonColumn, JsonTable, open_json};
pub use path::JsonPath;
pub use query::{is_json, json_query, json_value, path_exists};
