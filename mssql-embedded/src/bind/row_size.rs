//! Rows that no page can hold.

use crate::catalog::{Column, TableDef};
use crate::error::{SqlError, SqlResult};
use crate::value::DataType;

/// What a row may take of a page ("Maximum capacity specifications for SQL Server").
const ROW_BYTES_MAX: usize = 8060;

/// Status bits, the length of the fixed part and the number of columns ("Estimate the size of a heap").
const ROW_HEADER: usize = 6;

/// Refuses a table whose columns of a fixed length leave no row that fits. Variable ones do not count: their values can be
/// empty, NULL or moved out of the row.
///
/// # Errors
///
/// 1701.
pub fn check_row_size(table: &TableDef) -> SqlResult<()> {
    let stored = |c: &&Column| (c.computed.as_ref()).is_none_or(|(_, _, persisted)| *persisted);
    let stored: Vec<&DataType> = (table.columns.iter().filter(stored).map(|c| &c.ty)).collect();
    let bits = stored.iter().filter(|ty| matches!(ty, DataType::Bit));
    let fixed = (stored.iter()).filter(|ty| !ty.is_variable() && !matches!(ty, DataType::Bit));
    let fixed: usize = fixed
        .map(|ty| usize::try_from(ty.max_length()).unwrap_or(0))
        .sum();
    let overhead = ROW_HEADER + stored.len().div_ceil(8);
    let size = fixed + bits.count().div_ceil(8) + overhead;
    if size <= ROW_BYTES_MAX {
        return Ok(());
    }
    Err(SqlError::new(
        1701,
        format!(
            "Creating or altering table '{}' failed because the minimum row size would be {size}, \
             including {overhead} bytes of internal overhead. This exceeds the maximum allowable table \
             row size of {ROW_BYTES_MAX} bytes.",
            table.name
        ),
    ))
}
