//! Failover: workflows of every kind while the database moves, again and again, in every way that
//! databases move.
//!
//! Everything goes through two addresses of one name. Closed and silent connections are the
//! network's doing, refused logins and read-only answers the embedded server's; a server of yours is
//! not made to do either. When the name moves, the old address goes silent and the lookup, which the
//! provider is given, answers with the other one.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use duroxide::Client;
use duroxide::runtime::Runtime;
use duroxide_sql::MssqlProvider;
use mssql_embedded::{Controls, SqlError};
use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::connection;
use crate::every_kind::{self, Runs};
use crate::line::Line;
use crate::recorder::End;
use crate::scenario::{Run, Scenario, pause};

/// A name that no system knows, so that only the lookup that is given can find it.
const NAME: &str = "database.invalid";
/// Outages last this long, or half of the run if that is shorter.
const READ_ONLY: Duration = Duration::from_secs(2);
const REFUSED: Duration = Duration::from_secs(3);
/// The longest pause between two faults.
const BETWEEN: Duration = Duration::from_secs(3);
/// Probes before the first fault, to know what is usual.
const CALM_PROBES: usize = 3;
const SHUTDOWN_MS: u64 = 2_000;

/// How the database fails over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Reset,
    Swallow,
    ReadOnly,
    Refuse(i32),
    Move,
}

const WAYS: [Way; 7] = [
    Way::Reset,
    Way::Swallow,
    Way::ReadOnly,
    Way::Refuse(40613),
    Way::Refuse(18401),
    Way::Refuse(4060),
    Way::Move,
];

impl Way {
    fn title(self) -> String {
        match self {
            Self::Reset => "connections reset".to_owned(),
            Self::Swallow => "connections silent".to_owned(),
            Self::ReadOnly => "read-only (3906)".to_owned(),
            Self::Refuse(number) => format!("logins refused ({number})"),
            Self::Move => "name moved".to_owned(),
        }
    }

    /// Whether the server itself has to play along.
    fn needs_controls(self) -> bool {
        match self {
            Self::ReadOnly | Self::Refuse(_) => true,
            Self::Reset | Self::Swallow | Self::Move => false,
        }
    }
}

pub(super) struct Failover;

#[async_trait::async_trait]
impl Scenario for Failover {
    fn name(&self) -> &'static str {
        "failover"
    }

    fn about(&self) -> &'static str {
        "workflows of every kind while the database fails over in seven ways"
    }

    /// It has a runtime of its own, on the line that fails.
    fn needs_runtime(&self) -> bool {
        false
    }

    async fn drive(&self, run: &Run<'_>) -> Result<()> {
        let drill = Drill::start(run).await?;
        let load = tokio::spawn(load(
            drill.client.clone(),
            run.recorder.clone(),
            run.settings.concurrent,
            run.settings.patience,
            drill.is_over.clone(),
        ));
        let faults = drill.faults(run).await;
        drill.is_over.cancel();
        load.await.context("the load broke off")?;
        faults?;
        drill.end(run).await;
        Ok(())
    }
}

/// The two addresses, and who is at which.
struct Drill {
    lines: [Line; 2],
    current: Arc<Mutex<SocketAddr>>,
    controls: Option<Controls>,
    database: String,
    runs: Arc<Runs>,
    provider: Arc<MssqlProvider>,
    runtime: Arc<Runtime>,
    client: Arc<Client>,
    is_over: CancellationToken,
    /// The longest time lost in each way.
    lost: Mutex<BTreeMap<String, Duration>>,
    probes: AtomicU64,
}

impl Drill {
    async fn start(run: &Run<'_>) -> Result<Self> {
        let target = run.backend.target();
        let target = target.context("only a SQL Server can fail over")?;
        let server = connection::server(&target.url)?;
        let lines = [
            Line::start(server.clone()).await?,
            Line::start(server).await?,
        ];
        let current = Arc::new(Mutex::new(lines[0].address()));
        let known = current.clone();
        let url = connection::led_to(&target.url, NAME, lines[0].address().port())?;
        let builder = MssqlProvider::builder(url)
            .schema(target.schema)
            .lookup(move |_, _| Ok(vec![*known.lock()]));
        let builder = match target.command_timeout {
            Some(timeout) => builder.command_timeout(timeout),
            None => builder,
        };
        let provider = Arc::new(builder.build().await?);
        let runs = Arc::new(Runs::default());
        let activities = every_kind::activities(run.settings.activity_delay, runs.clone());
        let runtime = Runtime::start_with_options(
            provider.clone(),
            activities,
            every_kind::orchestrations(),
            every_kind::options(),
        );
        Ok(Self {
            lines,
            current,
            controls: target.controls,
            database: target.database,
            runs,
            runtime: runtime.await,
            client: Arc::new(Client::new(provider.clone())),
            provider,
            is_over: CancellationToken::new(),
            lost: Mutex::default(),
            probes: AtomicU64::new(0),
        })
    }

    /// One fault after the other, each way at least once.
    async fn faults(&self, run: &Run<'_>) -> Result<()> {
        let mut usual = Vec::new();
        for _ in 0..CALM_PROBES {
            usual.push(self.probe(run).await?);
        }
        usual.sort();
        let usual = usual[usual.len() / 2];
        let (deadline, length) = (
            Instant::now() + run.settings.duration,
            run.settings.duration,
        );
        for (count, way) in WAYS.into_iter().cycle().enumerate() {
            if count >= WAYS.len() && Instant::now() >= deadline {
                break;
            }
            if way.needs_controls() && self.controls.is_none() {
                continue;
            }
            if !pause(run, BETWEEN.min(length / 10)).await {
                break;
            }
            self.runs.fault();
            let (held_up, ()) = tokio::join!(self.probe(run), self.fail(way, length / 2));
            let lost = held_up?.saturating_sub(usual);
            let mut all = self.lost.lock();
            let longest = all.entry(way.title()).or_default();
            *longest = lost.max(*longest);
        }
        Ok(())
    }

    /// Fails over in one way; returns when the outage has ended.
    async fn fail(&self, way: Way, longest: Duration) {
        match way {
            Way::Reset => self.lines.iter().for_each(Line::reset),
            Way::Swallow => self.lines.iter().for_each(Line::swallow),
            Way::ReadOnly => {
                self.set_read_only(true);
                tokio::time::sleep(READ_ONLY.min(longest)).await;
                self.set_read_only(false);
            }
            Way::Refuse(number) => {
                self.refuse_logins(Some(number));
                self.lines.iter().for_each(Line::reset);
                tokio::time::sleep(REFUSED.min(longest)).await;
                self.refuse_logins(None);
            }
            Way::Move => {
                let mut current = self.current.lock();
                let (old, new) = match *current == self.lines[0].address() {
                    true => (&self.lines[0], &self.lines[1]),
                    false => (&self.lines[1], &self.lines[0]),
                };
                new.set_dead(false);
                *current = new.address();
                old.set_dead(true);
            }
        }
    }

    fn set_read_only(&self, on: bool) {
        if let Some(controls) = &self.controls
            && let Err(error) = controls.set_read_only(&self.database, on)
        {
            // The drill would go on without this fault, and the figures would be wrong.
            eprintln!("warning: {}", error.message);
        }
    }

    fn refuse_logins(&self, number: Option<i32>) {
        let Some(controls) = &self.controls else {
            return;
        };
        controls.refuse_logins(
            number.map(|number| {
                SqlError::with(number, 14, 1, "the database is failing over (drill)")
            }),
        );
    }

    async fn probe(&self, run: &Run<'_>) -> Result<Duration> {
        let number = self.probes.fetch_add(1, Ordering::Relaxed);
        let name = format!("probe-{number:06}");
        let took = every_kind::probe(&self.client, &name, run.settings.patience).await;
        took.map_err(|end| anyhow::anyhow!("{name} did not end well: {end:?}"))
    }

    async fn end(self, run: &Run<'_>) {
        self.runtime.shutdown(Some(SHUTDOWN_MS)).await;
        self.provider.close().await;
        let recorder = &run.recorder;
        for (way, lost) in &*self.lost.lock() {
            let name = format!("time lost at most: {way}");
            recorder.fact(&name, lost.as_secs_f64(), "s");
        }
        recorder.fact("faults", self.runs.faults() as f64, "times");
        let repeated = self.runs.repeated() as f64;
        recorder.fact("activities run once more", repeated, "times");
        let unexcused = self.runs.unexcused();
        if let Some(example) = unexcused.first() {
            recorder.error("run too often", example.clone());
            recorder.broken_promise(
                "activities run more than once more per fault",
                unexcused.len() as f64,
                "activities",
            );
        }
    }
}

/// Keeps this many instances in flight until the faults are over, and waits for the last ones.
pub(super) async fn load(
    client: Arc<Client>,
    recorder: Arc<crate::recorder::Recorder>,
    concurrent: usize,
    patience: Duration,
    is_over: CancellationToken,
) {
    let numbers = Arc::new(AtomicU64::new(0));
    let mut lanes = JoinSet::new();
    for _ in 0..concurrent {
        let (client, recorder) = (client.clone(), recorder.clone());
        let (numbers, is_over) = (numbers.clone(), is_over.clone());
        lanes.spawn(async move {
            while !is_over.is_cancelled() {
                let number = numbers.fetch_add(1, Ordering::Relaxed);
                recorder.launched();
                let begun = Instant::now();
                let end = every_kind::run(&client, number, patience).await;
                let is_good = matches!(end, End::Completed);
                recorder.ended(end, begun.elapsed(), every_kind::ACTIVITIES);
                if !is_good {
                    // One is enough to know; a lane that goes on would hide it among many.
                    return;
                }
            }
        });
    }
    while lanes.join_next().await.is_some() {}
}
