//! sys.database_permissions.

use crate::dictionary::source::viewer;
use crate::dictionary::view::view;

view! {
    /// What was granted and denied: to others than the administrators, what they and their roles have.
    DATABASE_PERMISSIONS: "sys.database_permissions";
    each p in |s| viewer(s).into_iter().flat_map(|(d, viewer)| {
        let own = d.memberships(s.user());
        d.permissions.iter().filter(move |p| viewer.sees_all() || own.contains(&p.grantee))
    });
    "class": TinyInt = p.on.shown().0,
    "class_desc": Text60 = p.on.shown().1,
    "major_id": Int = p.on.shown().2,
    "minor_id": Int = 0,
    "grantee_principal_id": Int = p.grantee,
    "grantor_principal_id": Int = p.grantor,
    "type": Char4 = p.permission.code(),
    "permission_name": Text60 = p.permission.name(),
    "state": Char2 = p.state.shown().0,
    "state_desc": Text60 = p.state.shown().1,
}
