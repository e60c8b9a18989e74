//! The system views, one file per family. A view that is not listed here cannot be named.

mod columns;
mod constraints;
mod databases;
mod foreign_keys;
mod indexes;
mod information_schema;
mod locks;
mod modules;
mod objects;
mod permissions;
mod principals;
mod sessions;
mod types;

use super::View;

/// The views that need VIEW SERVER STATE, which only sysadmins have.
pub static OF_THE_SERVER: &[&str] = &["sys.dm_tran_locks"];

pub static ALL: &[&View] = &[
    &databases::DATABASES,
    &databases::SCHEMAS,
    &objects::OBJECTS,
    &objects::ALL_OBJECTS,
    &objects::TABLES,
    &objects::VIEWS,
    &objects::PROCEDURES,
    &modules::SQL_MODULES,
    &modules::PARAMETERS,
    &types::TYPES,
    &columns::COLUMNS,
    &columns::COMPUTED_COLUMNS,
    &columns::IDENTITY_COLUMNS,
    &indexes::INDEXES,
    &indexes::INDEX_COLUMNS,
    &indexes::PARTITIONS,
    &indexes::PARTITION_STATS,
    &constraints::KEY_CONSTRAINTS,
    &constraints::CHECK_CONSTRAINTS,
    &constraints::DEFAULT_CONSTRAINTS,
    &foreign_keys::FOREIGN_KEYS,
    &foreign_keys::FOREIGN_KEY_COLUMNS,
    &principals::DATABASE_PRINCIPALS,
    &principals::DATABASE_ROLE_MEMBERS,
    &principals::SERVER_PRINCIPALS,
    &principals::SQL_LOGINS,
    &permissions::DATABASE_PERMISSIONS,
    &locks::TRAN_LOCKS,
    &sessions::SESSIONS,
    &sessions::REQUESTS,
    &information_schema::SCHEMATA,
    &information_schema::TABLES,
    &information_schema::COLUMNS,
    &information_schema::ROUTINES,
    &information_schema::TABLE_CONSTRAINTS,
    &information_schema::KEY_COLUMN_USAGE,
];
