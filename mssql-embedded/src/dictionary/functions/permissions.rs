//! HAS_PERMS_BY_NAME.

use crate::ast::Permission;
use crate::catalog::permission::{has, has_on_database, has_on_schema};
use crate::dictionary::Call;
use crate::dictionary::metadata::metadata;
use crate::error::{SqlError, SqlResult};

metadata! {
    "HAS_PERMS_BY_NAME"(Long, Name, Name; Name, Name) -> Flag ? has_perms_by_name,
}

/// NULL when the securable does not exist. Which permission is asked for must be one that the engine checks.
fn has_perms_by_name(call: &Call<'_>) -> SqlResult<Option<bool>> {
    let Some(name) = call.text(2) else {
        return Ok(None);
    };
    let name = name.to_ascii_uppercase();
    let class = call.text(1).unwrap_or_default().to_ascii_uppercase();
    // The server, on which nothing can be granted.
    if class.is_empty() {
        return Ok(Some(call.source.sysadmin()));
    }
    let refused = || SqlError::unsupported(format!("the permission {name}"));
    let permission = Permission::by_name(&name).ok_or_else(refused)?;
    let user = call.source.user();
    let owner = call.source.sysadmin() || user == 1;
    Ok(match class.as_str() {
        "OBJECT" => {
            let found = call.found(0);
            found.map(|found| owner || has(call.database, user, found.object, permission))
        }
        "SCHEMA" => {
            let schema = call
                .text(0)
                .and_then(|name| call.database.find_schema(&name));
            schema.map(|s| owner || has_on_schema(call.database, user, s.id, permission))
        }
        "DATABASE" => Some(owner || has_on_database(call.database, user, permission)),
        _ => None,
    })
}
