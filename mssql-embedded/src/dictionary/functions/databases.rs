//! DB_ID, DB_NAME, HAS_DBACCESS and DATABASEPROPERTYEX. Without an argument the first two speak of the current
//! database.

use crate::catalog::Database;
use crate::dictionary::Call;
use crate::dictionary::metadata::metadata;

metadata! {
    "DB_ID"(; Name) -> SmallInt => db_id,
    "DB_NAME"(; Int) -> Name => db_name,
    "HAS_DBACCESS"(Name) -> Int => |call: &Call<'_>| named(call).map(|_| 1),
    "DATABASEPROPERTYEX"(Name, Name) -> Long => database_property,
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

/// NULL for what is no property, as SQL Server has it.
fn database_property(call: &Call<'_>) -> Option<&'static str> {
    let database = named(call)?;
    Some(match call.text(1)?.to_ascii_lowercase().as_str() {
        "collation" => database.collation.name(),
        "status" => "ONLINE",
        "updateability" => "READ_WRITE",
        "useraccess" => "MULTI_USER",
        "recovery" => "SIMPLE",
        "version" => "904",
        _ => return None,
    })
}
