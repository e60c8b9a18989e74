//! Workflows that use everything, for the drills: activities with and without a session, timers,
//! children, continue-as-new, key-values and events.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::runtime::{OrchestrationStatus, RuntimeOptions};
use duroxide::{Client, ClientError, OrchestrationContext};
use parking_lot::Mutex;

use crate::recorder::End;

/// Executions that each instance goes through.
const EXECUTIONS: u64 = 3;
/// Activities that each instance runs, its children's included.
pub const ACTIVITIES: u64 = 3 * EXECUTIONS;
/// Leases of instances, activities and sessions.
pub const LEASE: Duration = Duration::from_secs(5);
const TIMER: Duration = Duration::from_millis(50);
/// Sessions that all instances share.
const SESSIONS: u64 = 8;
const QUEUE: &str = "go";
/// Between two attempts of a client whose call failed.
const PAUSE: Duration = Duration::from_millis(100);

/// How often each activity was run, and between which faults.
#[derive(Debug, Default)]
pub struct Runs {
    /// Faults that have begun.
    faults: AtomicU64,
    /// By activity: runs, faults before the first of them, faults before the last of them.
    runs: Mutex<HashMap<String, (u64, u64, u64)>>,
}

impl Runs {
    /// A fault begins.
    pub fn fault(&self) {
        self.faults.fetch_add(1, Ordering::SeqCst);
    }

    /// Faults that have begun.
    #[must_use]
    pub fn faults(&self) -> u64 {
        self.faults.load(Ordering::SeqCst)
    }

    fn run(&self, activity: &str) {
        let faults = self.faults();
        let mut runs = self.runs.lock();
        let entry = runs
            .entry(activity.to_owned())
            .or_insert((0, faults, faults));
        (entry.0, entry.2) = (entry.0 + 1, faults);
    }

    /// Runs beyond the first of each activity.
    #[must_use]
    pub fn repeated(&self) -> u64 {
        self.runs.lock().values().map(|(runs, ..)| runs - 1).sum()
    }

    /// Activities that were run more than once more for each fault that they lived through. The
    /// fault that had begun before the first run counts, because it may still last.
    #[must_use]
    pub fn unexcused(&self) -> Vec<String> {
        let runs = self.runs.lock();
        let excess = runs.iter().filter(|(_, (runs, first, last))| {
            let faults = last - first + u64::from(*first > 0);
            runs - 1 > faults
        });
        excess.map(|(name, _)| name.clone()).collect()
    }
}

/// A runtime whose leases end soon: they are what a process that is gone makes the others wait for.
#[must_use]
pub fn options() -> RuntimeOptions {
    RuntimeOptions {
        orchestrator_lock_timeout: LEASE,
        worker_lock_timeout: LEASE,
        session_lock_timeout: LEASE,
        session_lock_renewal_buffer: LEASE / 2,
        ..RuntimeOptions::default()
    }
}

/// The activities; each run is entered into `runs`.
#[must_use]
pub fn activities(delay: Duration, runs: Arc<Runs>) -> ActivityRegistry {
    let work = move |_, input: String| {
        runs.run(&input);
        async move {
            tokio::time::sleep(delay).await;
            Ok(input)
        }
    };
    ActivityRegistry::builder().register("Work", work).build()
}

/// The orchestrations: `Everything`, its `Child`, and `Probe`, which runs one activity.
#[must_use]
pub fn orchestrations() -> OrchestrationRegistry {
    let one = |ctx: OrchestrationContext, input: String| async move {
        ctx.schedule_activity("Work", input).await
    };
    OrchestrationRegistry::builder()
        .register("Everything", everything)
        .register("Child", one)
        .register("Probe", one)
        .build()
}

/// The input is the instance's number and the executions that are still to come.
async fn everything(ctx: OrchestrationContext, input: String) -> Result<String, String> {
    let (number, left) = input.split_once(':').ok_or("no executions in the input")?;
    let number: u64 = number.parse().map_err(|_| "no number in the input")?;
    let left: u64 = left.parse().map_err(|_| "no count in the input")?;
    let turns = match ctx.get_kv_value("turns") {
        Some(turns) => turns.parse::<u64>().map_err(|e| e.to_string())?,
        None => 0,
    };
    ctx.set_kv_value("turns", (turns + 1).to_string());
    ctx.set_custom_status(format!("{left} to come"));
    let session = format!("session-{}", number % SESSIONS);
    let step = |name: &str| format!("{number}-{left}-{name}");
    let side_by_side = vec![
        ctx.schedule_activity("Work", step("plain")),
        ctx.schedule_activity_on_session("Work", step("session"), session),
    ];
    for result in ctx.join(side_by_side).await {
        result?;
    }
    ctx.schedule_timer(TIMER).await;
    let child = step("child");
    ctx.schedule_sub_orchestration_with_id("Child", child.clone(), child)
        .await?;
    if left > 0 {
        let rest = format!("{number}:{}", left - 1);
        return ctx.continue_as_new(rest).await;
    }
    let event = ctx.dequeue_event(QUEUE).await;
    Ok(format!("{number} {} {event}", turns + 1))
}

/// Runs one instance of `Everything` as a client does that tries again when a call fails, and looks
/// at what it counted.
pub async fn run(client: &Client, number: u64, patience: Duration) -> End {
    let instance = format!("everything-{number:06}");
    let deadline = Instant::now() + patience;
    let input = format!("{number}:{}", EXECUTIONS - 1);
    let begun = insist(deadline, || {
        client.start_orchestration(&instance, "Everything", input.as_str())
    });
    if let Err(end) = begun.await {
        return end;
    }
    let told = insist(deadline, || client.enqueue_event(&instance, QUEUE, "told"));
    if let Err(end) = told.await {
        return end;
    }
    match outcome(client, &instance, deadline).await {
        Ok(output) if output == format!("{number} {EXECUTIONS} told") => End::Completed,
        Ok(output) => End::Failed("wrong output".to_owned(), output),
        Err(end) => end,
    }
}

/// Runs one activity in an instance of its own; how long that took, as a client saw it.
pub async fn probe(client: &Client, name: &str, patience: Duration) -> Result<Duration, End> {
    let begun = Instant::now();
    let deadline = begun + patience;
    insist(deadline, || client.start_orchestration(name, "Probe", name)).await?;
    outcome(client, name, deadline).await?;
    Ok(begun.elapsed())
}

/// Repeats a call until it succeeds.
async fn insist<T, F>(deadline: Instant, mut call: impl FnMut() -> F) -> Result<T, End>
where
    F: Future<Output = Result<T, ClientError>>,
{
    loop {
        match call().await {
            Ok(value) => return Ok(value),
            Err(error) if !error.is_retryable() => {
                return Err(End::Failed("refused".to_owned(), error.to_string()));
            }
            Err(error) if Instant::now() >= deadline => return Err(End::Lost(error.to_string())),
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

async fn outcome(client: &Client, instance: &str, deadline: Instant) -> Result<String, End> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match client.wait_for_orchestration(instance, left).await {
            Ok(OrchestrationStatus::Completed { output, .. }) => return Ok(output),
            Ok(OrchestrationStatus::Failed { details, .. }) => {
                let class = details.category().to_owned();
                return Err(End::Failed(class, details.display_message()));
            }
            Ok(_) | Err(ClientError::Timeout) => {
                return Err(End::Lost(format!("{instance} did not end in time")));
            }
            Err(error) if error.is_retryable() && !left.is_zero() => {
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => return Err(End::Failed("wait failed".to_owned(), error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_more_run_is_excused_for_each_fault_in_between() {
        let runs = Runs::default();
        runs.run("twice without a fault");
        runs.run("twice without a fault");
        runs.run("once more");
        runs.fault();
        runs.run("once more");
        runs.run("during the fault");
        runs.run("during the fault");
        runs.run("too often");
        runs.fault();
        for _ in 0..3 {
            runs.run("too often");
        }
        let mut unexcused = runs.unexcused();
        unexcused.sort();
        assert_eq!(unexcused, ["too often", "twice without a fault"]);
        assert_eq!((runs.repeated(), runs.faults()), (6, 2));
    }
}
