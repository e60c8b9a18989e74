//! What those who run a schema need: its views as rows, its operators' procedures, and the facts
//! that decide whether it can work.
//!
//! Unlike the provider this sends statement text, because it reads views; it never writes but by
//! procedure.

mod facts;
mod pace;
mod question;
mod rows;

use std::time::{Duration, Instant};

use duroxide::providers::ProviderError;

use crate::Error;
use crate::deadline::Deadline;
use crate::error::CallError;
use crate::migrate::{self, Failure, MigrateError, Task};
use crate::observe::quiet;
use crate::pool::{Lane, Wait};
use crate::procedure::Call;
use crate::provider::{MssqlProvider, named};
use crate::retry::Retry;

pub use facts::ServerFacts;
pub use pace::Pace;
pub use question::{Question, View};

/// One row of a view: column names and their values, times as RFC 3339 text in UTC.
pub type ViewRow = serde_json::Map<String, serde_json::Value>;

/// How long a purge of messages is repeated: what an attempt that nobody answered has deleted is gone all the same.
const PURGE: Retry = Retry::repeatable(Duration::from_secs(15));

/// A schema as its operators see it. Made by
/// [`MssqlProviderBuilder::operator`](crate::MssqlProviderBuilder::operator).
///
/// It asks for no more rights than each call needs: the views need `<schema>_observer`, payloads
/// `<schema>_inspector`, changes `<schema>_runtime`.
#[derive(Debug)]
pub struct Operator {
    provider: MssqlProvider,
}

impl Operator {
    pub(crate) fn new(provider: MssqlProvider) -> Self {
        Self { provider }
    }

    /// The provider, for everything that duroxide's own interfaces offer: deleting, pruning,
    /// reading histories. The schema has not been verified.
    #[must_use]
    pub fn provider(&self) -> &MssqlProvider {
        &self.provider
    }

    /// Says why the schema cannot be used by this release, if it cannot.
    ///
    /// # Errors
    ///
    /// The reason, or that the schema could not be examined.
    pub async fn verify(&self) -> Result<(), MigrateError> {
        let options = &self.provider.database.options;
        let unreadable = |error| Failure::unreadable(&options.schema, &error).error;
        let pool = &self.provider.database.pool;
        let mut borrowed = pool
            .get(Lane::Client, Wait::up_to(Duration::MAX))
            .await
            .map_err(unreadable)?;
        let asked_at = tokio::time::Instant::now();
        let connection = borrowed.connection().map_err(unreadable)?;
        let deadline = Deadline::after(options.command_timeout);
        let verified = migrate::run(options, connection, Task::Verify, deadline).await;
        verified.map_err(|failure| {
            if failure.says_moved {
                borrowed.moved(asked_at);
            }
            failure.error
        })
    }

    /// Reads rows of a view.
    ///
    /// # Errors
    ///
    /// When the server refuses, for instance because the login lacks the role, or is not there.
    pub async fn rows(&self, question: &Question) -> Result<Vec<ViewRow>, ProviderError> {
        let schema = self.provider.database.options.schema.quoted();
        let result = self.ask(&question.text(&schema)).await;
        let rows = result.and_then(|sets| {
            let rows = sets.into_iter().next_back().unwrap_or_default();
            rows.into_iter().map(rows::to_json).collect()
        });
        named(question.view().name(), rows)
    }

    /// What the server says about itself, the database and this login.
    ///
    /// # Errors
    ///
    /// When the server is not there or refuses the question.
    pub async fn facts(&self) -> Result<ServerFacts, ProviderError> {
        named("facts", facts::read(self).await)
    }

    /// Asks a running instance to stop.
    ///
    /// # Errors
    ///
    /// When there is no such instance, or it has finished.
    pub async fn cancel(&self, instance_id: &str, reason: &str) -> Result<(), ProviderError> {
        let call = Call::client("cancel_instance", Retry::when_undone())
            .text("@instance_id", instance_id)
            .text("@reason", reason);
        let result = self.provider.database.execute(&call).await;
        named("cancel_instance", result.map(drop))
    }

    /// Raises an external event for a running instance.
    ///
    /// # Errors
    ///
    /// When there is no such instance, or it has finished.
    pub async fn raise(
        &self,
        instance_id: &str,
        name: &str,
        data: &str,
    ) -> Result<(), ProviderError> {
        let call = Call::client("raise_event", Retry::when_undone())
            .text("@instance_id", instance_id)
            .text("@name", name)
            .text("@data", data);
        let result = self.provider.database.execute(&call).await;
        named("raise_event", result.map(drop))
    }

    /// Deletes messages of that age for instances that were never started, of at most `limit`
    /// instances; returns how many instances and messages it deleted.
    ///
    /// # Errors
    ///
    /// When the server refuses or is not there; what was deleted by then stays deleted.
    pub async fn purge_orphan_messages(
        &self,
        older_than: Duration,
        limit: u32,
    ) -> Result<(u64, u64), ProviderError> {
        let call = Call::client("purge_orphan_messages", PURGE)
            .millis("@older_than_ms", older_than)
            .int("@limit", i64::from(limit));
        let result = async {
            let row = self.provider.database.execute(&call).await?.row()?;
            Ok((
                row.count("instances_purged")?,
                row.count("messages_deleted")?,
            ))
        };
        named("purge_orphan_messages", result.await)
    }

    /// Asks a question, which may be the one that gives way when it meets turns in a deadlock.
    async fn ask(&self, text: &str) -> Result<Vec<Vec<tiberius::Row>>, CallError> {
        let again = |error: &CallError, _| tracing::debug!(%error, "asking again");
        Retry::when_undone()
            .run(|_| self.ask_once(text), again)
            .await
    }

    /// Sends a batch of text and reads all of its answer.
    async fn ask_once(&self, text: &str) -> Result<Vec<Vec<tiberius::Row>>, CallError> {
        let database = &self.provider.database;
        let limit = database.options.command_timeout;
        let mut borrowed = database
            .pool
            .get(Lane::Client, Wait::up_to(Duration::MAX))
            .await?;
        let asked_at = tokio::time::Instant::now();
        let connection = borrowed.connection()?;
        connection.in_flight = true;
        let exchange = async {
            let stream = connection.client.simple_query(text).await?;
            stream.into_results().await
        };
        match tokio::time::timeout(limit, quiet(exchange)).await {
            Err(_) => Err(borrowed.silent(asked_at)),
            Ok(Ok(sets)) => {
                connection.in_flight = false;
                borrowed.heard();
                Ok(sets)
            }
            Ok(Err(error)) => Err(database.failed(&mut borrowed, error, asked_at)),
        }
    }

    /// The time that one question takes.
    async fn round_trip(&self) -> Result<Duration, CallError> {
        let begun = Instant::now();
        self.ask("SELECT 1 AS one;").await?;
        Ok(begun.elapsed())
    }
}

impl crate::MssqlProviderBuilder {
    /// Connects without looking at the schema, which may not be installed: for tools that look
    /// after one.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for a wrong setting, [`Error::Connect`] when the server cannot be used.
    pub async fn operator(self) -> Result<Operator, Error> {
        let provider =
            MssqlProvider::connect(self.pool_min_idle(0).resolve()?, Task::Ignore).await?;
        Ok(Operator::new(provider))
    }
}
