//! The connection that examines and changes a schema: batches of text, and one transaction.

use std::time::Duration;

use crate::dial::Connection;
use crate::error::CallError;
use crate::procedure::Record;
use crate::schema_name::SchemaName;

use super::error::MigrateError;

/// How long one process waits for another that is installing the same schema.
const LOCK_WAIT: Duration = Duration::from_secs(120);
/// A migration may build an index on a large table.
const BATCH_LIMIT: Duration = Duration::from_secs(15 * 60);

/// A connection in use by the installer.
pub(super) struct Session<'a> {
    connection: &'a mut Connection,
}

impl<'a> Session<'a> {
    /// The connection counts as unusable until [`Session::finish`]: an installation that is
    /// dropped half-way may leave a transaction open.
    pub(super) fn new(connection: &'a mut Connection) -> Self {
        connection.in_flight = true;
        Self { connection }
    }

    /// Gives the connection back for ordinary use.
    pub(super) fn finish(self) {
        self.connection.in_flight = false;
    }

    /// Runs a batch and reads all it returns.
    pub(super) async fn batch(&mut self, text: &str) -> Result<Vec<Vec<Record>>, CallError> {
        let exchange = async {
            let stream = self.connection.client.simple_query(text).await?;
            stream.into_results().await
        };
        let sets = match tokio::time::timeout(BATCH_LIMIT, exchange).await {
            Ok(result) => result.map_err(|error| CallError::from_driver(error, true))?,
            Err(_) => return Err(CallError::Timeout { after: BATCH_LIMIT }),
        };
        let record = |row| Record::new("(installation)", row);
        Ok(sets
            .into_iter()
            .map(|rows| rows.into_iter().map(record).collect())
            .collect())
    }

    /// Begins the installation's transaction and waits until no other process installs this
    /// schema. The lock ends with the transaction.
    pub(super) async fn begin(&mut self, schema: &SchemaName) -> Result<(), MigrateError> {
        let sets = self
            .batch(&begin_text(schema, LOCK_WAIT))
            .await
            .map_err(|error| MigrateError::unreadable(schema, &error))?;
        let granted = sets.last().and_then(|rows| rows.first());
        match granted.map(|row| row.int("lock_result")) {
            Some(Ok(result)) if result >= 0 => Ok(()),
            _ => Err(MigrateError::LockTimeout {
                schema: schema.quoted(),
            }),
        }
    }

    pub(super) async fn commit(&mut self) -> Result<(), CallError> {
        self.batch("COMMIT TRANSACTION;").await.map(drop)
    }

    /// Undoes everything. A failure here means that the connection is gone, and then the server
    /// rolls back by itself.
    pub(super) async fn roll_back(&mut self) {
        if let Err(error) = self.batch("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;").await {
            tracing::debug!(%error, "rolling back an installation");
        }
    }
}

/// The batch that begins an installation; `migrations/install/begin.sql` is its like for the
/// exported script.
fn begin_text(schema: &SchemaName, wait: Duration) -> String {
    format!(
        "SET XACT_ABORT, QUOTED_IDENTIFIER, ANSI_NULLS ON;\n\
         BEGIN TRANSACTION;\n\
         DECLARE @lock_result INT;\n\
         EXEC @lock_result = sp_getapplock @Resource = N'{}', @LockMode = N'Exclusive', \
         @LockOwner = N'Transaction', @LockTimeout = {};\n\
         SELECT @lock_result AS lock_result;\n",
        lock_name(schema),
        wait.as_millis()
    )
}

/// Application locks live in the database and their names hold 255 characters.
fn lock_name(schema: &SchemaName) -> String {
    format!("duroxide-sql install {}", schema.literal())
}
