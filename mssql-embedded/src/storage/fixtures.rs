//! Table definitions for the tests of storage and access.

use std::sync::Arc;

use super::Row;
use crate::catalog::{Column, IndexDef, KeyConstraint, TableDef};
use crate::value::{DataType, Value};

/// A heap `dbo.t` with nullable INT columns of the given names.
pub fn heap(columns: &[&str]) -> TableDef {
    TableDef {
        id: 100,
        schema_id: 1,
        schema: "dbo".into(),
        name: "t".into(),
        database: "db".into(),
        version: 1,
        columns: columns
            .iter()
            .zip(1..)
            .map(|(name, id)| Column {
                id,
                name: (*name).into(),
                ty: DataType::Int,
                nullable: true,
                sysname: false,
                identity: None,
                default: None,
                computed: None,
            })
            .collect(),
        indexes: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        referenced_by: Vec::new(),
        lock_escalation: true,
        created_ms: 0,
        modified_ms: 0,
    }
}

/// An index on columns by position.
pub fn index(index_id: i32, unique: bool, keys: &[usize]) -> IndexDef {
    IndexDef {
        index_id,
        name: format!("ix_{index_id}"),
        unique,
        clustered: index_id == 1,
        constraint: None,
        keys: keys.iter().map(|k| (*k, false)).collect(),
        include: Vec::new(),
        filter: None,
        ignore_dup_key: false,
        allow_page_locks: true,
    }
}

/// The clustered primary key `pk_t` on the first column.
pub fn primary_key() -> IndexDef {
    IndexDef {
        name: "pk_t".into(),
        constraint: Some(KeyConstraint {
            id: 101,
            primary: true,
            system_named: false,
        }),
        ..index(1, true, &[0])
    }
}

/// `dbo.t (id PRIMARY KEY, v, w)` with further indexes.
pub fn keyed(indexes: Vec<IndexDef>) -> Arc<TableDef> {
    let mut def = heap(&["id", "v", "w"]);
    def.indexes.push(primary_key());
    def.indexes.extend(indexes);
    Arc::new(def)
}

pub fn ints(values: &[i64]) -> Row {
    values.iter().map(|n| Value::Int(*n)).collect()
}
