//! One instance as a story.

use anyhow::Context as _;
use duroxide_sql::ViewRow;
use serde_json::json;

use super::operator;
use crate::age;
use crate::args::Cli;
use crate::outcome::Outcome;
use crate::output::{self, cell};
use crate::story::{Bar, Child, Ending, Executions, Kind, Story};

/// The instance's own columns, in the order in which a person wants to know them.
const FACTS: [(&str, &str); 9] = [
    ("orchestration", "orchestration_name"),
    ("version", "orchestration_version"),
    ("state", "state"),
    ("failure", "failure_kind"),
    ("parent", "parent_instance_id"),
    ("execution", "current_execution_id"),
    ("duroxide", "duroxide_version"),
    ("created", "created_at_utc"),
    ("completed", "completed_at_utc"),
];

pub async fn run(cli: &Cli, id: &str, history: bool) -> anyhow::Result<Outcome> {
    let operator = operator(cli).await?;
    let wanted = if history {
        Executions::All
    } else {
        Executions::Current
    };
    let story = Story::read(&operator, id, wanted).await?;
    let story =
        story.with_context(|| format!("there is no instance {id:?}; `list --prefix` finds ids"))?;
    if cli.json {
        output::json(&json!({
            "instance": story.instance, "executions": story.executions, "waiting": story.waiting,
            "children": story.children, "history": story.events,
            "payloads": story.payloads.as_ref().ok(), "timeline": story.bars(), "turns": story.turns(),
        }))?;
        return Ok(Outcome::Good);
    }
    print_facts(&story)?;
    print_tree(&story.children)?;
    output::line("")?;
    if history {
        print_history(&story)?;
    } else {
        print_timeline(&story)?;
    }
    if story.is_cut {
        output::line("there are more events than are shown here")?;
    }
    Ok(Outcome::Good)
}

fn print_facts(story: &Story) -> anyhow::Result<()> {
    let fact = |title: &str, words: &str| output::line(format_args!("{title:<14} {words}"));
    for (title, column) in FACTS {
        let value = story.instance.as_ref().map(|row| cell(row, column));
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            fact(title, &value)?;
        }
    }
    let turns = story.turns();
    let mut workers: Vec<_> = turns.iter().filter_map(|t| t.worker_id.as_ref()).collect();
    workers.sort_unstable();
    workers.dedup();
    if !turns.is_empty() {
        let by = match workers.len() {
            0 => String::new(),
            1 => format!(" by worker {}", workers[0]),
            many => format!(" by {many} workers"),
        };
        fact("turns", &format!("{}{by}", turns.len()))?;
    }
    if let Ok(Some(row)) = &story.payloads {
        for (title, column) in [("status text", "custom_status"), ("output", "output")] {
            let value = cell(row, column);
            if !value.is_empty() {
                fact(title, &value)?;
            }
        }
    }
    for row in &story.waiting {
        fact("waits for", &waits_for(row))?;
    }
    Ok(())
}

fn waits_for(row: &ViewRow) -> String {
    let words = ["waits_for", "name", "reason"].map(|column| cell(row, column));
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    format!("{} since {}", words.join(" "), cell(row, "since_utc"))
}

/// Each child below its parent, with lines that lead there.
fn print_tree(children: &[Child]) -> anyhow::Result<()> {
    for (line, title) in tree_lines(children)
        .into_iter()
        .zip(std::iter::once("children").chain(std::iter::repeat("")))
    {
        output::line(format_args!("{title:<14} {line}"))?;
    }
    Ok(())
}

fn tree_lines(children: &[Child]) -> Vec<String> {
    let has_sibling = |at: usize, depth: usize| {
        let below = children[at + 1..].iter();
        below
            .take_while(|child| child.depth >= depth)
            .any(|child| child.depth == depth)
    };
    let mut open = Vec::new();
    let mut lines = Vec::new();
    for (at, child) in children.iter().enumerate() {
        open.truncate(child.depth);
        let more = has_sibling(at, child.depth);
        let lead: String = open
            .iter()
            .map(|more| if *more { "│  " } else { "   " })
            .collect();
        let branch = if more { "├─ " } else { "└─ " };
        open.push(more);
        let words = ["instance_id", "orchestration_name", "state"].map(|c| cell(&child.row, c));
        lines.push(format!("{lead}{branch}{}", words.join(" ")));
    }
    lines
}

fn print_timeline(story: &Story) -> anyhow::Result<()> {
    let bars = story.bars();
    let turns = story.turns();
    let first_ms = bars.first().map_or(0, |bar| bar.begun_ms);
    let now_ms = story.now_ms().unwrap_or(first_ms);
    let lines: Vec<_> = bars
        .iter()
        .map(|bar| {
            let turn = turns.iter().rfind(|t| t.first_event_id <= bar.event_id);
            let turn = turn.map_or_else(String::new, |turn| turn.number.to_string());
            let after = format!("+{}", age::show(bar.begun_ms - first_ms));
            let took = age::show(bar.duration_ms(now_ms));
            let kind = bar.kind.name().to_owned();
            vec![after, turn, kind, title(bar), took, outcome(bar)]
        })
        .collect();
    let titles = ["AFTER", "TURN", "WHAT", "NAME", "TOOK", "OUTCOME"];
    output::table(&titles, &lines)
}

fn title(bar: &Bar) -> String {
    let child = bar.child_instance_id.as_deref();
    let words = [Some(bar.name.as_str()), child];
    let words = words.into_iter().flatten().filter(|word| !word.is_empty());
    let mut text = words.collect::<Vec<_>>().join(" ");
    if bar.attempt > 1 {
        text.push_str(&format!(" (attempt {})", bar.attempt));
    }
    if let Some(tag) = &bar.tag {
        text.push_str(&format!(" with tag {tag}"));
    }
    if let (Kind::Timer, Some(due)) = (bar.kind, bar.due_ms) {
        text.push_str(&format!("of {}", age::show(due - bar.begun_ms)));
    }
    text
}

fn outcome(bar: &Bar) -> String {
    let mut text = bar.outcome.name().to_owned();
    if bar.outcome == Ending::Open {
        if let Some(worker) = &bar.worker_id {
            text.push_str(&format!(", with worker {worker}"));
        }
        if bar.deliveries > 1 {
            text.push_str(&format!(", taken {} times", bar.deliveries));
        }
    }
    text
}

fn print_history(story: &Story) -> anyhow::Result<()> {
    let columns = [
        "execution_id",
        "event_id",
        "event_at_utc",
        "event_kind",
        "name",
    ];
    let rows = story.events.iter();
    let lines: Vec<_> = rows
        .map(|event| columns.map(|column| cell(event, column)).into())
        .collect();
    output::table(&["EXECUTION", "EVENT", "WHEN", "WHAT", "NAME"], &lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_lines_that_lead_to_each_child() {
        let child = |depth, id: &str| {
            let row = json!({ "instance_id": id, "orchestration_name": "P", "state": "Waiting" });
            let row = row.as_object().cloned().unwrap_or_default();
            Child { depth, row }
        };
        let children = [
            child(0, "a"),
            child(1, "a1"),
            child(1, "a2"),
            child(0, "b"),
            child(1, "b1"),
        ];
        assert_eq!(
            tree_lines(&children),
            [
                "├─ a P Waiting",
                "│  ├─ a1 P Waiting",
                "│  └─ a2 P Waiting",
                "└─ b P Waiting",
                "   └─ b1 P Waiting",
            ]
        );
    }
}
