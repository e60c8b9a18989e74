//! A process of the scenarios that need several: a runtime on a schema that others share.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use duroxide::runtime::Runtime;
use duroxide_sql::{MigrationPolicy, MssqlProvider};
use tokio::io::AsyncReadExt as _;

use crate::backend::SqlOptions;
use crate::cli::Cli;
use crate::every_kind::{self, Runs};

/// Runs workflows until standard input ends, as it does when the process is gone that started this
/// one.
///
/// # Errors
///
/// When the schema is not named or cannot be used.
pub async fn serve(cli: &Cli) -> Result<()> {
    let options = SqlOptions::from_cli(cli)?;
    let url = options.url.context("--serve needs --url or --server")?;
    let schema = options.schema.context("--serve needs --schema")?;
    let mut builder = MssqlProvider::builder(url)
        .schema(schema)
        .migration_policy(MigrationPolicy::Verify);
    if options.no_wait_for_work {
        builder = builder.wait_for_work(false);
    }
    let provider = Arc::new(builder.build().await?);
    let activities = every_kind::activities(cli.activity_delay, Arc::new(Runs::default()));
    let (orchestrations, options) = (every_kind::orchestrations(), every_kind::options());
    let runtime =
        Runtime::start_with_options(provider.clone(), activities, orchestrations, options).await;
    // Whatever ends it, there is nobody left to work for.
    drop(tokio::io::stdin().read_to_end(&mut Vec::new()).await);
    runtime.shutdown(None).await;
    provider.close().await;
    Ok(())
}
