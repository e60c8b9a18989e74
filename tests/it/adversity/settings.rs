//! Procedures bring their own settings: whatever a connection was left with, a call runs under READ COMMITTED, sends no
//! row counts, and is over at its first error.
//!
//! A SET inside a procedure ends with it, and a procedure that does not set an option has its caller's ("SET statements").
//! So only those that clients call can be told by what they do; in the others the T-SQL check demands the words.

use std::collections::BTreeSet;
use std::time::Duration;

use mssql_embedded::{SqlError, Trigger};

use super::bench::Bench;
use super::failures::{Case, case, cases};
use super::grain::others;
use crate::support::mutants;
use crate::support::session::Session;
use crate::support::setting::Setting;

/// The procedure that a call is of.
fn name(call: &str) -> String {
    let name = call.split_whitespace().next().expect("a name");
    name.trim_matches(['[', ']']).to_owned()
}

/// Calls of every procedure that clients call.
fn all() -> Vec<Case> {
    let state = case(vec![], "get_schema_state".to_owned());
    let all: Vec<Case> = cases().into_iter().chain(others()).chain([state]).collect();
    let called: BTreeSet<String> = all.iter().map(|case| name(&case.call)).collect();
    let public = mutants::procedures();
    let public = public.into_iter().filter(|name| !name.starts_with('_'));
    assert_eq!(called, public.collect(), "every procedure is called");
    all
}

async fn prepare(bench: &mut Bench, case: &Case) -> String {
    bench.prepare(&case.setup).await;
    if case.is_late {
        bench.controls.advance(Duration::from_secs(61));
    }
    let call = bench.named(&case.call).await;
    format!("EXEC [$(schema)].{call};")
}

async fn bench() -> Bench {
    let setting = Setting::each(0..1, &[]).next().expect("a setting");
    Bench::new(setting).await
}

/// The database allows no snapshots, so that under SNAPSHOT nothing can be read (3952, "SET TRANSACTION ISOLATION LEVEL").
#[tokio::test]
async fn calls_set_their_isolation_level_and_send_no_row_counts() {
    let mut bench = bench().await;
    let forbidden = bench.controls.set_allow_snapshot_isolation("master", false);
    forbidden.expect("the database is there");
    let mut caller = Session::open(&bench.schema).await;
    let left = "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SET NOCOUNT OFF; SET XACT_ABORT OFF;";
    caller.run(left).await.expect("the connection is left so");
    let read = "SELECT COUNT(*) AS n FROM [$(schema)].sessions;";
    for case in all() {
        if !mutants::concerns(&[&name(&case.call)]) {
            continue;
        }
        let call = prepare(&mut bench, &case).await;
        let counts = caller.counts(&call).await;
        let refused = counts.as_ref().err().copied();
        let is_ours = refused.is_none_or(|number| (51_001..51_050).contains(&number));
        assert!(is_ours, "{refused:?} from {call}");
        let counts = counts.unwrap_or_default();
        let is_silent = counts.iter().all(|count| *count == 0);
        assert!(is_silent, "row counts {counts:?} from {call}");
        let kept = caller.run(read).await.err();
        assert_eq!(kept, Some(3952), "{call} leaves the level");
    }
}

/// A client without autocommit has IMPLICIT_TRANSACTIONS on: a call is committed all the same, and leaves none open. Otherwise
/// BEGIN TRANSACTION would begin two ("SET IMPLICIT_TRANSACTIONS").
#[tokio::test]
async fn calls_of_clients_without_autocommit_are_committed() {
    let mut bench = bench().await;
    let mut caller = Session::open(&bench.schema).await;
    let on = "SET IMPLICIT_TRANSACTIONS ON;";
    caller.run(on).await.expect("the connection is left so");
    for case in all() {
        if !mutants::concerns(&[&name(&case.call)]) {
            continue;
        }
        let call = prepare(&mut bench, &case).await;
        let refused = caller.run(&call).await.err();
        let is_ours = refused.is_none_or(|number| (51_001..51_050).contains(&number));
        assert!(is_ours, "{refused:?} from {call}");
        let open = caller.number("SELECT @@TRANCOUNT AS n;").await;
        assert_eq!(open, 0, "{call} leaves a transaction");
        let options = caller.number("SELECT @@OPTIONS & 2 AS n;").await;
        assert_eq!(options, 2, "{call} leaves the option off");
        assert_eq!(bench.controls.locks(), [], "{call} leaves locks");
    }
}

/// What stands behind a call in a batch is not run after an error within the call, of any kind.
#[tokio::test]
async fn calls_are_over_at_their_first_error() {
    let mut bench = bench().await;
    let (mut called, mut tried) = (BTreeSet::new(), BTreeSet::new());
    for case in all() {
        let name = name(&case.call);
        if !mutants::concerns(&[&name]) {
            continue;
        }
        called.insert(name.clone());
        for statement in 0..4 {
            let call = prepare(&mut bench, &case).await;
            let mut caller = Session::open(&bench.schema).await;
            let trigger = Trigger::statement().by(caller.spid().await).of(&name);
            let trigger = trigger.containing(&bench.schema.name().quoted());
            let error = SqlError::with(547, 16, 0, "chosen by the test");
            let rule = bench.controls.fail(trigger.after(statement), error);
            let answer = caller
                .run(&format!("{call} SET LOCK_TIMEOUT 4711;"))
                .await
                .map(drop);
            rule.disarm();
            if rule.fired() == 0 {
                break;
            }
            tried.insert(name.clone());
            let behind = caller.number("SELECT @@LOCK_TIMEOUT AS n;").await == 4711;
            let what = format!("statement {statement} of {call}");
            assert_eq!(behind, answer.is_ok(), "{answer:?} at {what}");
        }
    }
    assert_eq!(tried, called, "each of them has failed");
}
