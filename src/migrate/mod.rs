//! Installs, upgrades, verifies and removes a schema.
//!
//! Tables change by numbered migrations that are frozen once released. Procedures are replaced
//! as a whole when this build is newer than the release that installed them, or of the same
//! release with another text; an older build leaves newer procedures alone, so that a rolling
//! deployment never goes backwards. All of it happens in one transaction, under a lock that only
//! one installer can hold.

mod batch;
mod error;
mod script;
mod session;
mod source;
mod state;

pub use error::MigrateError;
pub use script::{install_script, uninstall_script};

use crate::dial::Connection;
use crate::options::{MigrationPolicy, Options};
use crate::schema_name::SchemaName;
use session::Session;
use source::{Script, Source, render};
use state::Plan;

/// Brings the schema into the state that the options ask for, or says why it is not.
pub(crate) async fn prepare(
    options: &Options,
    connection: &mut Connection,
) -> Result<(), MigrateError> {
    let (schema, source) = (&options.schema, Source::embedded());
    let mut session = Session::new(connection);
    let state = state::read(&mut session, schema).await?;
    match options.migration_policy {
        MigrationPolicy::Verify => state.verify(source, schema)?,
        MigrationPolicy::Apply => {
            // A schema that is up to date is started without DDL and without the lock. Anything
            // else may be the sight of another process at work, and is looked at again under
            // the lock.
            let is_current = state
                .plan(source, schema)
                .is_ok_and(|plan| plan.is_empty(source));
            if !is_current {
                in_transaction(&mut session, schema, Work::Install).await?;
            }
        }
    }
    session.finish();
    Ok(())
}

/// Says why the schema cannot be used as it is, if it cannot; changes nothing.
pub(crate) async fn verify(
    options: &Options,
    connection: &mut Connection,
) -> Result<(), MigrateError> {
    let mut session = Session::new(connection);
    let state = state::read(&mut session, &options.schema).await?;
    session.finish();
    state.verify(Source::embedded(), &options.schema)
}

/// Drops everything that an installation created in this schema, and nothing else.
pub(crate) async fn remove(
    options: &Options,
    connection: &mut Connection,
) -> Result<(), MigrateError> {
    let mut session = Session::new(connection);
    in_transaction(&mut session, &options.schema, Work::Remove).await?;
    session.finish();
    Ok(())
}

#[derive(Clone, Copy)]
enum Work {
    Install,
    Remove,
}

async fn in_transaction(
    session: &mut Session<'_>,
    schema: &SchemaName,
    work: Work,
) -> Result<(), MigrateError> {
    let result = async {
        session.begin(schema).await?;
        match work {
            Work::Install => install(session, schema).await?,
            Work::Remove => run(session, schema, &Source::embedded().teardown).await?,
        }
        let committed = session.commit().await;
        committed.map_err(|error| MigrateError::failed(schema, "commit", 1, &error))
    }
    .await;
    if result.is_err() {
        session.roll_back().await;
    }
    result
}

/// Applies what is missing. The state is read again, because another process may have installed
/// while this one waited for the lock.
async fn install(session: &mut Session<'_>, schema: &SchemaName) -> Result<(), MigrateError> {
    let source = Source::embedded();
    let state = state::read(session, schema).await?;
    let Plan {
        first_migration,
        procedures,
    } = state.plan(source, schema)?;
    if !state.schema_exists {
        run(session, schema, &source.create_schema).await?;
    }
    for migration in &source.migrations[first_migration..] {
        tracing::info!(%schema, migration = migration.name, "applying");
        run(session, schema, &migration.script).await?;
        let ledger = script::record_migration(schema, migration);
        run_text(session, schema, &migration.script.file, &ledger).await?;
    }
    if procedures {
        tracing::info!(%schema, release = source::RELEASE, "installing procedures");
        for script in &source.repeatable {
            run(session, schema, script).await?;
        }
        let created = if state.schema_exists { "0" } else { "1" };
        let ledger = script::record_release(schema, source, created);
        run_text(session, schema, "schema_release", &ledger).await?;
    }
    Ok(())
}

async fn run(
    session: &mut Session<'_>,
    schema: &SchemaName,
    script: &Script,
) -> Result<(), MigrateError> {
    run_text(session, schema, &script.file, &render(script.text, schema)).await
}

async fn run_text(
    session: &mut Session<'_>,
    schema: &SchemaName,
    file: &str,
    text: &str,
) -> Result<(), MigrateError> {
    for batch in batch::split(text) {
        let result = session.batch(batch.text).await;
        result.map_err(|error| MigrateError::failed(schema, file, batch.first_line, &error))?;
    }
    Ok(())
}
