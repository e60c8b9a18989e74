//! Kill: three processes share a schema and are killed at random; nothing is lost.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use super::failover::load;
use super::soak::drained;
use crate::backend::Target;
use crate::random::Random;
use crate::scenario::{Run, Scenario, pause};

const PROCESSES: usize = 3;
/// A process is killed this long after another, at random.
const SHORTEST_MS: u64 = 200;
const LONGEST_MS: u64 = 1_500;

pub(super) struct Kill;

#[async_trait::async_trait]
impl Scenario for Kill {
    fn name(&self) -> &'static str {
        "kill"
    }

    fn about(&self) -> &'static str {
        "workflows of every kind in three processes that are killed at random"
    }

    /// The processes have them.
    fn needs_runtime(&self) -> bool {
        false
    }

    async fn drive(&self, run: &Run<'_>) -> Result<()> {
        let target = run.backend.target();
        let target = target.context("only a SQL Server can be shared by processes")?;
        let program = program(run)?;
        let mut processes = Vec::new();
        for _ in 0..PROCESSES {
            processes.push(start(&program, &target, &[])?);
        }
        let is_over = CancellationToken::new();
        let work = tokio::spawn(load(
            run.client.clone(),
            run.recorder.clone(),
            run.settings.concurrent,
            run.settings.patience,
            is_over.clone(),
        ));
        let killed = kill(run, &program, &target, &mut processes).await;
        is_over.cancel();
        work.await.context("the load broke off")?;
        run.recorder
            .fact("processes killed", killed? as f64, "times");
        let left = drained(run).await?;
        if left > 0 {
            run.recorder
                .broken_promise("left in the queues", left as f64, "messages");
        }
        for process in &mut processes {
            process.kill().await.context("a process does not end")?;
        }
        Ok(())
    }
}

/// The tester itself.
pub(super) fn program(run: &Run<'_>) -> Result<PathBuf> {
    match &run.settings.program {
        Some(program) => Ok(program.clone()),
        None => std::env::current_exe().context("this program cannot be found"),
    }
}

/// Kills one process after the other and replaces it, each at least once.
async fn kill(
    run: &Run<'_>,
    program: &PathBuf,
    target: &Target,
    processes: &mut [Child],
) -> Result<u64> {
    let mut random = Random::new(run.settings.seed);
    let deadline = Instant::now() + run.settings.duration;
    let mut killed = 0;
    while killed < PROCESSES as u64 || Instant::now() < deadline {
        let wait = SHORTEST_MS + random.below(LONGEST_MS - SHORTEST_MS);
        if !pause(run, Duration::from_millis(wait)).await {
            break;
        }
        // The first ones in turn, so that even a short run kills each of them.
        let victim = match killed as usize {
            first if first < PROCESSES => first,
            _ => random.below(PROCESSES as u64) as usize,
        };
        let process = &mut processes[victim];
        if let Some(status) = process.try_wait().context("a process cannot be asked")? {
            anyhow::bail!("a process ended by itself: {status}");
        }
        // SIGKILL: it hears nothing of it.
        process.kill().await.context("a process cannot be killed")?;
        *process = start(program, target, &[])?;
        killed += 1;
    }
    Ok(killed)
}

/// Starts a process that serves the schema until it is killed, or until this one is gone. The
/// connection string travels in the environment, where other users of the machine cannot read it.
pub(super) fn start(program: &PathBuf, target: &Target, more: &[&str]) -> Result<Child> {
    let child = Command::new(program)
        .args(["--serve", "--server", "--schema", &target.schema])
        .args(more)
        .env("DATABASE_URL", &target.url)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .spawn();
    child.with_context(|| format!("{} cannot be started", program.display()))
}
