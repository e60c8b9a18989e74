//! sys.types.

use crate::dictionary::view::view;
use crate::value::facts;

view! {
    /// The types the engine has; SYSNAME is NVARCHAR under another name.
    TYPES: "sys.types";
    each named in |_s| facts::names();
    "name": Name = named.name,
    "system_type_id": TinyInt = named.system_type_id,
    "user_type_id": Int = named.user_type_id,
    "schema_id": Int = 4,
    "is_user_defined": Bit = false,
    "is_table_type": Bit = false,
}
