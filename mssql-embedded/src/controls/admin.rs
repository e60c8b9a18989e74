//! Switches of databases and logins, by running the T-SQL an administrator would.

use std::time::Duration;

use super::Controls;
use crate::catalog::no_database;
use crate::catalog::{TokenGrant, server_fold};
use crate::error::{SqlError, SqlResult};
use crate::hooks::Traffic;
use crate::interrupt::Interrupt;
use crate::session::{Disconnected, Done, EnvChange, LoginRequest, ResultSink, Session};
use crate::value::{Collation, ColumnMeta, DataType, Value};

impl Controls {
    /// Runs a batch in a database as sa, in a session of its own that ends with it. Rows are thrown
    /// away.
    ///
    /// # Errors
    ///
    /// The first error the batch reports.
    pub fn execute(&self, database: &str, batch: &str) -> SqlResult<()> {
        let password = self
            .engine
            .latch()
            .catalog
            .logins
            .get("sa")
            .map(|login| login.password.clone())
            .unwrap_or_default();
        let request = LoginRequest {
            user: "sa".to_owned(),
            password,
            database: Some(database.to_owned()),
            app_name: "controls".to_owned(),
            ..LoginRequest::default()
        };
        let (mut session, _) = Session::login(&self.engine, &request)?;
        let mut sink = FirstError(None);
        session.run_uncounted(batch, &mut sink);
        sink.0.map_or(Ok(()), Err)
    }

    /// Creates a database with a collation.
    ///
    /// # Errors
    ///
    /// 1801 when there is one of that name.
    pub fn create_database(&self, name: &str, collation: Collation) -> SqlResult<()> {
        let text = format!(
            "CREATE DATABASE {} COLLATE {}",
            quoted(name),
            collation.name()
        );
        self.execute("master", &text)
    }

    /// Sets READ_COMMITTED_SNAPSHOT: whether readers see row versions instead of waiting.
    ///
    /// # Errors
    ///
    /// 5011 when there is no such database.
    pub fn set_read_committed_snapshot(&self, database: &str, on: bool) -> SqlResult<()> {
        self.set_option(database, "READ_COMMITTED_SNAPSHOT", on)
    }

    /// Sets ALLOW_SNAPSHOT_ISOLATION.
    ///
    /// # Errors
    ///
    /// 5011 when there is no such database.
    pub fn set_allow_snapshot_isolation(&self, database: &str, on: bool) -> SqlResult<()> {
        self.set_option(database, "ALLOW_SNAPSHOT_ISOLATION", on)
    }

    /// Answers every change in a database with 3906, as a replica does that others still take for the
    /// primary. Table variables and temporary tables can be written. What was changed before may
    /// still be committed.
    ///
    /// # Errors
    ///
    /// 911 when there is no such database.
    pub fn set_read_only(&self, database: &str, on: bool) -> SqlResult<()> {
        let mut latch = self.engine.latch();
        let found = latch.database_mut(&server_fold(database));
        found.ok_or_else(|| no_database(database))?.read_only = on;
        Ok(())
    }

    /// Sets the compatibility level, 100 to 150.
    ///
    /// # Errors
    ///
    /// 15048 for a level that does not exist, 5011 when there is no such database.
    pub fn set_compatibility_level(&self, database: &str, level: u8) -> SqlResult<()> {
        let name = quoted(database);
        let text = format!("ALTER DATABASE {name} SET COMPATIBILITY_LEVEL = {level}");
        self.execute("master", &text)
    }

    /// Creates a login that starts in `database`, its user there, and makes the user a member of
    /// `roles`, which must exist.
    ///
    /// # Errors
    ///
    /// What CREATE LOGIN, CREATE USER and ALTER ROLE report. A login that was created stays.
    pub fn create_login(
        &self,
        name: &str,
        password: &str,
        database: &str,
        roles: &[&str],
    ) -> SqlResult<()> {
        let (login, start) = (quoted(name), quoted(database));
        let password = password.replace('\'', "''");
        self.execute(
            "master",
            &format!(
                "CREATE LOGIN {login} WITH PASSWORD = '{password}', DEFAULT_DATABASE = {start}"
            ),
        )?;
        self.execute(database, &format!("CREATE USER {login} FOR LOGIN {login}"))?;
        for role in roles {
            let role = quoted(role);
            self.execute(database, &format!("ALTER ROLE {role} ADD MEMBER {login}"))?;
        }
        Ok(())
    }

    /// Accepts an access token for a login, until `lifetime` has passed on the engine's clock.
    pub fn accept_token(&self, token: &str, login: &str, lifetime: Duration) {
        let lifetime_ms = i64::try_from(lifetime.as_millis()).unwrap_or(i64::MAX);
        let grant = TokenGrant {
            login: login.to_owned(),
            expires_at_ms: self.engine.clock.unix_ms().saturating_add(lifetime_ms),
        };
        let mut latch = self.engine.latch();
        latch.catalog_mut().tokens.insert(token.to_owned(), grant);
    }

    /// Accepts an access token no longer. Sessions that began with it go on.
    pub fn revoke_token(&self, token: &str) {
        self.engine.latch().catalog_mut().tokens.remove(token);
    }

    fn set_option(&self, database: &str, option: &str, on: bool) -> SqlResult<()> {
        let (name, state) = (quoted(database), if on { "ON" } else { "OFF" });
        self.execute(
            "master",
            &format!("ALTER DATABASE {name} SET {option} {state}"),
        )
    }
}

/// A name in brackets.
pub(super) fn quoted(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

/// Keeps the first error of a batch and nothing else.
struct FirstError(Option<SqlError>);

impl ResultSink for FirstError {
    fn columns(&mut self, _: &[ColumnMeta]) -> Result<(), Disconnected> {
        Ok(())
    }

    fn row(&mut self, _: &[Value]) -> Result<(), Disconnected> {
        Ok(())
    }

    fn done(&mut self, _: Done) -> Result<(), Disconnected> {
        Ok(())
    }

    fn message(&mut self, error: &SqlError) -> Result<(), Disconnected> {
        if error.severity > 10 && self.0.is_none() {
            self.0 = Some(error.clone());
        }
        Ok(())
    }

    fn return_status(&mut self, _: i32) -> Result<(), Disconnected> {
        Ok(())
    }

    fn return_value(
        &mut self,
        _: &str,
        _: u16,
        _: &DataType,
        _: &Value,
    ) -> Result<(), Disconnected> {
        Ok(())
    }

    fn env_change(&mut self, _: &EnvChange) -> Result<(), Disconnected> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Disconnected> {
        Ok(())
    }

    fn interrupted(&mut self) -> Option<Interrupt> {
        None
    }

    fn traffic(&mut self) -> Traffic {
        Traffic::default()
    }
}
