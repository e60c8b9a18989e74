//! What the adversary may do, and what it may not: each file names the document it rests on.

mod filters;
mod ghosts;
mod grain;
mod joins;
mod optimized_locking;
mod order;
mod paths;
mod readpast;
mod spools;
mod turns;
mod victims;
mod writes;

use std::collections::BTreeSet;

use mssql_embedded::{Encryption, Server, ServerBuilder};

use crate::support::Session;

/// A server that decides by a seed.
fn adversary(seed: u64) -> ServerBuilder {
    Server::builder()
        .encryption(Encryption::Off)
        .adversary(seed)
}

/// A table with a clustered key, an index on `b` that covers `b`, and forty rows.
const TABLE: &str = "CREATE TABLE dbo.t (
        id INT NOT NULL CONSTRAINT pk_t PRIMARY KEY CLUSTERED,
        b INT NOT NULL,
        v INT NOT NULL,
        INDEX ix_t_b (b));
    WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 40)
    INSERT INTO dbo.t (id, b, v) SELECT i, 1000 - i, 0 FROM n;";

/// A session on a server with that table.
async fn table(server: &Server) -> Session {
    let mut session = Session::open(server).await;
    session.run(TABLE).await.unwrap();
    session
}

/// Everything that a batch answers in sixty executions, each answer as one text.
async fn answers(session: &mut Session, batch: &str) -> BTreeSet<String> {
    let mut answers = BTreeSet::new();
    for _ in 0..60 {
        let rows = session.rows(batch).await.unwrap();
        let texts: Vec<&str> = rows.iter().map(|row| row.get(0).unwrap()).collect();
        answers.insert(texts.join(","));
    }
    answers
}
