//! One client's session: its settings, transaction and the interpreter of its requests.

mod binding;
mod compile;
mod ddl;
mod early;
#[cfg(test)]
mod ending_tests;
mod expressions;
mod interp;
mod login;
mod precompile;
mod request;
mod text_of;
mod wire;

pub use compile::{
    Compiled, bind_parameter, collect_variables, compile_text, module_of, parse_parameters,
};
pub use login::enter_database;
pub(crate) use login::login_failed;
pub use request::Session;
pub use text_of::{text_of, text_up_to};
pub use wire::*;
