//! Making statements fail.

use mssql_embedded::{SqlError, Trigger};

use super::{BALANCES, MOVE, ledger};
use crate::support::{Session, number, until};

fn chosen(number: i32) -> SqlError {
    SqlError::with(number, 16, 3, "chosen by the test")
}

/// The third execution of a statement of a procedure fails, and its transaction is rolled back.
#[tokio::test]
async fn the_nth_execution_fails_with_the_chosen_error() {
    let (server, mut session) = ledger().await;
    let second_update = Trigger::statement()
        .of("move_one")
        .containing("SET v = v + 1");
    let rule = server
        .controls()
        .fail(second_update.after(2), chosen(50_007));
    for _ in 0..2 {
        session.run(MOVE).await.unwrap();
    }
    assert_eq!(number(session.run(MOVE).await), 50_007);
    assert_eq!(rule.fired(), 1);
    assert_eq!(
        session.ints(BALANCES).await.unwrap(),
        [98, 102],
        "all of it or nothing"
    );
    session.run(MOVE).await.unwrap();
    assert_eq!(session.ints(BALANCES).await.unwrap(), [97, 103]);
}

/// The error behaves as one of the server's own: CATCH sees number, severity, state and line.
#[tokio::test]
async fn catch_sees_the_error() {
    let (server, mut session) = ledger().await;
    server
        .controls()
        .fail(Trigger::statement().containing("UPDATE"), chosen(1222));
    let caught = session
        .ints(
            "BEGIN TRY
                UPDATE dbo.ledger SET v = 0;
             END TRY
             BEGIN CATCH
                SELECT ERROR_NUMBER() UNION ALL SELECT ERROR_SEVERITY()
                UNION ALL SELECT ERROR_STATE() UNION ALL SELECT ERROR_LINE();
             END CATCH",
        )
        .await
        .unwrap();
    assert_eq!(caught, [1222, 16, 3, 2]);
}

/// 1205 takes the transaction with it, as a real deadlock would.
#[tokio::test]
async fn a_chosen_deadlock_rolls_back() {
    let (server, mut session) = ledger().await;
    let victim = SqlError::with(1205, 13, 51, "chosen by the test");
    server
        .controls()
        .fail(Trigger::statement().containing("v = 2"), victim);
    session
        .run("BEGIN TRAN; UPDATE dbo.ledger SET v = 1")
        .await
        .unwrap();
    let answer = session.run("UPDATE dbo.ledger SET v = 2").await;
    assert_eq!(number(answer), 1205);
    assert_eq!(session.int("SELECT @@TRANCOUNT").await.unwrap(), 0);
    assert_eq!(session.ints(BALANCES).await.unwrap(), [100, 100]);
}

/// A rule for one session leaves the others alone, and `times` ends it.
#[tokio::test]
async fn by_and_times_narrow_a_rule_down() {
    let (server, mut chosen_one) = ledger().await;
    let mut other = Session::open(&server).await;
    let peek = "EXEC dbo.peek @id = 1";
    let trigger = Trigger::request()
        .of("dbo.peek")
        .by(chosen_one.spid)
        .times(2);
    server.controls().fail(trigger, chosen(50_001));
    for _ in 0..2 {
        assert_eq!(other.int(peek).await.unwrap(), 100);
        assert_eq!(number(chosen_one.run(peek).await), 50_001);
    }
    assert_eq!(chosen_one.int(peek).await.unwrap(), 100);
}

/// The condition of an IF can fail too; its body is not mistaken for it.
#[tokio::test]
async fn conditions_are_statements_of_their_own() {
    let (server, mut session) = ledger().await;
    let controls = server.controls();
    let text = "IF EXISTS (SELECT 1 FROM dbo.ledger WHERE id = 1) SELECT 5;";
    let body = controls.fail(Trigger::statement().containing("SELECT 5"), chosen(50_001));
    assert_eq!(number(session.run(text).await), 50_001);
    assert_eq!(body.fired(), 1);
    controls.fail(Trigger::statement().containing("IF EXISTS"), chosen(50_002));
    assert_eq!(number(session.run(text).await), 50_002);
    assert_eq!(session.int(text).await.unwrap(), 5);
}

/// Severity 20 and above reaches the client and ends its connection.
#[tokio::test]
async fn a_fatal_error_ends_the_connection() {
    let (server, mut session) = ledger().await;
    let fatal = SqlError::with(40_197, 20, 1, "chosen by the test");
    server
        .controls()
        .fail(Trigger::statement().of("peek"), fatal);
    assert_eq!(number(session.run("EXEC dbo.peek @id = 1").await), 40_197);
    let spid = session.spid;
    let controls = server.controls();
    until("the session is gone", || {
        !controls.sessions().contains(&spid)
    })
    .await;
}

/// Disarmed rules do nothing.
#[tokio::test]
async fn disarm_takes_a_rule_back() {
    let (server, mut session) = ledger().await;
    let controls = server.controls();
    let rule = controls.fail(Trigger::request().always(), chosen(50_001));
    assert_eq!(number(session.run("SELECT 1").await), 50_001);
    rule.disarm();
    session.run("SELECT 1").await.unwrap();
    controls.fail(Trigger::request().always(), chosen(50_001));
    controls.disarm_all();
    session.run("SELECT 1").await.unwrap();
}
