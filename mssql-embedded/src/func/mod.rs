//! Scalar and aggregate functions.
//!
//! COALESCE, ISNULL, NULLIF, IIF, CASE, CAST, CONVERT and their TRY forms evaluate lazily or change
//! types and belong to the binder. Everything else with a function's syntax, the `@@` values and
//! the niladic keywords (CURRENT_TIMESTAMP, CURRENT_USER, …) are found by [`lookup`].

mod aggregate;
mod catalog;
mod checksum;
mod date;
mod date_build;
mod hash;
mod host;
mod json;
pub mod like;
mod math;
mod misc;
mod numeric;
mod pattern;
mod session;
mod sig;
mod string;
mod string_build;
mod string_misc;
pub mod string_split;
mod time_zone;

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::error::{SqlError, SqlResult};
use crate::value::{DataType, Value};

pub use aggregate::{Accumulator, Aggregate};
pub use checksum::OF_NEWID;
pub use host::{CatalogFunction, Host, SessionValue};
pub use string_misc::substitute as format_message;
pub use time_zone::AT_TIME_ZONE;

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

/// The function of this upper-case name.
pub fn lookup(name: &str) -> Option<&'static Function> {
    static BY_NAME: OnceLock<HashMap<&'static str, &'static Function>> = OnceLock::new();
    BY_NAME
        .get_or_init(|| all().map(|f| (f.name, f)).collect())
        .get(name)
        .copied()
}

fn all() -> impl Iterator<Item = &'static Function> {
    [
        catalog::FUNCTIONS,
        checksum::FUNCTIONS,
        date::FUNCTIONS,
        date_build::FUNCTIONS,
        hash::FUNCTIONS,
        json::FUNCTIONS,
        math::FUNCTIONS,
        misc::FUNCTIONS,
        numeric::FUNCTIONS,
        pattern::FUNCTIONS,
        session::FUNCTIONS,
        string::FUNCTIONS,
        string_build::FUNCTIONS,
        string_misc::FUNCTIONS,
        time_zone::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
}

/// Functions of SQL Server which the engine does not have. They are refused by name, so that their
/// absence is not taken for a misspelling.
const ABSENT: &[&str] = &[
    "@@CURSOR_ROWS",
    "@@DBTS",
    "@@FETCH_STATUS",
    "@@CONNECTIONS",
    "@@CPU_BUSY",
    "@@IDLE",
    "@@IO_BUSY",
    "@@LANGID",
    "@@PACK_RECEIVED",
    "@@PACK_SENT",
    "@@PACKET_ERRORS",
    "@@REMSERVER",
    "@@TIMETICKS",
    "@@TOTAL_ERRORS",
    "@@TOTAL_READ",
    "@@TOTAL_WRITE",
    "@@MAX_CONNECTIONS",
    "APPROX_COUNT_DISTINCT",
    "BINARY_CHECKSUM",
    "BIT_COUNT",
    "CHECKSUM_AGG",
    "COMPRESS",
    "CONNECTIONPROPERTY",
    "CRYPT_GEN_RANDOM",
    "CURRENT_TIMEZONE",
    "CURSOR_STATUS",
    "DATETRUNC",
    "DATE_BUCKET",
    "DECOMPRESS",
    "DECRYPTBYKEY",
    "ENCRYPTBYKEY",
    "FILE_ID",
    "FILE_NAME",
    "FILEGROUP_ID",
    "FILEGROUP_NAME",
    "FORMAT",
    "FULLTEXTSERVICEPROPERTY",
    "GENERATE_SERIES",
    "GET_FILESTREAM_TRANSACTION_CONTEXT",
    "JSON_ARRAY",
    "JSON_ARRAYAGG",
    "JSON_OBJECT",
    "JSON_OBJECTAGG",
    "MIN_ACTIVE_ROWVERSION",
    "NEWSEQUENTIALID",
    "OPENDATASOURCE",
    "OPENQUERY",
    "OPENROWSET",
    "ORIGINAL_DB_NAME",
    "PARSE",
    "PERCENTILE_CONT",
    "PERCENTILE_DISC",
    "PUBLISHINGSERVERNAME",
    "PWDCOMPARE",
    "PWDENCRYPT",
    "STATS_DATE",
    "TEXTPTR",
    "TEXTVALID",
    "TRIGGER_NESTLEVEL",
    "TRY_PARSE",
    "UPDATE",
    "COLUMNS_UPDATED",
];

/// Whether SQL Server has a function of this upper-case name that the engine has not.
pub fn is_absent(name: &str) -> bool {
    ABSENT.contains(&name)
}

/// The error for a function that [`lookup`] does not find: refused by name when SQL Server has it,
/// 195 otherwise.
pub fn unknown(name: &str) -> SqlError {
    let upper = name.to_ascii_uppercase();
    if is_absent(&upper) {
        return SqlError::unsupported(format!("function {upper}"));
    }
    SqlError::with(
        195,
        15,
        10,
        format!("'{name}' is not a recognized built-in function name."),
    )
}

#[cfg(test)]
pub(crate) mod testing;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_upper_case_unique_and_not_also_absent() {
        let mut seen = std::collections::HashSet::new();
        for function in all() {
            assert_eq!(function.name, function.name.to_ascii_uppercase());
            assert!(seen.insert(function.name), "{} twice", function.name);
            assert!(
                !ABSENT.contains(&function.name),
                "{} is absent",
                function.name
            );
        }
    }

    #[test]
    fn unknown_functions_are_told_from_refused_ones() {
        assert_eq!(unknown("nosuch").number, 195);
        assert_eq!(unknown("Compress").number, 40517);
    }
}
