//! Calls in a session of their own, as an administrator makes them.

use std::collections::BTreeSet;
use std::time::Duration;

use super::super::bench::Bench;
use super::super::failures::{Case, cases};
use super::super::grain::others;
use super::{Choice, Moment, Seen, setting};
use crate::support::database::SnapshotReads;
use crate::support::moments::Fault;
use crate::support::mutants;
use crate::support::session::Session;
use crate::support::wait;

/// Of so many cases of a call one is tried every day.
const EVERY_DAY: usize = 37;

/// The first reads tables that only an installation writes. The others run where two fetches meet: they only wait for
/// a row, outside any transaction.
const LEFT_OUT: [&str; 3] = ["get_schema_state", "_await_instance", "_await_work_item"];

#[tokio::test]
async fn interrupted_calls_are_undone_or_done() {
    interrupt(SnapshotReads::Off).await;
}

#[tokio::test]
async fn interrupted_calls_are_undone_or_done_with_snapshot_reads() {
    interrupt(SnapshotReads::On).await;
}

async fn interrupt(reads: SnapshotReads) {
    let mut trial = Trial::new(reads).await;
    let mut choice = Choice::new(reads, EVERY_DAY);
    let (mut run, mut struck) = (BTreeSet::new(), BTreeSet::new());
    let (mut tried, mut wrong) = (0, Vec::new());
    for case in cases().into_iter().chain(others()) {
        let (states, seen) = trial.undisturbed(&case).await;
        run.extend(seen.texts.keys().map(|(procedure, _)| procedure.clone()));
        for (moment, fault) in choice.of(&seen) {
            wrong.extend(trial.interrupt(&case, &states, moment, fault).await.err());
            struck.insert(name_of(&case.call).to_owned());
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
    let mut installed = mutants::procedures();
    installed.retain(|name| !LEFT_OUT.contains(&name.as_str()));
    let missing: Vec<_> = installed
        .iter()
        .filter(|name| !run.contains(*name))
        .collect();
    assert!(missing.is_empty(), "no call runs {missing:?}");
    let called = installed.iter().filter(|name| !name.starts_with('_'));
    let missing: Vec<_> = called.filter(|name| !struck.contains(*name)).collect();
    // A small share of all cases need not have them all.
    let is_share = choice.share.is_some_and(|share| share.step > 1);
    assert!(is_share || missing.is_empty(), "never tried: {missing:?}");
}

fn name_of(call: &str) -> &str {
    let name = call.split(' ').next().expect("a name");
    name.trim_matches(['[', ']'])
}

struct Trial {
    bench: Bench,
    caller: Session,
}

impl Trial {
    async fn new(reads: SnapshotReads) -> Self {
        let bench = Bench::new(setting(reads)).await;
        let caller = Session::open(&bench.schema).await;
        Self { bench, caller }
    }

    /// The text of the call, once everything is as it shall be before it.
    async fn prepare(&mut self, case: &Case) -> String {
        // A lane that is there already is not made again, and the call is a statement shorter.
        let lanes = self
            .bench
            .side
            .run("DELETE FROM [$(schema)].version_lanes;");
        lanes.await.expect("the lanes are emptied");
        self.bench.prepare(&case.setup).await;
        // Some calls tell what came in this millisecond from what is older.
        let passed = if case.is_late { 61_000 } else { 5 };
        self.bench.controls.advance(Duration::from_millis(passed));
        let call = self.bench.named(&case.call).await;
        format!("EXEC [$(schema)].{call};")
    }

    /// The tables before the call, after each of its transactions and in the end; and what it does.
    async fn undisturbed(&mut self, case: &Case) -> (Vec<Vec<String>>, Seen) {
        let text = self.prepare(case).await;
        let mut states = vec![super::tables(&mut self.bench).await];
        Seen::begin(&self.bench.controls);
        let done = self.caller.run(&text).await.map(drop);
        let mut seen = Seen::end(&self.bench.controls);
        // The EXEC of the batch comes before the procedure's own statements.
        seen.statements += 1;
        let is_done = done.map_or_else(|number| (51_001..51_050).contains(&number), |()| true);
        assert!(is_done, "{done:?} from {text}");
        let last = super::tables(&mut self.bench).await;
        for n in 1..seen.commits {
            let text = self.prepare(case).await;
            let trigger = Moment::Commit(n).trigger(name_of(&case.call));
            let cut = self.bench.controls.cut(trigger);
            let lost = self.caller.attempt(&text).await.map(drop);
            assert_eq!(lost, Err(None), "{text} commits again");
            cut.disarm();
            self.holds_no_lock(&text).await;
            self.caller = Session::open(&self.bench.schema).await;
            states.push(super::tables(&mut self.bench).await);
        }
        states.push(last);
        (states, seen)
    }

    async fn holds_no_lock(&self, what: &str) {
        wait::until(what, || async { self.bench.controls.locks().is_empty() }).await;
    }

    /// Says what is wrong afterwards.
    async fn interrupt(
        &mut self,
        case: &Case,
        states: &[Vec<String>],
        moment: Moment,
        fault: Fault,
    ) -> Result<(), String> {
        let (text, procedure) = (self.prepare(case).await, name_of(&case.call));
        let controls = self.bench.controls.clone();
        let armed = fault.arm(&controls, moment.trigger(procedure));
        let calls = || controls.counters().of(procedure).calls;
        let before = calls();
        // A caller whose network is silent hears nothing, and its connection stays open.
        let answer = tokio::select! {
            answer = self.caller.attempt(&text) => Some(answer.map(drop)),
            () = armed.strike(|| ()) => None,
        };
        let what = format!("{fault:?} at {moment:?} of {text} ({answer:?})");
        if !armed.has_struck() {
            return Err(format!("{what}: it never came to that"));
        }
        drop(armed);
        if answer.is_none() {
            wait::until(&what, || async { calls() > before }).await;
        }
        let is_connected = matches!(answer, Some(Ok(()) | Err(Some(_))));
        if is_connected {
            let open = self.caller.number("SELECT @@TRANCOUNT AS n;").await;
            assert_eq!(open, 0, "a transaction is open after {what}");
            assert_eq!(controls.locks(), [], "locks are left by {what}");
        }
        self.holds_no_lock(&what).await;
        let tables = super::tables(&mut self.bench).await;
        let right = match answer {
            // What the caller believes to be done is done, and so is what nobody disturbed in the server.
            Some(Ok(())) | None => &states[states.len() - 1..],
            Some(Err(_)) => states,
        };
        if !is_connected {
            self.caller = Session::open(&self.bench.schema).await;
        }
        match right.contains(&tables) {
            true => Ok(()),
            false => Err(format!("{what} is half done:\n{tables:#?}\n{states:#?}")),
        }
    }
}
