//! Stepping sessions by hand.

use std::time::Duration;

use mssql_embedded::Trigger;

use super::{BALANCES, MOVE, ledger};
use crate::support::{Session, blocked, within};

/// A session is held between its two updates; another one reads and waits for its lock meanwhile.
#[tokio::test]
async fn another_session_runs_while_one_is_paused() {
    let (server, session) = ledger().await;
    let controls = server.controls();
    let spid = session.spid;
    let between = Trigger::statement()
        .of("move_one")
        .containing("SET v = v + 1");
    let pause = controls.pause(between);
    let moving = session.spawn(MOVE);
    assert_eq!(within(pause.paused()).await, spid);
    assert_eq!(pause.sessions(), [spid]);

    let mut other = Session::open(&server).await;
    let second = within(other.int("SELECT v FROM dbo.ledger WHERE id = 2")).await;
    assert_eq!(second.unwrap(), 100, "not written yet");
    let reader = other.spid;
    let first = other.spawn("SELECT v FROM dbo.ledger WHERE id = 1");
    blocked(&controls, reader).await;

    pause.release();
    within(moving).await.unwrap().1.unwrap();
    assert_eq!(within(first).await.unwrap().1.unwrap(), [99]);
}

/// Two pauses make a deadlock that happens every time.
#[tokio::test]
async fn two_pauses_step_into_a_deadlock() {
    let (server, first) = ledger().await;
    let controls = server.controls();
    let second = Session::open(&server).await;
    let between = || {
        Trigger::statement()
            .of("move_one")
            .containing("SET v = v + 1")
    };
    let pauses = [first.spid, second.spid].map(|spid| controls.pause(between().by(spid)));
    let first = first.spawn(MOVE);
    let second = second.spawn("EXEC dbo.move_one @from = 2, @to = 1");
    for pause in &pauses {
        within(pause.paused()).await;
    }
    for pause in &pauses {
        pause.release();
    }
    let answers = [
        within(first).await.unwrap().1,
        within(second).await.unwrap().1,
    ];
    let codes: Vec<_> = answers
        .iter()
        .filter_map(|a| a.as_ref().err()?.code())
        .collect();
    assert_eq!(codes, [1205]);
}

/// A pause holds as many as it was told to, one after the other.
#[tokio::test]
async fn a_pause_steps_through_a_loop() {
    let (server, session) = ledger().await;
    let pause = server
        .controls()
        .pause(Trigger::statement().containing("SET @i").times(2));
    let looping =
        session.spawn("DECLARE @i INT = 0; WHILE @i < 5 BEGIN SET @i = @i + 1; END; SELECT @i;");
    for step in 1..=2 {
        within(pause.paused()).await;
        assert_eq!(pause.fired(), step);
        pause.release();
    }
    assert_eq!(within(looping).await.unwrap().1.unwrap(), [5]);
}

/// Dropping the handle lets everyone go, so that a failed test cannot hang.
#[tokio::test]
async fn dropping_a_pause_releases() {
    let (server, session) = ledger().await;
    let pause = server
        .controls()
        .pause(Trigger::statement().of("move_one").always());
    let moving = session.spawn(MOVE);
    within(pause.paused()).await;
    drop(pause);
    let (mut session, answer) = within(moving).await.unwrap();
    answer.unwrap();
    assert_eq!(session.ints(BALANCES).await.unwrap(), [99, 101]);
}

/// A blocking wait has a deadline.
#[test]
fn wait_paused_gives_up() {
    let server = crate::support::server(false);
    let pause = server.controls().pause(Trigger::request());
    assert_eq!(pause.wait_paused(Duration::from_millis(1)), None);
}
