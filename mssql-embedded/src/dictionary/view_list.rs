//! The list of system views: their columns and who produces their rows.

use crate::plan::SystemType::{
    self, BigInt, Bit, Char2, Char4, DateTime, Int, Max, Name, Sid, SmallInt, Text60, TinyInt,
};
use crate::plan::SystemView;
use crate::value::Value;

use super::system_view::Source;
use super::views::{foreign_keys, information_schema, locks, objects, principals, tables};

/// Produces the rows of a view.
pub(super) type RowsOf = fn(&Source<'_>) -> Vec<Vec<Value>>;
type Columns = &'static [(&'static str, SystemType)];

const OBJECT: Columns = &[
    ("name", Name),
    ("object_id", Int),
    ("principal_id", Int),
    ("schema_id", Int),
    ("parent_object_id", Int),
    ("type", Char2),
    ("type_desc", Text60),
    ("create_date", DateTime),
    ("modify_date", DateTime),
    ("is_ms_shipped", Bit),
    ("is_published", Bit),
    ("is_schema_published", Bit),
];

/// Every system view with the function that produces its rows.
const VIEWS: &[(SystemView, RowsOf)] = &[
    (
        view(
            "sys.databases",
            &[
                ("name", Name),
                ("database_id", Int),
                ("compatibility_level", TinyInt),
                ("collation_name", Name),
                ("is_read_committed_snapshot_on", Bit),
                ("snapshot_isolation_state", TinyInt),
                ("snapshot_isolation_state_desc", Text60),
                ("state", TinyInt),
                ("state_desc", Text60),
                ("user_access_desc", Text60),
                ("is_read_only", Bit),
                ("recovery_model_desc", Text60),
            ],
        ),
        objects::databases,
    ),
    (
        view(
            "sys.schemas",
            &[("name", Name), ("schema_id", Int), ("principal_id", Int)],
        ),
        objects::schemas,
    ),
    (view("sys.objects", OBJECT), objects::objects),
    (view("sys.all_objects", OBJECT), objects::objects),
    (
        view(
            "sys.tables",
            &[
                ("name", Name),
                ("object_id", Int),
                ("principal_id", Int),
                ("schema_id", Int),
                ("parent_object_id", Int),
                ("type", Char2),
                ("type_desc", Text60),
                ("create_date", DateTime),
                ("modify_date", DateTime),
                ("is_ms_shipped", Bit),
                ("lock_escalation", TinyInt),
                ("lock_escalation_desc", Text60),
            ],
        ),
        objects::tables,
    ),
    (view("sys.views", OBJECT), objects::views),
    (view("sys.procedures", OBJECT), objects::procedures),
    (
        view(
            "sys.sql_modules",
            &[
                ("object_id", Int),
                ("definition", Max),
                ("uses_ansi_nulls", Bit),
                ("uses_quoted_identifier", Bit),
                ("is_schema_bound", Bit),
                ("is_recompiled", Bit),
                ("execute_as_principal_id", Int),
            ],
        ),
        objects::sql_modules,
    ),
    (
        view(
            "sys.parameters",
            &[
                ("object_id", Int),
                ("name", Name),
                ("parameter_id", Int),
                ("system_type_id", TinyInt),
                ("user_type_id", Int),
                ("max_length", SmallInt),
                ("precision", TinyInt),
                ("scale", TinyInt),
                ("is_output", Bit),
                ("has_default_value", Bit),
            ],
        ),
        objects::parameters,
    ),
    (
        view(
            "sys.types",
            &[
                ("name", Name),
                ("system_type_id", TinyInt),
                ("user_type_id", Int),
                ("schema_id", Int),
                ("is_user_defined", Bit),
                ("is_table_type", Bit),
            ],
        ),
        objects::types,
    ),
    (
        view(
            "sys.columns",
            &[
                ("object_id", Int),
                ("name", Name),
                ("column_id", Int),
                ("system_type_id", TinyInt),
                ("user_type_id", Int),
                ("max_length", SmallInt),
                ("precision", TinyInt),
                ("scale", TinyInt),
                ("collation_name", Name),
                ("is_nullable", Bit),
                ("is_identity", Bit),
                ("is_computed", Bit),
                ("default_object_id", Int),
            ],
        ),
        tables::columns,
    ),
    (
        view(
            "sys.computed_columns",
            &[
                ("object_id", Int),
                ("name", Name),
                ("column_id", Int),
                ("definition", Max),
                ("is_persisted", Bit),
            ],
        ),
        tables::computed_columns,
    ),
    (
        view(
            "sys.identity_columns",
            &[
                ("object_id", Int),
                ("name", Name),
                ("column_id", Int),
                ("seed_value", BigInt),
                ("increment_value", BigInt),
                ("last_value", BigInt),
            ],
        ),
        tables::identity_columns,
    ),
    (
        view(
            "sys.indexes",
            &[
                ("object_id", Int),
                ("name", Name),
                ("index_id", Int),
                ("type", TinyInt),
                ("type_desc", Text60),
                ("is_unique", Bit),
                ("ignore_dup_key", Bit),
                ("is_primary_key", Bit),
                ("is_unique_constraint", Bit),
                ("is_disabled", Bit),
                ("allow_row_locks", Bit),
                ("allow_page_locks", Bit),
                ("has_filter", Bit),
                ("filter_definition", Max),
            ],
        ),
        tables::indexes,
    ),
    (
        view(
            "sys.index_columns",
            &[
                ("object_id", Int),
                ("index_id", Int),
                ("index_column_id", Int),
                ("column_id", Int),
                ("key_ordinal", TinyInt),
                ("is_descending_key", Bit),
                ("is_included_column", Bit),
            ],
        ),
        tables::index_columns,
    ),
    (
        view(
            "sys.key_constraints",
            &[
                ("name", Name),
                ("object_id", Int),
                ("schema_id", Int),
                ("parent_object_id", Int),
                ("type", Char2),
                ("type_desc", Text60),
                ("unique_index_id", Int),
                ("is_system_named", Bit),
            ],
        ),
        tables::key_constraints,
    ),
    (
        view(
            "sys.check_constraints",
            &[
                ("name", Name),
                ("object_id", Int),
                ("schema_id", Int),
                ("parent_object_id", Int),
                ("type", Char2),
                ("type_desc", Text60),
                ("definition", Max),
                ("is_system_named", Bit),
                ("is_disabled", Bit),
                ("parent_column_id", Int),
            ],
        ),
        tables::check_constraints,
    ),
    (
        view(
            "sys.default_constraints",
            &[
                ("name", Name),
                ("object_id", Int),
                ("schema_id", Int),
                ("parent_object_id", Int),
                ("type", Char2),
                ("type_desc", Text60),
                ("definition", Max),
                ("is_system_named", Bit),
                ("parent_column_id", Int),
            ],
        ),
        tables::default_constraints,
    ),
    (
        view(
            "sys.partitions",
            &[
                ("partition_id", BigInt),
                ("object_id", Int),
                ("index_id", Int),
                ("partition_number", Int),
                ("rows", BigInt),
            ],
        ),
        tables::partitions,
    ),
    (
        view(
            "sys.dm_db_partition_stats",
            &[
                ("partition_id", BigInt),
                ("object_id", Int),
                ("index_id", Int),
                ("partition_number", Int),
                ("row_count", BigInt),
            ],
        ),
        tables::partitions,
    ),
    (
        view(
            "sys.database_principals",
            &[
                ("name", Name),
                ("principal_id", Int),
                ("type", Char2),
                ("type_desc", Text60),
                ("default_schema_name", Name),
                ("sid", Sid),
                ("is_fixed_role", Bit),
                ("owning_principal_id", Int),
            ],
        ),
        principals::database_principals,
    ),
    (
        view(
            "sys.database_role_members",
            &[("role_principal_id", Int), ("member_principal_id", Int)],
        ),
        principals::role_members,
    ),
    (
        view(
            "sys.database_permissions",
            &[
                ("class", TinyInt),
                ("class_desc", Text60),
                ("major_id", Int),
                ("minor_id", Int),
                ("grantee_principal_id", Int),
                ("grantor_principal_id", Int),
                ("type", Char4),
                ("permission_name", Text60),
                ("state", Char2),
                ("state_desc", Text60),
            ],
        ),
        principals::permissions,
    ),
    (
        view(
            "sys.server_principals",
            &[
                ("name", Name),
                ("principal_id", Int),
                ("sid", Sid),
                ("type", Char2),
                ("type_desc", Text60),
                ("is_disabled", Bit),
                ("default_database_name", Name),
            ],
        ),
        principals::server_principals,
    ),
    (
        view(
            "sys.sql_logins",
            &[
                ("name", Name),
                ("principal_id", Int),
                ("sid", Sid),
                ("type", Char2),
                ("type_desc", Text60),
                ("is_disabled", Bit),
                ("default_database_name", Name),
            ],
        ),
        principals::server_principals,
    ),
    (
        view(
            "sys.dm_tran_locks",
            &[
                ("resource_type", Text60),
                ("resource_database_id", Int),
                ("resource_associated_entity_id", BigInt),
                ("resource_description", Name),
                ("request_mode", Text60),
                ("request_status", Text60),
                ("request_session_id", Int),
            ],
        ),
        locks::tran_locks,
    ),
    (
        view(
            "information_schema.schemata",
            &[
                ("CATALOG_NAME", Name),
                ("SCHEMA_NAME", Name),
                ("SCHEMA_OWNER", Name),
            ],
        ),
        information_schema::schemata,
    ),
    (
        view(
            "information_schema.tables",
            &[
                ("TABLE_CATALOG", Name),
                ("TABLE_SCHEMA", Name),
                ("TABLE_NAME", Name),
                ("TABLE_TYPE", Text60),
            ],
        ),
        information_schema::tables,
    ),
    (
        view(
            "information_schema.columns",
            &[
                ("TABLE_CATALOG", Name),
                ("TABLE_SCHEMA", Name),
                ("TABLE_NAME", Name),
                ("COLUMN_NAME", Name),
                ("ORDINAL_POSITION", Int),
                ("COLUMN_DEFAULT", Max),
                ("IS_NULLABLE", Text60),
                ("DATA_TYPE", Name),
                ("CHARACTER_MAXIMUM_LENGTH", Int),
                ("CHARACTER_OCTET_LENGTH", Int),
                ("NUMERIC_PRECISION", TinyInt),
                ("NUMERIC_SCALE", Int),
                ("DATETIME_PRECISION", SmallInt),
                ("COLLATION_NAME", Name),
            ],
        ),
        information_schema::columns,
    ),
    (
        view(
            "information_schema.routines",
            &[
                ("SPECIFIC_SCHEMA", Name),
                ("SPECIFIC_NAME", Name),
                ("ROUTINE_CATALOG", Name),
                ("ROUTINE_SCHEMA", Name),
                ("ROUTINE_NAME", Name),
                ("ROUTINE_TYPE", Text60),
                ("ROUTINE_DEFINITION", Max),
                ("CREATED", DateTime),
                ("LAST_ALTERED", DateTime),
            ],
        ),
        information_schema::routines,
    ),
    (
        view(
            "information_schema.table_constraints",
            &[
                ("CONSTRAINT_CATALOG", Name),
                ("CONSTRAINT_SCHEMA", Name),
                ("CONSTRAINT_NAME", Name),
                ("TABLE_SCHEMA", Name),
                ("TABLE_NAME", Name),
                ("CONSTRAINT_TYPE", Text60),
            ],
        ),
        information_schema::table_constraints,
    ),
    (
        view(
            "information_schema.key_column_usage",
            &[
                ("CONSTRAINT_SCHEMA", Name),
                ("CONSTRAINT_NAME", Name),
                ("TABLE_SCHEMA", Name),
                ("TABLE_NAME", Name),
                ("COLUMN_NAME", Name),
                ("ORDINAL_POSITION", Int),
            ],
        ),
        information_schema::key_column_usage,
    ),
];

/// A view and its columns.
pub(super) const fn view(name: &'static str, columns: Columns) -> SystemView {
    SystemView { name, columns }
}

/// All system views.
pub(super) fn all() -> impl Iterator<Item = &'static (SystemView, RowsOf)> {
    VIEWS.iter().chain(foreign_keys::VIEWS)
}
