//! The styles of CONVERT that are refused.

use crate::error::{SqlError, SqlResult};
use crate::value::DataType;

/// Refuses a style that SQL Server knows between these types and the engine does not: the Hijri ones (130, 131), and of
/// those that are read also the ones with a two-digit year first (2, 11), since the text would be misread.
///
/// # Errors
///
/// 40517.
pub fn refuse_style(from: &DataType, to: &DataType, style: i32) -> SqlResult<()> {
    let doing = match style {
        130 | 131 if from.is_datetime() && to.is_string() => "writing",
        2 | 11 | 130 | 131 if from.is_string() && to.is_datetime() => "reading",
        _ => return Ok(()),
    };
    Err(SqlError::unsupported(format!(
        "{doing} a date with style {style}"
    )))
}
