//! A process is killed in the middle of its work, and another one finishes it.
//!
//! ```text
//! cargo run --example two_processes
//! ```
//!
//! The embedded server lives in this process; the work is done by two others, which know nothing of
//! each other. The first is killed with SIGKILL while an activity runs. The second finds the lease of
//! that activity expired, runs it again, and goes on from there: what was done before is not repeated.

use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::runtime::{OrchestrationStatus, Runtime, RuntimeOptions};
use duroxide::{ActivityContext, Client, OrchestrationContext};
use duroxide_sql::{MigrationPolicy, MssqlProvider};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

const HELP: &str = "\
Kills a process in the middle of its work and lets another one finish it, on an embedded server.

  --help   this text";

const PATIENCE: Duration = Duration::from_secs(60);
/// How long the work of a process that has gone is left alone.
const LEASE: Duration = Duration::from_secs(2);
const SCHEMA: &str = "two_processes";
const JOB: &str = "job-1";
const STEPS: [&str; 3] = ["collect", "compute", "report"];
/// Where the first process stays until it is killed.
const LONG_STEP: &str = "compute";

#[tokio::main]
async fn main() -> ExitCode {
    let first = std::env::args().nth(1);
    let result = match first.as_deref() {
        None => run().await,
        Some("--help") => {
            println!("{HELP}");
            Ok(())
        }
        // How the program starts itself, with the server's connection string in the environment.
        Some("--worker") => work(std::env::args().nth(2).as_deref() == Some("never-ending")).await,
        Some(other) => Err(anyhow::anyhow!("unknown argument {other}; see --help")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("two_processes: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> anyhow::Result<()> {
    silence()?;
    let begun = Instant::now();
    let step = |text: &str| println!("{:>7.3} s  {text}", begun.elapsed().as_secs_f64());
    let server = mssql_embedded::Server::builder().start()?;
    let builder = || MssqlProvider::builder(server.connection_string()).schema(SCHEMA);
    let store = Arc::new(builder().build().await?);
    let client = Client::new(store.clone());
    client.start_orchestration(JOB, "Job", "").await?;
    step("job placed, nobody works");

    let (mut first, mut lines) = worker(&server.connection_string(), "never-ending")?;
    let first_id = first.id().context("a process has an id")?;
    loop {
        let said = tokio::time::timeout(PATIENCE, lines.next_line()).await??;
        let said = said.context("the first process ended by itself")?;
        step(&said);
        if said.contains(LONG_STEP) {
            break;
        }
    }
    first.kill().await?;
    step(&format!("process {first_id} killed with SIGKILL"));

    let (mut second, mut lines) = worker(&server.connection_string(), "")?;
    let second_id = second.id().context("a process has an id")?;
    let status = client.wait_for_orchestration(JOB, PATIENCE).await?;
    second.kill().await?;
    while let Some(said) = lines.next_line().await? {
        step(&said);
    }
    let OrchestrationStatus::Completed { output, .. } = status else {
        bail!("the job ended as {status:?}");
    };
    let by = |id: u32| format!("by process {id}");
    anyhow::ensure!(
        output.contains(&by(first_id)) && output.ends_with(&by(second_id)),
        "not as it should be: {output}"
    );
    step(&format!("{output}: finished by process {second_id}"));
    store.close().await;
    builder().uninstall().await?;
    step("schema removed");
    Ok(())
}

/// The programs tell their own story; the runtime's log would tell it a second time.
fn silence() -> anyhow::Result<()> {
    let silent = tracing::subscriber::NoSubscriber::default();
    Ok(tracing::subscriber::set_global_default(silent)?)
}

/// Starts this program once more, as a process that works. It ends with this one.
fn worker(url: &str, manner: &str) -> anyhow::Result<(Child, Lines<BufReader<ChildStdout>>)> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--worker", manner])
        .env("DATABASE_URL", url)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let stdout = child.stdout.take().context("a pipe")?;
    Ok((child, BufReader::new(stdout).lines()))
}

/// What the other processes do: work until they are killed.
async fn work(never_ends: bool) -> anyhow::Result<()> {
    silence()?;
    let url = std::env::var("DATABASE_URL").context("DATABASE_URL")?;
    let builder = MssqlProvider::builder(url).schema(SCHEMA);
    let builder = builder.migration_policy(MigrationPolicy::Verify);
    let store = Arc::new(builder.build().await?);
    let id = std::process::id();
    let activities = ActivityRegistry::builder()
        .register("Step", move |_: ActivityContext, name: String| async move {
            println!("process {id}: {name}");
            if never_ends && name == LONG_STEP {
                std::future::pending::<()>().await;
            }
            Ok(format!("{name} by process {id}"))
        })
        .build();
    let orchestrations = OrchestrationRegistry::builder()
        .register("Job", |ctx: OrchestrationContext, _: String| async move {
            let mut done = Vec::new();
            for step in STEPS {
                done.push(ctx.schedule_activity("Step", step).await?);
            }
            Ok(done.join(", "))
        })
        .build();
    let options = RuntimeOptions {
        orchestrator_lock_timeout: LEASE,
        orchestrator_lock_renewal_buffer: LEASE / 2,
        worker_lock_timeout: LEASE,
        worker_lock_renewal_buffer: LEASE / 2,
        ..RuntimeOptions::default()
    };
    let _runtime = Runtime::start_with_options(store, activities, orchestrations, options).await;
    std::future::pending().await
}
