//! Databases and logins.

use mssql_embedded::Collation;
use mssql_embedded::Server;

use super::ledger;
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
