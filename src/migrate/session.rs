//! The connection that examines and changes a schema: batches of text, and one transaction.

use std::time::Duration;

use crate::deadline::Deadline;
use crate::dial::Connection;
use crate::error::CallError;
use crate::observe::quiet;
use crate::procedure::Record;
use crate::schema_name::SchemaName;

use super::error::Failure;

/// How long one process waits for another that is installing the same schema, before it looks
/// whether its own time is over. Short, because a connection that has gone silent is noticed no
/// earlier.
const LOCK_WAIT: Duration = Duration::from_secs(5);
/// A connection in use by the installer.
pub(super) struct Session<'a> {
    connection: &'a mut Connection,
    /// The limit of an ordinary batch.
    batch_limit: Duration,
    /// The end of all work.
    deadline: Deadline,
    /// Batches may take all the time that is left.
    allows_long_batches: bool,
    /// The server does not answer any more, or not what it was asked.
    is_lost: bool,
}

impl<'a> Session<'a> {
    /// The connection counts as unusable until [`Session::finish`]: an installation that is
    /// dropped half-way may leave a transaction open.
    pub(super) fn new(
        connection: &'a mut Connection,
        batch_limit: Duration,
        deadline: Deadline,
    ) -> Self {
        connection.in_flight = true;
        Self {
            connection,
            batch_limit,
            deadline,
            allows_long_batches: false,
            is_lost: false,
        }
    }

    /// Lets batches take all the time that is left.
    pub(super) fn allow_long_batches(&mut self, allowed: bool) {
        self.allows_long_batches = allowed;
    }

    /// Gives the connection back for ordinary use.
    pub(super) fn finish(self) {
        self.connection.in_flight = false;
    }

    /// Runs a batch and reads all it returns.
    pub(super) async fn batch(&mut self, text: &str) -> Result<Vec<Vec<Record>>, CallError> {
        let left = self.deadline.left();
        let limit = if self.allows_long_batches {
            left
        } else {
            self.batch_limit.min(left)
        };
        let exchange = async {
            let stream = self.connection.client.simple_query(text).await?;
            stream.into_results().await
        };
        let result = match tokio::time::timeout(limit, quiet(exchange)).await {
            Ok(result) => result.map_err(|error| CallError::from_driver(error, true)),
            Err(_) => Err(CallError::Timeout { after: limit }),
        };
        if let Err(error) = &result {
            self.is_lost = !error.leaves_connection_usable();
        }
        let record = |row| Record::new("(installation)", row);
        Ok(result?
            .into_iter()
            .map(|rows| rows.into_iter().map(record).collect())
            .collect())
    }

    /// Begins the installation's transaction and waits until no other process installs this
    /// schema. The lock ends with the transaction.
    pub(super) async fn begin(&mut self, schema: &SchemaName) -> Result<(), Failure> {
        loop {
            let wait = LOCK_WAIT
                .min(self.batch_limit / 2)
                .min(self.deadline.left() / 2);
            let sets = self
                .batch(&begin_text(schema, wait))
                .await
                .map_err(|error| Failure::unreadable(schema, &error))?;
            let granted = sets.last().and_then(|rows| rows.first());
            match granted.map(|row| row.int("lock_result")) {
                Some(Ok(result)) if result >= 0 => return Ok(()),
                _ => self.roll_back().await,
            }
            if wait.is_zero() || self.is_lost || self.deadline.left() <= wait {
                return Err(Failure::locked(schema));
            }
        }
    }

    pub(super) async fn commit(&mut self) -> Result<(), CallError> {
        self.batch("COMMIT TRANSACTION;").await.map(drop)
    }

    /// Undoes everything. When the connection is gone the server rolls back by itself.
    pub(super) async fn roll_back(&mut self) {
        if self.is_lost {
            return;
        }
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
