//! JSON over UTF-16 text: scanning, paths, and the functions of SQL Server on top.

mod escape;
mod extract;
mod for_json;
mod modify;
mod open_json;
mod path;
mod scan;

pub use escape::{escape_into, escaped_len};
pub use extract::{is_json, json_query, json_value};
pub use for_json::{ForJson, ForJsonOptions, root_without_wrapper, unnamed_column};
pub use modify::{NewValue, modify};
pub use open_json::{JsonColumn, JsonTable, open_json};
pub use path::JsonPath;
