//! Definitions (CREATE, ALTER, DROP) and permissions.

use super::{Condition, Expr, Ident, ObjectName, Permission, Stmt, TypeName};

/// A definition or permission statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Ddl {
    /// `CREATE SCHEMA name [AUTHORIZATION owner]`.
    CreateSchema {
        name: Ident,
        owner: Option<Ident>,
    },
    CreateTable {
        name: ObjectName,
        columns: Vec<ColumnDef>,
        constraints: Vec<TableConstraint>,
    },
    AlterTable {
        name: ObjectName,
        action: AlterTable,
    },
    CreateIndex(CreateIndex),
    /// `CREATE [OR ALTER] PROCEDURE` and `ALTER PROCEDURE`.
    CreateProcedure(CreateProcedure),
    /// `CREATE [OR ALTER] VIEW` and `ALTER VIEW`.
    CreateView(CreateView),
    /// `DROP kind [IF EXISTS] a, b`.
    Drop {
        kind: DropKind,
        if_exists: bool,
        names: Vec<ObjectName>,
    },
    /// `DROP INDEX [IF EXISTS] i ON t`.
    DropIndex {
        if_exists: bool,
        index: Ident,
        table: ObjectName,
    },
    /// `TRUNCATE TABLE`.
    Truncate(ObjectName),
    /// `CREATE LOGIN name WITH PASSWORD = '…'`.
    CreateLogin {
        name: Ident,
        password: String,
        default_database: Option<Ident>,
    },
    AlterLogin {
        name: Ident,
        change: LoginChange,
    },
    /// `CREATE USER name [FOR LOGIN l | WITHOUT LOGIN]`.
    CreateUser {
        name: Ident,
        login: Option<Ident>,
        without_login: bool,
        default_schema: Option<Ident>,
    },
    /// `ALTER USER name WITH DEFAULT_SCHEMA = s`.
    AlterUser {
        name: Ident,
        default_schema: Ident,
    },
    /// `CREATE ROLE name [AUTHORIZATION owner]`.
    CreateRole {
        name: Ident,
        owner: Option<Ident>,
    },
    /// `ALTER ROLE r ADD|DROP MEMBER m`.
    AlterRole {
        role: Ident,
        add: bool,
        member: Ident,
    },
    /// `ALTER SERVER ROLE r ADD|DROP MEMBER m`.
    AlterServerRole {
        role: Ident,
        add: bool,
        member: Ident,
    },
    /// `GRANT`, `DENY`, `REVOKE`.
    Permission(PermissionStmt),
    /// `ALTER AUTHORIZATION ON SCHEMA::s TO owner`.
    AlterAuthorization {
        schema: Ident,
        owner: Ident,
    },
    /// `ALTER DATABASE name|CURRENT SET …`.
    AlterDatabase {
        name: Option<Ident>,
        setting: DatabaseSetting,
    },
    /// `CREATE DATABASE name [COLLATE c]`.
    CreateDatabase {
        name: Ident,
        collate: Option<Ident>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropKind {
    Table,
    Procedure,
    View,
    Schema,
    Role,
    User,
    Login,
    Database,
}

/// A column of CREATE TABLE or of a table variable.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDef {
    pub name: Ident,
    /// Its type; `None` for a computed column.
    pub ty: Option<TypeName>,
    /// `AS expr`.
    pub computed: Option<Expr>,
    /// The text of the computed expression, for sys.computed_columns.
    pub computed_text: Option<String>,
    pub persisted: bool,
    pub collate: Option<Ident>,
    /// `NULL` / `NOT NULL`, if written.
    pub nullable: Option<bool>,
    /// `IDENTITY(seed, increment)`.
    pub identity: Option<(i64, i64)>,
    /// `CONSTRAINT name DEFAULT expr`, with the expression's text.
    pub default: Option<(Option<Ident>, Expr, String)>,
    /// `WITH VALUES`: ALTER TABLE ADD fills existing rows with the default.
    pub with_values: bool,
    /// What was written twice and may be written once.
    pub repeated: Option<Repeated>,
    /// Inline PRIMARY KEY, UNIQUE, CHECK and REFERENCES, as table constraints over this column.
    pub constraints: Vec<TableConstraint>,
}

/// A property that a column has at most once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    Default,
    /// `NULL` or `NOT NULL`.
    Nullability,
}

/// What a table demands of its rows, with or without a name.
#[derive(Clone, Debug, PartialEq)]
pub struct TableConstraint {
    pub name: Option<Ident>,
    pub kind: ConstraintKind,
}

impl TableConstraint {
    /// `INDEX`, which is written like a constraint and is none.
    pub fn is_index(&self) -> bool {
        matches!(self.kind, ConstraintKind::Index(_))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum ConstraintKind {
    /// `PRIMARY KEY [CLUSTERED|NONCLUSTERED] (…)`.
    PrimaryKey {
        clustered: Option<bool>,
        columns: Vec<IndexColumn>,
        options: Vec<IndexOption>,
    },
    /// `UNIQUE [CLUSTERED|NONCLUSTERED] (…)`.
    Unique {
        clustered: Option<bool>,
        columns: Vec<IndexColumn>,
        options: Vec<IndexOption>,
    },
    /// `CHECK (condition)`, with its text.
    Check(Condition, String),
    /// `FOREIGN KEY (…) REFERENCES t (…)`.
    ForeignKey {
        columns: Vec<Ident>,
        table: ObjectName,
        referenced: Vec<Ident>,
        cascade_delete: bool,
    },
    /// `DEFAULT expr FOR column` (ALTER TABLE ADD only).
    Default {
        expr: Expr,
        text: String,
        column: Ident,
    },
    /// `INDEX name …` inside CREATE TABLE.
    Index(CreateIndex),
}

/// A key column of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexColumn {
    pub name: Ident,
    pub descending: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CreateIndex {
    pub name: Ident,
    /// The table; empty inside CREATE TABLE.
    pub table: Option<ObjectName>,
    pub unique: bool,
    pub clustered: bool,
    /// Key columns.
    pub columns: Vec<IndexColumn>,
    pub include: Vec<Ident>,
    /// `WHERE condition`, with its text.
    pub filter: Option<(Condition, String)>,
    /// `WITH (…)`.
    pub options: Vec<IndexOption>,
}

/// Index options. Those with an effect on results or locks are honoured; the parser refuses the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexOption {
    /// `ALLOW_PAGE_LOCKS = ON|OFF`.
    AllowPageLocks(bool),
    /// `IGNORE_DUP_KEY = ON|OFF`.
    IgnoreDupKey(bool),
    /// `FILLFACTOR`, `PAD_INDEX`, `ONLINE`, `SORT_IN_TEMPDB`, `STATISTICS_NORECOMPUTE`,
    /// `DATA_COMPRESSION`, `OPTIMIZE_FOR_SEQUENTIAL_KEY`, `MAXDOP`: storage only.
    NoEffect,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AlterTable {
    /// `ADD column…, constraint…`.
    Add {
        columns: Vec<ColumnDef>,
        constraints: Vec<TableConstraint>,
    },
    AlterColumn {
        name: Ident,
        ty: TypeName,
        collate: Option<Ident>,
        nullable: Option<bool>,
    },
    /// `DROP COLUMN [IF EXISTS] a, b`.
    DropColumn { if_exists: bool, names: Vec<Ident> },
    /// `DROP CONSTRAINT [IF EXISTS] a, b`.
    DropConstraint { if_exists: bool, names: Vec<Ident> },
    /// `SET (LOCK_ESCALATION = TABLE|AUTO|DISABLE)`; true when not DISABLE.
    LockEscalation(bool),
}

#[derive(Clone, Debug, PartialEq)]
pub struct CreateView {
    pub name: ObjectName,
    /// Names of its columns, if given.
    pub columns: Vec<Ident>,
    pub query: super::SelectStmt,
    pub text: String,
    pub making: Making,
}

/// Whether a procedure or view is to be there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Making {
    Create,
    CreateOrAlter,
    Alter,
}

impl Making {
    /// What messages call it.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Create | Self::CreateOrAlter => "CREATE",
            Self::Alter => "ALTER",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct CreateProcedure {
    pub name: ObjectName,
    pub making: Making,
    pub params: Vec<ProcParam>,
    pub body: std::sync::Arc<Vec<Stmt>>,
    /// The whole text of the batch, for sys.sql_modules.
    pub text: String,
}

/// How many parameters a procedure, and a call, may have ("Maximum capacity specifications for SQL Server").
pub const PARAMETERS_MAX: usize = 2100;

#[derive(Clone, Debug, PartialEq)]
pub struct ProcParam {
    /// `@name`.
    pub name: String,
    pub ty: TypeName,
    /// Default: a literal.
    pub default: Option<Expr>,
    pub output: bool,
    /// `READONLY` (table-valued parameters, refused by the binder).
    pub readonly: bool,
}

/// `GRANT|DENY|REVOKE permissions ON securable TO|FROM principals`.
#[derive(Clone, Debug, PartialEq)]
pub struct PermissionStmt {
    pub action: PermissionAction,
    pub permissions: Vec<Permission>,
    /// On what; the database when absent.
    pub securable: Option<Securable>,
    /// To or from whom.
    pub principals: Vec<Ident>,
    pub cascade: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionAction {
    Grant,
    Deny,
    Revoke,
}

/// What a permission is about.
#[derive(Clone, Debug, PartialEq)]
pub enum Securable {
    /// `ON OBJECT::a.b` or `ON a.b`.
    Object(ObjectName),
    /// `ON SCHEMA::s`.
    Schema(Ident),
    /// `ON DATABASE::d`.
    Database(Ident),
    /// `ON ROLE::r`.
    Role(Ident),
    /// `ON USER::u`.
    User(Ident),
}

/// Whether commits of a database may return before they are hardened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedDurability {
    /// Never, whatever the commit says.
    Disabled,
    /// When the commit says so.
    Allowed,
    /// Always.
    Forced,
}

#[derive(Clone, Debug, PartialEq)]
pub enum DatabaseSetting {
    /// `READ_COMMITTED_SNAPSHOT ON|OFF [WITH ROLLBACK IMMEDIATE|NO_WAIT]`.
    ReadCommittedSnapshot(bool),
    /// `ALLOW_SNAPSHOT_ISOLATION ON|OFF`.
    AllowSnapshotIsolation(bool),
    /// `DELAYED_DURABILITY = DISABLED|ALLOWED|FORCED`.
    DelayedDurability(DelayedDurability),
    /// `COMPATIBILITY_LEVEL = n`.
    CompatibilityLevel(u8),
    /// `COLLATE name`.
    Collate(Ident),
}

#[derive(Clone, Debug, PartialEq)]
pub enum LoginChange {
    Enable,
    Disable,
    /// `WITH PASSWORD = '…', DEFAULT_DATABASE = d`.
    Options {
        password: Option<String>,
        default_database: Option<Ident>,
    },
}
