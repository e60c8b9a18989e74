//! Connects to Azure SQL with Entra ID tokens instead of a password.
//!
//! The token comes from the Azure CLI (`az login` first), so that the example needs no further
//! crate; a service would ask its managed identity. Set `DATABASE_URL` to
//! `sqlserver://SERVER.database.windows.net/DATABASE`.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use duroxide::providers::ProviderAdmin;
use duroxide_sql::{AccessToken, MssqlProviderBuilder, TokenError, TokenSource};
use tokio::process::Command;

/// Asks the Azure CLI.
struct AzureCli;

#[async_trait::async_trait]
impl TokenSource for AzureCli {
    async fn token(&self) -> Result<AccessToken, TokenError> {
        let resource = "https://database.windows.net/";
        let output = Command::new("az")
            .args(["account", "get-access-token", "--resource", resource])
            .args(["--query", "accessToken", "--output", "tsv"])
            .output()
            .await
            .map_err(|error| TokenError::new(format!("the Azure CLI does not run: {error}")))?;
        if !output.status.success() {
            return Err(TokenError::new("the Azure CLI refuses; run az login"));
        }
        let secret = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        // The CLI gives tokens that last an hour or more, but may give one from its own cache.
        let expires_at = SystemTime::now() + Duration::from_secs(10 * 60);
        Ok(AccessToken { secret, expires_at })
    }
}

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
Connects to Azure SQL with tokens of the Azure CLI (az login) and prints the schema's metrics.
DATABASE_URL names the database: sqlserver://SERVER.database.windows.net/DATABASE

  --help   this text";

async fn run() -> anyhow::Result<()> {
    match std::env::args().nth(1).as_deref() {
        None => {}
        Some("--help") => {
            println!("{HELP}");
            return Ok(());
        }
        Some(other) => anyhow::bail!("unknown argument {other}; see --help"),
    }
    let builder = MssqlProviderBuilder::from_env()?.token_source(Arc::new(AzureCli));
    let provider = builder.build().await?;
    let metrics = provider.get_system_metrics().await?;
    println!("schema {}: {metrics:?}", provider.schema_name());
    Ok(())
}
