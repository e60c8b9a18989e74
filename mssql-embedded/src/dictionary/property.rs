//! The property functions and the small tables behind them: type ids, object types, SIDs.

use crate::error::{SqlError, SqlResult};
use crate::func::CatalogFunction;
use crate::value::{DataType, Value};

use super::functions::Call;
use crate::catalog::{KeyConstraint, Object};

/// sys.types: name and system_type_id of the types the engine has.
pub const TYPES: &[(&str, i32)] = &[
    ("uniqueidentifier", 36),
    ("date", 40),
    ("time", 41),
    ("datetime2", 42),
    ("datetimeoffset", 43),
    ("tinyint", 48),
    ("smallint", 52),
    ("int", 56),
    ("smalldatetime", 58),
    ("real", 59),
    ("datetime", 61),
    ("float", 62),
    ("bit", 104),
    ("decimal", 106),
    ("numeric", 108),
    ("bigint", 127),
    ("varbinary", 165),
    ("varchar", 167),
    ("binary", 173),
    ("char", 175),
    ("nvarchar", 231),
    ("nchar", 239),
    ("sysname", 256),
];

/// TYPE_ID.
pub fn type_id(name: &str) -> Option<i32> {
    let name = name.trim().trim_start_matches("sys.").to_ascii_lowercase();
    TYPES.iter().find(|(n, _)| *n == name).map(|(_, id)| *id)
}

/// TYPE_NAME.
pub fn type_name(id: i32) -> Option<&'static str> {
    TYPES.iter().find(|(_, i)| *i == id).map(|(n, _)| *n)
}

/// system_type_id of a type.
pub fn system_type_id(ty: &DataType) -> i32 {
    type_id(ty.name()).unwrap_or(56)
}

/// sys.objects.type: two characters.
pub fn object_type(object: &Object) -> &'static str {
    match object {
        Object::Table(_) => "U ",
        Object::Procedure(_) => "P ",
        Object::View(_) => "V ",
        Object::Constraint { kind, .. } => kind,
    }
}

/// sys.objects.type_desc.
pub fn object_type_desc(object: &Object) -> &'static str {
    match object_type(object) {
        "U " => "USER_TABLE",
        "P " => "SQL_STORED_PROCEDURE",
        "V " => "VIEW",
        "PK" => "PRIMARY_KEY_CONSTRAINT",
        "UQ" => "UNIQUE_CONSTRAINT",
        "C " => "CHECK_CONSTRAINT",
        "D " => "DEFAULT_CONSTRAINT",
        _ => "FOREIGN_KEY_CONSTRAINT",
    }
}

/// The SID of a login: the id in a fixed frame, except for sa, whose SID is 0x01 everywhere.
pub fn sid(login: i32) -> Vec<u8> {
    if login == 1 {
        return vec![1];
    }
    let mut sid = vec![0u8; 16];
    sid[..4].copy_from_slice(&login.to_le_bytes());
    sid
}

fn bit(b: bool) -> SqlResult<Option<Value>> {
    Ok(Some(Value::Int(i64::from(b))))
}

/// Computes one of the property functions; an unknown property is NULL, as SQL Server has it.
pub fn property(call: &Call<'_>, function: CatalogFunction) -> SqlResult<Option<Value>> {
    match function {
        CatalogFunction::ObjectProperty | CatalogFunction::ObjectPropertyEx => {
            object_property(call)
        }
        CatalogFunction::ColumnProperty => column_property(call),
        CatalogFunction::IndexProperty => index_property(call),
        CatalogFunction::DatabasePropertyEx => database_property(call),
        CatalogFunction::ServerProperty => Ok(server_property(call)),
        CatalogFunction::SessionProperty => session_property(call),
        CatalogFunction::CollationProperty => collation_property(call),
        CatalogFunction::IndexCol => Err(SqlError::unsupported("INDEX_COL")),
        _ => Err(SqlError::unsupported("TYPEPROPERTY")),
    }
}

fn object_property(call: &Call<'_>) -> SqlResult<Option<Value>> {
    let (Some(object), Some(name)) = (call.object(0), call.text(1)) else {
        return Ok(None);
    };
    let kind = object_type(object);
    match name.to_ascii_lowercase().as_str() {
        "istable" | "isusertable" => bit(kind == "U "),
        "isprocedure" => bit(kind == "P "),
        "isview" => bit(kind == "V "),
        "isprimarykey" => bit(kind == "PK"),
        "isuniquecnst" => bit(kind == "UQ"),
        "ischeckcnst" => bit(kind == "C "),
        "isdefaultcnst" => bit(kind == "D "),
        "isforeignkey" => bit(kind == "F "),
        "ismsshipped" => bit(false),
        "ownerid" => Ok(Some(Value::Int(i64::from(
            call.database.schema_owner(object.schema_id()),
        )))),
        "schemaid" => Ok(Some(Value::Int(i64::from(object.schema_id())))),
        "tablehasidentity" => bit(call
            .table(0)
            .is_some_and(|t| t.columns.iter().any(|c| c.identity.is_some()))),
        "tablehasprimarykey" => bit(call.table(0).is_some_and(|t| {
            t.indexes
                .iter()
                .any(|i| matches!(i.constraint, Some(KeyConstraint { primary: true, .. })))
        })),
        "tablehasclustindex" => bit(call
            .table(0)
            .is_some_and(|t| t.indexes.iter().any(|i| i.clustered))),
        "execisquotedidenton" => match object {
            Object::Procedure(p) => bit(p.quoted_identifier),
            _ => Ok(None),
        },
        "execisansinullson" => match object {
            Object::Procedure(p) => bit(p.ansi_nulls),
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

fn column_property(call: &Call<'_>) -> SqlResult<Option<Value>> {
    let (Some(name), Some(property)) = (call.text(1), call.text(2)) else {
        return Ok(None);
    };
    let folded = call.database.fold(&name);
    let Some(column) = call.table(0).and_then(|t| {
        t.columns
            .iter()
            .find(|c| call.database.fold(&c.name) == folded)
    }) else {
        return Ok(None);
    };
    match property.to_ascii_lowercase().as_str() {
        "allowsnull" => bit(column.nullable),
        "isidentity" => bit(column.identity.is_some()),
        "iscomputed" => bit(column.computed.is_some()),
        "columnid" => Ok(Some(Value::Int(i64::from(column.id)))),
        "precision" => Ok(Some(Value::Int(i64::from(column.ty.precision())))),
        "scale" => Ok(Some(Value::Int(i64::from(column.ty.scale())))),
        _ => Ok(None),
    }
}

fn index_property(call: &Call<'_>) -> SqlResult<Option<Value>> {
    let (Some(name), Some(property)) = (call.text(1), call.text(2)) else {
        return Ok(None);
    };
    let folded = call.database.fold(&name);
    let Some(index) = call.table(0).and_then(|t| {
        t.indexes
            .iter()
            .find(|i| call.database.fold(&i.name) == folded)
    }) else {
        return Ok(None);
    };
    match property.to_ascii_lowercase().as_str() {
        "isclustered" => bit(index.clustered),
        "isunique" => bit(index.unique),
        "indexid" => Ok(Some(Value::Int(i64::from(index.index_id)))),
        "ispagelockdisallowed" => bit(!index.allow_page_locks),
        "isrowlockdisallowed" => bit(false),
        _ => Ok(None),
    }
}

fn database_property(call: &Call<'_>) -> SqlResult<Option<Value>> {
    let (Some(name), Some(property)) = (call.text(0), call.text(1)) else {
        return Ok(None);
    };
    let Some(database) = call.latch.catalog.databases.get(&name.to_lowercase()) else {
        return Ok(None);
    };
    Ok(match property.to_ascii_lowercase().as_str() {
        "collation" => Some(Value::text(database.collation.name())),
        "status" => Some(Value::text("ONLINE")),
        "updateability" => Some(Value::text("READ_WRITE")),
        "useraccess" => Some(Value::text("MULTI_USER")),
        "recovery" => Some(Value::text("SIMPLE")),
        "version" => Some(Value::text("904")),
        _ => None,
    })
}

fn server_property(call: &Call<'_>) -> Option<Value> {
    let text = |s: &str| Some(Value::text(s));
    match call.text(0)?.to_ascii_lowercase().as_str() {
        "productversion" => text("15.0.2000.5"),
        "productmajorversion" => text("15"),
        "productminorversion" => text("0"),
        "productlevel" => text("RTM"),
        "edition" => text("mssql-embedded"),
        "engineedition" => text("3"),
        "servername" | "machinename" => text(crate::context::SERVER_NAME),
        "collation" => text(
            call.latch
                .catalog
                .databases
                .get("master")
                .map_or("", |d| d.collation.name()),
        ),
        "isintegratedsecurityonly" | "isclustered" | "ishadrenabled" | "issingleuser" => text("0"),
        _ => None,
    }
}

fn session_property(call: &Call<'_>) -> SqlResult<Option<Value>> {
    let Some(name) = call.text(0) else {
        return Ok(None);
    };
    let s = &call.core.settings;
    match name.to_ascii_uppercase().as_str() {
        "ANSI_NULLS" => bit(s.ansi_nulls),
        "ANSI_PADDING" => bit(s.ansi_padding),
        "ANSI_WARNINGS" => bit(s.ansi_warnings),
        "ARITHABORT" => bit(s.arithabort),
        "CONCAT_NULL_YIELDS_NULL" => bit(s.concat_null_yields_null),
        "NUMERIC_ROUNDABORT" => bit(false),
        "QUOTED_IDENTIFIER" => bit(s.quoted_identifier),
        _ => Ok(None),
    }
}

fn collation_property(call: &Call<'_>) -> SqlResult<Option<Value>> {
    let (Some(name), Some(property)) = (call.text(0), call.text(1)) else {
        return Ok(None);
    };
    let Some(collation) = crate::value::Collation::by_name(&name) else {
        return Ok(None);
    };
    match property.to_ascii_lowercase().as_str() {
        "codepage" => {
            let utf8 = collation.name().to_ascii_uppercase().ends_with("UTF8");
            Ok(Some(Value::Int(if utf8 { 65001 } else { 1252 })))
        }
        "lcid" => Ok(Some(Value::Int(1033))),
        _ => Err(SqlError::unsupported(format!(
            "COLLATIONPROPERTY with {property}"
        ))),
    }
}
