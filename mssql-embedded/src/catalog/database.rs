//! Databases and what they hold besides tables.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::{ConstraintType, ObjectId, TableDef};
use crate::ast;
use crate::value::{Collation, DataType, Value};

/// All databases and logins. A statement is bound against the catalogue as it was at one moment, while
/// others may change it; so it is copied when it changes, and only the database that changes with it.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// By name folded with the server's collation.
    pub databases: BTreeMap<String, Arc<Database>>,
    /// Server logins by folded name.
    pub logins: BTreeMap<String, Login>,
    /// The access tokens that are accepted.
    pub tokens: BTreeMap<String, TokenGrant>,
    pub next_object_id: ObjectId,
}

#[derive(Clone, Debug)]
pub struct Login {
    pub name: String,
    pub id: i32,
    pub password: String,
    pub sysadmin: bool,
    /// Where its sessions start.
    pub default_database: String,
    /// ALTER LOGIN … DISABLE.
    pub disabled: bool,
}

/// Whom an access token stands for.
#[derive(Clone, Debug)]
pub struct TokenGrant {
    pub login: String,
    /// The end, on the engine's clock.
    pub expires_at_ms: i64,
}

#[derive(Clone, Debug)]
pub struct Database {
    pub id: i32,
    pub name: String,
    /// Its collation, which names follow too.
    pub collation: Collation,
    pub read_committed_snapshot: bool,
    pub allow_snapshot_isolation: bool,
    pub delayed_durability: ast::DelayedDurability,
    /// Every change is answered with 3906. Only the controls set it.
    pub read_only: bool,
    pub compatibility_level: u8,
    pub schemas: BTreeMap<i32, Schema>,
    /// Schema ids by folded name.
    pub schema_names: HashMap<String, i32>,
    pub objects: BTreeMap<ObjectId, Object>,
    /// Object ids by schema id and folded name. Constraints are named here too.
    pub object_names: HashMap<(i32, String), ObjectId>,
    /// Users and roles by id.
    pub principals: BTreeMap<i32, Principal>,
    /// Role membership: (role, member).
    pub members: Vec<(i32, i32)>,
    /// Granted and denied permissions.
    pub permissions: Vec<PermissionRow>,
    /// The next principal and schema id.
    pub next_principal_id: i32,
    pub next_schema_id: i32,
}

/// A namespace of objects. Its owner owns what is in it.
#[derive(Clone, Debug)]
pub struct Schema {
    pub id: i32,
    pub name: String,
    /// The owning principal.
    pub owner: i32,
}

/// An object of sys.objects.
#[derive(Clone, Debug)]
pub enum Object {
    Table(Arc<TableDef>),
    Procedure(Arc<ProcedureDef>),
    View(Arc<ViewDef>),
    /// A constraint; its definition is in the table.
    Constraint {
        id: ObjectId,
        name: String,
        schema_id: i32,
        table: ObjectId,
        kind: ConstraintType,
    },
}

#[derive(Debug)]
pub struct ProcedureDef {
    pub id: ObjectId,
    pub schema_id: i32,
    pub schema: String,
    pub name: String,
    /// Raised by every ALTER.
    pub version: u64,
    pub params: Vec<Param>,
    pub body: Arc<Vec<ast::Stmt>>,
    /// The whole definition, for sys.sql_modules.
    pub text: String,
    /// QUOTED_IDENTIFIER when it was created.
    pub quoted_identifier: bool,
    /// Unix milliseconds of creation.
    pub created_ms: i64,
    /// Unix milliseconds of the last change.
    pub modified_ms: i64,
}

#[derive(Clone, Debug)]
pub struct Param {
    /// `@name`.
    pub name: String,
    pub ty: DataType,
    pub default: Option<Value>,
    pub output: bool,
}

/// A view: its query is bound anew wherever the view is named.
#[derive(Debug)]
pub struct ViewDef {
    pub id: ObjectId,
    pub schema_id: i32,
    pub name: String,
    /// Raised by every ALTER.
    pub version: u64,
    /// Column names, if given.
    pub columns: Vec<String>,
    pub query: Arc<ast::SelectStmt>,
    pub text: String,
    /// Unix milliseconds of creation.
    pub created_ms: i64,
    /// Unix milliseconds of the last change.
    pub modified_ms: i64,
}

/// A user or role.
#[derive(Clone, Debug)]
pub struct Principal {
    /// principal_id: 0 public, 1 dbo, 2 guest, 16384 and up the fixed roles.
    pub id: i32,
    pub name: String,
    /// A role rather than a user.
    pub role: bool,
    /// The login behind a user.
    pub login: Option<String>,
    pub default_schema: Option<String>,
    /// The owner of a role.
    pub owner: i32,
    /// A fixed database role or built-in user.
    pub fixed: bool,
}

/// What a permission is about, with its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecurableId {
    Database,
    Object(ObjectId),
    Schema(i32),
    Principal(i32),
}

impl SecurableId {
    /// Number and name of its class, and its id, as sys.database_permissions shows them.
    pub fn shown(self) -> (u8, &'static str, i32) {
        match self {
            Self::Database => (0, "DATABASE", 0),
            Self::Object(id) => (1, "OBJECT_OR_COLUMN", id),
            Self::Schema(id) => (3, "SCHEMA", id),
            Self::Principal(id) => (4, "DATABASE_PRINCIPAL", id),
        }
    }
}

/// Whether a permission is given or withheld.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionState {
    Grant,
    Deny,
}

impl PermissionState {
    /// Letter and name, as sys.database_permissions shows them.
    pub fn shown(self) -> (&'static str, &'static str) {
        match self {
            Self::Grant => ("G ", "GRANT"),
            Self::Deny => ("D ", "DENY"),
        }
    }
}

/// One row of sys.database_permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionRow {
    pub on: SecurableId,
    pub grantee: i32,
    pub grantor: i32,
    pub permission: ast::Permission,
    pub state: PermissionState,
}
