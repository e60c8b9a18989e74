//! Finding things in a database by name.

use std::sync::Arc;

use super::{
    Database, LookUp, Object, ObjectId, Principal, ProcedureDef, Schema, TableDef, ViewDef,
};

impl Database {
    /// A name as the catalogue keys it: folded when the database's collation ignores case.
    pub fn fold(&self, name: &str) -> String {
        if self.collation.is_case_insensitive() {
            name.to_lowercase()
        } else {
            name.to_owned()
        }
    }

    /// Whether the catalogue takes two names for one.
    pub fn same_name(&self, a: &str, b: &str) -> bool {
        // Binding compares far more names than it looks up, and nearly all are ASCII.
        if a.is_ascii() && b.is_ascii() && self.collation.is_case_insensitive() {
            a.eq_ignore_ascii_case(b)
        } else {
            a == b || self.fold(a) == self.fold(b)
        }
    }

    /// Whether the compatibility level has OPENJSON and STRING_SPLIT: "OPENJSON (Transact-SQL)".
    pub fn has_open_json(&self) -> bool {
        self.compatibility_level >= 130
    }

    pub fn find_schema(&self, name: &str) -> Option<&Schema> {
        self.schemas.get(self.schema_names.get(&self.fold(name))?)
    }

    pub fn find_object(&self, schema: &str, name: &str) -> Option<&Object> {
        self.object_in(self.find_schema(schema)?.id, name)
    }

    pub fn object_in(&self, schema: i32, name: &str) -> Option<&Object> {
        self.objects
            .get(self.object_names.get(&(schema, self.fold(name)))?)
    }

    /// A name in a schema, and what it means now.
    pub fn look_up(&self, schema: i32, name: &str) -> LookUp {
        let object = self.object_in(schema, name);
        LookUp {
            database: self.id,
            schema,
            name: self.fold(name),
            meant: object.map(|object| (object.id(), object.version())),
        }
    }

    /// The schema in which a user's names are looked up first.
    pub fn default_schema(&self, user: i32) -> &str {
        self.principals
            .get(&user)
            .and_then(|p| p.default_schema.as_deref())
            .unwrap_or("dbo")
    }

    pub fn find_principal(&self, name: &str) -> Option<&Principal> {
        let folded = self.fold(name);
        self.principals
            .values()
            .find(|p| self.fold(&p.name) == folded)
    }

    /// The principal that owns what is in a schema; dbo for those of temporary tables, which are
    /// not listed.
    pub fn schema_owner(&self, schema: i32) -> i32 {
        self.schemas.get(&schema).map_or(1, |s| s.owner)
    }

    /// The roles a principal is in, directly and through roles, itself and public included.
    pub fn memberships(&self, principal: i32) -> Vec<i32> {
        let mut found = vec![principal, 0];
        let mut at = 0;
        while at < found.len() {
            for (role, member) in &self.members {
                if *member == found[at] && !found.contains(role) {
                    found.push(*role);
                }
            }
            at += 1;
        }
        found
    }
}

impl Object {
    /// The table, if it is one. Who wants one kind of object asks this and its siblings, so that a new kind is
    /// decided on here.
    pub fn as_table(&self) -> Option<&Arc<TableDef>> {
        match self {
            Self::Table(table) => Some(table),
            Self::Procedure(_) | Self::View(_) | Self::Constraint { .. } => None,
        }
    }

    pub fn as_view(&self) -> Option<&Arc<ViewDef>> {
        match self {
            Self::View(view) => Some(view),
            Self::Table(_) | Self::Procedure(_) | Self::Constraint { .. } => None,
        }
    }

    pub fn as_procedure(&self) -> Option<&Arc<ProcedureDef>> {
        match self {
            Self::Procedure(procedure) => Some(procedure),
            Self::Table(_) | Self::View(_) | Self::Constraint { .. } => None,
        }
    }

    /// Whether FROM may name it.
    pub fn is_relation(&self) -> bool {
        match self {
            Self::Table(_) | Self::View(_) => true,
            Self::Procedure(_) | Self::Constraint { .. } => false,
        }
    }

    pub fn id(&self) -> ObjectId {
        match self {
            Self::Table(t) => t.id,
            Self::Procedure(p) => p.id,
            Self::View(v) => v.id,
            Self::Constraint { id, .. } => *id,
        }
    }

    pub fn name(&self) -> &str {
        match self {
            Self::Table(t) => &t.name,
            Self::Procedure(p) => &p.name,
            Self::View(v) => &v.name,
            Self::Constraint { name, .. } => name,
        }
    }

    /// Another one means that it has been redefined; constraints never are.
    pub fn version(&self) -> u64 {
        match self {
            Self::Table(t) => t.version,
            Self::Procedure(p) => p.version,
            Self::View(v) => v.version,
            Self::Constraint { .. } => 0,
        }
    }

    pub fn schema_id(&self) -> i32 {
        match self {
            Self::Table(t) => t.schema_id,
            Self::Procedure(p) => p.schema_id,
            Self::View(v) => v.schema_id,
            Self::Constraint { schema_id, .. } => *schema_id,
        }
    }
}
