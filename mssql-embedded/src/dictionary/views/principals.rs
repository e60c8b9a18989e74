//! sys.database_principals, sys.database_role_members, sys.server_principals and sys.sql_logins.

use crate::catalog::Principal;
use crate::dictionary::Source;
use crate::dictionary::sid::sid;
use crate::dictionary::source::viewer;
use crate::dictionary::view::view;

/// The SID of the login behind a user.
fn login_sid(principal: &Principal, source: &dyn Source) -> Option<Vec<u8>> {
    let login = principal.login.as_ref()?;
    let login = source.catalog().logins.get(&login.to_lowercase())?;
    Some(sid(login.id))
}

view! {
    /// Users and roles: to others than the administrators, those of the system, their own and their roles.
    DATABASE_PRINCIPALS: "sys.database_principals";
    each (p, sid) in |s| viewer(s)
        .into_iter()
        .flat_map(|(d, viewer)| {
            let own = d.memberships(s.user());
            d.principals.values().filter(move |p| viewer.sees_all() || p.fixed || own.contains(&p.id))
        })
        .map(|p| (p, login_sid(p, s)));
    "name": Name = &p.name,
    "principal_id": Int = p.id,
    "type": Char2 = if p.role { "R " } else { "S " },
    "type_desc": Text60 = if p.role { "DATABASE_ROLE" } else { "SQL_USER" },
    "default_schema_name": Name = p.default_schema.as_ref(),
    "owning_principal_id": Int = p.role.then_some(p.owner),
    "sid": Sid = sid,
    "is_fixed_role": Bit = p.fixed && p.role && p.id != 0,
    "default_language_name": Name = None::<&str>,
    "default_language_lcid": Int = None::<i32>,
    "allow_encrypted_value_modifications": Bit = false,
}

view! {
    /// Who is in which role: to others than the administrators, their own memberships.
    DATABASE_ROLE_MEMBERS: "sys.database_role_members";
    each (role, member) in |s| viewer(s).into_iter().flat_map(|(d, viewer)| {
        let own = d.memberships(s.user());
        d.members.iter().filter(move |(_, member)| viewer.sees_all() || own.contains(member))
    });
    "role_principal_id": Int = *role,
    "member_principal_id": Int = *member,
}

/// The id of sa, whom every login sees.
const SA: i32 = 1;

/// A view of the server's logins, all of which have passwords. Without ALTER ANY LOGIN one sees one's own.
macro_rules! login_view {
    ($(#[$doc:meta])* $id:ident: $name:literal) => {
        view! {
            $(#[$doc])*
            $id: $name;
            each l in |s| {
                let own = s.login();
                let logins = s.catalog().logins.values();
                logins.filter(move |l| s.sysadmin() || l.id == SA || l.name.eq_ignore_ascii_case(&own))
            };
            "name": Name = &l.name,
            "principal_id": Int = l.id,
            "sid": Sid = sid(l.id),
            "type": Char2 = "S ",
            "type_desc": Text60 = "SQL_LOGIN",
            "is_disabled": Bit = l.disabled,
            "default_database_name": Name = &l.default_database,
            "default_language_name": Name = "us_english",
            "credential_id": Int = None::<i32>,
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
