//! sys.types.

use crate::dictionary::view::view;
use crate::value::facts;

/// max_length, precision and scale of a type without arguments, as sys.types has them: those of its largest value.
fn sizes(name: &str) -> (i16, u8, u8) {
    match name {
        "bit" => (1, 1, 0),
        "tinyint" => (1, 3, 0),
        "smallint" => (2, 5, 0),
        "int" => (4, 10, 0),
        "bigint" => (8, 19, 0),
        "decimal" | "numeric" => (17, 38, 38),
        "real" => (4, 24, 0),
        "float" => (8, 53, 0),
        "date" => (3, 10, 0),
        "time" => (5, 16, 7),
        "datetime2" => (8, 27, 7),
        "datetimeoffset" => (10, 34, 7),
        "smalldatetime" => (4, 16, 0),
        "datetime" => (8, 23, 3),
        "uniqueidentifier" => (16, 0, 0),
        "sysname" => (256, 0, 0),
        // Text and bytes.
        _ => (8000, 0, 0),
    }
}

fn is_text(name: &str) -> bool {
    name.ends_with("char") || name == "sysname"
}

view! {
    /// The types the engine has; SYSNAME is NVARCHAR under another name.
    TYPES: "sys.types";
    each (named, (length, precision, scale), collation) in |s| {
        let collation = s.database().map(|d| d.collation.name());
        facts::names().map(move |named| {
            let collation = collation.filter(|_| is_text(named.name));
            (named, sizes(named.name), collation)
        })
    };
    "name": Name = named.name,
    "system_type_id": TinyInt = named.system_type_id,
    "user_type_id": Int = named.user_type_id,
    "schema_id": Int = 4,
    "principal_id": Int = None::<i32>,
    "max_length": SmallInt = length,
    "precision": TinyInt = precision,
    "scale": TinyInt = scale,
    "collation_name": Name = collation,
    "is_nullable": Bit = named.name != "sysname",
    "is_user_defined": Bit = false,
    "is_assembly_type": Bit = false,
    "default_object_id": Int = 0,
    "rule_object_id": Int = 0,
    "is_table_type": Bit = false,
}
