//! sys.database_principals, sys.database_role_members, sys.server_principals and sys.sql_logins.

use crate::catalog::Principal;
use crate::dictionary::Source;
use crate::dictionary::sid::sid;
use crate::dictionary::view::view;

/// The SID of the login behind a user.
fn login_sid(principal: &Principal, source: &dyn Source) -> Option<Vec<u8>> {
    let login = principal.login.as_ref()?;
    let login = source.catalog().logins.get(&login.to_lowercase())?;
    Some(sid(login.id))
}

view! {
    /// Users and roles.
    DATABASE_PRINCIPALS: "sys.database_principals";
    each (p, sid) in |s| s.database()
        .into_iter()
        .flat_map(|d| d.principals.values())
        .map(|p| (p, login_sid(p, s)));
    "name": Name = &p.name,
    "principal_id": Int = p.id,
    "type": Char2 = if p.role { "R " } else { "S " },
    "type_desc": Text60 = if p.role { "DATABASE_ROLE" } else { "SQL_USER" },
    "default_schema_name": Name = p.default_schema.as_ref(),
    "sid": Sid = sid,
    "is_fixed_role": Bit = p.fixed && p.role && p.id != 0,
    "owning_principal_id": Int = p.role.then_some(p.owner),
}

view! {
    /// Who is in which role.
    DATABASE_ROLE_MEMBERS: "sys.database_role_members";
    each (role, member) in |s| s.database().into_iter().flat_map(|d| d.members.iter());
    "role_principal_id": Int = *role,
    "member_principal_id": Int = *member,
}

/// A view of the server's logins, all of which have passwords.
macro_rules! login_view {
    ($(#[$doc:meta])* $id:ident: $name:literal) => {
        view! {
            $(#[$doc])*
            $id: $name;
            each l in |s| s.catalog().logins.values();
            "name": Name = &l.name,
            "principal_id": Int = l.id,
            "sid": Sid = sid(l.id),
            "type": Char2 = "S ",
            "type_desc": Text60 = "SQL_LOGIN",
            "is_disabled": Bit = l.disabled,
            "default_database_name": Name = &l.default_database,
        }
    };
}

login_view! {
    /// Logins.
    SERVER_PRINCIPALS: "sys.server_principals"
}

login_view! {
    /// Logins with a password, as which the engine knows all.
    SQL_LOGINS: "sys.sql_logins"
}
