//! What functions need from the session that evaluates them.

use crate::error::SqlResult;
use crate::value::Value;

/// The session, as functions see it.
pub trait Host {
    /// The clock: UTC days since 0001-01-01 and 100 ns ticks of the day; constant within a statement.
    fn now_utc(&self) -> (i32, i64);
    /// NEWID().
    fn newid(&mut self) -> [u8; 16];
    /// RAND([seed]).
    fn rand(&mut self, seed: Option<i32>) -> f64;
    /// @@ROWCOUNT and the like, with the type that [`SessionValue::ty`] names.
    fn session_value(&self, value: SessionValue) -> Value;
    /// OBJECT_ID and the like.
    fn catalog_function(&mut self, function: CatalogFunction, args: &[Value]) -> SqlResult<Value>;
}

/// Values of the session, each readable as a function or an `@@` name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionValue {
    /// @@ROWCOUNT.
    RowCount,
    /// ROWCOUNT_BIG().
    RowCountBig,
    /// @@TRANCOUNT.
    TranCount,
    /// @@ERROR.
    LastError,
    /// @@IDENTITY.
    Identity,
    /// SCOPE_IDENTITY().
    ScopeIdentity,
    /// @@SPID.
    Spid,
    /// @@VERSION.
    Version,
    /// @@SERVERNAME.
    ServerName,
    /// @@SERVICENAME.
    ServiceName,
    /// @@NESTLEVEL.
    NestLevel,
    /// CONTEXT_INFO().
    ContextInfo,
    /// @@PROCID.
    ProcId,
    /// @@LOCK_TIMEOUT.
    LockTimeout,
    /// @@OPTIONS.
    Options,
    /// @@DATEFIRST.
    DateFirst,
    /// @@LANGUAGE.
    Language,
    /// @@MAX_PRECISION.
    MaxPrecision,
    /// @@TEXTSIZE.
    TextSize,
    /// @@MICROSOFTVERSION.
    MicrosoftVersion,
    /// XACT_STATE().
    XactState,
    /// ERROR_NUMBER().
    ErrorNumber,
    /// ERROR_MESSAGE().
    ErrorMessage,
    /// ERROR_SEVERITY().
    ErrorSeverity,
    /// ERROR_STATE().
    ErrorState,
    /// ERROR_LINE().
    ErrorLine,
    /// ERROR_PROCEDURE().
    ErrorProcedure,
    /// USER, CURRENT_USER, SESSION_USER and USER_NAME() without arguments.
    UserName,
    /// SYSTEM_USER, SUSER_SNAME() and SUSER_NAME() without arguments.
    LoginName,
    /// ORIGINAL_LOGIN().
    OriginalLogin,
    /// DB_NAME() without arguments.
    DatabaseName,
    /// DB_ID() without arguments.
    DatabaseId,
    /// SCHEMA_NAME() without arguments.
    SchemaName,
    /// SCHEMA_ID() without arguments.
    SchemaId,
    /// USER_ID() without arguments.
    UserId,
    /// APP_NAME().
    AppName,
    /// HOST_NAME().
    HostName,
    /// CURRENT_TRANSACTION_ID().
    TransactionId,
}

/// Functions over the catalogue and the permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CatalogFunction {
    /// OBJECT_ID(name[, type]).
    ObjectId,
    /// OBJECT_NAME(id[, database id]).
    ObjectName,
    /// OBJECT_SCHEMA_NAME(id[, database id]).
    ObjectSchemaName,
    /// OBJECT_DEFINITION(id).
    ObjectDefinition,
    /// SCHEMA_ID(name).
    SchemaId,
    /// SCHEMA_NAME(id).
    SchemaName,
    /// COL_NAME(table id, column id).
    ColName,
    /// COL_LENGTH(table, column).
    ColLength,
    /// COLUMNPROPERTY(id, column, property).
    ColumnProperty,
    /// OBJECTPROPERTY(id, property).
    ObjectProperty,
    /// OBJECTPROPERTYEX(id, property).
    ObjectPropertyEx,
    /// INDEXPROPERTY(id, index, property).
    IndexProperty,
    /// INDEX_COL(table, index id, key id).
    IndexCol,
    /// TYPEPROPERTY(type, property).
    TypeProperty,
    /// DATABASEPROPERTYEX(database, property).
    DatabasePropertyEx,
    /// SERVERPROPERTY(property).
    ServerProperty,
    /// SESSIONPROPERTY(option).
    SessionProperty,
    /// COLLATIONPROPERTY(collation, property).
    CollationProperty,
    /// DATABASE_PRINCIPAL_ID([name]).
    DatabasePrincipalId,
    /// USER_NAME(id).
    UserName,
    /// USER_ID(name).
    UserId,
    /// SUSER_SNAME(sid).
    SuserSname,
    /// SUSER_NAME(id).
    SuserName,
    /// SUSER_ID([name]).
    SuserId,
    /// SUSER_SID([name]).
    SuserSid,
    /// DB_NAME(id).
    DbName,
    /// DB_ID(name).
    DbId,
    /// HAS_PERMS_BY_NAME(securable, class, permission).
    HasPermsByName,
    /// HAS_DBACCESS(database).
    HasDbAccess,
    /// IS_MEMBER(role).
    IsMember,
    /// IS_ROLEMEMBER(role[, principal]).
    IsRoleMember,
    /// IS_SRVROLEMEMBER(role[, login]).
    IsSrvRoleMember,
    /// TYPE_ID(name).
    TypeId,
    /// TYPE_NAME(id).
    TypeName,
    /// IDENT_CURRENT(table).
    IdentCurrent,
    /// IDENT_SEED(table).
    IdentSeed,
    /// IDENT_INCR(table).
    IdentIncr,
    /// APPLOCK_MODE(principal, resource, owner).
    ApplockMode,
    /// APPLOCK_TEST(principal, resource, mode, owner).
    ApplockTest,
    /// SESSION_CONTEXT(key).
    SessionContext,
}
