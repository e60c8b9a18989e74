//! What waits, for how long, and why.

use std::time::Duration;

use duroxide_sql::{Question, View, ViewRow};
use serde_json::json;

use super::operator;
use crate::age;
use crate::args::Cli;
use crate::outcome::Outcome;
use crate::output::{self, cell, number};

/// Waiting for these is what instances do; the others need somebody.
const NORMAL: [&str; 3] = ["running", "delayed", "child_running"];
/// The runtime gives up after ten attempts; half-way somebody should look.
const ATTEMPTS_DOUBTFUL: i64 = 5;

/// The reason as a sentence that says what to do.
fn explain(row: &ViewRow) -> String {
    let name = cell(row, "name");
    let what = format!("{} {name}", cell(row, "waits_for"));
    let attempts = number(row, "attempt_count");
    let often = if attempts >= ATTEMPTS_DOUBTFUL {
        format!("; taken {attempts} times, likely poisoned")
    } else {
        String::new()
    };
    let text = match cell(row, "reason").as_str() {
        "running" => format!(
            "{what}: worker {} has it since {}, lease until {}",
            cell(row, "worker_id"),
            cell(row, "since_utc"),
            cell(row, "until_utc"),
        ),
        "lease_expired" => format!(
            "{what}: worker {} has gone, its lease ended {}; no worker has taken over",
            cell(row, "worker_id"),
            cell(row, "until_utc"),
        ),
        "tag_without_worker" => format!(
            "{what}: no worker takes tag {:?}; start one that does",
            cell(row, "tag"),
        ),
        "version_without_runtime" => format!(
            "{what}: pinned to duroxide {}, and no runtime supports that version; start one",
            cell(row, "duroxide_version"),
        ),
        "not_taken" => format!("{what}: ready, and nobody has taken it; is a runtime running?"),
        "delayed" => format!("{what}: not before {}", cell(row, "until_utc")),
        "not_raised" => format!("waits for event {name:?}, which nobody has raised"),
        "child_running" => format!("waits for its child {name}"),
        "never_started" => {
            format!("message {name} for an instance that was never started; see `orphans`")
        }
        other => format!("{what}: {other}"),
    };
    text + &often
}

pub async fn run(cli: &Cli, longer_than: Duration, all: bool) -> anyhow::Result<Outcome> {
    let operator = operator(cli).await?;
    let least = i64::try_from(longer_than.as_millis()).unwrap_or(i64::MAX);
    let question = Question::of(View::Waiting)
        .at_least("waiting_ms", least)
        .ordered_down_by("waiting_ms")
        .ordered_by("instance_id");
    let mut rows = operator.rows(&question).await?;
    if !all {
        rows.retain(|row| {
            !NORMAL.contains(&cell(row, "reason").as_str())
                || number(row, "attempt_count") >= ATTEMPTS_DOUBTFUL
        });
    }
    let poisoned = Question::of(View::Instances)
        .equals("failure_kind", "Poison")
        .ordered_by("completed_at_utc");
    let poisoned = operator.rows(&poisoned).await?;
    let outcome = if rows.is_empty() && poisoned.is_empty() {
        Outcome::Good
    } else {
        Outcome::Found
    };
    if cli.json {
        output::json(&json!({ "waiting": rows, "poisoned": poisoned }))?;
        return Ok(outcome);
    }
    let waiting = rows.iter().map(|row| {
        vec![
            cell(row, "instance_id"),
            age::show(number(row, "waiting_ms")),
            explain(row),
        ]
    });
    let failed = poisoned.iter().map(|row| {
        vec![
            cell(row, "instance_id"),
            "-".to_owned(),
            format!(
                "poisoned: failed at {} after too many attempts",
                cell(row, "completed_at_utc")
            ),
        ]
    });
    let lines: Vec<_> = waiting.chain(failed).collect();
    if lines.is_empty() {
        output::line("nothing is stuck")?;
    } else {
        output::table(&["INSTANCE", "WAITS", "WHY"], &lines)?;
    }
    Ok(outcome)
}

/// Instances per call.
const ORPHANS_PER_CALL: u32 = 1000;

pub async fn orphans(cli: &Cli, purge_older_than: Option<Duration>) -> anyhow::Result<Outcome> {
    let operator = operator(cli).await?;
    if let Some(age) = purge_older_than {
        let (mut instances, mut messages) = (0, 0);
        loop {
            let (more, of_them) = operator
                .purge_orphan_messages(age, ORPHANS_PER_CALL)
                .await?;
            (instances, messages) = (instances + more, messages + of_them);
            if more < u64::from(ORPHANS_PER_CALL) {
                break;
            }
        }
        if cli.json {
            output::json(&json!({ "instances": instances, "messages": messages }))?;
        } else {
            output::line(format_args!(
                "deleted {messages} messages for {instances} instances"
            ))?;
        }
        return Ok(Outcome::Good);
    }
    let question = Question::of(View::Queue)
        .equals("is_orphan", "1")
        .ordered_by("visible_at_utc")
        .ordered_by("item_id");
    let rows = operator.rows(&question).await?;
    if cli.json {
        output::json(&rows)?;
    } else if rows.is_empty() {
        output::line("no messages for instances that never existed")?;
    } else {
        let lines: Vec<_> = rows
            .iter()
            .map(|row| {
                ["instance_id", "kind", "visible_at_utc"]
                    .map(|c| cell(row, c))
                    .into()
            })
            .collect();
        output::table(&["INSTANCE", "MESSAGE", "SINCE"], &lines)?;
        output::line("delete the old ones with `orphans --purge-older-than 7d`")?;
    }
    Ok(Outcome::Good)
}
