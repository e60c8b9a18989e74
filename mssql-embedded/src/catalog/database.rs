//! Databases and what they hold besides tables.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::{ObjectId, TableDef};
use crate::ast;
use crate::value::{Collation, DataType, Value};

/// All databases and logins. A statement is bound against the catalogue as it was at one moment, while
/// others may change it; so it is copied when it changes, and only the database that changes with it.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// By folded name.
    pub databases: BTreeMap<String, Arc<Database>>,
    /// Server logins by folded name.
    pub logins: BTreeMap<String, Login>,
    /// The access tokens that are accepted.
    pub tokens: BTreeMap<String, TokenGrant>,
    pub next_object_id: ObjectId,
}

/// A server login.
#[derive(Clone, Debug)]
pub struct Login {
    pub name: String,
    /// Its principal id.
    pub id: i32,
    pub password: String,
    /// Member of sysadmin.
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

/// One database.
#[derive(Clone, Debug)]
pub struct Database {
    /// database_id.
    pub id: i32,
    pub name: String,
    /// Its collation, which names follow too.
    pub collation: Collation,
    /// READ_COMMITTED_SNAPSHOT.
    pub read_committed_snapshot: bool,
    /// ALLOW_SNAPSHOT_ISOLATION.
    pub allow_snapshot_isolation: bool,
    /// DELAYED_DURABILITY.
    pub delayed_durability: ast::DelayedDurability,
    /// Every change is answered with 3906. Only the controls set it.
    pub read_only: bool,
    /// compatibility_level.
    pub compatibility_level: u8,
    /// Schemas by id.
    pub schemas: BTreeMap<i32, Schema>,
    /// Schema ids by folded name.
    pub schema_names: HashMap<String, i32>,
    /// Objects by id.
    pub objects: BTreeMap<ObjectId, Object>,
    /// Object ids by schema id and folded name. Constraints are named here too.
    pub object_names: HashMap<(i32, String), ObjectId>,
    /// Users and roles by id.
    pub principals: BTreeMap<i32, Principal>,
    /// Role membership: (role, member).
    pub members: Vec<(i32, i32)>,
    /// Granted and denied permissions.
    pub permissions: Vec<Permission>,
    /// The next principal and schema id.
    pub next_principal_id: i32,
    pub next_schema_id: i32,
}

/// A namespace of objects. Its owner owns what is in it.
#[derive(Clone, Debug)]
pub struct Schema {
    /// schema_id.
    pub id: i32,
    pub name: String,
    /// The owning principal.
    pub owner: i32,
}

/// An object of sys.objects.
#[derive(Clone, Debug)]
pub enum Object {
    /// A user table.
    Table(Arc<TableDef>),
    Procedure(Arc<ProcedureDef>),
    View(Arc<ViewDef>),
    /// A constraint; its definition is in the table.
    Constraint {
        id: ObjectId,
        name: String,
        schema_id: i32,
        table: ObjectId,
        /// What it constrains.
        kind: ConstraintType,
    },
}

/// The constraints that are objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstraintType {
    /// PRIMARY KEY.
    PrimaryKey,
    /// UNIQUE.
    Unique,
    /// CHECK.
    Check,
    /// DEFAULT.
    Default,
    /// FOREIGN KEY.
    ForeignKey,
}

impl ConstraintType {
    /// sys.objects.type: two characters.
    pub fn code(self) -> &'static str {
        match self {
            Self::PrimaryKey => "PK",
            Self::Unique => "UQ",
            Self::Check => "C ",
            Self::Default => "D ",
            Self::ForeignKey => "F ",
        }
    }

    /// sys.objects.type_desc.
    pub fn description(self) -> &'static str {
        match self {
            Self::PrimaryKey => "PRIMARY_KEY_CONSTRAINT",
            Self::Unique => "UNIQUE_CONSTRAINT",
            Self::Check => "CHECK_CONSTRAINT",
            Self::Default => "DEFAULT_CONSTRAINT",
            Self::ForeignKey => "FOREIGN_KEY_CONSTRAINT",
        }
    }
}

/// A stored procedure.
#[derive(Debug)]
pub struct ProcedureDef {
    /// Its object id.
    pub id: ObjectId,
    pub schema_id: i32,
    /// The schema's name.
    pub schema: String,
    pub name: String,
    /// Raised by every ALTER.
    pub version: u64,
    /// Parameters.
    pub params: Vec<Param>,
    pub body: Arc<Vec<ast::Stmt>>,
    /// The whole definition, for sys.sql_modules.
    pub text: String,
    /// QUOTED_IDENTIFIER when it was created.
    pub quoted_identifier: bool,
    /// ANSI_NULLS when it was created.
    pub ansi_nulls: bool,
    /// Unix milliseconds of creation.
    pub created_ms: i64,
    /// Unix milliseconds of the last change.
    pub modified_ms: i64,
}

/// A parameter of a procedure.
#[derive(Clone, Debug)]
pub struct Param {
    /// `@name`.
    pub name: String,
    pub ty: DataType,
    pub default: Option<Value>,
    /// OUTPUT.
    pub output: bool,
}

/// A view: its query is bound anew wherever the view is named.
#[derive(Debug)]
pub struct ViewDef {
    /// Its object id.
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
    /// DEFAULT_SCHEMA.
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
pub struct Permission {
    pub on: SecurableId,
    /// Whom.
    pub grantee: i32,
    /// By whom.
    pub grantor: i32,
    /// 'EXECUTE', 'SELECT', …
    pub permission: String,
    pub state: PermissionState,
}
