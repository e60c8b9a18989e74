//! Databases and logins.

use mssql_embedded::{Collation, Server, SqlError};

use super::{BALANCES, MOVE, ledger};
use crate::support::{Answer, Session, number, server};

async fn login(server: &Server, name: &str, password: &str, database: &str) -> Answer<Session> {
    let text = format!(
        "server=tcp:127.0.0.1,{};user id={name};password={password};database={database};\
         encrypt=DANGER_PLAINTEXT;trustServerCertificate=true",
        server.port()
    );
    Session::open_with(&text).await
}

/// The switches of a database show in sys.databases, as ALTER DATABASE would set them.
#[tokio::test]
async fn database_options_can_be_switched() {
    let server = server(false);
    let controls = server.controls();
    controls
        .create_database("other", Collation::SqlLatin1CiAs)
        .unwrap();
    let mut session = Session::open(&server).await;
    let option =
        |name: &str| format!("SELECT CAST({name} AS INT) FROM sys.databases WHERE name = N'other'");
    for on in [true, false] {
        controls.set_read_committed_snapshot("other", on).unwrap();
        let rcsi = session
            .int(&option("is_read_committed_snapshot_on"))
            .await
            .unwrap();
        assert_eq!(rcsi, i32::from(on));
        controls.set_allow_snapshot_isolation("other", on).unwrap();
        let allowed = session
            .int(&option("snapshot_isolation_state"))
            .await
            .unwrap();
        assert_eq!(allowed, i32::from(on));
    }
    controls.set_compatibility_level("other", 140).unwrap();
    assert_eq!(
        session.int(&option("compatibility_level")).await.unwrap(),
        140
    );
    assert_eq!(
        controls
            .set_compatibility_level("other", 7)
            .unwrap_err()
            .number,
        15048
    );
    let missing = controls.set_read_committed_snapshot("nowhere", true);
    assert_eq!(missing.unwrap_err().number, 5011);
}

/// OPENJSON and STRING_SPLIT exist from compatibility level 130 on. Below it WITH after OPENJSON is a syntax error, so
/// that nothing of the batch runs; without WITH a function is missing, which shows when the statement runs.
#[tokio::test]
async fn compatibility_level_below_130_has_no_openjson() {
    let server = server(false);
    let controls = server.controls();
    let mut session = Session::open(&server).await;
    let with = "THROW 50001, N'the batch runs', 1; \
                SELECT n FROM missing WHERE n IN (SELECT j.n FROM OPENJSON(N'[]') WITH (n INT) AS j);";
    let plain = "SELECT COUNT(*) FROM OPENJSON(N'[1,2]');";
    let split = "SELECT COUNT(*) FROM STRING_SPLIT(N'a,b', N',');";
    let create =
        "CREATE OR ALTER PROCEDURE p AS SELECT COUNT(*) FROM OPENJSON(N'[1]') WITH (n INT '$');";
    session.run(create).await.unwrap();
    for (level, answers) in [(120, [319, 208, 208, 319, 319]), (150, [50001, 0, 0, 0, 0])] {
        controls.set_compatibility_level("master", level).unwrap();
        for (batch, expected) in [with, plain, split, "EXEC p;", create].iter().zip(answers) {
            let answer = session.run(batch).await;
            let found = answer.is_err().then(|| number(answer));
            assert_eq!(found.unwrap_or(0), expected, "{level}: {batch}");
        }
    }
}

/// A read-only database answers every change with 3906; what is no part of it can be written.
#[tokio::test]
async fn read_only_database_is_read_and_refuses_every_change() {
    let (server, mut session) = ledger().await;
    let elsewhere = "DECLARE @t TABLE (a INT); INSERT INTO @t VALUES (1); CREATE TABLE #t (a INT);
         INSERT INTO #t VALUES (2); UPDATE #t SET a = 3; DROP TABLE #t; SELECT a FROM @t;";
    let shown = "SELECT CAST(is_read_only AS INT) FROM sys.databases WHERE name = DB_NAME()";
    server.controls().set_read_only("master", true).unwrap();
    assert_eq!(session.int(shown).await.unwrap(), 1);
    let updateable =
        "SELECT IIF(DATABASEPROPERTYEX(DB_NAME(), 'Updateability') = 'READ_WRITE', 1, 0)";
    assert_eq!(session.int(updateable).await.unwrap(), 0);
    assert_eq!(session.ints(BALANCES).await.unwrap(), [100, 100]);
    assert_eq!(session.int(elsewhere).await.unwrap(), 1);
    for change in [
        MOVE,
        "INSERT INTO dbo.ledger VALUES (3, 1)",
        "UPDATE l SET v = 1 FROM dbo.ledger AS l WHERE l.id = 77",
        "DELETE FROM dbo.ledger",
        "DECLARE @t TABLE (a INT); INSERT INTO @t OUTPUT inserted.a, inserted.a INTO dbo.ledger (id, v) VALUES (9)",
        "SELECT id INTO dbo.copied FROM dbo.ledger",
        "TRUNCATE TABLE dbo.ledger",
        "CREATE TABLE dbo.more (a INT)",
        "DROP PROCEDURE dbo.peek",
    ] {
        assert_eq!(number(session.run(change).await), 3906, "{change}");
    }
    server.controls().set_read_only("master", false).unwrap();
    assert_eq!(session.int(updateable).await.unwrap(), 1);
    session.run(MOVE).await.unwrap();
    assert_eq!(session.ints(BALANCES).await.unwrap(), [99, 101]);
    let missing = server.controls().set_read_only("nowhere", true);
    assert_eq!(missing.unwrap_err().number, 911);
}

/// Logins are refused with whatever a moving database says; sessions that have begun go on.
#[tokio::test]
async fn logins_can_be_refused_for_a_while() {
    let (server, mut session) = ledger().await;
    let controls = server.controls();
    for refused in [40_613, 18_401, 4_060] {
        let error = SqlError::with(refused, 14, 1, "chosen by the test");
        controls.refuse_logins(Some(error));
        let url = server.connection_string();
        let attempt = Session::open_with(&url).await;
        assert_eq!(i64::from(number(attempt.map(drop))), i64::from(refused));
        session.run(MOVE).await.unwrap();
    }
    controls.refuse_logins(None);
    Session::open(&server).await.run(MOVE).await.unwrap();
}

/// A database with a binary collation tells names and values apart by case.
#[tokio::test]
async fn a_database_can_have_another_collation() {
    let server = server(false);
    let controls = server.controls();
    controls
        .create_database("exact", Collation::Latin1Bin2)
        .unwrap();
    let compare = "SELECT CASE WHEN N'a' = N'A' THEN 1 ELSE 0 END";
    let mut master = Session::open(&server).await;
    assert_eq!(master.int(compare).await.unwrap(), 1);
    let mut exact = login(&server, "sa", server.password(), "exact")
        .await
        .unwrap();
    assert_eq!(exact.int(compare).await.unwrap(), 0);
    exact.run("CREATE TABLE dbo.T (id INT)").await.unwrap();
    assert_eq!(number(exact.run("SELECT id FROM dbo.t").await), 208);
}

/// A login in a role may do what the role may, and nothing else: EXECUTE through an ownership chain,
/// 229 on the table itself.
#[tokio::test]
async fn a_login_has_the_rights_of_its_role() {
    let (server, _setup) = ledger().await;
    let controls = server.controls();
    let grant = "CREATE ROLE readers; GRANT EXECUTE ON dbo.peek TO readers;";
    controls.execute("master", grant).unwrap();
    controls
        .create_login("app", "it's 1 secret", "master", &["readers"])
        .unwrap();
    let mut app = login(&server, "app", "it's 1 secret", "master")
        .await
        .unwrap();
    assert_eq!(app.int("EXEC dbo.peek @id = 1").await.unwrap(), 100);
    assert_eq!(number(app.run("SELECT v FROM dbo.ledger").await), 229);
    assert_eq!(number(app.run("EXEC dbo.move_one 1, 2").await), 229);
    let wrong = login(&server, "app", "guess", "master").await;
    assert_eq!(number(wrong.map(|session| session.spid)), 18456);
}

/// What the controls run is not counted as the application's work.
#[tokio::test]
async fn the_controls_own_batches_are_not_counted() {
    let server = server(false);
    let controls = server.controls();
    controls
        .execute("master", "CREATE TABLE dbo.quiet (id INT)")
        .unwrap();
    assert!(controls.counters().procedures.is_empty());
    assert!(controls.sessions().is_empty());
    assert_eq!(
        controls
            .execute("master", "SELECT * FROM dbo.loud")
            .unwrap_err()
            .number,
        208
    );
}
