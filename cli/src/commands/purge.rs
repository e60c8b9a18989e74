//! Retention: deletes what finished long ago, in batches, at a chosen pace.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use duroxide::providers::{InstanceFilter, ProviderAdmin as _};
use duroxide_sql::{Operator, Question, View};
use serde_json::json;

use super::operator;
use crate::args::{Cli, PurgeArgs};
use crate::outcome::Outcome;
use crate::output::{self, number};

/// How many trees of instances are due.
async fn due(operator: &Operator, older_than: Duration) -> anyhow::Result<i64> {
    let question = Question::of(View::Instances)
        .one_of("status", &["Completed", "Failed"])
        .is_null("parent_instance_id")
        .older_than("completed_at_utc", older_than)
        .counted_by("status");
    let rows = operator.rows(&question).await?;
    Ok(rows.iter().map(|row| number(row, "count")).sum())
}

/// One line that moves on a terminal, and lines in a log.
fn progress(done: i64, total: i64, instances: u64) {
    let total = total.max(done);
    let mut to = std::io::stderr().lock();
    let bar = if total > 0 {
        usize::try_from(done * 30 / total).unwrap_or(30)
    } else {
        30
    };
    let text = format!(
        "[{}{}] {done} of {total} trees, {instances} instances",
        "#".repeat(bar),
        "-".repeat(30 - bar.min(30)),
    );
    let end = if std::io::stderr().is_terminal() {
        '\r'
    } else {
        '\n'
    };
    // Nobody may be listening, and the work goes on all the same.
    let _ = write!(to, "{text}{end}");
    let _ = to.flush();
}

pub async fn run(cli: &Cli, wanted: &PurgeArgs) -> anyhow::Result<Outcome> {
    let operator = operator(cli).await?;
    let total = due(&operator, wanted.older_than).await?;
    if wanted.dry_run {
        if cli.json {
            output::json(&json!({ "due": total }))?;
        } else {
            println!("{total} trees of instances are due");
        }
        return Ok(Outcome::Good);
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let now_ms =
        i128::try_from(now.as_millis())? + i128::from(operator.facts().await?.clock_difference_ms);
    let before_ms = now_ms - i128::try_from(wanted.older_than.as_millis())?;
    let completed_before = u64::try_from(before_ms).unwrap_or(0);
    let (mut trees, mut instances, mut events) = (0, 0, 0);
    loop {
        let begun = Instant::now();
        let filter = InstanceFilter {
            instance_ids: None,
            completed_before: Some(completed_before),
            limit: Some(wanted.batch),
        };
        let result = operator.provider().delete_instance_bulk(filter).await?;
        if result.instances_deleted == 0 {
            break;
        }
        instances += result.instances_deleted;
        events += result.events_deleted;
        let left = due(&operator, wanted.older_than).await?;
        trees = (total - left).max(trees);
        if !cli.json {
            progress(trees, total, instances);
        }
        if let Some(rate) = wanted.per_second {
            let due = Duration::from_secs(1) * wanted.batch / rate;
            tokio::time::sleep(due.saturating_sub(begun.elapsed())).await;
        }
    }
    if cli.json {
        output::json(&json!({ "instances_deleted": instances, "events_deleted": events }))?;
    } else {
        println!("deleted {instances} instances, {events} events");
    }
    Ok(Outcome::Good)
}
