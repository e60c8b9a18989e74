//! HAS_PERMS_BY_NAME.

use crate::catalog::permission::{has, may_define};
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
        "SCHEMA" | "DATABASE" | "" => {
            let schema = call.text(0).and_then(|n| call.database.find_schema(&n));
            let schema = schema.map(|s| s.id);
            Some(owner || may_define(call.database, user, false, schema, &permission))
        }
        _ => None,
    }
}
