//! SCHEMA_ID and SCHEMA_NAME. Without an argument they speak of the user's default schema.

use crate::catalog::Schema;
use crate::dictionary::Call;
use crate::dictionary::metadata::metadata;

metadata! {
    "SCHEMA_ID"(; Name) -> Int => schema_id,
    "SCHEMA_NAME"(; Int) -> Name => schema_name,
}

fn schema_id(call: &Call<'_>) -> Option<i32> {
    let schema = if call.has(0) {
        call.database.find_schema(&call.text(0)?)
    } else {
        call.database
            .find_schema(call.database.default_schema(call.source.user()))
    };
    schema.map(|s: &Schema| s.id)
}

fn schema_name(call: &Call<'_>) -> Option<String> {
    if call.has(0) {
        return Some(call.database.schemas.get(&call.int(0)?)?.name.clone());
    }
    Some(call.database.default_schema(call.source.user()).to_owned())
}
