//! Retention: deletes what finished long ago, in batches, at a chosen pace.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use duroxide::providers::{InstanceFilter, ProviderAdmin as _};
use duroxide_sql::{Operator, Pace, Question, View};
use serde_json::json;
use tokio::time::Instant;

use super::operator;
use crate::args::{Cli, PurgeArgs};
use crate::outcome::Outcome;
use crate::output::{self, number};

/// Counting what is left reads all of it, so it may take this part of the time and no more.
const COUNTING_SHARE: u32 = 20;

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
            output::line(format_args!("{total} trees of instances are due"))?;
        }
        return Ok(Outcome::Good);
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let now_ms =
        i128::try_from(now.as_millis())? + i128::from(operator.facts().await?.clock_difference_ms);
    let before_ms = now_ms - i128::try_from(wanted.older_than.as_millis())?;
    let completed_before = u64::try_from(before_ms).unwrap_or(0);
    let mut pace = Pace::of_percent(wanted.share);
    if let Some(most) = wanted.per_second {
        pace = pace.per_second(most);
    }
    let (mut trees, mut instances, mut events) = (0, 0, 0);
    let (mut counted_at, mut counting) = (Instant::now(), Duration::ZERO);
    in_batches(pace, wanted.batch, async || {
        let filter = InstanceFilter {
            instance_ids: None,
            completed_before: Some(completed_before),
            limit: Some(wanted.batch),
        };
        let result = operator.provider().delete_instance_bulk(filter).await?;
        instances += result.instances_deleted;
        events += result.events_deleted;
        if result.instances_deleted > 0 && !cli.json {
            if counted_at.elapsed() >= counting * COUNTING_SHARE {
                let begun = Instant::now();
                let left = due(&operator, wanted.older_than).await?;
                trees = (total - left).max(trees);
                (counted_at, counting) = (Instant::now(), begun.elapsed());
            }
            progress(trees, total, instances);
        }
        Ok(result.instances_deleted > 0)
    })
    .await?;
    if cli.json {
        output::json(&json!({ "instances_deleted": instances, "events_deleted": events }))?;
    } else {
        output::line(format_args!(
            "deleted {instances} instances, {events} events"
        ))?;
    }
    Ok(Outcome::Good)
}

/// Deletes one batch after the other, with a rest after each, until `delete` says that nothing was left.
async fn in_batches(
    pace: Pace,
    batch: u32,
    mut delete: impl AsyncFnMut() -> anyhow::Result<bool>,
) -> anyhow::Result<()> {
    loop {
        let begun = Instant::now();
        if !delete().await? {
            return Ok(());
        }
        tokio::time::sleep(pace.rest_after(begun.elapsed(), batch)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    use crate::args::Command;

    fn wanted(more: &[&str]) -> PurgeArgs {
        let line = ["duroxide-sql", "purge", "--older-than", "30d"];
        let cli = Cli::try_parse_from(line.iter().chain(more)).expect("a good line");
        match cli.command {
            Command::Purge(wanted) => wanted,
            other => panic!("{other:?} is no purge"),
        }
    }

    /// How long ten batches of a tenth of a second each take.
    async fn ten_batches(pace: Pace) -> Duration {
        let (begun, mut batches) = (Instant::now(), 0);
        in_batches(pace, 100, async || {
            tokio::time::sleep(Duration::from_millis(100)).await;
            batches += 1;
            Ok(batches <= 10)
        })
        .await
        .expect("nothing fails");
        begun.elapsed()
    }

    /// Nobody has to know the option for the workers to keep their server.
    #[tokio::test(start_paused = true)]
    async fn a_purge_leaves_three_quarters_of_the_time_to_others_unless_told_otherwise() {
        let pace = Pace::of_percent(wanted(&[]).share);
        assert_eq!(ten_batches(pace).await, Duration::from_millis(4_100));
    }

    #[tokio::test(start_paused = true)]
    async fn a_purge_at_full_speed_never_rests() {
        let pace = Pace::of_percent(wanted(&["--share", "100"]).share);
        assert_eq!(ten_batches(pace).await, Duration::from_millis(1_100));
        let pace = pace.per_second(50);
        assert_eq!(ten_batches(pace).await, Duration::from_millis(20_100));
    }

    #[test]
    fn shares_are_from_one_to_a_hundred() {
        for share in ["0", "101", "half"] {
            let line = [
                "duroxide-sql",
                "purge",
                "--older-than",
                "30d",
                "--share",
                share,
            ];
            assert!(Cli::try_parse_from(line).is_err(), "{share}");
        }
    }
}
