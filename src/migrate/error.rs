//! Why a schema could not be installed, verified or removed.

use crate::error::CallError;
use crate::schema_name::SchemaName;

/// The schema is not in the state that this release needs, or could not be brought there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MigrateError {
    /// Nothing of ours is there.
    #[error(
        "schema {schema} is not installed; start once with MigrationPolicy::Apply, or have a DBA \
         run the script that install_script returns"
    )]
    NotInstalled {
        /// The quoted schema name.
        schema: String,
    },
    /// Tables are there, but not all that belongs to them.
    #[error(
        "schema {schema} is only partly installed: {missing} is missing; drop what is there with \
         teardown/drop_schema.sql and install again"
    )]
    HalfInstalled {
        /// The quoted schema name.
        schema: String,
        /// What should be there.
        missing: String,
    },
    /// A migration of this release has not been applied.
    #[error(
        "schema {schema} is at {at}, this build needs {needs}; upgrade it with \
         MigrationPolicy::Apply or with the script that install_script returns"
    )]
    Behind {
        /// The quoted schema name.
        schema: String,
        /// What the schema has.
        at: String,
        /// What this build needs.
        needs: String,
    },
    /// The schema has a migration that this build does not know.
    #[error(
        "schema {schema} is at {at}, this build knows up to {knows}; upgrade the crate or choose \
         another schema"
    )]
    Ahead {
        /// The quoted schema name.
        schema: String,
        /// The newest migration in the schema.
        at: u32,
        /// The newest migration of this build.
        knows: u32,
    },
    /// What was applied is not what this build would have applied.
    #[error("{file} differs from the one applied to schema {schema}; {remedy}")]
    Altered {
        /// The quoted schema name.
        schema: String,
        /// The file that differs.
        file: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The login may not do what the installation needs.
    #[error(
        "the login may not install schema {schema}: {reason}; have a DBA run the script that \
         install_script returns, and start with MigrationPolicy::Verify"
    )]
    Permission {
        /// The quoted schema name.
        schema: String,
        /// The server's words.
        reason: String,
    },
    /// The login may not call the procedures.
    #[error(
        "the login may not use schema {schema}: {reason}; add its user to the schema's runtime role"
    )]
    NotGranted {
        /// The quoted schema name.
        schema: String,
        /// The server's words.
        reason: String,
    },
    /// The database is set to behave like a server that is too old.
    #[error(
        "database has compatibility level {level}, at least 130 is needed; run ALTER DATABASE \
         CURRENT SET COMPATIBILITY_LEVEL = 130"
    )]
    CompatibilityLevel {
        /// The level found.
        level: i64,
    },
    /// Somebody else is installing and does not finish.
    #[error(
        "another process is installing schema {schema} and did not finish within startup_timeout"
    )]
    LockTimeout {
        /// The quoted schema name.
        schema: String,
    },
    /// A statement of the installation failed; everything was rolled back.
    #[error("{file}, batch at line {line}: {reason}")]
    Failed {
        /// The file.
        file: String,
        /// Where the failed batch begins.
        line: usize,
        /// What the server said.
        reason: String,
        /// Whether it may pass: a timeout, a deadlock, a database that is moving.
        is_retryable: bool,
    },
    /// The database could not be asked.
    #[error("schema {schema} could not be examined: {reason}")]
    Unreadable {
        /// The quoted schema name.
        schema: String,
        /// What went wrong.
        reason: String,
        /// Whether it may pass, as in [`MigrateError::Failed`].
        is_retryable: bool,
    },
}

impl MigrateError {
    /// Whether the same start may succeed later without anybody changing anything.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::LockTimeout { .. } => true,
            Self::Failed { is_retryable, .. } | Self::Unreadable { is_retryable, .. } => {
                *is_retryable
            }
            Self::NotInstalled { .. }
            | Self::HalfInstalled { .. }
            | Self::Behind { .. }
            | Self::Ahead { .. }
            | Self::Altered { .. }
            | Self::Permission { .. }
            | Self::NotGranted { .. }
            | Self::CompatibilityLevel { .. } => false,
        }
    }
}

/// Permission denied on a statement, on creating something, on an object, or on a schema.
const DENIED: [u32; 5] = [229, 230, 262, 2760, 15247];

/// The work on a schema failed, and whether doing it again may help.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: MigrateError,
    pub(crate) is_passing: bool,
    /// The server said that it no longer serves the database.
    pub(crate) says_moved: bool,
}

impl From<MigrateError> for Failure {
    /// What the schema itself is like does not pass.
    fn from(error: MigrateError) -> Self {
        Self {
            error,
            is_passing: false,
            says_moved: false,
        }
    }
}

impl Failure {
    /// The schema's state could not be read.
    pub(crate) fn unreadable(schema: &SchemaName, error: &CallError) -> Self {
        let (is_passing, says_moved) = (error.is_retryable(), error.says_moved());
        let (schema, reason) = (schema.quoted(), error.to_string());
        let error = match error.number() {
            Some(number) if DENIED.contains(&number) => MigrateError::NotGranted { schema, reason },
            _ => MigrateError::Unreadable {
                schema,
                reason,
                is_retryable: is_passing,
            },
        };
        Self {
            error,
            is_passing,
            says_moved,
        }
    }

    /// A batch failed. Everything is in one transaction, so it may all be done again.
    pub(super) fn at(schema: &SchemaName, file: &str, line: usize, error: &CallError) -> Self {
        let (is_passing, says_moved) = (error.is_retryable(), error.says_moved());
        let reason = error.to_string();
        let error = match error.number() {
            Some(number) if DENIED.contains(&number) => MigrateError::Permission {
                schema: schema.quoted(),
                reason,
            },
            _ => MigrateError::Failed {
                file: file.to_owned(),
                line,
                reason,
                is_retryable: is_passing,
            },
        };
        Self {
            error,
            is_passing,
            says_moved,
        }
    }

    /// Another process holds the installation's lock.
    pub(super) fn locked(schema: &SchemaName) -> Self {
        Self {
            error: MigrateError::LockTimeout {
                schema: schema.quoted(),
            },
            is_passing: true,
            says_moved: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the start itself repeats, a supervisor may repeat too.
    #[test]
    fn passing_failures_are_retryable() {
        let schema = SchemaName::new("orders").unwrap();
        for (number, passes) in [(1205, true), (40613, true), (229, false), (208, false)] {
            let error = CallError::server(number, 16, "x");
            for failure in [
                Failure::unreadable(&schema, &error),
                Failure::at(&schema, "a.sql", 1, &error),
            ] {
                assert_eq!(failure.is_passing, passes, "{number}");
                assert_eq!(failure.error.is_retryable(), passes, "{number}");
            }
        }
        assert!(Failure::locked(&schema).error.is_retryable());
    }
}
