//! HAS_PERMS_BY_NAME.

use crate::catalog::permission::{has, has_on_database, has_on_schema};
use crate::dictionary::Call;
use crate::dictionary::metadata::metadata;

metadata! {
    "HAS_PERMS_BY_NAME"(Long, Name, Name; Name, Name) -> Flag => has_perms_by_name,
}

fn has_perms_by_name(call: &Call<'_>) -> Option<bool> {
    let permission = call.text(2)?.to_ascii_uppercase();
    let class = call.text(1).unwrap_or_default().to_ascii_uppercase();
    let user = call.source.user();
    let owner = call.source.sysadmin() || user == 1;
    match class.as_str() {
        "OBJECT" => {
            let object = call.named(0)?;
            Some(owner || has(call.database, user, object, &permission))
        }
        "SCHEMA" => {
            let schema = call.database.find_schema(&call.text(0)?)?.id;
            Some(owner || has_on_schema(call.database, user, schema, &permission))
        }
        "DATABASE" => Some(owner || has_on_database(call.database, user, &permission)),
        // The server, on which nothing can be granted.
        "" => Some(call.source.sysadmin()),
        _ => None,
    }
}
