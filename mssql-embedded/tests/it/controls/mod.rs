//! Each of the tester's controls, through real connections.

mod clock;
mod connections;
mod counters;
mod durability;
mod failures;
mod interleavings;
mod switches;

use mssql_embedded::Server;

use crate::support::{Session, server};

/// A server with a table and procedures that write to it, with and without a transaction.
async fn ledger() -> (Server, Session) {
    let server = server(false);
    let mut setup = Session::open(&server).await;
    for batch in [
        "CREATE TABLE dbo.ledger (id INT NOT NULL CONSTRAINT pk_ledger PRIMARY KEY, v INT NOT NULL);
         INSERT INTO dbo.ledger VALUES (1, 100), (2, 100);",
        "CREATE PROCEDURE dbo.move_one @from INT, @to INT AS
         BEGIN
             SET NOCOUNT, XACT_ABORT ON;
             BEGIN TRAN;
             UPDATE dbo.ledger SET v = v - 1 WHERE id = @from;
             UPDATE dbo.ledger SET v = v + 1 WHERE id = @to;
             COMMIT;
         END",
        "CREATE PROCEDURE dbo.peek @id INT AS
         BEGIN
             SET NOCOUNT ON;
             SELECT v FROM dbo.ledger WHERE id = @id;
         END",
    ] {
        setup.run(batch).await.unwrap();
    }
    (server, setup)
}

const MOVE: &str = "EXEC dbo.move_one @from = 1, @to = 2";
const BALANCES: &str = "SELECT v FROM dbo.ledger ORDER BY id";
