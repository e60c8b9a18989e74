//! Measures what one more activity costs as an orchestration grows, on our provider, on duroxide's SQLite
//! provider and on one that costs nothing, in one run.
//!
//! `cargo run --release -p sql-stress --example growth`
//!
//! This is an example, not a scenario, so that SQLite is a development dependency only.

mod sqlite;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;
use sql_stress::backend::{Backend, SqlBackend, SqlOptions};
use sql_stress::cli;
use sql_stress::execute::{new_report, refuse_unwritable, write};
use sql_stress::growth::{Plan, Shape, as_run, goals, measure, table};
use sql_stress::memory::MemoryBackend;
use sql_stress::model::Report;
use sql_stress::report;
use sql_stress::run::silence_logs;
use sql_stress::settings::{Pair, build_profile};
use sql_stress::table::{number, settings};
use sqlite::Sqlite;

/// One orchestration with 100 to 3,000 activities: milliseconds, calls, bytes and flushes of each, beside
/// SQLite and a provider that costs nothing.
#[derive(Parser)]
struct Cli {
    /// fan-in, sequence, long-history [default: all]
    #[arg(value_name = "SHAPE")]
    shapes: Vec<Shape>,

    /// Numbers of activities
    #[arg(long, value_delimiter = ',', value_parser = cli::size, default_value = "100,300,1000,3000")]
    sizes: Vec<u64>,

    /// Orchestration dispatchers and workers
    #[arg(short, long, default_value = "4:4")]
    pair: Pair,

    /// Added network round-trip time; SQLite and memory have no network
    #[arg(long, value_parser = cli::duration)]
    rtt: Option<Duration>,

    /// What a durable commit waits for the log of the embedded server
    #[arg(long, value_parser = cli::duration)]
    commit_latency: Option<Duration>,

    /// Allow delayed durability in the embedded server, which claims then use
    #[arg(long)]
    delayed_durability: bool,

    /// A size that is expected to take longer is left out
    #[arg(long, value_parser = cli::duration, default_value = "60s")]
    budget: Duration,

    /// Leave SQLite out
    #[arg(long)]
    no_sqlite: bool,

    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the results as a page with plots
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

fn described(cli: &Cli, target: String, options: &SqlOptions) -> Report {
    let rtt_ms = cli.rtt.unwrap_or_default().as_secs_f64() * 1e3;
    let mut report = new_report(target, rtt_ms, 0);
    report.settings = options.by_name();
    let named = [
        ("build_profile", build_profile().into()),
        ("sizes", cli.sizes.clone().into()),
        ("pair", cli.pair.to_string().into()),
        ("budget_ms", (cli.budget.as_secs_f64() * 1e3).into()),
    ];
    report
        .settings
        .extend(named.map(|(name, value)| (name.to_owned(), value)));
    report
}

async fn grow(cli: &Cli) -> Result<bool> {
    for path in [&cli.json, &cli.report].into_iter().flatten() {
        refuse_unwritable(path)?;
    }
    let options = SqlOptions {
        rtt: cli.rtt,
        commit_latency: cli.commit_latency,
        delayed_durability: cli.delayed_durability,
        ..SqlOptions::default()
    };
    let plan = Plan {
        sizes: cli.sizes.clone(),
        pair: cli.pair,
        budget: cli.budget,
    };
    let shapes = match cli.shapes.as_slice() {
        [] => Shape::ALL.to_vec(),
        shapes => shapes.to_vec(),
    };
    let ours = SqlBackend::start(options.clone())?;
    let mut report = described(cli, ours.describe(), &options);
    let has_delay = cli.rtt.is_some() || cli.commit_latency.is_some();
    println!("{}, {}", report.target, settings(&report));
    for shape in shapes {
        let mut curves = vec![measure(shape, &MemoryBackend, &plan).await?];
        if !cli.no_sqlite {
            curves.push(measure(shape, &Sqlite::default(), &plan).await?);
        }
        curves.push(measure(shape, &ours, &plan).await?);
        println!("\n{}", table(shape, &curves));
        let facts = goals(shape, &curves, &ours.describe(), has_delay);
        for fact in &facts {
            println!("  {}: {} {}", fact.name, number(fact.value), fact.unit);
        }
        let mut run = as_run(shape, &plan, curves);
        run.facts = facts;
        report.runs.push(run);
    }
    println!(
        "\n  ms each: time of one orchestration divided by its activities, median of up to three; \
         long-history: the\n  20 activities that follow as many. Calls, bytes, flushes and rows are \
         counted by the embedded server."
    );
    if let Some(path) = &cli.json {
        write(path, &serde_json::to_string_pretty(&report)?)?;
    }
    if let Some(path) = &cli.report {
        write(path, &report::page(&report))?;
    }
    Ok(report.is_success())
}

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    silence_logs();
    match grow(&cli).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
