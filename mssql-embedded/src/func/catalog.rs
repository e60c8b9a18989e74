//! Functions that ask the catalogue. Their work is the host's; here are their types.

use super::sig::{DEFAULT, arity, sig};
use super::{Arg, CatalogFunction, Function, Host, SessionValue, Signature};
use crate::error::SqlResult;
use crate::value::{DataType, Length, Value};

/// A catalogue function: name, least and most arguments, argument types, result type.
macro_rules! catalog {
    ($($name:literal, $function:ident, $least:literal..=$most:literal, [$($param:ident),*] -> $ret:ident;)*) => {
        &[$(Function {
            name: $name,
            bind: |args| bind($name, args, $least, $most, &[$($param),*], $ret),
            eval: |host, _, args| host.catalog_function(CatalogFunction::$function, args),
            date_part: false,
        },)*
        Function { name: "USER_NAME", bind: |a| bind("USER_NAME", a, 0, 1, &[INT], NAME), eval: user_name, date_part: false },
        Function { name: "USER_ID", bind: |a| bind("USER_ID", a, 0, 1, &[NAME], INT), eval: user_id, date_part: false },
        Function { name: "SUSER_SNAME", bind: |a| bind("SUSER_SNAME", a, 0, 1, &[SID], NAME), eval: suser_sname, date_part: false },
        Function { name: "SUSER_NAME", bind: |a| bind("SUSER_NAME", a, 0, 1, &[INT], NAME), eval: suser_name, date_part: false },
        Function { name: "DB_NAME", bind: |a| bind("DB_NAME", a, 0, 1, &[INT], NAME), eval: db_name, date_part: false },
        Function { name: "DB_ID", bind: |a| bind("DB_ID", a, 0, 1, &[NAME], SMALL), eval: db_id, date_part: false },
        Function { name: "SCHEMA_NAME", bind: |a| bind("SCHEMA_NAME", a, 0, 1, &[INT], NAME), eval: schema_name, date_part: false },
        Function { name: "SCHEMA_ID", bind: |a| bind("SCHEMA_ID", a, 0, 1, &[NAME], INT), eval: schema_id, date_part: false },
        ]
    };
}

const NAME: DataType = DataType::NVarChar(Length::Limited(128), DEFAULT);
/// Multi-part names and resources.
const LONG: DataType = DataType::NVarChar(Length::Limited(4000), DEFAULT);
const MAX: DataType = DataType::NVarChar(Length::Max, DEFAULT);
const INT: DataType = DataType::Int;
const SMALL: DataType = DataType::SmallInt;
const SID: DataType = DataType::VarBinary(Length::Limited(85));
const NUMERIC: DataType = DataType::Decimal {
    precision: 38,
    scale: 0,
};

pub(super) static FUNCTIONS: &[Function] = catalog![
    "OBJECT_ID", ObjectId, 1..=2, [LONG, NAME] -> INT;
    "OBJECT_NAME", ObjectName, 1..=2, [INT, INT] -> NAME;
    "OBJECT_SCHEMA_NAME", ObjectSchemaName, 1..=2, [INT, INT] -> NAME;
    "OBJECT_DEFINITION", ObjectDefinition, 1..=1, [INT] -> MAX;
    "COL_NAME", ColName, 2..=2, [INT, INT] -> NAME;
    "COL_LENGTH", ColLength, 2..=2, [LONG, NAME] -> SMALL;
    "COLUMNPROPERTY", ColumnProperty, 3..=3, [INT, NAME, NAME] -> INT;
    "OBJECTPROPERTY", ObjectProperty, 2..=2, [INT, NAME] -> INT;
    "OBJECTPROPERTYEX", ObjectPropertyEx, 2..=2, [INT, NAME] -> INT;
    "INDEXPROPERTY", IndexProperty, 3..=3, [INT, NAME, NAME] -> INT;
    "INDEX_COL", IndexCol, 3..=3, [LONG, INT, INT] -> NAME;
    "TYPEPROPERTY", TypeProperty, 2..=2, [LONG, NAME] -> INT;
    "DATABASEPROPERTYEX", DatabasePropertyEx, 2..=2, [NAME, NAME] -> LONG;
    "SERVERPROPERTY", ServerProperty, 1..=1, [NAME] -> LONG;
    "SESSIONPROPERTY", SessionProperty, 1..=1, [NAME] -> INT;
    "COLLATIONPROPERTY", CollationProperty, 2..=2, [NAME, NAME] -> INT;
    "DATABASE_PRINCIPAL_ID", DatabasePrincipalId, 0..=1, [NAME] -> INT;
    "SUSER_ID", SuserId, 0..=1, [NAME] -> INT;
    "SUSER_SID", SuserSid, 0..=1, [NAME] -> SID;
    "HAS_PERMS_BY_NAME", HasPermsByName, 3..=5, [LONG, NAME, NAME, NAME, NAME] -> INT;
    "HAS_DBACCESS", HasDbAccess, 1..=1, [NAME] -> INT;
    "IS_MEMBER", IsMember, 1..=1, [NAME] -> INT;
    "IS_ROLEMEMBER", IsRoleMember, 1..=2, [NAME, NAME] -> INT;
    "IS_SRVROLEMEMBER", IsSrvRoleMember, 1..=2, [NAME, NAME] -> INT;
    "TYPE_ID", TypeId, 1..=1, [LONG] -> INT;
    "TYPE_NAME", TypeName, 1..=1, [INT] -> NAME;
    "IDENT_CURRENT", IdentCurrent, 1..=1, [LONG] -> NUMERIC;
    "IDENT_SEED", IdentSeed, 1..=1, [LONG] -> NUMERIC;
    "IDENT_INCR", IdentIncr, 1..=1, [LONG] -> NUMERIC;
    "APPLOCK_MODE", ApplockMode, 3..=3, [NAME, LONG, NAME] -> NAME;
    "APPLOCK_TEST", ApplockTest, 4..=4, [NAME, LONG, NAME, NAME] -> INT;
    "SESSION_CONTEXT", SessionContext, 1..=1, [NAME] -> LONG;
];

fn bind(
    name: &str,
    args: &[Arg],
    least: usize,
    most: usize,
    params: &[DataType],
    ret: DataType,
) -> SqlResult<Signature> {
    arity(name, args, least, most)?;
    sig(ret, params.iter().take(args.len()).cloned().collect())
}

/// Without an argument these read the session, with one the catalogue.
fn either(
    host: &mut dyn Host,
    args: &[Value],
    own: SessionValue,
    function: CatalogFunction,
) -> SqlResult<Value> {
    if args.is_empty() {
        Ok(host.session_value(own))
    } else {
        host.catalog_function(function, args)
    }
}

fn user_name(host: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    either(
        host,
        args,
        SessionValue::UserName,
        CatalogFunction::UserName,
    )
}

fn user_id(host: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    either(host, args, SessionValue::UserId, CatalogFunction::UserId)
}

fn suser_sname(host: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    either(
        host,
        args,
        SessionValue::LoginName,
        CatalogFunction::SuserSname,
    )
}

fn suser_name(host: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    either(
        host,
        args,
        SessionValue::LoginName,
        CatalogFunction::SuserName,
    )
}

fn db_name(host: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    either(
        host,
        args,
        SessionValue::DatabaseName,
        CatalogFunction::DbName,
    )
}

fn db_id(host: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    either(host, args, SessionValue::DatabaseId, CatalogFunction::DbId)
}

fn schema_name(host: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    either(
        host,
        args,
        SessionValue::SchemaName,
        CatalogFunction::SchemaName,
    )
}

fn schema_id(host: &mut dyn Host, _: &Signature, args: &[Value]) -> SqlResult<Value> {
    either(
        host,
        args,
        SessionValue::SchemaId,
        CatalogFunction::SchemaId,
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, t, text};

    #[test]
    fn the_host_is_asked_by_function() {
        assert_eq!(text(call("OBJECT_ID", &[t("dbo.t"), t("U")])), "ObjectId");
        assert_eq!(text(call("SCHEMA_ID", &[t("dbo")])), "SchemaId");
        assert_eq!(call("OBJECT_ID", &[]).unwrap_err().number, 189);
    }
}
