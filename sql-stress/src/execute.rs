//! From the command line to the exit code.

use std::io::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use tokio_util::sync::CancellationToken;

use crate::backend::{Backend, SqlBackend, SqlOptions};
use crate::cli::Cli;
use crate::model::{Report, RunResult};
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
    for path in [&cli.json, &cli.report].into_iter().flatten() {
        refuse_unwritable(path)?;
    }
    let options = SqlOptions::from_cli(cli)?;
    let backend = SqlBackend::start(options.clone())?;
    let mut results = described(cli, &options, &backend).await?;
    if let (Some(_), Some(old)) = (cli.fail_below, &old) {
        refuse_unlike(old, &results)?;
    }
    let stop = stop_on_ctrl_c(backend.schema().to_owned());
    run_all(cli, &chosen, &backend, &stop, &mut results).await?;
    results.comparison = old.map(|old| compare::compare(&old, &results));
    let below = match (&results.comparison, cli.fail_below) {
        (Some(comparison), Some(limit)) => compare::below(comparison, limit),
        _ => Vec::new(),
    };
    show(cli, &results)?;
    for line in &below {
        eprintln!("below the limit: {line}");
    }
    Ok(results.is_success() && below.is_empty())
}

/// A report that says everything but the results.
async fn described(cli: &Cli, options: &SqlOptions, backend: &SqlBackend) -> Result<Report> {
    let rtt_ms = cli.rtt.unwrap_or_default().as_secs_f64() * 1e3;
    let mut report = new_report(backend.describe(), rtt_ms, cli.seed);
    report.settings = cli.settings().by_name();
    report
        .settings
        .insert("repeat".to_owned(), cli.repeat.into());
    report.settings.extend(options.by_name());
    report.settings.extend(backend.server_facts().await?);
    Ok(report)
}

/// A limit on ratios of unlike runs would judge the settings, not the program.
fn refuse_unlike(old: &Report, new: &Report) -> Result<()> {
    let differences = compare::differences(old, new);
    anyhow::ensure!(
        differences.is_empty(),
        "--fail-below cannot judge runs that are not alike; repeat the earlier run with the same \
         settings ({})",
        differences.join("; ")
    );
    Ok(())
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
    results: &mut Report,
) -> Result<()> {
    let settings = cli.settings();
    // Repetitions take turns, so that a slow minute of the machine does not fall on one scenario alone.
    let mut rounds: Vec<Vec<RunResult>> = Vec::new();
    for _ in 0..cli.repeat {
        let mut round = Vec::new();
        for scenario in chosen {
            for (at, pair) in cli.pairs.iter().enumerate() {
                // Without a runtime the pairs make no difference.
                if stop.is_cancelled() || (at > 0 && !scenario.needs_runtime()) {
                    continue;
                }
                let run = run::run(&**scenario, *pair, backend, &settings, stop, cli.quiet);
                round.push(run.await?);
            }
        }
        rounds.push(round);
    }
    results.runs = middle(rounds);
    results.is_interrupted = stop.is_cancelled();
    Ok(())
}

/// Of each run's repetitions the one in the middle, with what all of them gave. A round that was broken
/// off may lack runs at its end.
fn middle(rounds: Vec<Vec<RunResult>>) -> Vec<RunResult> {
    let mut by_run: Vec<Vec<RunResult>> = Vec::new();
    for round in rounds {
        for (at, run) in round.into_iter().enumerate() {
            match by_run.get_mut(at) {
                Some(runs) => runs.push(run),
                None => by_run.push(vec![run]),
            }
        }
    }
    let pick = |mut runs: Vec<RunResult>| {
        let repeats: Vec<_> = runs.iter().map(RunResult::as_repeat).collect();
        runs.sort_by(|a, b| a.throughput.total_cmp(&b.throughput));
        let mut run = runs.swap_remove(runs.len() / 2);
        if repeats.len() > 1 {
            run.repeats = repeats;
        }
        run
    };
    by_run.into_iter().map(pick).collect()
}

fn show(cli: &Cli, results: &Report) -> Result<()> {
    let mut text = table::report(results);
    if let Some(comparison) = &results.comparison {
        text.push_str(&compare::text(comparison));
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

/// Says before the run, not after it, that a result cannot be written.
///
/// # Errors
///
/// When the folder does not exist or the file cannot be written.
pub fn refuse_unwritable(path: &Path) -> Result<()> {
    if path == Path::new("-") {
        return Ok(());
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        anyhow::bail!(
            "{} cannot be written: there is no folder {}; create it first",
            path.display(),
            folder.display()
        );
    }
    let is_new = !path.exists();
    let opened = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path);
    opened.with_context(|| format!("{} cannot be written", path.display()))?;
    if is_new {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

/// Writes a result.
///
/// # Errors
///
/// When the file cannot be written.
pub fn write(path: &Path, text: &str) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middle_of_the_repetitions_is_shown_with_all_of_them() {
        let run = |throughput| RunResult {
            throughput,
            launched: 1,
            completed: 1,
            ..RunResult::default()
        };
        let rounds = vec![vec![run(3.0), run(9.0)], vec![run(1.0)], vec![run(2.0)]];
        let shown = middle(rounds);
        assert_eq!((shown[0].throughput, shown[0].repeats.len()), (2.0, 3));
        assert_eq!((shown[1].throughput, shown[1].repeats.len()), (9.0, 0));
        assert!(shown[0].is_success());
        let failed = vec![vec![run(1.0)], vec![RunResult::default()]];
        assert!(!middle(failed)[0].is_success(), "one failed");
    }
}
