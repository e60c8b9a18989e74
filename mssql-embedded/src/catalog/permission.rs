//! Who may do what, by ownership, role and grant.

use super::{Database, Object, PermissionRow, PermissionState, Principal, SecurableId};
use crate::ast::Permission;

/// Ids of fixed roles.
const DB_OWNER: i32 = 16384;
const DB_SECURITYADMIN: i32 = 16386;
const DB_DDLADMIN: i32 = 16387;
const DB_DATAREADER: i32 = 16390;
const DB_DATAWRITER: i32 = 16391;

/// What db_ddladmin may do ("Database-level roles"), as far as the engine checks it.
const DDL_ADMIN: &[Permission] = &[
    Permission::AlterAnySchema,
    Permission::CreateProcedure,
    Permission::CreateSchema,
    Permission::CreateTable,
    Permission::CreateView,
    Permission::References,
];

/// Whether a user owns the database, in effect.
fn is_owner(database: &Database, user: i32, sysadmin: bool) -> bool {
    sysadmin || user == 1 || database.memberships(user).contains(&DB_OWNER)
}

/// Whether a user may manage users, roles and permissions.
pub fn may_administer(database: &Database, user: i32, sysadmin: bool) -> bool {
    is_owner(database, user, sysadmin) || database.memberships(user).contains(&DB_SECURITYADMIN)
}

/// Whether a user who may not administer may create roles all the same.
pub fn may_create_roles(database: &Database, user: i32) -> bool {
    [Permission::CreateRole, Permission::AlterAnyRole]
        .iter()
        .any(|permission| has_on_database(database, user, *permission))
}

/// Whether a user may change a role's members and drop it: as its owner, or with a right on it.
pub fn may_change_role(database: &Database, user: i32, sysadmin: bool, role: &Principal) -> bool {
    may_administer(database, user, sysadmin)
        || has_on_database(database, user, Permission::AlterAnyRole)
        || has_on(
            database,
            user,
            Some(role.owner),
            Permission::Control,
            |on| on == SecurableId::Principal(role.id) || on == SecurableId::Database,
        )
}

/// What is defined, and in which schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    CreateSchema,
    AlterAuthorization,
    CreateTable(i32),
    CreateProcedure(i32),
    /// CREATE VIEW and ALTER VIEW.
    CreateView(i32),
    /// A change of what there is.
    Alter(i32),
    /// DROP of what is in a schema.
    Drop(i32),
    DropSchema(i32),
}

impl Definition {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::CreateSchema => "CREATE SCHEMA",
            Self::AlterAuthorization => "ALTER AUTHORIZATION",
            Self::CreateTable(_) => "CREATE TABLE",
            Self::CreateProcedure(_) => "CREATE PROCEDURE",
            Self::CreateView(_) => "CREATE VIEW",
            Self::Alter(_) => "ALTER",
            Self::Drop(_) => "DROP",
            Self::DropSchema(_) => "DROP SCHEMA",
        }
    }
}

/// Whether a user may create or change objects: in any schema, or in one they own or control, with
/// the statement permission where one exists.
pub fn may_define(database: &Database, user: i32, sysadmin: bool, what: Definition) -> bool {
    let roles = database.memberships(user);
    if is_owner(database, user, sysadmin) || roles.contains(&DB_DDLADMIN) {
        return true;
    }
    let granted = |permission: Permission, on: SecurableId| {
        database.permissions.iter().any(|p| {
            p.state == PermissionState::Grant
                && p.on == on
                && p.permission == permission
                && roles.contains(&p.grantee)
        })
    };
    let in_schema = |id: i32| {
        roles.contains(&database.schema_owner(id))
            || granted(Permission::Alter, SecurableId::Schema(id))
            || granted(Permission::Control, SecurableId::Schema(id))
    };
    let control = || granted(Permission::Control, SecurableId::Database);
    let statement = |permission| granted(permission, SecurableId::Database) || control();
    match what {
        Definition::CreateSchema => statement(Permission::CreateSchema),
        Definition::AlterAuthorization => control(),
        Definition::CreateTable(schema) => in_schema(schema) && statement(Permission::CreateTable),
        Definition::CreateProcedure(schema) => {
            in_schema(schema) && statement(Permission::CreateProcedure)
        }
        Definition::CreateView(schema) => in_schema(schema) && statement(Permission::CreateView),
        Definition::Alter(schema) | Definition::Drop(schema) | Definition::DropSchema(schema) => {
            in_schema(schema)
        }
    }
}

/// Whether a user has a permission on an object: DENY wins, then owners, roles and grants on the
/// object, its schema and the database.
pub fn has(database: &Database, user: i32, object: &Object, permission: Permission) -> bool {
    let (id, schema) = (object.id(), object.schema_id());
    let owner = database.schema_owner(schema);
    has_on(database, user, Some(owner), permission, |on| match on {
        SecurableId::Database => true,
        SecurableId::Object(other) => other == id,
        SecurableId::Schema(other) => other == schema,
        SecurableId::Principal(_) => false,
    })
}

/// The same for a schema.
pub fn has_on_schema(database: &Database, user: i32, schema: i32, permission: Permission) -> bool {
    let owner = database.schema_owner(schema);
    has_on(database, user, Some(owner), permission, |on| match on {
        SecurableId::Database => true,
        SecurableId::Schema(other) => other == schema,
        SecurableId::Object(_) | SecurableId::Principal(_) => false,
    })
}

/// The same for the database as a whole.
pub fn has_on_database(database: &Database, user: i32, permission: Permission) -> bool {
    has_on(database, user, None, permission, |on| {
        on == SecurableId::Database
    })
}

fn has_on(
    database: &Database,
    user: i32,
    owner: Option<i32>,
    permission: Permission,
    concerns: impl Fn(SecurableId) -> bool,
) -> bool {
    let roles = database.memberships(user);
    let owns = owner.is_some_and(|owner| roles.contains(&owner));
    if is_owner(database, user, false) || owns {
        return true;
    }
    let covers = |p: &PermissionRow| {
        roles.contains(&p.grantee)
            && (p.permission == permission || p.permission == Permission::Control)
            && concerns(p.on)
    };
    if database
        .permissions
        .iter()
        .any(|p| p.state == PermissionState::Deny && covers(p))
    {
        return false;
    }
    let reads = permission == Permission::Select;
    let writes = matches!(
        permission,
        Permission::Insert | Permission::Update | Permission::Delete
    );
    if reads && roles.contains(&DB_DATAREADER)
        || writes && roles.contains(&DB_DATAWRITER)
        || DDL_ADMIN.contains(&permission) && roles.contains(&DB_DDLADMIN)
    {
        return true;
    }
    database
        .permissions
        .iter()
        .any(|p| p.state == PermissionState::Grant && covers(p))
}
