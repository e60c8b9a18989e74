//! One client's session: its settings, transaction and the interpreter of its requests.

mod core;
mod ddl;
mod expressions;
mod interp;
mod login;
mod module;
mod names;
mod permission;
mod precompile;
mod random;
mod request;
mod values;
mod wire;

pub use self::core::{ActingAs, Core, Prepared, Settings};
pub(crate) use login::login_failed;
pub use module::Module;
pub use names::{
    bind_parameter, collect_variables, compile_text, default_schema, enter_database, module_of,
    parse_parameters, resolve_object, resolve_procedure, resolve_table, table_name,
};
pub use permission::{has as has_permission, may_define};
pub use request::Session;
pub use values::{SERVER_NAME, session_value, text_of};
pub use wire::*;
