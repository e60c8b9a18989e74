//! One instance as a story.

use duroxide_sql::{Operator, Question, View, ViewRow};
use serde_json::json;

use super::operator;
use crate::args::Cli;
use crate::outcome::Outcome;
use crate::output::{self, cell, number};

/// Deeper trees are cut; ids show where to go on.
const DEPTH_MAX: usize = 8;

async fn rows_of(
    operator: &Operator,
    view: View,
    id: &str,
    order: &'static str,
) -> anyhow::Result<Vec<ViewRow>> {
    let question = Question::of(view)
        .equals("instance_id", id)
        .ordered_by(order);
    Ok(operator.rows(&question).await?)
}

/// Children below their parents, depth first.
async fn tree(operator: &Operator, root: &str) -> anyhow::Result<Vec<(usize, ViewRow)>> {
    let mut found = Vec::new();
    let mut open = vec![(0, root.to_owned())];
    while let Some((depth, id)) = open.pop() {
        let question = Question::of(View::Instances)
            .equals("parent_instance_id", &id)
            .ordered_down_by("created_at_utc");
        for row in operator.rows(&question).await? {
            if depth + 1 < DEPTH_MAX {
                open.push((depth + 1, cell(&row, "instance_id")));
            }
            found.push((depth, row));
        }
    }
    Ok(found)
}

/// What happened, one line per thing: a beginning with its end.
fn timeline(events: &[ViewRow]) -> Vec<Vec<String>> {
    let end_of = |id: i64| {
        events
            .iter()
            .find(|event| number(event, "scheduled_by_event_id") == id)
    };
    let mut lines = Vec::new();
    for event in events {
        let kind = cell(event, "event_kind");
        let is_end = !cell(event, "scheduled_by_event_id").is_empty();
        if is_end {
            continue;
        }
        let end = end_of(number(event, "event_id"));
        let outcome = match (kind.as_str(), end) {
            ("ActivityScheduled" | "SubOrchestrationScheduled" | "TimerCreated", None) => {
                "open".to_owned()
            }
            (_, Some(end)) => format!("{} {}", cell(end, "event_kind"), cell(end, "event_at_utc")),
            (_, None) => String::new(),
        };
        let name = [
            cell(event, "name"),
            cell(event, "child_instance_id"),
            cell(event, "fires_at_utc"),
        ];
        let name: Vec<_> = name.into_iter().filter(|part| !part.is_empty()).collect();
        lines.push(vec![
            cell(event, "event_at_utc"),
            kind,
            name.join(" "),
            outcome,
        ]);
    }
    lines
}

pub async fn run(cli: &Cli, id: &str, history: bool) -> anyhow::Result<Outcome> {
    let operator = operator(cli).await?;
    let instance = rows_of(&operator, View::Instances, id, "instance_id").await?;
    let waiting = rows_of(&operator, View::Waiting, id, "since_utc").await?;
    let executions = rows_of(&operator, View::Executions, id, "execution_id").await?;
    let current = instance
        .first()
        .map_or(1, |row| number(row, "current_execution_id"));
    let mut events = rows_of(&operator, View::History, id, "event_id").await?;
    if !history {
        events.retain(|event| number(event, "execution_id") == current);
    }
    anyhow::ensure!(
        !instance.is_empty() || !waiting.is_empty() || !events.is_empty(),
        "there is no instance {id:?}; `list --prefix` finds ids"
    );
    // The error's text is a payload, which not everybody may see.
    let payloads = rows_of(&operator, View::InstancePayloads, id, "instance_id").await;
    let payloads = payloads.ok().and_then(|rows| rows.into_iter().next());
    let children = tree(&operator, id).await?;
    if cli.json {
        let children: Vec<_> = children.iter().map(|(_, row)| row).collect();
        output::json(&json!({
            "instance": instance.first(), "executions": executions, "waiting": waiting,
            "children": children, "history": events, "payloads": payloads,
        }))?;
        return Ok(Outcome::Good);
    }
    for (title, column) in [
        ("orchestration", "orchestration_name"),
        ("version", "orchestration_version"),
        ("state", "state"),
        ("failure", "failure_kind"),
        ("parent", "parent_instance_id"),
        ("execution", "current_execution_id"),
        ("duroxide", "duroxide_version"),
        ("created", "created_at_utc"),
        ("completed", "completed_at_utc"),
    ] {
        let value = instance
            .first()
            .map(|row| cell(row, column))
            .unwrap_or_default();
        if !value.is_empty() {
            println!("{title:<14} {value}");
        }
    }
    let output = payloads.map(|row| cell(&row, "output")).unwrap_or_default();
    if !output.is_empty() {
        println!("{:<14} {output}", "output");
    }
    for row in &waiting {
        let text = [
            cell(row, "waits_for"),
            cell(row, "name"),
            cell(row, "reason"),
        ]
        .join(" ");
        println!(
            "{:<14} {text} since {}",
            "waits for",
            cell(row, "since_utc")
        );
    }
    for (depth, row) in &children {
        let indent = "  ".repeat(*depth);
        println!(
            "{:<14} {indent}{} {}",
            "child",
            cell(row, "instance_id"),
            cell(row, "state")
        );
    }
    println!();
    let titles = ["WHEN", "WHAT", "NAME", "ENDED"];
    if history {
        let all: Vec<_> = events
            .iter()
            .map(|event| {
                let columns = [
                    "execution_id",
                    "event_id",
                    "event_at_utc",
                    "event_kind",
                    "name",
                ];
                columns.map(|column| cell(event, column)).into()
            })
            .collect();
        output::table(&["EXECUTION", "EVENT", "WHEN", "WHAT", "NAME"], &all);
    } else {
        output::table(&titles, &timeline(&events));
    }
    Ok(Outcome::Good)
}
