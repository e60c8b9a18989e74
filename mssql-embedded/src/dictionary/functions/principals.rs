//! Users, roles and logins by name and by id. Without an argument they speak of the session's own.

use crate::catalog::Login;
use crate::dictionary::Call;
use crate::dictionary::metadata::metadata;
use crate::dictionary::sid::sid;

/// The role of the database's owners, whose only member by birth is dbo.
const DB_OWNER: i32 = 16384;
const DBO: i32 = 1;

metadata! {
    "DATABASE_PRINCIPAL_ID"(; Name) -> Int => user_id,
    "USER_ID"(; Name) -> Int => user_id,
    "USER_NAME"(; Int) -> Name => user_name,
    "SUSER_ID"(; Name) -> Int => |call: &Call<'_>| login(call, 0).map(|l| l.id),
    "SUSER_SID"(; Name) -> Sid => |call: &Call<'_>| login(call, 0).map(|l| sid(l.id)),
    "SUSER_NAME"(; Int) -> Name => suser_name,
    "SUSER_SNAME"(; Sid) -> Name => suser_sname,
    "IS_MEMBER"(Name) -> Flag => |call: &Call<'_>| role_member(call, call.source.user()),
    "IS_ROLEMEMBER"(Name; Name) -> Flag => is_role_member,
    "IS_SRVROLEMEMBER"(Name; Name) -> Flag => is_srv_role_member,
}

fn user_id(call: &Call<'_>) -> Option<i32> {
    match call.text(0) {
        None if call.has(0) => None,
        None => Some(call.source.user()),
        Some(name) => Some(call.database.find_principal(&name)?.id),
    }
}

fn user_name(call: &Call<'_>) -> Option<String> {
    let id = if call.has(0) {
        call.int(0)?
    } else {
        call.source.user()
    };
    Some(call.database.principals.get(&id)?.name.clone())
}

/// The login that an argument names, or the session's own.
fn login<'c>(call: &Call<'c>, argument: usize) -> Option<&'c Login> {
    let name = call.text(argument).unwrap_or_else(|| call.source.login());
    call.source.catalog().logins.get(&name.to_lowercase())
}

fn suser_name(call: &Call<'_>) -> Option<String> {
    if !call.has(0) {
        return Some(call.source.login());
    }
    let id = call.int(0)?;
    let mut logins = call.source.catalog().logins.values();
    logins.find(|l| l.id == id).map(|l| l.name.clone())
}

fn suser_sname(call: &Call<'_>) -> Option<String> {
    if !call.has(0) {
        return Some(call.source.login());
    }
    let wanted = call.bytes(0)?;
    let mut logins = call.source.catalog().logins.values();
    logins.find(|l| sid(l.id) == wanted).map(|l| l.name.clone())
}

/// Whether a user is in the role that the first argument names.
fn role_member(call: &Call<'_>, user: i32) -> Option<bool> {
    let role = call
        .database
        .find_principal(&call.text(0)?)
        .filter(|p| p.role)?;
    let owner = role.id == DB_OWNER && user == DBO;
    Some(owner || call.database.memberships(user).contains(&role.id))
}

fn is_role_member(call: &Call<'_>) -> Option<bool> {
    let user = match call.text(1) {
        None => call.source.user(),
        Some(name) => call.database.find_principal(&name)?.id,
    };
    role_member(call, user)
}

fn is_srv_role_member(call: &Call<'_>) -> Option<bool> {
    // Who acts as a user of a database has no role of the server, whatever the login behind the user has.
    let sysadmin = match call.has(1) {
        true => login(call, 1)?.sysadmin,
        false => call.source.sysadmin(),
    };
    match call.text(0)?.to_ascii_lowercase().as_str() {
        "public" => Some(true),
        "sysadmin" | "serveradmin" | "securityadmin" | "processadmin" | "setupadmin"
        | "bulkadmin" | "diskadmin" | "dbcreator" => Some(sysadmin),
        _ => None,
    }
}
