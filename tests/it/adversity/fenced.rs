//! A deletion in batches that fails at any of its statements: it has not begun, or the next one goes on
//! where it stopped.

use mssql_embedded::{SqlError, Trigger};

use super::bench::{Bench, turn};
use super::pairs::{ack, enqueue_work, fetch, post, weighty};
use crate::support::checker;
use crate::support::session::Session;
use crate::support::setting::Setting;

/// A finished instance that is too large for one transaction, with a turn under way and an activity.
pub(super) fn setup() -> Vec<String> {
    let ended = weighty(&turn("i", "aa", ", @status = N'Completed'").join("\n"));
    let mut calls: Vec<_> = ended.split('\n').map(str::to_owned).collect();
    calls.extend([enqueue_work(1, None), post("i", "m2"), fetch("bb")]);
    calls
}

async fn call(session: &mut Session, text: &str) -> Result<(), u32> {
    let answer = session.run(&format!("EXEC [$(schema)].{text};")).await;
    answer.map(drop)
}

/// Either nothing has happened; or the instance is fenced, and nobody sees or ends anything of it. Then
/// any other deletion finishes it, and what was sent meanwhile is there.
async fn check(bench: &mut Bench, before: &[String], what: &str) -> bool {
    let is_undone = bench.tables().await == before;
    let fenced = "SELECT COUNT(*) AS n FROM [$(schema)].instances WHERE status = N'Deleting';";
    let is_fenced = bench.side.number(fenced).await == 1;
    let broken = checker::promises(&mut bench.side).await;
    assert!(broken.is_empty(), "{broken:?} after {what}");
    if is_fenced {
        for (known, events) in [("", 0), (", @known_event_id = 0", 1)] {
            let read = format!("EXEC [$(schema)].[read] @instance_id = N'i'{known};");
            let sets = bench.side.run(&read).await.expect("it can be read");
            assert!(sets[events].is_empty(), "{what}: events are shown");
        }
        let turn = ack("bb", "i", "").replace("\"event_id\":1", "\"event_id\":2");
        assert_eq!(call(&mut bench.side, &turn).await, Err(51_003), "{what}");
        call(&mut bench.side, &post("i", "m3"))
            .await
            .expect("it is sent");
        let again = format!("EXEC [$(schema)].{};", fetch("cc"));
        let found = bench.side.run(&again);
        let found = found.await.expect("a fetch")[0][0].get::<bool, _>("found");
        assert_eq!(found, Some(false), "{what}: fetched while it is deleted");
        let resume = call(&mut bench.side, "delete_instance_bulk").await;
        assert_eq!(resume, Ok(()), "{what}");
    } else if is_undone {
        let delete = "delete_instance @instance_id = N'i', @force = 1";
        call(&mut bench.side, delete).await.expect("it is deleted");
        call(&mut bench.side, &post("i", "m3"))
            .await
            .expect("it is sent");
    } else {
        call(&mut bench.side, &post("i", "m3"))
            .await
            .expect("it is sent");
    }
    let left = bench.tables().await;
    let next = [
        "lock i lane -1 free ready",
        "message i StartOrchestration m3 0 free ready",
    ];
    assert_eq!(left, next, "{what}: what is left");
    is_fenced
}

async fn fail_everywhere(cut: bool) {
    let setting = Setting::each(0..1, &[]).next().expect("a setting");
    let mut bench = Bench::new(setting).await;
    let mut met = 0;
    for statement in 0.. {
        bench.prepare(&setup()).await;
        let before = bench.tables().await;
        let mut caller = Session::open(&bench.schema).await;
        let spid = caller.spid().await;
        let name = bench.schema.name().quoted();
        let trigger = Trigger::statement()
            .by(spid)
            .containing(&name)
            .after(statement);
        let rule = match cut {
            true => bench.controls.cut(trigger),
            false => {
                let error = SqlError::with(547, 16, 0, "chosen by the test");
                bench.controls.fail(trigger, error)
            }
        };
        let delete = "EXEC [$(schema)].delete_instance @instance_id = N'i', @force = 1;";
        let task = tokio::spawn(async move { caller.run(delete).await.map(drop) });
        // A connection that is cut gives no number, and the session panics over it.
        let answer = task.await.unwrap_or(Err(0));
        rule.disarm();
        if rule.fired() == 0 {
            assert_eq!(answer, Ok(()), "no failure was chosen");
            break;
        }
        assert!(answer.is_err(), "statement {statement} has failed");
        let no_locks = || async { bench.controls.locks().is_empty() };
        crate::support::wait::until("the locks to be let go", no_locks).await;
        let what = format!("statement {statement}");
        met += u32::from(check(&mut bench, &before, &what).await);
    }
    assert!(met > 20, "only {met} failures met a fenced instance");
}

#[tokio::test]
async fn deletion_in_batches_that_fails_anywhere_is_resumed() {
    fail_everywhere(false).await;
}

#[tokio::test]
async fn deletion_in_batches_that_is_cut_anywhere_is_resumed() {
    fail_everywhere(true).await;
}
