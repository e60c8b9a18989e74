//! Connects to Azure SQL without a password, as an identity of Azure.
//!
//! ```text
//! DATABASE_URL='sqlserver://SERVER.database.windows.net/DATABASE' AZURE_IDENTITY=developer \
//!     cargo run --features azure-identity --example azure_entra
//! ```

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use duroxide::providers::ProviderAdmin;
use duroxide_sql::{AzureIdentity, MssqlProviderBuilder};

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("azure_entra: {error:#}");
            ExitCode::FAILURE
        }
    }
}

const HELP: &str = "\
Connects to Azure SQL as an identity of Azure and prints the schema's metrics.

DATABASE_URL names the database: sqlserver://SERVER.database.windows.net/DATABASE
AZURE_IDENTITY names the identity:
  managed      that of this virtual machine, App Service, Function or Container App
  managed:ID   the same, the user-assigned one with this client id
  workload     that of this Kubernetes pod
  developer    yours, after az login or azd auth login

  --help       this text";

async fn run() -> anyhow::Result<()> {
    match std::env::args().nth(1).as_deref() {
        None => {}
        Some("--help") => {
            println!("{HELP}");
            return Ok(());
        }
        Some(other) => anyhow::bail!("unknown argument {other}; see --help"),
    }
    let builder = MssqlProviderBuilder::from_env()?;
    let kind = std::env::var("AZURE_IDENTITY").context("AZURE_IDENTITY is not set; see --help")?;
    let identity = match kind.split_once(':') {
        Some(("managed", client_id)) => AzureIdentity::managed(Some(client_id))?,
        None if kind == "managed" => AzureIdentity::managed(None)?,
        None if kind == "workload" => AzureIdentity::workload(None)?,
        None if kind == "developer" => AzureIdentity::developer()?,
        _ => anyhow::bail!("AZURE_IDENTITY names no identity; see --help"),
    };
    let provider = builder.token_source(Arc::new(identity)).build().await?;
    let metrics = provider.get_system_metrics().await?;
    println!("schema {}: {metrics:?}", provider.schema_name());
    provider.close().await;
    Ok(())
}
