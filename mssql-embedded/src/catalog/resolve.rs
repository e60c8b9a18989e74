//! The resolver: which object a name means. Binding and execution ask here, so that they cannot
//! disagree.

use std::cell::RefCell;
use std::sync::Arc;

use crate::ast::{Ident, ObjectName};
use crate::error::{SqlError, SqlResult};

use super::{
    Catalog, Database, Object, ObjectId, Principal, TEMPDB, TemporaryTables, is_temporary,
};

/// Where names are looked up.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    pub catalog: &'a Catalog,
    /// The current database.
    pub database: &'a Database,
    /// Where a name without schema is looked up first, before dbo.
    pub default_schema: &'a str,
    /// The login, whose user in another database has a default schema of its own there.
    pub login: &'a str,
    pub temporaries: &'a TemporaryTables,
    /// Where it is noted what was looked up, for who must know why something was not found.
    pub looked_up: Option<&'a LookedUp>,
}

/// What names were looked up, each once, but for those of temporary tables, which nobody else changes.
#[derive(Debug, Default)]
pub struct LookedUp(RefCell<Vec<LookUp>>);

/// A name in a schema, and what it meant when it was looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookUp {
    pub database: i32,
    pub schema: i32,
    /// Folded as the database folds.
    pub name: String,
    /// The object, and its version.
    pub meant: Option<(ObjectId, u64)>,
}

impl LookedUp {
    pub fn list(&self) -> Vec<LookUp> {
        self.0.borrow().clone()
    }

    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Adds what another one has noted.
    pub fn extend(&self, other: Self) {
        for found in other.0.into_inner() {
            self.note(found);
        }
    }

    fn note(&self, found: LookUp) {
        let mut list = self.0.borrow_mut();
        if !list.contains(&found) {
            list.push(found);
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    pub database: &'a Database,
    pub object: &'a Object,
}

/// Where the names of a definition are looked up: all in one database, because a definition is about that one.
#[derive(Clone, Copy, Debug)]
pub struct Home<'a> {
    pub database: &'a Database,
    /// Where a name without schema is looked up first, before dbo.
    pub default_schema: &'a str,
}

/// Where a name is looked for within a database.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// The schema that the name says, or the default one; a new object goes there.
    pub schema: &'a str,
    /// Where it is looked for next, if the name says no schema.
    pub then: Option<&'a str>,
    /// The object's own name.
    pub object: &'a str,
}

impl<'a> Home<'a> {
    /// The places of a name; `None` when it is about another database.
    ///
    /// # Errors
    ///
    /// Refuses linked servers by name.
    pub fn places(&self, name: &'a ObjectName) -> SqlResult<Option<Places<'a>>> {
        let parts = split(name)?;
        let other = |d: &str| server_fold(d) != server_fold(&self.database.name);
        if parts.database.is_some_and(other) {
            return Ok(None);
        }
        Ok(Some(places(&parts, self.default_schema)))
    }
}

/// A name with a schema is looked for there alone, one without in the default schema and then in dbo.
fn places<'a>(parts: &Parts<'a>, default_schema: &'a str) -> Places<'a> {
    Places {
        schema: parts.schema.unwrap_or(default_schema),
        then: parts.schema.is_none().then_some("dbo"),
        object: parts.object,
    }
}

/// The parts of a dotted name, of which only the object must be there: `other..t` leaves the schema
/// to the default, `..t` the database too.
struct Parts<'n> {
    database: Option<&'n str>,
    schema: Option<&'n str>,
    object: &'n str,
}

/// Names of databases and logins, which the server's case-insensitive collation compares.
pub fn server_fold(name: &str) -> String {
    name.to_lowercase()
}

/// The name as it was written, without delimiters.
pub fn dotted(name: &ObjectName) -> String {
    let parts: Vec<&str> = name.parts.iter().map(|p| p.name.as_str()).collect();
    parts.join(".")
}

/// 208; its state tells temporary tables from others.
pub fn invalid_object(name: &ObjectName) -> SqlError {
    let last = name.parts.last().map_or("", |p| p.name.as_str());
    no_object(&dotted(name), u8::from(!is_temporary(last))).at(line_of(name))
}

/// 208 for a name that is written without its schema; the state says who looked for it.
pub fn no_object(name: &str, state: u8) -> SqlError {
    SqlError::with(208, 16, state, format!("Invalid object name '{name}'."))
}

/// 2714; the state says what was to be made.
pub fn name_taken(name: &str, state: u8) -> SqlError {
    let message = format!("There is already an object named '{name}' in the database.");
    SqlError::with(2714, 16, state, message)
}

/// A definition in another database than the current one.
pub fn elsewhere(name: &ObjectName) -> SqlError {
    SqlError::unsupported(format!(
        "a definition in another database ({})",
        dotted(name)
    ))
}

/// 911: a database that is not there, or not any more.
pub fn no_database(name: &str) -> SqlError {
    let text =
        format!("Database '{name}' does not exist. Make sure that the name is entered correctly.");
    SqlError::new(911, text)
}

/// The line that an error about the name is reported for.
pub fn line_of(name: &ObjectName) -> u32 {
    name.parts.first().map_or(0, |p| p.pos.line)
}

fn split(name: &ObjectName) -> SqlResult<Parts<'_>> {
    let (database, schema, object) = match name.parts.as_slice() {
        [o] => (None, None, o),
        [s, o] => (None, Some(s), o),
        [d, s, o] => (Some(d), Some(s), o),
        _ => {
            let what = format!("the four-part name {}", dotted(name));
            return Err(SqlError::unsupported(what).at(line_of(name)));
        }
    };
    Ok(Parts {
        database: written(database),
        schema: written(schema),
        object: &object.name,
    })
}

fn written(part: Option<&Ident>) -> Option<&str> {
    part.map(|p| p.name.as_str()).filter(|p| !p.is_empty())
}

impl Catalog {
    /// The database that a session is in, by its folded name.
    ///
    /// # Errors
    ///
    /// 911 when somebody else has dropped it.
    pub fn current(&self, key: &str) -> SqlResult<&Database> {
        let database = self.databases.get(key).map(AsRef::as_ref);
        database.ok_or_else(|| no_database(key))
    }
}

impl<'a> Names<'a> {
    /// The database that a name is about: the current one, unless it says another. `None` when there is
    /// no such database.
    ///
    /// # Errors
    ///
    /// Refuses linked servers by name.
    pub fn database_of(&self, name: &ObjectName) -> SqlResult<Option<&'a Database>> {
        Ok(match split(name)?.database {
            Some(other) => self.catalog.database(other),
            None => Some(self.database),
        })
    }

    /// Finds any kind of object: in the given schema, or in the default schema and then in dbo.
    ///
    /// # Errors
    ///
    /// Refuses linked servers by name.
    pub fn object(&self, name: &ObjectName) -> SqlResult<Option<Found<'a>>> {
        if let Some(last) = name.parts.last()
            && is_temporary(&last.name)
        {
            return Ok(self.temporary(&last.name));
        }
        let Some(database) = self.database_of(name)? else {
            return Ok(None);
        };
        let places = places(&split(name)?, self.default_schema(database));
        let find = |schema: &str| {
            let schema = database.find_schema(schema)?.id;
            if let Some(looked_up) = self.looked_up {
                looked_up.note(database.look_up(schema, places.object));
            }
            let object = database.object_in(schema, places.object)?;
            Some(Found { database, object })
        };
        Ok(find(places.schema).or_else(|| places.then.and_then(find)))
    }

    fn temporary(&self, name: &str) -> Option<Found<'a>> {
        let database = self.catalog.databases.get(TEMPDB)?;
        let object = self.temporaries.find(self.catalog, name)?;
        Some(Found { database, object })
    }

    fn default_schema(&self, database: &'a Database) -> &'a str {
        if database.id == self.database.id {
            return self.default_schema;
        }
        let user = database.login_user(self.login);
        user.map_or("dbo", |user| database.default_schema(user))
    }
}

impl Catalog {
    pub fn database(&self, name: &str) -> Option<&Database> {
        let found = self.databases.get(name);
        let found = found.or_else(|| self.databases.get(&server_fold(name)));
        found.map(AsRef::as_ref)
    }

    /// An object by id, in any database but tempdb; `home` is looked at first.
    pub fn object(&self, home: &str, id: ObjectId) -> Option<Found<'_>> {
        let current = self.databases.get(home);
        let others = self.databases.iter().filter(|(key, _)| *key != TEMPDB);
        let all = current
            .into_iter()
            .chain(others.map(|(_, database)| database));
        all.filter_map(|database: &Arc<Database>| {
            let object = database.objects.get(&id)?;
            Some(Found { database, object })
        })
        .next()
    }
}

impl Database {
    /// The user that a login is mapped to here.
    pub fn login_user(&self, login: &str) -> Option<i32> {
        let login = server_fold(login);
        let mapped = |p: &&Principal| {
            let own = p.login.as_deref();
            !p.role && own.is_some_and(|l| server_fold(l) == login)
        };
        self.principals.values().find(mapped).map(|p| p.id)
    }
}

/// The user of a login in a database: dbo for a sysadmin, guest only in master.
pub fn database_user(database: &Database, login: &str, sysadmin: bool) -> Option<i32> {
    if sysadmin {
        return Some(1);
    }
    match database.login_user(login) {
        Some(user) => Some(user),
        None if server_fold(&database.name) == "master" => Some(2),
        None => None,
    }
}
