//! Installs, upgrades, verifies and removes a schema.
//!
//! Tables change by numbered migrations that are frozen once released. Procedures are replaced
//! as a whole when this build is newer than the release that installed them, or of the same
//! release with another text; an older build leaves newer procedures alone, so that a rolling
//! deployment never goes backwards. All of it happens in one transaction, under a lock that only
//! one installer can hold.

mod batch;
mod error;
mod names;
mod script;
mod session;
mod source;
mod state;

pub(crate) use error::Failure;
pub use error::MigrateError;
pub(crate) use names::Role;
pub use script::{install_script, uninstall_script};

use crate::deadline::Deadline;
use crate::dial::Connection;
use crate::options::{MigrationPolicy, Options};
use crate::schema_name::SchemaName;
use batch::Batch;
use names::Names;
use session::Session;
use source::{Script, Source};
use state::Plan;

/// What to do with the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// Bring it into the state that the migration policy asks for, or say why it is not.
    Prepare,
    /// Say why it cannot be used as it is, if it cannot; change nothing.
    Verify,
    /// Leave it alone, whatever its state is.
    Ignore,
    /// Drop everything that an installation created in it, and nothing else.
    Remove,
}

/// Does the task on this connection, within the time that is left.
pub(crate) async fn run(
    options: &Options,
    connection: &mut Connection,
    task: Task,
    deadline: Deadline,
) -> Result<(), Failure> {
    let mut session = Session::new(connection, options.command_timeout, deadline);
    match task {
        Task::Prepare => prepare(options, &mut session).await?,
        Task::Verify => {
            let state = state::read(&mut session, &options.schema).await?;
            state::verify(&mut session, &state, &options.schema).await?;
        }
        Task::Ignore => {}
        Task::Remove => in_transaction(&mut session, &options.schema, Change::Remove).await?,
    }
    session.finish();
    Ok(())
}

async fn prepare(options: &Options, session: &mut Session<'_>) -> Result<(), Failure> {
    let (schema, source) = (&options.schema, Source::embedded());
    let state = state::read(session, schema).await?;
    match options.migration_policy {
        MigrationPolicy::Verify => state::verify(session, &state, schema).await?,
        MigrationPolicy::Apply => {
            // A schema that is up to date is started without DDL and without the lock. Anything
            // else may be the sight of another process at work, and is looked at again under
            // the lock.
            let is_current = state
                .plan(source, schema)
                .is_ok_and(|plan| plan.is_empty(source));
            if !is_current {
                in_transaction(session, schema, Change::Install).await?;
            }
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Change {
    Install,
    Remove,
}

async fn in_transaction(
    session: &mut Session<'_>,
    schema: &SchemaName,
    change: Change,
) -> Result<(), Failure> {
    let result = async {
        session.begin(schema).await?;
        match change {
            Change::Install => install(session, schema).await?,
            Change::Remove => {
                let teardown = &Source::embedded().teardown;
                execute(session, schema, &Names::of(schema), teardown).await?;
            }
        }
        let committed = session.commit().await;
        committed.map_err(|error| Failure::at(schema, "commit", 1, &error))
    }
    .await;
    if result.is_err() {
        session.roll_back().await;
    }
    result
}

/// Applies what is missing. The state is read again, because another process may have installed
/// while this one waited for the lock.
async fn install(session: &mut Session<'_>, schema: &SchemaName) -> Result<(), Failure> {
    let (source, names) = (Source::embedded(), Names::of(schema));
    let state = state::read(session, schema).await?;
    let Plan {
        first_migration,
        procedures,
    } = state.plan(source, schema)?;
    if !state.schema_exists {
        execute(session, schema, &names, &source.create_schema).await?;
    }
    // A migration of a schema in use may build an index on a large table.
    session.allow_long_batches(first_migration > 0);
    for migration in &source.migrations[first_migration..] {
        tracing::info!(%schema, migration = migration.name, "applying");
        execute(session, schema, &names, &migration.script).await?;
        let ledger = script::record_migration(schema, migration);
        record(session, schema, &migration.script.file, &ledger).await?;
    }
    if procedures {
        tracing::info!(%schema, release = source::RELEASE, "installing procedures");
        for script in &source.repeatable {
            execute(session, schema, &names, script).await?;
        }
        let created = if state.schema_exists { "0" } else { "1" };
        let ledger = script::record_release(schema, source, created);
        record(session, schema, "schema_release", &ledger).await?;
    }
    Ok(())
}

async fn execute(
    session: &mut Session<'_>,
    schema: &SchemaName,
    names: &Names,
    script: &Script,
) -> Result<(), Failure> {
    for Batch { text, first_line } in &script.batches {
        let text = names.render(text);
        let result = session.batch(&text).await;
        result.map_err(|error| Failure::at(schema, &script.file, *first_line, &error))?;
    }
    Ok(())
}

/// Enters into the ledger what has been done.
async fn record(
    session: &mut Session<'_>,
    schema: &SchemaName,
    what: &str,
    ledger: &str,
) -> Result<(), Failure> {
    let result = session.batch(ledger).await;
    result
        .map(drop)
        .map_err(|error| Failure::at(schema, what, 1, &error))
}
