//! OBJECT_ID and its kin.

use crate::catalog::Object;
use crate::dictionary::Call;
use crate::dictionary::metadata::metadata;
use crate::dictionary::object_type::code;
use crate::dictionary::source::reads;

metadata! {
    "OBJECT_ID"(Long; Name) -> Int => object_id,
    "OBJECT_NAME"(Int; Int) -> Name => |call: &Call<'_>| call.object(0).map(|o| o.name().to_owned()),
    "OBJECT_SCHEMA_NAME"(Int; Int) -> Name => object_schema_name,
    "OBJECT_DEFINITION"(Int) -> Max => object_definition,
}

/// The id of the object of that name, if it is of the type asked for.
fn object_id(call: &Call<'_>) -> Option<i32> {
    let object = call.named(0)?;
    let wanted = call.text(1);
    let fits = wanted.is_none_or(|w| code(object).trim().eq_ignore_ascii_case(w.trim()));
    fits.then(|| object.id())
}

fn object_schema_name(call: &Call<'_>) -> Option<String> {
    let schema = call.database.schemas.get(&call.object(0)?.schema_id())?;
    Some(schema.name.clone())
}

fn object_definition(call: &Call<'_>) -> Option<String> {
    let object = call.object(0)?;
    if !reads(call.source, object.id()) {
        return None;
    }
    match object {
        Object::Procedure(p) => Some(p.text.clone()),
        Object::View(v) => Some(v.text.clone()),
        Object::Table(_) | Object::Constraint { .. } => None,
    }
}
