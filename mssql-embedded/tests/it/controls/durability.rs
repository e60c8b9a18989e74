//! Which commits wait for the log.

use super::ledger;

/// DELAYED_DURABILITY is a setting of the database that a transaction writes to, wherever its session is; a
/// transaction that writes to several is durable ("Control transaction durability").
#[tokio::test]
async fn the_database_that_is_written_decides_whether_a_commit_is_delayed() {
    let (server, mut session) = ledger().await;
    let rows = session.rows("SELECT DB_NAME()").await.unwrap();
    let home = rows[0].get::<&str, _>(0).unwrap().to_owned();
    for batch in [
        "CREATE DATABASE lazy",
        "ALTER DATABASE lazy SET DELAYED_DURABILITY = FORCED",
        "USE lazy",
        "CREATE TABLE dbo.t (id INT NOT NULL)",
        &format!("USE [{home}]"),
    ] {
        session.run(batch).await.unwrap();
    }
    let flushed = async |session: &mut crate::support::Session, batch: &str| {
        let before = server.controls().flushes();
        session.run(batch).await.unwrap();
        server.controls().flushes() - before
    };
    let own = "UPDATE dbo.ledger SET v = v + 1 WHERE id = 1";
    let other = "INSERT INTO lazy.dbo.t VALUES (1)";
    assert_eq!(flushed(&mut session, own).await, 1);
    assert_eq!(flushed(&mut session, other).await, 0);
    let both = format!("BEGIN TRAN; {other}; {own}; COMMIT");
    assert_eq!(flushed(&mut session, &both).await, 1);
    session.run("USE lazy").await.unwrap();
    let back = format!("UPDATE [{home}].dbo.ledger SET v = v + 1 WHERE id = 1");
    assert_eq!(flushed(&mut session, &back).await, 1);
    assert_eq!(flushed(&mut session, other).await, 0);
}
