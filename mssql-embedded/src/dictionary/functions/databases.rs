//! DB_ID, DB_NAME, HAS_DBACCESS and DATABASEPROPERTYEX. Without an argument the first two speak of the current
//! database.

use crate::catalog::Database;
use crate::dictionary::Call;
use crate::dictionary::metadata::metadata;
use crate::error::SqlResult;

metadata! {
    "DB_ID"(; Name) -> SmallInt => db_id,
    "DB_NAME"(; Int) -> Name => db_name,
    "HAS_DBACCESS"(Name) -> Int => |call: &Call<'_>| named(call).map(|_| 1),
    "DATABASEPROPERTYEX"(Name, Name) -> Long ? database_property,
}

/// The database that the first argument names.
fn named<'c>(call: &Call<'c>) -> Option<&'c Database> {
    call.source.catalog().database(&call.text(0)?)
}

fn db_id(call: &Call<'_>) -> Option<i16> {
    let database = if call.has(0) {
        named(call)?
    } else {
        call.database
    };
    i16::try_from(database.id).ok()
}

fn db_name(call: &Call<'_>) -> Option<String> {
    if !call.has(0) {
        return Some(call.database.name.clone());
    }
    let id = call.int(0)?;
    let mut databases = call.source.catalog().databases.values();
    databases.find(|d| d.id == id).map(|d| d.name.clone())
}

/// NULL for what is no property, as SQL Server has it; what is one and not known here is refused.
fn database_property(call: &Call<'_>) -> SqlResult<Option<&'static str>> {
    let (Some(database), Some(property)) = (named(call), call.text(1)) else {
        return Ok(None);
    };
    Ok(Some(match property.to_ascii_lowercase().as_str() {
        "collation" => database.collation.name(),
        "status" => "ONLINE",
        "updateability" if database.read_only => "READ_ONLY",
        "updateability" => "READ_WRITE",
        "useraccess" => "MULTI_USER",
        "recovery" => "SIMPLE",
        "version" => "904",
        _ => return call.no_property(&property),
    }))
}
