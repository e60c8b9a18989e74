//! Keeps orchestrations in flight and records how each one ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use duroxide::runtime::OrchestrationStatus;
use duroxide::{Client, ClientError};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::recorder::{End, Recorder};
use crate::scenario::Run;

/// How long orchestrations in flight may still end after Ctrl-C.
const GRACE: Duration = Duration::from_secs(5);

/// One orchestration to start.
#[derive(Debug, Clone)]
pub struct Job {
    /// Its name in the registry.
    pub orchestration: &'static str,
    /// Its input.
    pub input: String,
    /// Activities it will have run.
    pub activities: u64,
}

/// Looks at the output of an orchestration that completed.
pub type Check = Arc<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// Who else hears of the orchestrations that end.
#[derive(Clone, Default)]
pub struct Watch {
    /// Decides whether a completed one is right.
    pub check: Option<Check>,
    /// Gets the names of those that completed.
    pub completed: Option<UnboundedSender<String>>,
}

impl Watch {
    /// Only the outputs are looked at.
    pub fn outputs(check: impl Fn(&str) -> Result<(), String> + Send + Sync + 'static) -> Self {
        Self {
            check: Some(Arc::new(check)),
            completed: None,
        }
    }
}

/// Starts jobs until the time is over or the run is stopped, and waits for all of them.
///
/// With a rate, latency counts from the planned start: a system that falls behind cannot hide it by
/// being asked less often.
pub async fn pump(run: &Run<'_>, watch: Watch, next: impl FnMut(u64) -> Job) {
    let until = Until {
        deadline: Some(Instant::now() + run.settings.duration),
        is_over: CancellationToken::new(),
        names: "stress",
    };
    pump_until(run, watch, until, next).await;
}

/// When a pump ends.
pub struct Until<'a> {
    /// No job is planned for later.
    pub deadline: Option<Instant>,
    /// No job is started once this is cancelled.
    pub is_over: CancellationToken,
    /// How the names of its instances begin.
    pub names: &'a str,
}

/// As [`pump`], with another end.
pub async fn pump_until(
    run: &Run<'_>,
    watch: Watch,
    until: Until<'_>,
    mut next: impl FnMut(u64) -> Job,
) {
    let places = Arc::new(Semaphore::new(run.settings.concurrent));
    let begun = Instant::now();
    let mut running = JoinSet::new();
    for number in 0_u64.. {
        let planned = run
            .settings
            .rate
            .map(|rate| begun + Duration::from_secs_f64(number as f64 / rate));
        if planned.is_some_and(|at| until.deadline.is_some_and(|deadline| at >= deadline)) {
            break;
        }
        let ready = async {
            if let Some(at) = planned {
                tokio::time::sleep_until(at.into()).await;
            }
            places.clone().acquire_owned().await
        };
        let out_of_time = async {
            match until.deadline.filter(|_| planned.is_none()) {
                Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                None => std::future::pending().await,
            }
        };
        let place = tokio::select! {
            () = run.stop.cancelled() => break,
            () = until.is_over.cancelled() => break,
            () = out_of_time => break,
            place = ready => place,
        };
        while running.try_join_next().is_some() {}
        run.recorder.launched();
        let one = One {
            client: run.client.clone(),
            recorder: run.recorder.clone(),
            stop: run.stop.clone(),
            patience: run.settings.patience,
            watch: watch.clone(),
            begun: planned.unwrap_or_else(Instant::now),
        };
        let (id, job) = (format!("{}-{number:09}", until.names), next(number));
        running.spawn(async move {
            one.run(&id, job).await;
            drop(place);
        });
    }
    while running.join_next().await.is_some() {}
}

/// Names are of equal length, so that they cost the same.
#[must_use]
pub fn instance_id(number: u64) -> String {
    format!("stress-{number:09}")
}

/// One orchestration from start to end.
pub struct One {
    /// Starts and awaits it.
    pub client: Arc<Client>,
    /// Hears how it ends.
    pub recorder: Arc<Recorder>,
    /// Cancelled by Ctrl-C.
    pub stop: CancellationToken,
    /// When it is lost.
    pub patience: Duration,
    /// Who else hears of it.
    pub watch: Watch,
    /// When it was to start.
    pub begun: Instant,
}

impl One {
    /// Runs it and records its end.
    pub async fn run(self, id: &str, job: Job) {
        let activities = job.activities;
        let out_of_grace = async {
            self.stop.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        let end = tokio::select! {
            end = self.to_end(id, job) => end,
            () = out_of_grace => End::Abandoned,
        };
        let is_completed = matches!(end, End::Completed);
        self.recorder.ended(end, self.begun.elapsed(), activities);
        if let (Some(sender), true) = (&self.watch.completed, is_completed) {
            // Nobody listens any more when the run is over.
            drop(sender.send(id.to_owned()));
        }
    }

    async fn to_end(&self, id: &str, job: Job) -> End {
        let start = self
            .client
            .start_orchestration(id, job.orchestration, job.input);
        if let Err(error) = start.await {
            return End::Failed("start refused".to_owned(), error.to_string());
        }
        let ended = self.client.wait_for_orchestration(id, self.patience);
        match ended.await {
            Ok(OrchestrationStatus::Completed { output, .. }) => {
                let check = self.watch.check.as_ref();
                match check.map_or(Ok(()), |check| check(&output)) {
                    Ok(()) => End::Completed,
                    Err(reason) => End::Failed("wrong output".to_owned(), reason),
                }
            }
            Ok(OrchestrationStatus::Failed { details, .. }) => {
                End::Failed(details.category().to_owned(), details.display_message())
            }
            Err(ClientError::Timeout) | Ok(_) => {
                End::Lost(format!("{id} did not end within {:?}", self.patience))
            }
            Err(error) => End::Failed("wait failed".to_owned(), error.to_string()),
        }
    }
}
