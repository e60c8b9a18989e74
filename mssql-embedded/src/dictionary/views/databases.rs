//! sys.databases and sys.schemas.

use crate::dictionary::view::view;

view! {
    /// Every database of the server.
    DATABASES: "sys.databases";
    each d in |s| s.catalog().databases.values();
    "name": Name = &d.name,
    "database_id": Int = d.id,
    "compatibility_level": TinyInt = d.compatibility_level,
    "collation_name": Name = d.collation.name(),
    "is_read_committed_snapshot_on": Bit = d.read_committed_snapshot,
    "snapshot_isolation_state": TinyInt = u8::from(d.allow_snapshot_isolation),
    "snapshot_isolation_state_desc": Text60 = if d.allow_snapshot_isolation { "ON" } else { "OFF" },
    "state": TinyInt = 0,
    "state_desc": Text60 = "ONLINE",
    "user_access_desc": Text60 = "MULTI_USER",
    "is_read_only": Bit = d.read_only,
    "recovery_model_desc": Text60 = "SIMPLE",
}

view! {
    /// The schemas of the current database.
    SCHEMAS: "sys.schemas";
    each schema in |s| s.database().into_iter().flat_map(|d| d.schemas.values());
    "name": Name = &schema.name,
    "schema_id": Int = schema.id,
    "principal_id": Int = schema.owner,
}
