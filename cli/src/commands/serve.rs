//! The page.

use anyhow::Context as _;
use serde_json::json;

use super::{builder, environment, schema_name};
use crate::args::{Cli, ServeArgs};
use crate::outcome::Outcome;
use crate::output;
use crate::serve::{Settings, Token, listen};

/// A page asks little at a time.
const CONNECTIONS_MAX: u32 = 4;

fn token(wanted: &ServeArgs) -> anyhow::Result<Option<Token>> {
    let text = match &wanted.token_file {
        Some(file) => {
            let read = std::fs::read_to_string(file);
            Some(read.with_context(|| format!("the token cannot be read from {}", file.display()))?)
        }
        None => environment("DUROXIDE_SQL_PAGE_TOKEN"),
    };
    text.as_deref().map(Token::new).transpose()
}

pub async fn run(cli: &Cli, wanted: &ServeArgs) -> anyhow::Result<Outcome> {
    let settings = Settings {
        listen: wanted.listen,
        allow_changes: wanted.allow_changes,
        token: token(wanted)?,
        host_names: wanted.host_name.clone(),
        schema: schema_name(cli)?.as_str().to_owned(),
    };
    let schema = settings.schema.clone();
    let operator = builder(cli)?.pool_max(CONNECTIONS_MAX).operator().await?;
    let listening = listen(operator, settings).await?;
    let url = format!("http://{}/", listening.address);
    if cli.json {
        output::line(json!({ "url": url }))?;
    } else {
        let may = if wanted.allow_changes {
            "may change things"
        } else {
            "only shows"
        };
        output::line(format_args!(
            "schema {schema} at {url}, {may}; Ctrl-C ends it"
        ))?;
    }
    listening.serve().await?;
    Ok(Outcome::Good)
}
