//! What a statement runs in: the session with its settings and transaction, the call with its
//! variables, and what names and `@@` values mean there.

mod core;
mod frame;
mod random;
mod resolve;
mod values;

pub use self::core::{ActingAs, Core, Prepared, Savepoint, Settings};
pub use frame::Frame;
pub use random::Random;
pub use resolve::{
    acting_login, default_schema, names, no_access, read_only, resolve_noting, resolve_object,
    resolve_table, table_name, user_in,
};
pub use values::session_value;
