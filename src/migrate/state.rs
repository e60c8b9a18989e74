//! What is installed, and how that compares with what this build brings.

use crate::error::CallError;
use crate::procedure::Record;
use crate::schema_name::SchemaName;

use super::error::{Failure, MigrateError};
use super::session::Session;
use super::source::Source;

/// Lowest compatibility level with OPENJSON.
const COMPATIBILITY_MIN: i64 = 130;
/// The server's error for a procedure that the login may not execute.
const EXECUTE_DENIED: u32 = 229;

/// An applied migration, as the ledger has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Applied {
    pub(super) number: u32,
    pub(super) name: String,
    pub(super) checksum: String,
}

/// The release that installed the procedures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Release {
    pub(super) release: String,
    pub(super) order: i64,
    pub(super) checksum: String,
}

/// What the ledger of a schema says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) schema_exists: bool,
    /// The ledger's tables are there. Visible only to a login with rights on them.
    pub(super) has_ledger: bool,
    /// The procedure that reads the ledger is there.
    pub(super) has_procedures: bool,
    pub(super) migrations: Vec<Applied>,
    pub(super) release: Option<Release>,
}

/// What an installation has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// Migrations from this position in the source on.
    pub(super) first_migration: usize,
    pub(super) procedures: bool,
}

impl Plan {
    pub(super) fn is_empty(&self, source: &Source) -> bool {
        self.first_migration == source.migrations.len() && !self.procedures
    }
}

/// Asks the database, in one round trip.
pub(super) async fn read(session: &mut Session<'_>, schema: &SchemaName) -> Result<State, Failure> {
    let sets = session.batch(&query(schema)).await;
    let sets = sets.map_err(|error| Failure::unreadable(schema, &error))?;
    decode(sets)
        .map_err(|error| Failure::unreadable(schema, &error))
        .and_then(|(level, state)| match level {
            Some(level) if level < COMPATIBILITY_MIN => {
                Err(MigrateError::CompatibilityLevel { level }.into())
            }
            _ => Ok(state),
        })
}

/// Says why a schema cannot be used as it is.
pub(super) async fn verify(
    session: &mut Session<'_>,
    state: &State,
    schema: &SchemaName,
) -> Result<(), Failure> {
    let verdict = state.verify(Source::embedded(), schema);
    if let Err(MigrateError::NotInstalled { .. }) = verdict
        && state.schema_exists
    {
        // SQL Server hides what a login has no right to; that it is there, only the attempt tells.
        let attempt = format!("EXEC {}.get_schema_state;", schema.quoted());
        if let Err(error) = session.batch(&attempt).await
            && error.number() == Some(EXECUTE_DENIED)
        {
            return Err(Failure::unreadable(schema, &error));
        }
    }
    Ok(verdict?)
}

/// A login that may only execute sees the procedure; one that may read the tables sees them
/// also when the procedure is missing.
fn query(schema: &SchemaName) -> String {
    let (quoted, literal) = (schema.quoted(), schema.literal());
    let quoted_literal = quoted.replace('\'', "''");
    format!(
        "SELECT compatibility_level FROM sys.databases WHERE name = DB_NAME();\n\
         SELECT CASE WHEN SCHEMA_ID(N'{literal}') IS NULL THEN 0 ELSE 1 END AS schema_exists,\n\
         CASE WHEN OBJECT_ID(N'{quoted_literal}.schema_migrations', N'U') IS NULL THEN 0 ELSE 1 \
         END AS has_ledger,\n\
         CASE WHEN OBJECT_ID(N'{quoted_literal}.get_schema_state', N'P') IS NULL THEN 0 ELSE 1 \
         END AS has_procedures;\n\
         IF OBJECT_ID(N'{quoted_literal}.get_schema_state', N'P') IS NOT NULL\n\
         BEGIN\n    EXEC {quoted}.get_schema_state;\nEND;\n"
    )
}

fn decode(sets: Vec<Vec<Record>>) -> Result<(Option<i64>, State), CallError> {
    let mut sets = sets.into_iter();
    let mut next = || sets.next().unwrap_or_default();
    let level = next()
        .first()
        .map(|row| row.int("compatibility_level"))
        .transpose()?;
    let mut state = State::default();
    if let Some(row) = next().first() {
        state.schema_exists = row.int("schema_exists")? != 0;
        state.has_ledger = row.int("has_ledger")? != 0;
        state.has_procedures = row.int("has_procedures")? != 0;
    }
    for row in next() {
        state.migrations.push(Applied {
            number: u32::try_from(row.int("migration_number")?).unwrap_or(u32::MAX),
            name: row.text("migration_name")?.to_owned(),
            checksum: row.text("checksum")?.to_owned(),
        });
    }
    if let Some(row) = next().first() {
        state.release = Some(Release {
            release: row.text("release")?.to_owned(),
            order: row.int("release_order")?,
            checksum: row.text("checksum")?.to_owned(),
        });
    }
    Ok((level, state))
}

impl State {
    /// Decides what to do, or why nothing may be done.
    pub(super) fn plan(&self, source: &Source, schema: &SchemaName) -> Result<Plan, MigrateError> {
        let quoted = schema.quoted();
        if let Some(newest) = self.migrations.last()
            && newest.number > source.newest()
        {
            return Err(MigrateError::Ahead {
                schema: quoted,
                at: newest.number,
                knows: source.newest(),
            });
        }
        if self.has_ledger != self.has_procedures && (self.has_ledger || !self.schema_exists) {
            let missing = "procedure get_schema_state".to_owned();
            return Err(MigrateError::HalfInstalled {
                schema: quoted,
                missing,
            });
        }
        if self.has_procedures && self.migrations.is_empty() {
            let missing = "the ledger's entry for the first migration".to_owned();
            return Err(MigrateError::HalfInstalled {
                schema: quoted,
                missing,
            });
        }
        for (applied, ours) in self.migrations.iter().zip(&source.migrations) {
            if (applied.number, &applied.checksum) != (ours.number, &ours.checksum) {
                return Err(MigrateError::Altered {
                    schema: quoted,
                    file: format!("migration {}", ours.name),
                    remedy: "restore the released file and add a new migration",
                });
            }
        }
        Ok(Plan {
            first_migration: self.migrations.len(),
            procedures: match &self.release {
                None => true,
                Some(theirs) => {
                    theirs.order < source.release_order
                        || (theirs.order == source.release_order
                            && theirs.checksum != source.repeatable_checksum)
                }
            },
        })
    }

    /// Says why a schema cannot be used as it is.
    pub(super) fn verify(&self, source: &Source, schema: &SchemaName) -> Result<(), MigrateError> {
        let quoted = schema.quoted();
        if !self.has_procedures && !self.has_ledger {
            return Err(MigrateError::NotInstalled { schema: quoted });
        }
        let plan = self.plan(source, schema)?;
        if plan.first_migration < source.migrations.len() {
            let at = self.migrations.last().map_or(0, |applied| applied.number);
            return Err(MigrateError::Behind {
                schema: quoted,
                at: at.to_string(),
                needs: source.newest().to_string(),
            });
        }
        match (&self.release, plan.procedures) {
            (_, false) => Ok(()),
            (Some(theirs), true) if theirs.order == source.release_order => {
                Err(MigrateError::Altered {
                    schema: quoted,
                    file: format!("the set of procedures of release {}", theirs.release),
                    remedy: "install the procedures of this build, or use the build that \
                             installed them",
                })
            }
            (theirs, true) => Err(MigrateError::Behind {
                schema: quoted,
                at: theirs.as_ref().map_or_else(
                    || "no release".to_owned(),
                    |r| format!("release {}", r.release),
                ),
                needs: format!("release {}", super::source::RELEASE),
            }),
        }
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
