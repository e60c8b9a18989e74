//! The whole at a glance: status and list.

use std::time::Duration;

use duroxide_sql::{Operator, Question, View};
use serde_json::json;

use super::operator;
use crate::age;
use crate::args::{Cli, ListArgs};
use crate::glance::Glance;
use crate::outcome::Outcome;
use crate::output::{self, cell, number};

/// Everything that `status` shows.
struct Status {
    glance: Glance,
    schema: String,
}

impl Status {
    async fn read(operator: &Operator) -> anyhow::Result<Self> {
        let schema = match operator.verify().await {
            Ok(()) => format!("release {} as this tool", env!("CARGO_PKG_VERSION")),
            Err(error) => error.to_string(),
        };
        let glance = Glance::read(operator).await?;
        Ok(Self { glance, schema })
    }

    fn json(&self) -> serde_json::Value {
        let mut value = json!(self.glance);
        value["schema"] = json!(self.schema);
        value
    }

    fn print(&self) -> anyhow::Result<()> {
        output::line(format_args!("schema      {}", self.schema))?;
        let states: Vec<_> = self
            .glance
            .states
            .iter()
            .map(|row| format!("{} {}", number(row, "count"), cell(row, "state")))
            .collect();
        let states = if states.is_empty() {
            "none".to_owned()
        } else {
            states.join(", ")
        };
        output::line(format_args!("instances   {states}"))?;
        for row in &self.glance.depths {
            let tag = match cell(row, "tag") {
                tag if tag.is_empty() => String::new(),
                tag => format!(" with tag {tag}"),
            };
            output::line(format_args!(
                "{:<11} {} ready, {} held{tag}",
                cell(row, "queue"),
                number(row, "ready_items"),
                number(row, "held_items"),
            ))?;
        }
        if let Some(row) = &self.glance.oldest_ready {
            output::line(format_args!(
                "oldest      ready since {} ({} of {})",
                cell(row, "visible_at_utc"),
                cell(row, "kind"),
                cell(row, "instance_id"),
            ))?;
        }
        let sum = |column| self.glance.held(column);
        output::line(format_args!(
            "leases      {} turns, {} activities, {} sessions held; {} expired",
            sum("turns_held"),
            sum("activities_held"),
            sum("sessions_held"),
            sum("leases_expired"),
        ))
    }
}

pub async fn status(cli: &Cli, every: Option<Duration>) -> anyhow::Result<Outcome> {
    let operator = operator(cli).await?;
    loop {
        let status = Status::read(&operator).await?;
        if cli.json {
            output::line(status.json())?;
        } else {
            status.print()?;
        }
        let Some(every) = every else {
            return Ok(Outcome::Good);
        };
        output::line("")?;
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
    output::table(&titles, &lines)?;
    if rows.len() as u64 == wanted.limit {
        output::line(format_args!(
            "there may be more: --page {}",
            wanted.page + 1
        ))?;
    }
    Ok(Outcome::Good)
}
