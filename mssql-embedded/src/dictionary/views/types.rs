//! sys.types.

use crate::dictionary::view::view;
use crate::value::facts;

view! {
    /// The types the engine has, each as large as it can be; SYSNAME is NVARCHAR under another name.
    TYPES: "sys.types";
    each (named, largest, collation) in |s| {
        let collation = s.database().map(|d| d.collation.name());
        facts::names().map(move |named| {
            let largest = (named.largest)();
            let collation = collation.filter(|_| largest.is_string());
            (named, largest, collation)
        })
    };
    "name": Name = named.name,
    "system_type_id": TinyInt = named.system_type_id,
    "user_type_id": Int = named.user_type_id,
    "schema_id": Int = 4,
    "principal_id": Int = None::<i32>,
    "max_length": SmallInt = largest.max_length(),
    "precision": TinyInt = largest.precision(),
    "scale": TinyInt = largest.scale(),
    "collation_name": Name = collation,
    "is_nullable": Bit = named.name != "sysname",
    "is_user_defined": Bit = false,
    "is_assembly_type": Bit = false,
    "default_object_id": Int = 0,
    "rule_object_id": Int = 0,
    "is_table_type": Bit = false,
}
