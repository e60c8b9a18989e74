//! OBJECT_ID() and the other functions over the catalogue.

use crate::access::{AppResource, app_lock_mode, app_lock_test, app_mode};
use crate::ast::ObjectName;
use crate::context::{Core, Frame, names};
use crate::error::{SqlError, SqlResult};
use crate::func::CatalogFunction;
use crate::storage::State;
use crate::value::Value;

use super::property;
use crate::catalog::{Database, Object, TEMPDB, TableDef, is_temporary};

/// Computes a catalogue function. An argument that names nothing gives NULL.
pub fn catalog_function(
    function: CatalogFunction,
    args: &[Value],
    latch: &State,
    core: &Core,
    frame: &Frame,
) -> SqlResult<Value> {
    let Some(database) = latch.catalog.databases.get(&core.database) else {
        return Ok(Value::Null);
    };
    let call = Call {
        args,
        latch,
        core,
        frame,
        database,
    };
    Ok(call.run(function)?.unwrap_or(Value::Null))
}

/// One call: its arguments and where it looks.
pub struct Call<'c> {
    /// The arguments.
    pub args: &'c [Value],
    /// The latched state.
    pub latch: &'c State,
    /// The session.
    pub core: &'c Core,
    /// The frame.
    pub frame: &'c Frame,
    /// The current database.
    pub database: &'c Database,
}

fn number(n: impl Into<i64>) -> Option<Value> {
    Some(Value::Int(n.into()))
}

fn bit(b: bool) -> Option<Value> {
    number(i64::from(b))
}

impl Call<'_> {
    /// An argument as text.
    pub fn text(&self, i: usize) -> Option<String> {
        match self.args.get(i) {
            Some(Value::Str(s)) => Some(String::from_utf16_lossy(s)),
            _ => None,
        }
    }

    /// An argument as a number.
    pub fn int(&self, i: usize) -> Option<i32> {
        match self.args.get(i) {
            Some(Value::Int(n)) => i32::try_from(*n).ok(),
            _ => None,
        }
    }

    /// The object that an argument names.
    fn named(&self, i: usize) -> Option<&Object> {
        let name = self.text(i)?;
        let name: ObjectName = crate::parse::parse_name(&name).ok()?;
        // Temporary tables are in tempdb: from elsewhere the name says so.
        if let [schema @ .., table] = name.parts.as_slice()
            && is_temporary(&table.name)
            && self.core.database != TEMPDB
            && !matches!(schema, [d, _] if d.name.eq_ignore_ascii_case(TEMPDB))
        {
            return None;
        }
        let names = names(&self.latch.catalog, self.core, self.frame).ok()?;
        let found = names.object(&name).ok().flatten()?;
        Some(found.object)
    }

    /// The object whose id an argument holds.
    pub fn object(&self, i: usize) -> Option<&Object> {
        self.database.objects.get(&self.int(i)?)
    }

    /// The table whose id an argument holds.
    pub fn table(&self, i: usize) -> Option<&TableDef> {
        match self.object(i)? {
            Object::Table(t) => Some(t),
            _ => None,
        }
    }

    fn named_table(&self, i: usize) -> Option<&TableDef> {
        match self.named(i)? {
            Object::Table(t) => Some(t),
            _ => None,
        }
    }

    fn run(&self, function: CatalogFunction) -> SqlResult<Option<Value>> {
        Ok(match function {
            CatalogFunction::ObjectId => self.object_id(),
            CatalogFunction::ObjectName => self.object(0).map(|o| Value::text(o.name())),
            CatalogFunction::ObjectSchemaName => self
                .object(0)
                .and_then(|o| self.database.schemas.get(&o.schema_id()))
                .map(|s| Value::text(&s.name)),
            CatalogFunction::ObjectDefinition => match self.object(0) {
                Some(Object::Procedure(p)) => Some(Value::text(&p.text)),
                Some(Object::View(v)) => Some(Value::text(&v.text)),
                _ => None,
            },
            CatalogFunction::SchemaId => self
                .text(0)
                .and_then(|n| number(self.database.find_schema(&n)?.id)),
            CatalogFunction::SchemaName => self
                .int(0)
                .and_then(|i| Some(Value::text(&self.database.schemas.get(&i)?.name))),
            CatalogFunction::ColName => self.col_name(),
            CatalogFunction::ColLength => self.col_length(),
            CatalogFunction::TypeId => self.text(0).and_then(|n| number(property::type_id(&n)?)),
            CatalogFunction::TypeName => self
                .int(0)
                .and_then(|i| Some(Value::text(property::type_name(i)?))),
            CatalogFunction::IdentCurrent => {
                let table = self.named_table(0);
                let identity = table.and_then(|t| self.latch.store.identity(t.id));
                identity.map(|i| Value::Decimal {
                    units: i128::from(i.current()),
                    scale: 0,
                })
            }
            CatalogFunction::IdentSeed => self.identity(|(seed, _)| seed),
            CatalogFunction::IdentIncr => self.identity(|(_, increment)| increment),
            CatalogFunction::DbName => self.int(0).and_then(|id| {
                let found = self.latch.catalog.databases.values().find(|d| d.id == id)?;
                Some(Value::text(&found.name))
            }),
            CatalogFunction::DbId => self.text(0).and_then(|name| {
                number(self.latch.catalog.databases.get(&name.to_lowercase())?.id)
            }),
            CatalogFunction::HasDbAccess => self.text(0).and_then(|name| {
                self.latch
                    .catalog
                    .databases
                    .get(&name.to_lowercase())
                    .map(|_| Value::Int(1))
            }),
            CatalogFunction::ColumnProperty
            | CatalogFunction::ObjectProperty
            | CatalogFunction::ObjectPropertyEx
            | CatalogFunction::IndexProperty
            | CatalogFunction::IndexCol
            | CatalogFunction::TypeProperty
            | CatalogFunction::DatabasePropertyEx
            | CatalogFunction::ServerProperty
            | CatalogFunction::SessionProperty
            | CatalogFunction::CollationProperty => return property::property(self, function),
            CatalogFunction::ApplockMode => self.applock_mode(),
            CatalogFunction::ApplockTest => self.applock_test(),
            CatalogFunction::SessionContext => {
                return Err(SqlError::unsupported("SESSION_CONTEXT"));
            }
            _ => self.principal(function),
        })
    }

    fn object_id(&self) -> Option<Value> {
        let object = self.named(0)?;
        if let Some(wanted) = self.text(1)
            && !property::object_type(object)
                .trim()
                .eq_ignore_ascii_case(wanted.trim())
        {
            return None;
        }
        number(object.id())
    }

    fn col_name(&self) -> Option<Value> {
        let id = self.int(1)?;
        let column = self.table(0)?.columns.iter().find(|c| c.id == id)?;
        Some(Value::text(&column.name))
    }

    fn col_length(&self) -> Option<Value> {
        let name = self.database.fold(&self.text(1)?);
        let table = self.named_table(0)?;
        let column = table
            .columns
            .iter()
            .find(|c| self.database.fold(&c.name) == name)?;
        number(column.ty.max_length())
    }

    fn identity(&self, pick: fn((i64, i64)) -> i64) -> Option<Value> {
        let column = self
            .named_table(0)?
            .columns
            .iter()
            .find_map(|c| c.identity)?;
        Some(Value::Decimal {
            units: i128::from(pick(column)),
            scale: 0,
        })
    }

    fn principal(&self, function: CatalogFunction) -> Option<Value> {
        let database = self.database;
        let logins = &self.latch.catalog.logins;
        match function {
            CatalogFunction::DatabasePrincipalId => match self.text(0) {
                None => number(self.frame.user),
                Some(name) => number(database.find_principal(&name)?.id),
            },
            CatalogFunction::UserName => {
                Some(Value::text(&database.principals.get(&self.int(0)?)?.name))
            }
            CatalogFunction::UserId => number(database.find_principal(&self.text(0)?)?.id),
            CatalogFunction::SuserName => {
                let id = self.int(0)?;
                logins
                    .values()
                    .find(|l| l.id == id)
                    .map(|l| Value::text(&l.name))
            }
            CatalogFunction::SuserId => {
                let name = self.text(0).unwrap_or_else(|| self.core.login.clone());
                number(logins.get(&name.to_lowercase())?.id)
            }
            CatalogFunction::SuserSid => {
                let name = self.text(0).unwrap_or_else(|| self.core.login.clone());
                let login = logins.get(&name.to_lowercase())?;
                Some(Value::Bytes(property::sid(login.id).into()))
            }
            CatalogFunction::SuserSname => {
                let Some(Value::Bytes(wanted)) = self.args.first() else {
                    return None;
                };
                let login = logins
                    .values()
                    .find(|l| property::sid(l.id)[..] == wanted[..])?;
                Some(Value::text(&login.name))
            }
            CatalogFunction::IsMember => self.role_member(&self.text(0)?, self.frame.user),
            CatalogFunction::IsRoleMember => {
                let user = match self.text(1) {
                    None => self.frame.user,
                    Some(name) => database.find_principal(&name)?.id,
                };
                self.role_member(&self.text(0)?, user)
            }
            CatalogFunction::IsSrvRoleMember => {
                let name = self.text(1).unwrap_or_else(|| self.core.login.clone());
                let login = logins.get(&name.to_lowercase())?;
                match self.text(0)?.to_ascii_lowercase().as_str() {
                    "sysadmin" => bit(login.sysadmin),
                    "public" => bit(true),
                    "serveradmin" | "securityadmin" | "processadmin" | "setupadmin"
                    | "bulkadmin" | "diskadmin" | "dbcreator" => bit(login.sysadmin),
                    _ => None,
                }
            }
            CatalogFunction::HasPermsByName => self.has_perms(),
            _ => None,
        }
    }

    fn role_member(&self, role: &str, user: i32) -> Option<Value> {
        let role = self.database.find_principal(role).filter(|p| p.role)?;
        let owner = role.id == 16384 && user == 1;
        bit(owner || self.database.memberships(user).contains(&role.id))
    }

    fn has_perms(&self) -> Option<Value> {
        let permission = self.text(2)?.to_ascii_uppercase();
        let class = self.text(1).unwrap_or_default().to_ascii_uppercase();
        let owner = self.core.sysadmin || self.frame.user == 1;
        match class.as_str() {
            "OBJECT" => {
                let object = self.named(0)?;
                bit(owner
                    || crate::catalog::permission::has(
                        self.database,
                        self.frame.user,
                        object,
                        &permission,
                    ))
            }
            "SCHEMA" | "DATABASE" | "" => bit(owner || {
                let schema = self
                    .text(0)
                    .and_then(|n| self.database.find_schema(&n))
                    .map(|s| s.id);
                crate::catalog::permission::may_define(
                    self.database,
                    self.frame.user,
                    false,
                    schema,
                    &permission,
                )
            }),
            _ => None,
        }
    }

    /// `APPLOCK_MODE(principal, resource, owner)`.
    fn applock_mode(&self) -> Option<Value> {
        let (name, session) = (self.text(1)?, self.text(2)?.eq_ignore_ascii_case("session"));
        let name: Vec<u16> = name.encode_utf16().collect();
        let lock = AppResource {
            database: self.database.id,
            principal: 0,
            name: &name,
            session,
        };
        Some(Value::text(app_lock_mode(
            self.latch,
            self.core.lock_owner(),
            &lock,
        )))
    }

    /// `APPLOCK_TEST(principal, resource, mode, owner)`.
    fn applock_test(&self) -> Option<Value> {
        let (name, session) = (self.text(1)?, self.text(3)?.eq_ignore_ascii_case("session"));
        let mode = app_mode(&self.text(2)?)?;
        let name: Vec<u16> = name.encode_utf16().collect();
        let lock = AppResource {
            database: self.database.id,
            principal: 0,
            name: &name,
            session,
        };
        bit(app_lock_test(
            self.latch,
            self.core.lock_owner(),
            &lock,
            mode,
        ))
    }
}
