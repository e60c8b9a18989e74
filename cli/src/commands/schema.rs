//! The life of a schema: install, script, verify, uninstall.

use duroxide_sql::{MigrationPolicy, install_script, uninstall_script};
use serde_json::json;

use super::{changing, operator, schema_name};
use crate::args::Cli;
use crate::outcome::Outcome;
use crate::output;

fn say(cli: &Cli, outcome: &str, text: &str) -> anyhow::Result<()> {
    let schema = schema_name(cli)?;
    if cli.json {
        output::json(&json!({ "schema": schema.as_str(), "outcome": outcome, "text": text }))
    } else {
        output::line(text)
    }
}

pub async fn install(cli: &Cli) -> anyhow::Result<Outcome> {
    let schema = schema_name(cli)?;
    let policy = MigrationPolicy::Apply;
    changing(cli)
        .await?
        .migration_policy(policy)
        .build()
        .await?;
    let release = env!("CARGO_PKG_VERSION");
    let text = format!(
        "schema {schema} is at release {release}; give the application's user the role \
         {}_runtime",
        schema.as_str()
    );
    say(cli, "installed", &text)?;
    Ok(Outcome::Good)
}

pub fn script(cli: &Cli, uninstall: bool) -> anyhow::Result<Outcome> {
    let schema = schema_name(cli)?;
    let text = if uninstall {
        uninstall_script(&schema)
    } else {
        install_script(&schema)
    };
    output::text(&text)?;
    Ok(Outcome::Good)
}

pub async fn verify(cli: &Cli) -> anyhow::Result<Outcome> {
    let schema = schema_name(cli)?;
    match operator(cli).await?.verify().await {
        Ok(()) => {
            let text = format!("schema {schema} is what this release needs");
            say(cli, "verified", &text)?;
            Ok(Outcome::Good)
        }
        Err(error) => {
            say(cli, "unusable", &error.to_string())?;
            Ok(Outcome::Found)
        }
    }
}

pub async fn uninstall(cli: &Cli, yes: bool) -> anyhow::Result<Outcome> {
    let schema = schema_name(cli)?;
    anyhow::ensure!(
        yes,
        "this removes schema {schema} with all its data; repeat the command with --yes"
    );
    changing(cli).await?.uninstall().await?;
    let text = format!("everything of duroxide-sql in schema {schema} is removed");
    say(cli, "removed", &text)?;
    Ok(Outcome::Good)
}
