//! Changes to one instance.

use duroxide::providers::{ProviderAdmin as _, PruneOptions};
use serde_json::json;

use super::operator;
use crate::args::Cli;
use crate::outcome::Outcome;
use crate::output;

fn say(cli: &Cli, value: &serde_json::Value, text: &str) -> anyhow::Result<Outcome> {
    if cli.json {
        output::json(value)?;
    } else {
        output::line(text)?;
    }
    Ok(Outcome::Good)
}

pub async fn cancel(cli: &Cli, instance_id: &str, reason: &str) -> anyhow::Result<Outcome> {
    operator(cli).await?.cancel(instance_id, reason).await?;
    let text = format!("{instance_id} is asked to stop; it ends with its next turn");
    say(
        cli,
        &json!({ "instance_id": instance_id, "outcome": "asked" }),
        &text,
    )
}

pub async fn raise(
    cli: &Cli,
    instance_id: &str,
    name: &str,
    data: &str,
) -> anyhow::Result<Outcome> {
    operator(cli).await?.raise(instance_id, name, data).await?;
    let text = format!("event {name} is on its way to {instance_id}");
    say(
        cli,
        &json!({ "instance_id": instance_id, "outcome": "raised" }),
        &text,
    )
}

pub async fn delete(cli: &Cli, instance_id: &str, force: bool) -> anyhow::Result<Outcome> {
    let operator = operator(cli).await?;
    let result = operator
        .provider()
        .delete_instance(instance_id, force)
        .await?;
    let counts = json!({
        "instances_deleted": result.instances_deleted,
        "executions_deleted": result.executions_deleted,
        "events_deleted": result.events_deleted,
        "queue_messages_deleted": result.queue_messages_deleted,
    });
    let text = format!(
        "deleted {} instances, {} executions, {} events, {} messages",
        result.instances_deleted,
        result.executions_deleted,
        result.events_deleted,
        result.queue_messages_deleted,
    );
    say(cli, &counts, &text)
}

pub async fn prune(cli: &Cli, instance_id: &str, keep_last: u32) -> anyhow::Result<Outcome> {
    let operator = operator(cli).await?;
    let options = PruneOptions {
        keep_last: Some(keep_last),
        ..PruneOptions::default()
    };
    let result = operator
        .provider()
        .prune_executions(instance_id, options)
        .await?;
    let counts = json!({
        "executions_deleted": result.executions_deleted,
        "events_deleted": result.events_deleted,
    });
    let text = format!(
        "deleted {} executions, {} events",
        result.executions_deleted, result.events_deleted
    );
    say(cli, &counts, &text)
}
