//! A failure at any statement of any procedure, and around every commit: the workflow is finished all the
//! same, and no lock is left.
//!
//! The statements are those that a workflow was seen to run. Every day a part of them is tried;
//! `EVERY_STATEMENT=1` tries all, `EVERY_STATEMENT=3/20` the third of twenty shares, so that all can be
//! tried in pieces. A workflow does not take the same statements every time, so that the numbers of the
//! cases differ a little from run to run.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use duroxide::runtime::registry::OrchestrationRegistry;
use duroxide::runtime::{OrchestrationStatus, Runtime};
use duroxide::{Client, OrchestrationContext};
use duroxide_sql::MssqlProvider;
use mssql_embedded::{Pause, Rule, Server, SqlError, Trigger};

use crate::support::database::TestSchema;
use crate::support::proxy::Proxy;
use crate::support::runtime::{PATIENCE, echo_activities};
use crate::support::wait;

/// What goes wrong.
#[derive(Debug, Clone, Copy)]
enum Fault {
    Cut,
    /// The network swallows everything on every connection from then on.
    Silence,
    Error(i32, u8),
}

const FAULTS: [Fault; 7] = [
    Fault::Cut,
    Fault::Silence,
    Fault::Error(1205, 13),
    Fault::Error(3906, 16),
    Fault::Error(40613, 17),
    Fault::Error(976, 14),
    Fault::Error(8645, 17),
];

/// Where it goes wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    /// Before a statement of a procedure.
    Statement(String, String),
    /// Right before a commit of a procedure.
    Commit(String),
    /// Right after one.
    Committed(String),
}

impl Moment {
    fn trigger(&self) -> Trigger {
        match self {
            Self::Statement(procedure, text) => {
                Trigger::statement().of(procedure.as_str()).containing(text)
            }
            Self::Commit(procedure) => Trigger::commit().of(procedure.as_str()),
            Self::Committed(procedure) => Trigger::committed().of(procedure.as_str()),
        }
    }
}

/// The cases that are tried: every so many, beginning with this one.
#[derive(Debug, PartialEq, Eq)]
struct Share {
    first: usize,
    step: usize,
}

impl Share {
    /// What the environment asks for. Without that, other cases for each setting; their distance is prime
    /// to the number of faults, so that each of these gets its share.
    fn of_environment(snapshot_reads: bool) -> Self {
        match std::env::var("EVERY_STATEMENT") {
            Ok(text) => Self::parse(&text).expect("EVERY_STATEMENT is 1 or, for instance, 3/20"),
            Err(_) => Self {
                first: usize::from(snapshot_reads),
                step: 79,
            },
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (share, of) = text.split_once('/').unwrap_or((text, "1"));
        let (share, step): (usize, usize) = (share.parse().ok()?, of.parse().ok()?);
        let first = share.checked_sub(1)?;
        (first < step).then_some(Self { first, step })
    }
}

/// How often a long run says how far it is.
const PROGRESS: usize = 25;

#[test]
fn shares_hold_every_case_once() {
    assert_eq!(Share::parse("1"), Some(Share { first: 0, step: 1 }));
    for text in ["", "0", "2", "0/5", "6/5", "x/5", "1/0"] {
        assert_eq!(Share::parse(text), None, "{text}");
    }
    let shares = (1..=20).filter_map(|share| Share::parse(&format!("{share}/20")));
    let mut cases: Vec<usize> = shares
        .flat_map(|share| (share.first..143).step_by(share.step))
        .collect();
    cases.sort_unstable();
    assert_eq!(cases, (0..143).collect::<Vec<_>>());
}

/// A turn of everything: a child, an activity, key-values, a status, a timer.
fn orchestrations() -> OrchestrationRegistry {
    let parent = |ctx: OrchestrationContext, input: String| async move {
        ctx.set_kv_value("k", input.as_str());
        ctx.set_custom_status("begun");
        let child = ctx.schedule_sub_orchestration("Child", input).await?;
        ctx.schedule_timer(Duration::from_millis(1)).await;
        Ok(child)
    };
    let child = |ctx: OrchestrationContext, input: String| async move {
        ctx.schedule_activity("Upper", input).await
    };
    OrchestrationRegistry::builder()
        .register("Parent", parent)
        .register("Child", child)
        .build()
}

struct App {
    client: Client,
    runtime: Arc<Runtime>,
    schema: TestSchema,
    proxy: Proxy,
    server: Server,
    instances: usize,
}

/// A fault that waits for its moment.
enum Armed {
    Rule(Rule),
    /// The server stands still at the moment, until the network has gone silent.
    Pause(Pause),
}

impl Armed {
    fn has_struck(&self) -> bool {
        match self {
            Self::Rule(rule) => rule.fired() > 0,
            Self::Pause(pause) => pause.fired() > 0,
        }
    }

    /// Does what the rule itself cannot; never ends.
    async fn strike(&self, proxy: &Proxy) {
        if let Self::Pause(pause) = self {
            pause.paused().await;
            proxy.silence_all();
            pause.release();
        }
        std::future::pending().await
    }
}

impl App {
    async fn start(snapshot_reads: bool) -> Self {
        let server = Server::builder().read_committed_snapshot(snapshot_reads);
        let server = server.start().expect("the embedded server starts");
        let schema = TestSchema::at(server.connection_string());
        let proxy = Proxy::start(schema.url()).await;
        let builder = MssqlProvider::builder(proxy.url(schema.url()));
        let builder = builder.schema(schema.name().as_str());
        let store = Arc::new(builder.build().await.expect("the provider starts"));
        let runtime =
            Runtime::start_with_store(store.clone(), echo_activities(), orchestrations()).await;
        Self {
            client: Client::new(store),
            runtime,
            schema,
            proxy,
            server,
            instances: 0,
        }
    }

    /// Runs a workflow to its end, which must be a good one.
    async fn run(&mut self, case: &str) {
        self.instances += 1;
        let instance = format!("order-{}", self.instances);
        let begin = || async {
            let begun = self.client.start_orchestration(&instance, "Parent", "x");
            // A client hears of a start whose outcome is unknown, and tries again.
            begun.await.is_ok()
        };
        wait::until(case, begin).await;
        let ended = loop {
            match self
                .client
                .wait_for_orchestration(&instance, PATIENCE)
                .await
            {
                Ok(status) => break status,
                Err(error) => assert!(error.is_retryable(), "{case}: {error}"),
            }
        };
        assert!(
            matches!(&ended, OrchestrationStatus::Completed { output, .. } if output == "X"),
            "{case}: {ended:?}"
        );
    }

    /// What a workflow makes the server run.
    async fn moments(&mut self) -> BTreeSet<Moment> {
        let controls = self.server.controls();
        controls.reset_counters();
        controls.watch_statements(true);
        self.run("a workflow without faults").await;
        controls.watch_statements(false);
        let mut moments = BTreeSet::new();
        for (procedure, text) in controls.counters().statements.into_keys() {
            if procedure.is_empty() {
                continue;
            }
            moments.insert(Moment::Commit(procedure.clone()));
            moments.insert(Moment::Committed(procedure.clone()));
            moments.insert(Moment::Statement(procedure, text));
        }
        moments
    }

    fn arm(&self, moment: &Moment, fault: Fault) -> Armed {
        let controls = self.server.controls();
        match fault {
            Fault::Cut => Armed::Rule(controls.cut(moment.trigger())),
            Fault::Silence => Armed::Pause(controls.pause(moment.trigger())),
            Fault::Error(number, severity) => {
                let error = SqlError::with(number, severity, 1, "raised by a test");
                Armed::Rule(controls.fail(moment.trigger(), error))
            }
        }
    }

    async fn holds_no_lock(&self, case: &str) {
        let locks = "SELECT COUNT(*) FROM sys.dm_tran_locks WHERE resource_type <> N'DATABASE';";
        wait::until(case, || async { self.schema.number(locks).await == 0 }).await;
    }
}

#[tokio::test]
async fn failure_at_any_statement_only_delays_the_workflow() {
    faults_only_delay(false).await;
}

#[tokio::test]
async fn failure_at_any_statement_only_delays_the_workflow_with_snapshot_reads() {
    faults_only_delay(true).await;
}

async fn faults_only_delay(snapshot_reads: bool) {
    let mut app = App::start(snapshot_reads).await;
    let moments = app.moments().await;
    assert!(moments.len() > 60, "only {} moments", moments.len());
    let mut cases = Vec::new();
    for moment in &moments {
        cases.extend(FAULTS.map(|fault| (moment, fault)));
    }
    let (mut tried, mut met) = (0, 0);
    let Share { first, step } = Share::of_environment(snapshot_reads);
    let chosen = cases.iter().enumerate().skip(first).step_by(step);
    let count = chosen.len();
    for (number, (moment, fault)) in chosen {
        let case =
            format!("case {number}, snapshot reads {snapshot_reads}: {fault:?} at {moment:?}");
        if tried > 0 && tried % PROGRESS == 0 {
            println!("{tried} of {count} tried, {met} met, snapshot reads {snapshot_reads}");
        }
        let armed = app.arm(moment, *fault);
        let proxy = app.proxy.clone();
        tokio::select! {
            () = app.run(&case) => {}
            () = armed.strike(&proxy) => {}
        }
        met += usize::from(armed.has_struck());
        tried += 1;
        if let Armed::Rule(rule) = &armed {
            rule.disarm();
        }
        drop(armed);
        app.holds_no_lock(&case).await;
    }
    println!("{met} of {tried} faults were met, of {} cases", cases.len());
    assert!(met * 2 > tried, "only {met} of {tried} faults were met");
    app.runtime.shutdown(None).await;
}
