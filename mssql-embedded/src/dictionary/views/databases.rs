//! sys.databases and sys.schemas.

use crate::ast::DelayedDurability;
use crate::dictionary::sid::sid;
use crate::dictionary::view::view;

view! {
    /// Every database of the server.
    DATABASES: "sys.databases";
    each d in |s| s.catalog().databases.values();
    "name": Name = &d.name,
    "database_id": Int = d.id,
    "source_database_id": Int = None::<i32>,
    "owner_sid": Sid = sid(1),
    "compatibility_level": TinyInt = d.compatibility_level,
    "collation_name": Name = d.collation.name(),
    "user_access": TinyInt = 0,
    "user_access_desc": Text60 = "MULTI_USER",
    "is_read_only": Bit = d.read_only,
    "is_auto_close_on": Bit = false,
    "is_auto_shrink_on": Bit = false,
    "state": TinyInt = 0,
    "state_desc": Text60 = "ONLINE",
    "is_in_standby": Bit = false,
    "snapshot_isolation_state": TinyInt = u8::from(d.allow_snapshot_isolation),
    "snapshot_isolation_state_desc": Text60 = if d.allow_snapshot_isolation { "ON" } else { "OFF" },
    "is_read_committed_snapshot_on": Bit = d.read_committed_snapshot,
    "recovery_model": TinyInt = 3,
    "recovery_model_desc": Text60 = "SIMPLE",
    "is_fulltext_enabled": Bit = false,
    "is_trustworthy_on": Bit = false,
    "is_db_chaining_on": Bit = false,
    "is_parameterization_forced": Bit = false,
    "is_published": Bit = false,
    "is_broker_enabled": Bit = false,
    "is_cdc_enabled": Bit = false,
    "is_encrypted": Bit = false,
    "containment": TinyInt = 0,
    "containment_desc": Text60 = "NONE",
    "delayed_durability": Int = durability(d.delayed_durability).0,
    "delayed_durability_desc": Text60 = durability(d.delayed_durability).1,
    "is_memory_optimized_elevate_to_snapshot_on": Bit = false,
    "is_mixed_page_allocation_on": Bit = false,
}

fn durability(setting: DelayedDurability) -> (i32, &'static str) {
    match setting {
        DelayedDurability::Disabled => (0, "DISABLED"),
        DelayedDurability::Allowed => (1, "ALLOWED"),
        DelayedDurability::Forced => (2, "FORCED"),
    }
}

view! {
    /// The schemas of the current database.
    SCHEMAS: "sys.schemas";
    each schema in |s| s.database().into_iter().flat_map(|d| d.schemas.values());
    "name": Name = &schema.name,
    "schema_id": Int = schema.id,
    "principal_id": Int = schema.owner,
}
