//! SQL Server's locking, seen by two and more clients, with READ_COMMITTED_SNAPSHOT off and on.

mod deadlock;
mod escalation;
mod isolation;
mod queue;
mod rows;
mod sessions;
mod waits;

use mssql_embedded::Server;

use crate::support::{Session, server};

/// A server with dbo.t: keys 10, 20 … 50 and a value of 0.
async fn table(read_committed_snapshot: bool) -> (Server, Session) {
    let server = server(read_committed_snapshot);
    let mut setup = Session::open(&server).await;
    let script = "CREATE TABLE dbo.t (id INT NOT NULL CONSTRAINT pk_t PRIMARY KEY, v INT NOT NULL);
        INSERT INTO dbo.t (id, v) VALUES (10, 0), (20, 0), (30, 0), (40, 0), (50, 0);";
    setup.run(script).await.unwrap();
    (server, setup)
}
