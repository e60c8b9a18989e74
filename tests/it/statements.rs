//! A failure at any statement of any procedure, and around every commit: the workflow is finished all the
//! same, and no lock is left.
//!
//! The statements are those that a workflow was seen to run. Every day a part of them is tried;
//! `EVERY_STATEMENT=1` tries all, `EVERY_STATEMENT=3/20` the third of twenty shares, so that all can be
//! tried in pieces. A workflow does not take the same statements every time, so that the numbers of the
//! cases differ a little from run to run.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use duroxide::runtime::registry::OrchestrationRegistry;
use duroxide::runtime::{OrchestrationStatus, Runtime};
use duroxide::{Client, OrchestrationContext};
use duroxide_sql::MssqlProvider;
use futures_util::future::join_all;
use mssql_embedded::{Server, Trigger};

use crate::support::database::TestSchema;
use crate::support::moments::{FAULTS, Fault, Share};
use crate::support::proxy::Proxy;
use crate::support::runtime::{PATIENCE, echo_activities};
use crate::support::session::Session;
use crate::support::wait;

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

    fn is_of_a_watch(&self) -> bool {
        let (Self::Statement(procedure, _) | Self::Commit(procedure) | Self::Committed(procedure)) =
            self;
        procedure.ends_with(".wait_for_work")
    }
}

/// The cases that are tried without a word from the environment: others for each setting. Their distance is
/// prime to the number of faults, so that each of these gets its share.
fn of_every_day(snapshot_reads: bool) -> Share {
    Share {
        first: usize::from(snapshot_reads),
        step: 79,
    }
}

/// How many workflows a fault waits for its moment, which not every one comes by.
const WORKFLOWS: usize = 20;
/// How many run at once, and are held up, when none of these did.
const CROWD: usize = 24;
/// How often there is such a crowd.
const CROWDS: usize = 10;
/// After so long a watch in the database is tried again that has failed some times in a row.
const NEXT_WATCH: Duration = Duration::from_secs(150);
/// How often a long run says how far it is.
const PROGRESS: usize = 25;

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
    instances: AtomicUsize,
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
            instances: AtomicUsize::new(0),
        }
    }

    /// Runs a workflow to its end, which must be a good one.
    async fn run(&self, case: &str) {
        let number = self.instances.fetch_add(1, Ordering::Relaxed);
        let instance = format!("order-{number}");
        let begin = || async {
            let begun = self.client.start_orchestration(&instance, "Parent", "x");
            // A client hears of a start whose outcome is unknown, and tries again.
            let refused = begun.await.err();
            refused.is_none_or(|error| {
                assert!(error.is_retryable(), "{case}: {error}");
                false
            })
        };
        wait::until(case, begin).await;
        let deadline = Instant::now() + PATIENCE;
        let ended = loop {
            assert!(Instant::now() < deadline, "{case}: {instance} does not end");
            let ended = self.client.wait_for_orchestration(&instance, PATIENCE);
            match ended.await {
                Ok(status) => break status,
                Err(error) => assert!(error.is_retryable(), "{case}: {error}"),
            }
        };
        assert!(
            matches!(&ended, OrchestrationStatus::Completed { output, .. } if output == "X"),
            "{case}: {ended:?}"
        );
    }

    /// What a workflow makes the server run that is not the first one: some things are done once.
    async fn moments(&self) -> BTreeSet<Moment> {
        self.run("the first workflow").await;
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
            if text.starts_with("COMMIT") {
                moments.insert(Moment::Commit(procedure.clone()));
                moments.insert(Moment::Committed(procedure.clone()));
            }
            moments.insert(Moment::Statement(procedure, text));
        }
        moments
    }

    /// Runs workflows until one of them comes by the moment; whether one did.
    async fn meets(&self, moment: &Moment, fault: Fault, case: &str) -> bool {
        let armed = fault.arm(&self.server.controls(), moment.trigger());
        let proxy = self.proxy.clone();
        let strike = async {
            armed.strike(|| proxy.silence_all()).await;
            std::future::pending::<()>().await;
        };
        let workflows = async {
            for _ in 0..WORKFLOWS {
                self.run(case).await;
                if armed.has_struck() {
                    return;
                }
            }
            for _ in 0..CROWDS {
                tokio::select! {
                    _ = join_all((0..CROWD).map(|_| self.run(case))) => {}
                    () = self.get_in_the_way() => {}
                }
                if armed.has_struck() {
                    return;
                }
            }
            let deadline = Instant::now() + NEXT_WATCH;
            while moment.is_of_a_watch() && !armed.has_struck() && Instant::now() < deadline {
                tokio::time::sleep(Duration::from_secs(1)).await;
                self.run(case).await;
            }
        };
        tokio::select! {
            () = workflows => {}
            () = strike => {}
        }
        armed.has_struck()
    }

    /// Holds every instance's row for a moment, again and again: some statements are there for those who have to wait.
    async fn get_in_the_way(&self) {
        let hold = "SET DEADLOCK_PRIORITY LOW;
            BEGIN TRANSACTION;
            SELECT COUNT(l.claim_id) AS n FROM [$(schema)].instance_locks AS l WITH (INDEX(pk_instance_locks), XLOCK, ROWLOCK);
            WAITFOR DELAY '00:00:00.020';
            COMMIT TRANSACTION;";
        loop {
            let mut session = Session::open(&self.schema).await;
            // Until it is chosen as a deadlock's victim.
            while session.run(hold).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
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
    let app = App::start(snapshot_reads).await;
    let moments = app.moments().await;
    assert!(moments.len() > 60, "only {} moments", moments.len());
    let mut cases = Vec::new();
    for moment in &moments {
        cases.extend(FAULTS.map(|fault| (moment, fault)));
    }
    let share = Share::of_environment().unwrap_or(of_every_day(snapshot_reads));
    let chosen = cases.iter().enumerate();
    let chosen = chosen.skip(share.first).step_by(share.step);
    let (count, mut missed) = (chosen.len(), Vec::new());
    for (tried, (number, (moment, fault))) in chosen.enumerate() {
        let case =
            format!("case {number}, snapshot reads {snapshot_reads}: {fault:?} at {moment:?}");
        if tried > 0 && tried % PROGRESS == 0 {
            println!("{tried} of {count} tried, snapshot reads {snapshot_reads}");
        }
        if !app.meets(moment, *fault, &case).await {
            missed.push(case.clone());
        }
        app.holds_no_lock(&case).await;
    }
    println!("{count} of {} cases were tried", cases.len());
    assert!(missed.is_empty(), "never met: {missed:#?}");
    app.runtime.shutdown(None).await;
}
