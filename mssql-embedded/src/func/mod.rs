//! Scalar and aggregate functions.

mod aggregate;
mod host;

use crate::error::SqlResult;
use crate::value::{DataType, Value};

pub use aggregate::{Accumulator, Aggregate};
pub use host::{CatalogFunction, Host, SessionValue};

/// What the binder knows of an argument.
#[derive(Clone, Debug)]
pub struct Arg {
    /// Its type.
    pub ty: DataType,
    /// Its value, when it is a constant (date parts arrive so).
    pub constant: Option<Value>,
}

/// How a call is typed.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The result type.
    pub ret: DataType,
    /// The types the arguments are cast to.
    pub params: Vec<DataType>,
    /// Whether the result can be NULL.
    pub nullable: bool,
}

/// A scalar function.
pub struct Function {
    /// Its name, upper case.
    pub name: &'static str,
    /// Types a call, or refuses it (174, 189, 8116, …).
    pub bind: fn(&[Arg]) -> SqlResult<Signature>,
    /// Computes it, given the signature that `bind` returned and arguments of its parameter types.
    pub eval: fn(&mut dyn Host, &Signature, &[Value]) -> SqlResult<Value>,
    /// Whether the first argument is a date part: a bare word that arrives as constant text.
    pub date_part: bool,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}
