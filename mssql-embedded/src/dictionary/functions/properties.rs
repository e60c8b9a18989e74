//! The property functions of objects, columns, indexes, the server, the session and collations. What is no property
//! gives NULL, as SQL Server has it; what is one and not known here is refused.

use crate::ast::Switch;
use crate::catalog::{ConstraintType, Object};
use crate::dictionary::metadata::metadata;
use crate::dictionary::{Call, SERVER_NAME};
use crate::error::SqlResult;
use crate::value::Collation;

metadata! {
    "OBJECTPROPERTY"(Int, Name) -> Int ? object_property,
    "OBJECTPROPERTYEX"(Int, Name) -> Int ? object_property,
    "COLUMNPROPERTY"(Int, Name, Name) -> Int ? column_property,
    "INDEXPROPERTY"(Int, Name, Name) -> Int ? index_property,
    "SERVERPROPERTY"(Name) -> Long ? server_property,
    "SESSIONPROPERTY"(Name) -> Flag => session_property,
    "COLLATIONPROPERTY"(Name, Name) -> Int ? collation_property,
}

fn object_property(call: &Call<'_>) -> SqlResult<Option<i32>> {
    let (Some(object), Some(property)) = (call.object(0), call.text(1)) else {
        return Ok(None);
    };
    let table = call.table(0);
    let is = |wanted: ConstraintType| matches!(object, Object::Constraint { kind, .. } if *kind == wanted);
    let yes = match property.to_ascii_lowercase().as_str() {
        "ownerid" => return Ok(Some(call.database.schema_owner(object.schema_id()))),
        "schemaid" => return Ok(Some(object.schema_id())),
        "istable" | "isusertable" => matches!(object, Object::Table(_)),
        "isprocedure" => matches!(object, Object::Procedure(_)),
        "isview" => matches!(object, Object::View(_)),
        "isprimarykey" => is(ConstraintType::PrimaryKey),
        "isuniquecnst" => is(ConstraintType::Unique),
        "ischeckcnst" => is(ConstraintType::Check),
        "isdefaultcnst" => is(ConstraintType::Default),
        "isforeignkey" => is(ConstraintType::ForeignKey),
        "ismsshipped" => false,
        "tablehasidentity" => table.is_some_and(|t| t.columns.iter().any(|c| c.identity.is_some())),
        "tablehasprimarykey" => table.is_some_and(|t| {
            let mut constraints = t.indexes.iter().filter_map(|i| i.constraint.as_ref());
            constraints.any(|c| c.primary)
        }),
        "tablehasclustindex" => table.is_some_and(|t| t.indexes.iter().any(|i| i.clustered)),
        "execisquotedidenton" => match object {
            Object::Procedure(p) => p.quoted_identifier,
            Object::View(_) => true,
            Object::Table(_) | Object::Constraint { .. } => return Ok(None),
        },
        // ANSI_NULLS OFF is refused.
        "execisansinullson" => match object {
            Object::Procedure(_) | Object::View(_) => true,
            Object::Table(_) | Object::Constraint { .. } => return Ok(None),
        },
        _ => return call.no_property(&property),
    };
    Ok(Some(i32::from(yes)))
}

fn column_property(call: &Call<'_>) -> SqlResult<Option<i32>> {
    let (Some(table), Some(name), Some(property)) = (call.table(0), call.text(1), call.text(2))
    else {
        return Ok(None);
    };
    let name = call.database.fold(&name);
    let mut columns = table.columns.iter();
    let Some(column) = columns.find(|c| call.database.fold(&c.name) == name) else {
        return Ok(None);
    };
    Ok(Some(match property.to_ascii_lowercase().as_str() {
        "allowsnull" => i32::from(column.nullable),
        "isidentity" => i32::from(column.identity.is_some()),
        "iscomputed" => i32::from(column.computed.is_some()),
        "columnid" => column.id,
        "precision" => i32::from(column.ty.precision()),
        "scale" => i32::from(column.ty.scale()),
        _ => return call.no_property(&property),
    }))
}

fn index_property(call: &Call<'_>) -> SqlResult<Option<i32>> {
    let (Some(table), Some(name), Some(property)) = (call.table(0), call.text(1), call.text(2))
    else {
        return Ok(None);
    };
    let name = call.database.fold(&name);
    let mut indexes = table.indexes.iter();
    let Some(index) = indexes.find(|i| call.database.fold(&i.name) == name) else {
        return Ok(None);
    };
    Ok(Some(match property.to_ascii_lowercase().as_str() {
        "isclustered" => i32::from(index.clustered),
        "isunique" => i32::from(index.unique),
        "indexid" => index.index_id,
        "ispagelockdisallowed" => i32::from(!index.allow_page_locks),
        "isrowlockdisallowed" => 0,
        _ => return call.no_property(&property),
    }))
}

fn server_property(call: &Call<'_>) -> SqlResult<Option<&'static str>> {
    let Some(property) = call.text(0) else {
        return Ok(None);
    };
    Ok(Some(match property.to_ascii_lowercase().as_str() {
        "productversion" => "15.0.2000.5",
        "productmajorversion" => "15",
        "productminorversion" => "0",
        "productlevel" => "RTM",
        "edition" => "mssql-embedded",
        "engineedition" => "3",
        "servername" | "machinename" => SERVER_NAME,
        "collation" => {
            let master = call.source.catalog().databases.get("master");
            return Ok(master.map(|d| d.collation.name()));
        }
        "isintegratedsecurityonly" | "isclustered" | "ishadrenabled" | "issingleuser" => "0",
        // The default instance has no name, and licences are not counted by SQL Server either.
        "instancename" | "numlicenses" => return Ok(None),
        _ => return call.no_property(&property),
    }))
}

fn session_property(call: &Call<'_>) -> Option<bool> {
    let switch = Switch::by_name(&call.text(0)?.to_ascii_uppercase())?;
    call.source.set_option(switch)
}

fn collation_property(call: &Call<'_>) -> SqlResult<Option<i32>> {
    let (Some(name), Some(property)) = (call.text(0), call.text(1)) else {
        return Ok(None);
    };
    let Some(collation) = Collation::by_name(&name) else {
        return Ok(None);
    };
    match property.to_ascii_lowercase().as_str() {
        "codepage" => {
            let utf8 = collation.name().to_ascii_uppercase().ends_with("UTF8");
            Ok(Some(if utf8 { 65001 } else { 1252 }))
        }
        "lcid" => Ok(Some(1033)),
        _ => call.no_property(&property),
    }
}
