//! sys.database_permissions.

use crate::catalog::permission::code;
use crate::dictionary::view::view;

view! {
    /// What was granted and denied.
    DATABASE_PERMISSIONS: "sys.database_permissions";
    each p in |s| s.database().into_iter().flat_map(|d| d.permissions.iter());
    "class": TinyInt = p.on.shown().0,
    "class_desc": Text60 = p.on.shown().1,
    "major_id": Int = p.on.shown().2,
    "minor_id": Int = 0,
    "grantee_principal_id": Int = p.grantee,
    "grantor_principal_id": Int = p.grantor,
    "type": Char4 = code(&p.permission).unwrap_or_default(),
    "permission_name": Text60 = &p.permission,
    "state": Char2 = p.state.shown().0,
    "state_desc": Text60 = p.state.shown().1,
}
