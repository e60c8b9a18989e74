//! Calls through the provider: whatever it repeats or reports, its caller may go on.

use std::sync::Arc;
use std::time::Duration;

use duroxide::providers::{ExecutionMetadata, Provider, WorkItem};
use duroxide_sql::{MigrationPolicy, MssqlProvider};

use super::super::bench::Bench;
use super::method::{Caller, EVENTS, Method, Setup, ended, fetch_work, methods, with_session};
use super::{Choice, Moment, Seen, setting};
use crate::support::database::SnapshotReads;
use crate::support::items::{LEASE, activity, fetch, metadata, start};
use crate::support::moments::Fault;
use crate::support::proxy::Proxy;
use crate::support::wait;

/// Of so many cases of a method one is tried every day.
const EVERY_DAY: usize = 61;

/// How often a case is tried that did not come to its moment: what a fetch looks at depends on the time
/// since the last one.
const TRIALS: usize = 3;

/// What says that a lease is no longer held.
const GONE: [&str; 2] = ["(server error 51003)", "(server error 51004)"];

/// What every answer may take, also on a busy machine: silence is noticed soon.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(3);

#[tokio::test]
async fn interrupted_methods_are_undone_or_done() {
    interrupt(SnapshotReads::Off).await;
}

#[tokio::test]
async fn interrupted_methods_are_undone_or_done_with_snapshot_reads() {
    interrupt(SnapshotReads::On).await;
}

async fn interrupt(reads: SnapshotReads) {
    let mut trial = Trial::new(reads).await;
    let mut choice = Choice::new(reads, EVERY_DAY);
    let (mut tried, mut wrong) = (0, Vec::new());
    for method in methods() {
        let undisturbed = trial.undisturbed(&method).await;
        for (moment, fault) in choice.of(&undisturbed.seen) {
            if undisturbed.cannot_be(moment, fault) {
                continue;
            }
            let mut trials = 1;
            let result = loop {
                let result = trial.interrupt(&method, &undisturbed, moment, fault).await;
                match result {
                    Some(result) => break result,
                    None if trials < TRIALS => trials += 1,
                    None => {
                        let procedure = method.procedure;
                        break Err(format!("{procedure} never came to {fault:?} at {moment:?}"));
                    }
                }
            };
            wrong.extend(result.err());
            tried += 1;
        }
    }
    println!("{tried} of {} cases were tried, {reads:?}", choice.cases);
    assert!(
        wrong.is_empty(),
        "{} are wrong: {}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// A call that nobody disturbs.
struct Undisturbed {
    /// The tables before the call and after it.
    ends: [Vec<String>; 2],
    /// The tables after a claim that was given back: its session is kept. Otherwise as before.
    returned: Vec<String>,
    seen: Seen,
    /// How many statements have begun when the last commit is done; `None` if there is none.
    committed: Option<u64>,
    /// Whether tables are read after the last commit.
    reads_on: bool,
}

impl Undisturbed {
    /// The provider believes a server that says by one of these numbers that nothing was done. That is so in a
    /// transaction; and after the last one only a statement that reads a table could say so. Every procedure begins with
    /// SET XACT_ABORT, which touches nothing that could fail: an error there would not end the call.
    fn cannot_be(&self, moment: Moment, fault: Fault) -> bool {
        let is_first = matches!(moment, Moment::Statement(0));
        let is_last = match (moment, self.committed) {
            (Moment::Statement(n), Some(committed)) => n >= committed,
            (Moment::Committed(n), _) => n + 1 == self.seen.commits,
            _ => false,
        };
        (is_first || is_last && !self.reads_on) && matches!(fault, Fault::Error(..))
    }
}

/// A turn that ends its execution or not.
async fn turn(store: &MssqlProvider, execution: u64, message: WorkItem, end: ExecutionMetadata) {
    let sent = store.enqueue_for_orchestrator(message, None).await;
    sent.expect("it is sent");
    let (_, token, _) = fetch(store).await.expect("the message is ready");
    let mut events = EVENTS.clone();
    events
        .iter_mut()
        .for_each(|event| event.execution_id = execution);
    let acked =
        store.ack_orchestration_item(&token, execution, events, vec![], vec![], end, vec![]);
    acked.await.expect("the turn ends");
}

struct Trial {
    bench: Bench,
    proxy: Proxy,
}

impl Trial {
    async fn new(reads: SnapshotReads) -> Self {
        let bench = Bench::new(setting(reads)).await;
        let proxy = Proxy::start(bench.schema.url()).await;
        Self { bench, proxy }
    }

    /// A provider that remembers nothing, and everything as it shall be before the call.
    async fn prepare(&mut self, setup: Setup) -> Caller {
        self.bench.prepare(&[]).await;
        let builder = MssqlProvider::builder(self.proxy.url(self.bench.schema.url()))
            .schema(self.bench.schema.name().as_str())
            .migration_policy(MigrationPolicy::Verify)
            .wait_for_work(false)
            .command_timeout(COMMAND_TIMEOUT);
        let store = Arc::new(builder.build().await.expect("the provider starts"));
        let mut token = String::new();
        match setup {
            Setup::Nothing => {}
            Setup::Message | Setup::Turn => {
                let sent = store.enqueue_for_orchestrator(start("i"), None).await;
                sent.expect("it is sent");
            }
            Setup::Ended => turn(&store, 1, start("i"), ended("Completed")).await,
            Setup::Twice => {
                turn(&store, 1, start("i"), ended("ContinuedAsNew")).await;
                turn(&store, 2, start("i"), ended("Completed")).await;
            }
            Setup::Idle | Setup::Activity | Setup::Leased | Setup::Expired => {
                turn(&store, 1, start("i"), metadata()).await;
            }
        }
        if let Setup::Turn = setup {
            token = fetch(&*store).await.expect("the message is ready").1;
            let added = store.enqueue_for_worker(activity("i", 2, "")).await;
            added.expect("it is added");
        }
        if let Setup::Activity | Setup::Leased | Setup::Expired = setup {
            let added = store.enqueue_for_worker(with_session(2)).await;
            added.expect("it is added");
        }
        if let Setup::Leased | Setup::Expired = setup {
            let fetched = fetch_work(&store).await.expect("a fetch");
            token = fetched.expect("the activity is ready");
        }
        if let Setup::Expired = setup {
            let acked = store.ack_work_item(&token, None).await;
            acked.expect("the activity ends");
            self.bench.controls.advance(LEASE + Duration::from_secs(1));
        }
        Caller { store, token }
    }

    async fn tables(&mut self) -> Vec<String> {
        super::tables(&mut self.bench).await
    }

    async fn undisturbed(&mut self, method: &Method) -> Undisturbed {
        let caller = self.prepare(method.setup).await;
        let store = caller.store.clone();
        let before = self.tables().await;
        Seen::begin(&self.bench.controls);
        let done = (method.call)(caller).await;
        let seen = Seen::end(&self.bench.controls);
        done.unwrap_or_else(|error| panic!("{}: {error}", method.procedure));
        let ends = [before, self.tables().await];
        let mut returned = ends[0].clone();
        if method.procedure.starts_with("fetch_") {
            store.close().await;
            returned = self.tables().await;
        }
        let (mut committed, mut reads_on) = (None, false);
        if let Some(last) = seen.commits.checked_sub(1) {
            let early = self.up_to_commit(method, last).await;
            committed = Some(early.statements);
            let schema = self.bench.schema.name().quoted();
            reads_on = seen.texts.iter().any(|(text, times)| {
                early.texts.get(text) != Some(times) && text.1.contains(&schema)
            });
        }
        Undisturbed {
            ends,
            returned,
            seen,
            committed,
            reads_on,
        }
    }

    /// What has run when a call has just committed for the last time. The provider is left before it can try again.
    async fn up_to_commit(&mut self, method: &Method, last: u64) -> Seen {
        let caller = self.prepare(method.setup).await;
        let controls = self.bench.controls.clone();
        let pause = controls.pause(Moment::Committed(last).trigger(method.procedure));
        Seen::begin(&controls);
        let spid = tokio::select! {
            _ = (method.call)(caller) => panic!("{} does not commit", method.procedure),
            spid = pause.paused() => spid,
        };
        // It is held until it has ended, so that it does not go on.
        controls.kill(spid);
        let gone = || async { !controls.sessions().contains(&spid) };
        wait::until("the session has ended", gone).await;
        drop(pause);
        Seen::end(&controls)
    }

    /// What is wrong after the fault; `None` if the call did not come to that moment.
    async fn interrupt(
        &mut self,
        method: &Method,
        undisturbed: &Undisturbed,
        moment: Moment,
        fault: Fault,
    ) -> Option<Result<(), String>> {
        let procedure = method.procedure;
        let caller = self.prepare(method.setup).await;
        let controls = self.bench.controls.clone();
        let armed = fault.arm(&controls, moment.trigger(procedure));
        let ended = || controls.counters().of(procedure).calls;
        let before = ended();
        let what = format!("{fault:?} at {moment:?} of {procedure}");
        let strike = async {
            armed.strike(|| self.proxy.silence_all()).await;
            // What was under way ends in the server, though nobody hears of it.
            wait::until(&what, || async { ended() > before }).await;
            std::future::pending::<()>().await;
        };
        let answer = tokio::select! {
            answer = (method.call)(caller) => answer,
            () = strike => unreachable!("it never ends"),
        };
        if !armed.has_struck() {
            return None;
        }
        drop(armed);
        let what = format!("{what} ({answer:?})");
        wait::until(&what, || async { controls.locks().is_empty() }).await;
        let mut tables = self.tables().await;
        if method.may_come_twice() {
            tables.dedup();
        }
        let ends = &undisturbed.ends;
        let is_done = tables == ends[1];
        let is_right = match answer {
            Ok(()) => is_done,
            _ if !is_done && tables != ends[0] && tables != undisturbed.returned => false,
            Err(error) if error.is_retryable() => true,
            // Only to whoever has done it already.
            Err(error) => {
                let is_gone = GONE.iter().any(|text| error.message.contains(text));
                method.settles() && is_done && is_gone
            }
        };
        Some(match is_right {
            true => Ok(()),
            false => Err(format!("{what}:\n{tables:#?}\n{ends:#?}")),
        })
    }
}
