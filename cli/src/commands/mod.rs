//! One file per group of commands.

mod act;
mod doctor;
mod look;
mod purge;
mod schema;
mod serve;
mod show;
mod stuck;

use std::time::Duration;

use anyhow::{Context as _, anyhow};
use clap::CommandFactory as _;
use duroxide::providers::ProviderError;
use duroxide_sql::{DEFAULT_SCHEMA, MigrateError, MssqlProviderBuilder, Operator, SchemaName};

use crate::args::{Cli, Command};
use crate::outcome::Outcome;
use crate::output;

/// Does what the command line says.
pub async fn run(cli: &Cli) -> anyhow::Result<Outcome> {
    match done(cli).await {
        Err(error) if error.is::<ProviderError>() => Err(explained(cli, error).await),
        done => done,
    }
}

/// Whoever forgot `--schema` or `install` hears of that, and not of an object that is missing.
async fn explained(cli: &Cli, error: anyhow::Error) -> anyhow::Error {
    let Ok(operator) = operator(cli).await else {
        return error;
    };
    match operator.verify().await {
        Err(MigrateError::NotInstalled { schema }) => {
            anyhow!("schema {schema} is not installed; name another with --schema, or install it")
        }
        Ok(()) | Err(_) => error,
    }
}

async fn done(cli: &Cli) -> anyhow::Result<Outcome> {
    match &cli.command {
        Command::Doctor => doctor::run(cli).await,
        Command::Install => schema::install(cli).await,
        Command::Script { uninstall } => schema::script(cli, *uninstall),
        Command::Verify => schema::verify(cli).await,
        Command::Uninstall { yes } => schema::uninstall(cli, *yes).await,
        Command::Status { watch, every } => look::status(cli, watch.then_some(*every)).await,
        Command::List(wanted) => look::list(cli, wanted).await,
        Command::Show {
            instance_id,
            history,
        } => show::run(cli, instance_id, *history).await,
        Command::Stuck { longer_than, all } => stuck::run(cli, *longer_than, *all).await,
        Command::Cancel {
            instance_id,
            reason,
        } => act::cancel(cli, instance_id, reason).await,
        Command::Raise {
            instance_id,
            name,
            data,
        } => act::raise(cli, instance_id, name, data).await,
        Command::Orphans { purge_older_than } => stuck::orphans(cli, *purge_older_than).await,
        Command::Delete { instance_id, force } => act::delete(cli, instance_id, *force).await,
        Command::Prune {
            instance_id,
            keep_last,
        } => act::prune(cli, instance_id, *keep_last).await,
        Command::Serve(wanted) => serve::run(cli, wanted).await,
        Command::Purge(wanted) => purge::run(cli, wanted).await,
        Command::Completions { shell } => {
            let mut command = Cli::command();
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut command, "duroxide-sql", &mut script);
            output::text(&String::from_utf8(script)?)?;
            Ok(Outcome::Good)
        }
    }
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn schema_name(cli: &Cli) -> anyhow::Result<SchemaName> {
    let name = cli.schema.clone();
    let name = name.or_else(|| environment("DUROXIDE_SQL_SCHEMA"));
    Ok(SchemaName::new(
        name.unwrap_or_else(|| DEFAULT_SCHEMA.to_owned()),
    )?)
}

/// A person waits for the answer, so a server that is not there is reported this soon.
const PATIENCE: Duration = Duration::from_secs(10);
/// A server that is there may need this long to change a schema: many scripts over a slow line, an index on a large table, another
/// installation before this one.
const CHANGING: Duration = Duration::from_secs(60 * 60);

fn builder(cli: &Cli) -> anyhow::Result<MssqlProviderBuilder> {
    let url = cli.url.clone().or_else(|| environment("DATABASE_URL"));
    let url = url.context("no server; give --url or set DATABASE_URL to a connection string")?;
    Ok(MssqlProviderBuilder::new(url)
        .schema(schema_name(cli)?.as_str())
        .pool_min_idle(0)
        .startup_timeout(PATIENCE))
}

/// As [`builder`], to change the schema of a server that has let us in.
async fn changing(cli: &Cli) -> anyhow::Result<MssqlProviderBuilder> {
    operator(cli).await?;
    Ok(builder(cli)?.startup_timeout(CHANGING))
}

async fn operator(cli: &Cli) -> anyhow::Result<Operator> {
    Ok(builder(cli)?.operator().await?)
}
