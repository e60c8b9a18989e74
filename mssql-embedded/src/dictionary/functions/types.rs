//! TYPE_ID and TYPE_NAME.

use crate::dictionary::Call;
use crate::dictionary::metadata::metadata;
use crate::value::facts;

metadata! {
    "TYPE_ID"(Long) -> Int => type_id,
    "TYPE_NAME"(Int) -> Name => type_name,
}

fn type_id(call: &Call<'_>) -> Option<i32> {
    let name = call.text(0)?;
    let name = name.trim().trim_start_matches("sys.").to_ascii_lowercase();
    facts::names()
        .find(|n| n.name == name)
        .map(|n| n.user_type_id)
}

fn type_name(call: &Call<'_>) -> Option<&'static str> {
    let id = call.int(0)?;
    facts::names()
        .find(|n| n.user_type_id == id)
        .map(|n| n.name)
}
