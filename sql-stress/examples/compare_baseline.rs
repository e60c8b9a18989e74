//! Measures our provider on the embedded server and duroxide's SQLite provider with the same loads in
//! the same process, and prints the ratios.
//!
//! `cargo run --release -p sql-stress --example compare-baseline`
//!
//! This is an example, not a scenario, so that SQLite is a development dependency only. SQLite has no
//! network, so it appears only where no round-trip time is added. SQLite writes to its file; the embedded
//! engine writes no log at all, so that rows with a commit latency stand beside those without.

mod sqlite;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;
use sql_stress::backend::{Backend, SqlBackend, SqlOptions};
use sql_stress::compare::ratio;
use sql_stress::model::RunResult;
use sql_stress::run::{run, silence_logs};
use sql_stress::scenarios;
use sql_stress::settings::{Pair, Settings};
use sql_stress::table::{Table, known, number};
use sqlite::Sqlite;
use tokio_util::sync::CancellationToken;

/// What duroxide-pg 0.1.38 reached on PostgreSQL 15, measured earlier on a machine with two cores;
/// what the wire allows; what we promise. Where there is no such number, it is absent.
struct Goal {
    scenario: &'static str,
    pair: &'static str,
    rtt_ms: u64,
    /// What a durable commit waits for, and whether claims may be delayed-durable.
    commit: Option<(u64, bool)>,
    pg: Option<f64>,
    wire: Option<f64>,
    want: Option<f64>,
}

const GOALS: [Goal; 12] = [
    goal("fan-out", "2:2", 0, 22.1, 36.0, 32.0),
    goal("fan-out", "8:8", 0, 85.0, 140.0, 120.0),
    goal("fan-out", "2:2", 10, 2.5, 10.0, 10.0),
    goal("fan-out", "8:8", 10, 4.3, 40.0, 40.0),
    goal("fan-out", "4:4", 70, 0.58, 3.6, 3.0),
    goal("idle-latency", "2:2", 0, 170.0, 3.0, 10.0),
    goal("idle-latency", "2:2", 10, 319.0, 90.0, 115.0),
    goal("idle-latency", "2:2", 70, 1333.0, 600.0, 620.0),
    with_log("fan-out", "8:8", false),
    with_log("fan-out", "8:8", true),
    with_log("idle-latency", "2:2", false),
    with_log("idle-latency", "2:2", true),
];

/// What a flush of the log takes in the rows that have one: 1 to 5 ms are common on Azure.
const COMMIT_MS: u64 = 3;

const fn goal(
    scenario: &'static str,
    pair: &'static str,
    rtt_ms: u64,
    pg: f64,
    wire: f64,
    want: f64,
) -> Goal {
    Goal {
        scenario,
        pair,
        rtt_ms,
        commit: None,
        pg: Some(pg),
        wire: Some(wire),
        want: Some(want),
    }
}

/// A load whose durable commits wait for the log.
const fn with_log(scenario: &'static str, pair: &'static str, is_delayed: bool) -> Goal {
    Goal {
        scenario,
        pair,
        rtt_ms: 0,
        commit: Some((COMMIT_MS, is_delayed)),
        pg: None,
        wire: None,
        want: None,
    }
}

impl Goal {
    fn is_throughput(&self) -> bool {
        self.scenario == "fan-out"
    }

    fn value(&self, run: &RunResult) -> f64 {
        match &run.latency {
            _ if self.is_throughput() => run.throughput,
            Some(latency) => latency.p50_ms,
            None => f64::NAN,
        }
    }

    fn is_met(&self, value: f64) -> &'static str {
        let met = self.want.map(|want| match self.is_throughput() {
            true => value >= want,
            false => value <= want,
        });
        match met {
            Some(true) => "yes",
            Some(false) => "NO",
            None => "-",
        }
    }

    fn name(&self) -> String {
        let commit = match self.commit {
            None => String::new(),
            Some((ms, false)) => format!(", commit {ms} ms"),
            Some((ms, true)) => format!(", commit {ms} ms, claims delayed"),
        };
        format!(
            "{} {}, RTT {} ms{commit}",
            self.scenario, self.pair, self.rtt_ms
        )
    }

    fn options(&self) -> SqlOptions {
        let (ms, delayed_durability) = self.commit.unwrap_or_default();
        SqlOptions {
            rtt: Some(Duration::from_millis(self.rtt_ms)),
            commit_latency: Some(Duration::from_millis(ms)),
            delayed_durability,
            ..SqlOptions::default()
        }
    }
}

/// Runs the loads of the table in docs/performance.md on both providers.
#[derive(Parser)]
struct Cli {
    /// Seconds of each load; with added round-trip time three times as many
    #[arg(short, long, default_value_t = 10)]
    duration: u64,
}

async fn measure(goal: &Goal, backend: &dyn Backend, seconds: u64) -> Result<RunResult> {
    let scenario = scenarios::chosen(&[goal.scenario.to_owned()])?.remove(0);
    let pair: Pair = goal.pair.parse().map_err(anyhow::Error::msg)?;
    let settings = Settings {
        duration: Duration::from_secs(if goal.rtt_ms > 0 {
            3 * seconds
        } else {
            seconds
        }),
        ..Settings::default()
    };
    let stop = CancellationToken::new();
    run(&*scenario, pair, backend, &settings, &stop, false).await
}

async fn compare(seconds: u64) -> Result<bool> {
    let mut table = Table::new(&[
        "load",
        "unit",
        "SQLite",
        "duroxide-pg *",
        "wire's limit",
        "we want",
        "we have",
        "met",
        "vs SQLite",
        "vs pg",
        "flushes",
        "ok %",
    ]);
    let mut is_success = true;
    for goal in &GOALS {
        let ours = SqlBackend::start(goal.options())?;
        let ours = measure(goal, &ours, seconds).await?;
        let theirs = match (goal.rtt_ms, goal.commit) {
            (0, None) => Some(measure(goal, &Sqlite::default(), seconds).await?),
            _ => None,
        };
        is_success &= ours.is_success();
        let value = goal.value(&ours);
        let theirs = theirs.map(|run| goal.value(&run));
        let more = goal.is_throughput();
        table.line([
            goal.name(),
            if more { "orch/s" } else { "p50 ms" }.to_owned(),
            known(theirs),
            known(goal.pg),
            known(goal.wire),
            goal.want.map_or_else(
                || "-".to_owned(),
                |want| format!("{} {}", if more { ">=" } else { "<=" }, number(want)),
            ),
            number(value),
            goal.is_met(value).to_owned(),
            theirs.map_or_else(|| "-".to_owned(), |theirs| ratio(theirs, value, more)),
            goal.pg
                .map_or_else(|| "-".to_owned(), |pg| ratio(pg, value, more)),
            known(ours.server.as_ref().map(|server| server.flushes)),
            format!("{:.2}", ours.success_percent()),
        ]);
    }
    println!(
        "\n{table}\n  * measured earlier, on a machine with two cores; not part of this run\n  The \
         embedded engine writes no log: a commit costs nothing but in the rows with a commit \
         latency, where\n  durable commits wait {COMMIT_MS} ms and those that come together share a \
         flush. SQLite wrote to its \
         file in WAL mode, which does not wait for the disk on every commit."
    );
    Ok(is_success)
}

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    silence_logs();
    match compare(cli.duration).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
