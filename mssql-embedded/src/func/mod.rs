//! Scalar and aggregate functions.
//!
//! COALESCE, ISNULL, NULLIF, IIF, CASE, CAST, CONVERT and their TRY forms evaluate lazily or change
//! types and belong to the binder. Everything else with a function's syntax, the `@@` values and
//! the niladic keywords (CURRENT_TIMESTAMP, CURRENT_USER, …) are found by [`lookup`].

mod aggregate;
mod char_code;
mod checksum;
mod choice;
mod date;
mod date_build;
mod hash;
mod host;
mod json;
pub mod like;
mod math;
mod message;
mod name_parts;
mod number_text;
mod numeric;
mod pattern;
mod session;
mod sig;
mod soundex;
mod string;
mod string_build;
pub mod string_split;
mod time_zone;

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::dictionary::{self, Metadata};
use crate::error::{SqlError, SqlResult};
use crate::refused::{Kind, refusal};
use crate::value::{DataType, Value};

pub use aggregate::{Accumulator, Aggregate};
pub use checksum::OF_NEWID;
pub use host::{Host, SessionValue};
pub use message::substitute as format_message;
pub use sig::argument_count;
pub use time_zone::AT_TIME_ZONE;

/// What the binder knows of an argument.
#[derive(Clone, Debug)]
pub struct Arg {
    pub ty: DataType,
    /// Its value, when it is a constant (date parts arrive so).
    pub constant: Option<Value>,
}

/// How a call is typed.
#[derive(Clone, Debug)]
pub struct Signature {
    pub ret: DataType,
    /// The types the arguments are cast to.
    pub params: Vec<DataType>,
    pub nullable: bool,
}

/// Types a call of the function of this name, or refuses it (174, 189, 8116, …).
type Bind = fn(&str, &[Arg]) -> SqlResult<Signature>;

/// Computes a call, given the signature that [`Bind`] returned and arguments of its parameter types.
type Eval = fn(&mut dyn Host, &Signature, &[Value]) -> SqlResult<Value>;

/// When a function gives another value for the same arguments ("Deterministic and nondeterministic functions").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Varies {
    Never,
    /// With the clock or the session: not within a statement.
    WithItsTime,
    /// Each time, within a statement too.
    EachTime,
}

/// A function that is computed, with all that the engine knows of it.
pub struct Function {
    /// Its name, upper case.
    pub name: &'static str,
    pub bind: Bind,
    pub eval: Eval,
    /// Whether the first argument is a date part: a bare word that arrives as constant text.
    pub date_part: bool,
    pub varies: Varies,
}

impl Function {
    /// One whose arguments are values, and which always gives the same for the same.
    const fn new(name: &'static str, bind: Bind, eval: Eval) -> Self {
        Self {
            name,
            bind,
            eval,
            date_part: false,
            varies: Varies::Never,
        }
    }

    const fn with_date_part(self) -> Self {
        Self {
            date_part: true,
            ..self
        }
    }

    const fn of_its_time(self) -> Self {
        Self {
            varies: Varies::WithItsTime,
            ..self
        }
    }

    const fn random(self) -> Self {
        Self {
            varies: Varies::EachTime,
            ..self
        }
    }
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// What the name of a function means: a computation, or a question to the dictionary.
#[derive(Clone, Copy, Debug)]
pub enum Callable {
    /// Computed from its arguments and the session.
    Computed(&'static Function),
    /// Answered by the dictionary.
    Metadata(&'static Metadata),
}

impl Callable {
    /// The upper-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Computed(function) => function.name,
            Self::Metadata(metadata) => metadata.name,
        }
    }

    /// When it gives another value for the same arguments. What is defined may change.
    fn varies(self) -> Varies {
        match self {
            Self::Computed(function) => function.varies,
            Self::Metadata(_) => Varies::WithItsTime,
        }
    }

    /// Whether it gives another value each time, within a statement too.
    pub fn is_random(self) -> bool {
        self.varies() == Varies::EachTime
    }

    /// Whether it gives the same for the same arguments, in every session and at any time.
    pub fn is_deterministic(self) -> bool {
        self.varies() == Varies::Never
    }

    /// Whether the first argument is a date part: a bare word that arrives as constant text.
    pub fn takes_date_part(self) -> bool {
        match self {
            Self::Computed(function) => function.date_part,
            Self::Metadata(_) => false,
        }
    }

    /// Types a call.
    ///
    /// # Errors
    ///
    /// 174 and 189 for the number of arguments, 8116 for their types.
    pub fn bind(self, args: &[Arg]) -> SqlResult<Signature> {
        match self {
            Self::Computed(function) => (function.bind)(function.name, args),
            Self::Metadata(metadata) => {
                sig::arity(metadata.name, args, metadata.least, metadata.params.len())?;
                // The word that says what is asked for comes last.
                if let Some(Value::Str(word)) = args.last().and_then(|a| a.constant.as_ref()) {
                    metadata.refuse(&String::from_utf16_lossy(word))?;
                }
                let params = metadata.params.iter().take(args.len());
                let params = params.map(|ty| ty(sig::DEFAULT)).collect();
                sig::sig((metadata.ret)(sig::DEFAULT), params)
            }
        }
    }

    /// Computes a call, given the signature that [`Callable::bind`] returned and arguments of its parameter types.
    ///
    /// # Errors
    ///
    /// Those of the function.
    pub fn eval(
        self,
        host: &mut dyn Host,
        signature: &Signature,
        args: &[Value],
    ) -> SqlResult<Value> {
        match self {
            Self::Computed(function) => (function.eval)(host, signature, args),
            Self::Metadata(metadata) => metadata.call(host, args),
        }
    }
}

/// The function of this upper-case name.
pub fn lookup(name: &str) -> Option<Callable> {
    static BY_NAME: OnceLock<HashMap<&'static str, Callable>> = OnceLock::new();
    BY_NAME
        .get_or_init(|| all().map(|f| (f.name(), f)).collect())
        .get(name)
        .copied()
}

/// All names that [`lookup`] finds, for the test that none of them means anything else.
#[cfg(test)]
pub fn names() -> impl Iterator<Item = &'static str> {
    all().map(Callable::name)
}

fn all() -> impl Iterator<Item = Callable> {
    let computed = computed().map(Callable::Computed);
    computed.chain(dictionary::functions().map(Callable::Metadata))
}

fn computed() -> impl Iterator<Item = &'static Function> {
    [
        char_code::FUNCTIONS,
        checksum::FUNCTIONS,
        choice::FUNCTIONS,
        date::FUNCTIONS,
        date_build::FUNCTIONS,
        hash::FUNCTIONS,
        json::FUNCTIONS,
        math::FUNCTIONS,
        message::FUNCTIONS,
        name_parts::FUNCTIONS,
        number_text::FUNCTIONS,
        numeric::FUNCTIONS,
        pattern::FUNCTIONS,
        session::FUNCTIONS,
        soundex::FUNCTIONS,
        string::FUNCTIONS,
        string_build::FUNCTIONS,
        time_zone::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
}

/// The error for a function that [`lookup`] does not find: refused by name when SQL Server has it,
/// 195 otherwise.
pub fn unknown(name: &str) -> SqlError {
    refusal(Kind::Function, &name.to_ascii_uppercase()).unwrap_or_else(|| {
        SqlError::with(
            195,
            15,
            10,
            format!("'{name}' is not a recognized built-in function name."),
        )
    })
}

#[cfg(test)]
mod extreme_tests;
#[cfg(test)]
pub(crate) mod testing;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_functions_are_told_from_refused_ones() {
        assert_eq!(unknown("nosuch").number, 195);
        assert_eq!(unknown("Compress").number, 40517);
    }
}
