//! From the command line to the exit code.

use std::io::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use tokio_util::sync::CancellationToken;

use crate::backend::{Backend, SqlBackend, SqlOptions};
use crate::cli::Cli;
use crate::model::Report;
use crate::scenario::Scenario;
use crate::{compare, report, run, scenarios, table};

/// Runs what the command line asks for and shows the results; true when all went well.
///
/// # Errors
///
/// When nothing could be run: unknown scenario, wrong connection string, unreachable server, refused
/// login, a file that cannot be read or written.
pub async fn execute(cli: &Cli) -> Result<bool> {
    let chosen = scenarios::chosen(&cli.scenarios)?;
    let old = cli.compare.as_deref().map(read).transpose()?;
    let backend = SqlBackend::start(SqlOptions::from_cli(cli)?)?;
    let stop = stop_on_ctrl_c(backend.schema().to_owned());
    let results = run_all(cli, &chosen, &backend, &stop).await?;
    show(cli, &results, old.as_ref())?;
    Ok(results.is_success())
}

/// An empty report about this machine and target.
#[must_use]
pub fn new_report(target: String, rtt_ms: f64, seed: u64) -> Report {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    Report {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: now.map_or(0, |now| now.as_secs()),
        target,
        rtt_ms,
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        seed,
        ..Report::default()
    }
}

async fn run_all(
    cli: &Cli,
    chosen: &[Box<dyn Scenario>],
    backend: &dyn Backend,
    stop: &CancellationToken,
) -> Result<Report> {
    let rtt_ms = cli.rtt.unwrap_or_default().as_secs_f64() * 1e3;
    let mut results = new_report(backend.describe(), rtt_ms, cli.seed);
    let settings = cli.settings();
    for scenario in chosen {
        for (at, pair) in cli.pairs.iter().enumerate() {
            // Without a runtime the pairs make no difference.
            if stop.is_cancelled() || (at > 0 && !scenario.needs_runtime()) {
                continue;
            }
            let run = run::run(&**scenario, *pair, backend, &settings, stop, cli.quiet);
            results.runs.push(run.await?);
        }
    }
    results.is_interrupted = stop.is_cancelled();
    Ok(results)
}

fn show(cli: &Cli, results: &Report, old: Option<&Report>) -> Result<()> {
    let mut text = table::report(results);
    if let Some(old) = old {
        text.push_str("\ncompared with the earlier run; a ratio above 1 is better\n");
        if let Some(warning) = compare::differences(old, results) {
            text.push_str(&format!("  note: {warning}\n"));
        }
        text.push_str(&compare::compare(old, results).to_string());
    }
    let is_json_on_stdout = cli.json.as_deref() == Some(Path::new("-"));
    if is_json_on_stdout {
        eprint!("{text}");
    } else {
        print_all(&text)?;
    }
    if let Some(path) = &cli.json {
        let json = serde_json::to_string_pretty(results)?;
        if is_json_on_stdout {
            print_all(&json)?;
        } else {
            write(path, &json)?;
        }
    }
    if let Some(path) = &cli.report {
        write(path, &report::page(results))?;
    }
    Ok(())
}

/// A reader that goes away, such as `head`, is no failure of the run.
fn print_all(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}

fn read(path: &Path) -> Result<Report> {
    let text = std::fs::read_to_string(path);
    let text = text.with_context(|| format!("{} cannot be read", path.display()))?;
    serde_json::from_str(&text)
        .with_context(|| format!("{} is not a result of sql-stress --json", path.display()))
}

/// The first Ctrl-C ends the run, with clean-up and results; the second ends the process.
fn stop_on_ctrl_c(schema: String) -> CancellationToken {
    let stop = CancellationToken::new();
    let token = stop.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            token.cancel();
            eprintln!("\nstopping; press Ctrl-C again to stop without cleaning up");
            if tokio::signal::ctrl_c().await.is_ok() {
                eprintln!("schema {schema} may have been left behind");
                std::process::exit(1);
            }
        }
    });
    stop
}
