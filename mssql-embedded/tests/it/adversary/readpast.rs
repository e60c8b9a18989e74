//! READPAST where rows are read by version. "Table hints" says that it cannot be specified in a database with
//! READ_COMMITTED_SNAPSHOT under READ COMMITTED, unless READCOMMITTEDLOCK is specified too; servers have been seen to take
//! it, beside UPDLOCK above all. The adversary goes by the letter, with the number that READPAST has at other levels.

use mssql_embedded::{Encryption, Server};

use crate::adversary::{adversary, table};
use crate::support::number;

const PLAIN: [&str; 3] = [
    "SELECT COUNT(*) FROM dbo.t WITH (READPAST)",
    "SELECT COUNT(*) FROM dbo.t WITH (READPAST, UPDLOCK)",
    "UPDATE dbo.t WITH (READPAST, ROWLOCK) SET v = 1 WHERE id = 7",
];

/// What says that it locks is let through.
const LOCKING: [&str; 3] = [
    "SELECT COUNT(*) FROM dbo.t WITH (READPAST, READCOMMITTEDLOCK)",
    "SELECT COUNT(*) FROM dbo.t WITH (READPAST, REPEATABLEREAD)",
    "UPDATE dbo.t WITH (READPAST, ROWLOCK, READCOMMITTEDLOCK) SET v = 1 WHERE id = 7",
];

#[tokio::test]
async fn readpast_is_refused_where_versions_are_read() {
    let server = adversary(3).read_committed_snapshot(true).start().unwrap();
    let mut session = table(&server).await;
    for text in PLAIN {
        assert_eq!(number(session.run(text).await), 650, "{text}");
    }
    for text in LOCKING {
        session
            .run(text)
            .await
            .unwrap_or_else(|error| panic!("{text}: {error:?}"));
    }
}

#[tokio::test]
async fn readpast_is_taken_where_rows_are_locked_or_nobody_decides() {
    let locking = adversary(3).read_committed_snapshot(false).start().unwrap();
    let calm = Server::builder()
        .encryption(Encryption::Off)
        .read_committed_snapshot(true)
        .start()
        .unwrap();
    for server in [locking, calm] {
        let mut session = table(&server).await;
        for text in PLAIN {
            session.run(text).await.unwrap();
        }
    }
}
