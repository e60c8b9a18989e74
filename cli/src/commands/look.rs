//! The whole at a glance: status and list.

use std::time::Duration;

use duroxide_sql::{Operator, Question, View, ViewRow};
use serde_json::json;

use super::operator;
use crate::age;
use crate::args::{Cli, ListArgs};
use crate::outcome::Outcome;
use crate::output::{self, cell, number};

/// Everything that `status` shows.
struct Status {
    states: Vec<ViewRow>,
    depths: Vec<ViewRow>,
    oldest: Vec<ViewRow>,
    workers: Vec<ViewRow>,
    schema: String,
}

impl Status {
    async fn read(operator: &Operator) -> anyhow::Result<Self> {
        let states = Question::of(View::Instances)
            .counted_by("state")
            .ordered_by("state");
        let depths = Question::of(View::QueueDepth)
            .ordered_by("queue")
            .ordered_by("tag");
        let oldest = Question::of(View::Queue)
            .equals("state", "Ready")
            .ordered_by("visible_at_utc")
            .page(0, 1);
        let schema = match operator.verify().await {
            Ok(()) => format!("release {} as this tool", env!("CARGO_PKG_VERSION")),
            Err(error) => error.to_string(),
        };
        Ok(Self {
            states: operator.rows(&states).await?,
            depths: operator.rows(&depths).await?,
            oldest: operator.rows(&oldest).await?,
            workers: operator.rows(&Question::of(View::Workers)).await?,
            schema,
        })
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "instances": self.states,
            "queues": self.depths,
            "oldest_ready": self.oldest.first(),
            "workers": self.workers,
            "schema": self.schema,
        })
    }

    fn print(&self) {
        println!("schema      {}", self.schema);
        let states: Vec<_> = self
            .states
            .iter()
            .map(|row| format!("{} {}", number(row, "count"), cell(row, "state")))
            .collect();
        let states = if states.is_empty() {
            "none".to_owned()
        } else {
            states.join(", ")
        };
        println!("instances   {states}");
        for row in &self.depths {
            let tag = match cell(row, "tag") {
                tag if tag.is_empty() => String::new(),
                tag => format!(" with tag {tag}"),
            };
            println!(
                "{:<11} {} ready, {} held{tag}",
                cell(row, "queue"),
                number(row, "ready_items"),
                number(row, "held_items"),
            );
        }
        if let Some(row) = self.oldest.first() {
            println!(
                "oldest      ready since {} ({} of {})",
                cell(row, "visible_at_utc"),
                cell(row, "kind"),
                cell(row, "instance_id"),
            );
        }
        let sum = |column| -> i64 { self.workers.iter().map(|row| number(row, column)).sum() };
        println!(
            "leases      {} turns, {} activities, {} sessions held; {} expired",
            sum("turns_held"),
            sum("activities_held"),
            sum("sessions_held"),
            sum("leases_expired"),
        );
    }
}

pub async fn status(cli: &Cli, every: Option<Duration>) -> anyhow::Result<Outcome> {
    let operator = operator(cli).await?;
    loop {
        let status = Status::read(&operator).await?;
        if cli.json {
            println!("{}", status.json());
        } else {
            status.print();
        }
        let Some(every) = every else {
            return Ok(Outcome::Good);
        };
        println!();
        tokio::time::sleep(every).await;
    }
}

pub async fn list(cli: &Cli, wanted: &ListArgs) -> anyhow::Result<Outcome> {
    let mut question = Question::of(View::Instances)
        .ordered_down_by("created_at_utc")
        .ordered_by("instance_id")
        .page((wanted.page - 1).saturating_mul(wanted.limit), wanted.limit);
    if let Some(status) = &wanted.status {
        question = question.equals("status", status);
    }
    if let Some(state) = &wanted.state {
        question = question.equals("state", state);
    }
    if let Some(name) = &wanted.orchestration {
        question = question.equals("orchestration_name", name);
    }
    if let Some(prefix) = &wanted.prefix {
        question = question.begins_with("instance_id", prefix);
    }
    if wanted.roots {
        question = question.is_null("parent_instance_id");
    }
    let rows = operator(cli).await?.rows(&question).await?;
    if cli.json {
        output::json(&rows)?;
        return Ok(Outcome::Good);
    }
    let lines: Vec<_> = rows
        .iter()
        .map(|row| {
            vec![
                cell(row, "instance_id"),
                cell(row, "orchestration_name"),
                cell(row, "state"),
                cell(row, "failure_kind"),
                cell(row, "created_at_utc"),
                age::show(number(row, "duration_ms")),
            ]
        })
        .collect();
    let titles = [
        "INSTANCE",
        "ORCHESTRATION",
        "STATE",
        "FAILURE",
        "CREATED",
        "AGE",
    ];
    output::table(&titles, &lines);
    if rows.len() as u64 == wanted.limit {
        println!("there may be more: --page {}", wanted.page + 1);
    }
    Ok(Outcome::Good)
}
