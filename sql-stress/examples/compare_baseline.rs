//! Measures our provider on the embedded server and duroxide's SQLite provider with the same loads in
//! the same process, and prints the ratios.
//!
//! `cargo run --release -p sql-stress --example compare-baseline`
//!
//! This is an example, not a scenario, so that SQLite is a development dependency only. SQLite has no
//! network, so it appears only where no round-trip time is added.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Parser;
use duroxide::providers::Provider;
use duroxide::providers::sqlite::SqliteProvider;
use parking_lot::Mutex;
use sql_stress::backend::{Backend, SqlBackend, SqlOptions};
use sql_stress::compare::ratio;
use sql_stress::model::RunResult;
use sql_stress::run::{run, silence_logs};
use sql_stress::scenarios;
use sql_stress::settings::{Pair, Settings};
use sql_stress::table::{Table, number};
use tokio_util::sync::CancellationToken;

/// What duroxide-pg 0.1.38 reached on PostgreSQL 15, measured earlier on a machine with two cores;
/// what the wire allows; what we promise.
struct Goal {
    scenario: &'static str,
    pair: &'static str,
    rtt_ms: u64,
    pg: f64,
    wire: f64,
    want: f64,
}

const GOALS: [Goal; 8] = [
    goal("fan-out", "2:2", 0, 22.1, 36.0, 32.0),
    goal("fan-out", "8:8", 0, 85.0, 140.0, 120.0),
    goal("fan-out", "2:2", 10, 2.6, 10.0, 8.0),
    goal("fan-out", "8:8", 10, 4.3, 40.0, 30.0),
    goal("fan-out", "4:4", 70, 0.58, 3.6, 3.0),
    goal("idle-latency", "2:2", 0, 170.0, 3.0, 10.0),
    goal("idle-latency", "2:2", 10, 319.0, 90.0, 125.0),
    goal("idle-latency", "2:2", 70, 1333.0, 600.0, 750.0),
];

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
        pg,
        wire,
        want,
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

    fn is_met(&self, value: f64) -> bool {
        match self.is_throughput() {
            true => value >= self.want,
            false => value <= self.want,
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

/// duroxide's provider on a file of its own.
#[derive(Default)]
struct Sqlite(Mutex<Option<PathBuf>>);

#[async_trait::async_trait]
impl Backend for Sqlite {
    fn describe(&self) -> String {
        "duroxide's SQLite provider".to_owned()
    }

    async fn open(&self) -> Result<Arc<dyn Provider>> {
        let name = format!("sql-stress-{}", uuid::Uuid::new_v4().simple());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).context("no folder for SQLite's file")?;
        let url = format!("sqlite:{}?mode=rwc", folder.join("store.db").display());
        *self.0.lock() = Some(folder);
        Ok(Arc::new(SqliteProvider::new(&url, None).await?))
    }

    async fn close(&self) -> Result<()> {
        if let Some(folder) = self.0.lock().take() {
            std::fs::remove_dir_all(folder)?;
        }
        Ok(())
    }
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
        "ok %",
    ]);
    let mut is_success = true;
    for goal in &GOALS {
        let ours = SqlBackend::start(SqlOptions {
            rtt: Some(Duration::from_millis(goal.rtt_ms)),
            ..SqlOptions::default()
        })?;
        let ours = measure(goal, &ours, seconds).await?;
        let theirs = match goal.rtt_ms {
            0 => Some(measure(goal, &Sqlite::default(), seconds).await?),
            _ => None,
        };
        is_success &= ours.is_success();
        let value = goal.value(&ours);
        let theirs = theirs.map(|run| goal.value(&run));
        let more = goal.is_throughput();
        table.line([
            format!("{} {}, RTT {} ms", goal.scenario, goal.pair, goal.rtt_ms),
            if more { "orch/s" } else { "p50 ms" }.to_owned(),
            theirs.map_or_else(|| "-".to_owned(), number),
            number(goal.pg),
            number(goal.wire),
            format!("{} {}", if more { ">=" } else { "<=" }, number(goal.want)),
            number(value),
            if goal.is_met(value) { "yes" } else { "NO" }.to_owned(),
            theirs.map_or_else(|| "-".to_owned(), |theirs| ratio(theirs, value, more)),
            ratio(goal.pg, value, more),
            format!("{:.2}", ours.success_percent()),
        ]);
    }
    println!("\n{table}\n  * measured earlier, on a machine with two cores; not part of this run");
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
