//! COL_NAME, COL_LENGTH and the identity functions.

use crate::dictionary::Call;
use crate::dictionary::metadata::metadata;

metadata! {
    "COL_NAME"(Int, Int) -> Name => col_name,
    "COL_LENGTH"(Long, Name) -> SmallInt => col_length,
    "IDENT_CURRENT"(Long) -> Numeric => ident_current,
    "IDENT_SEED"(Long) -> Numeric => |call: &Call<'_>| identity(call).map(|(seed, _)| seed),
    "IDENT_INCR"(Long) -> Numeric => |call: &Call<'_>| identity(call).map(|(_, increment)| increment),
}

fn col_name(call: &Call<'_>) -> Option<String> {
    let id = call.int(1)?;
    let column = call.table(0)?.columns.iter().find(|c| c.id == id)?;
    Some(column.name.clone())
}

fn col_length(call: &Call<'_>) -> Option<i16> {
    let name = call.database.fold(&call.text(1)?);
    let columns = &call.named_table(0)?.columns;
    let column = columns
        .iter()
        .find(|c| call.database.fold(&c.name) == name)?;
    Some(column.ty.max_length())
}

/// The value handed out last, or the seed before the first.
fn ident_current(call: &Call<'_>) -> Option<i64> {
    let table = call.named_table(0)?;
    Some(call.source.store().identity(table.id)?.current())
}

/// Seed and increment of a table's identity column.
fn identity(call: &Call<'_>) -> Option<(i64, i64)> {
    call.named_table(0)?.columns.iter().find_map(|c| c.identity)
}
