//! What a new database holds.

use std::collections::{BTreeMap, HashMap};

use super::{Database, Principal, Schema};
use crate::ast::DelayedDurability;
use crate::value::Collation;

/// The fixed roles: name and principal id.
const ROLES: &[(&str, i32)] = &[
    ("public", 0),
    ("db_owner", 16384),
    ("db_accessadmin", 16385),
    ("db_securityadmin", 16386),
    ("db_ddladmin", 16387),
    ("db_backupoperator", 16389),
    ("db_datareader", 16390),
    ("db_datawriter", 16391),
    ("db_denydatareader", 16392),
    ("db_denydatawriter", 16393),
];

const USERS: &[(&str, i32)] = &[
    ("dbo", 1),
    ("guest", 2),
    ("INFORMATION_SCHEMA", 3),
    ("sys", 4),
];

impl Database {
    /// An empty database with its fixed principals and schemas.
    pub fn new(id: i32, name: &str, collation: Collation) -> Self {
        let mut database = Self {
            id,
            name: name.to_owned(),
            collation,
            read_committed_snapshot: false,
            allow_snapshot_isolation: false,
            delayed_durability: DelayedDurability::Disabled,
            read_only: false,
            compatibility_level: 150,
            schemas: BTreeMap::new(),
            schema_names: HashMap::new(),
            objects: BTreeMap::new(),
            object_names: HashMap::new(),
            principals: BTreeMap::new(),
            members: Vec::new(),
            permissions: Vec::new(),
            next_principal_id: 5,
            next_schema_id: 5,
        };
        for (name, id) in ROLES {
            database.add_principal(*id, name, true);
        }
        for (name, id) in USERS {
            database.add_principal(*id, name, false);
            let schema = Schema {
                id: *id,
                name: (*name).to_owned(),
                owner: *id,
            };
            database.schemas.insert(*id, schema);
            let key = database.fold(name);
            database.schema_names.insert(key, *id);
        }
        database
    }

    fn add_principal(&mut self, id: i32, name: &str, role: bool) {
        let login = (id == 1).then(|| "sa".to_owned());
        self.principals.insert(
            id,
            Principal {
                id,
                name: name.to_owned(),
                role,
                login,
                default_schema: (id == 1).then(|| "dbo".to_owned()),
                owner: 1,
                fixed: true,
            },
        );
    }
}
