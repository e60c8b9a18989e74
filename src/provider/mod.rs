//! The provider: how it is made, asked how it is, and ended. `methods` has the trait.

mod build;
mod claims;
mod depths;
mod error;
mod floors;
pub(crate) mod history;
mod in_vain;
mod keeping;
mod kv;
mod leases;
mod losses;
mod methods;
mod orchestration;
mod outage;
mod overtime;
mod polling;
mod session_owners;
mod sessions;
mod startup;
mod token;
mod turn_history;
mod under_way;
mod watcher;
mod worker;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use duroxide::providers::ProviderError;

use crate::error::CallError;
use crate::history_cache::HistoryCache;
use crate::migrate;
use crate::observe::{metrics, operation};
use crate::options::{MssqlProviderBuilder, Options, Polling};
use crate::pool::PoolStatus;
use crate::procedure::Database;
use crate::wakeup::{Repoll, Wakeups};
use claims::Claims;
pub use error::Error;
use outage::Outage;
use watcher::Watcher;

/// Stores duroxide's orchestrations in a schema of a SQL Server or Azure SQL database.
///
/// Every method is one call of a stored procedure, which does all of its work in one
/// transaction. The database's clock decides about leases, timers and visibility, so the clocks
/// of workers need not agree.
///
/// ```no_run
/// # async fn example() -> Result<(), duroxide_sql::Error> {
/// use duroxide_sql::MssqlProvider;
///
/// let url = "sqlserver://app:secret@localhost:1433/orders";
/// let provider = MssqlProvider::new(url).await?;
/// # Ok(())
/// # }
/// ```
pub struct MssqlProvider {
    pub(crate) database: Arc<Database>,
    claims: Arc<Claims>,
    pub(crate) wakeups: Arc<Wakeups>,
    pub(crate) histories: HistoryCache,
    watcher: Watcher,
    outage: Outage,
}

impl MssqlProvider {
    /// Connects with the default settings, in the schema `duroxide`, and installs or upgrades
    /// what is missing there.
    ///
    /// # Errors
    ///
    /// As [`MssqlProviderBuilder::build`].
    pub async fn new(url: impl Into<String>) -> Result<Self, Error> {
        Self::builder(url).build().await
    }

    /// As [`MssqlProvider::new`], in the schema of that name.
    ///
    /// # Errors
    ///
    /// As [`MssqlProviderBuilder::build`].
    pub async fn new_with_schema(
        url: impl Into<String>,
        schema: impl Into<String>,
    ) -> Result<Self, Error> {
        Self::builder(url).schema(schema).build().await
    }

    /// Connects with the connection string in `DATABASE_URL`, in the schema that `DUROXIDE_SQL_SCHEMA`
    /// names. [`MssqlProviderBuilder::from_env`] takes further settings.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] when `DATABASE_URL` is not set, otherwise as
    /// [`MssqlProviderBuilder::build`].
    pub async fn from_env() -> Result<Self, Error> {
        MssqlProviderBuilder::from_env()?.build().await
    }

    /// Starts from a connection string; every other setting has a default.
    pub fn builder(url: impl Into<String>) -> MssqlProviderBuilder {
        MssqlProviderBuilder::new(url)
    }

    /// The schema that holds this provider's tables and procedures.
    #[must_use]
    pub fn schema_name(&self) -> &str {
        self.database.options.schema.as_str()
    }

    /// Makes one round trip to the database, over a connection of the pool like a client's, and returns
    /// how long the server took to answer. For health checks.
    ///
    /// ```no_run
    /// # async fn example(provider: &duroxide_sql::MssqlProvider) {
    /// use std::time::Duration;
    ///
    /// match provider.ping(Duration::from_secs(2)).await {
    ///     Ok(round_trip) => println!("healthy, {round_trip:?}"),
    ///     Err(error) => println!("unhealthy: {error}, {:?}", provider.pool_status()),
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// When no connection was free, or no answer came, within `timeout`; it is not tried again. Connections that have been as silent
    /// are closed then, unless it was for less than half a second.
    pub async fn ping(&self, timeout: Duration) -> Result<Duration, ProviderError> {
        let operation = operation!(self, "ping");
        operation.run(self.database.ping(timeout)).await
    }

    /// How many connections are open and idle now, and how many callers wait for one. Asks nobody.
    #[must_use]
    pub fn pool_status(&self) -> PoolStatus {
        self.database.pool.status()
    }

    /// Gives back what this provider still holds, so that other processes can go on with it
    /// soon instead of waiting for the end of the leases. Call it when the runtime has been shut
    /// down; a runtime that still runs would lose its work to others.
    ///
    /// Waits for fetches under way, for ten seconds at most: a shutdown does not depend on the
    /// database being there. What could not be given back comes free when its lease ends.
    pub async fn close(&self) {
        // Side by side, because each of them may meet with silence, and nobody waits for both.
        let ((), is_done) = tokio::join!(self.watcher.close(), self.claims.close());
        if !is_done {
            tracing::warn!("closed before everything was given back; leases end by themselves");
        }
    }

    /// Connects and brings the schema into the wanted state.
    pub(crate) async fn start(options: Options) -> Result<Self, Error> {
        let provider = Self::connect(options, migrate::Task::Prepare).await?;
        tracing::info!(
            worker_id = token::worker_id(),
            schema = provider.schema_name(),
            "provider started"
        );
        Ok(provider)
    }

    /// Connects, and does that task on the schema.
    pub(crate) async fn connect(options: Options, task: migrate::Task) -> Result<Self, Error> {
        metrics::describe();
        let options = Arc::new(options);
        let pool = startup::open(&options, task).await?;
        // Without a name the login decides which database it is, and two logins may decide differently.
        let database = match &options.database {
            Some(name) => name.clone(),
            None => format!("{:?}", options.identity),
        };
        let identity = format!("{}/{database}/{}", options.server(), options.schema);
        let histories = HistoryCache::new(options.history_cache_bytes);
        let database = Arc::new(Database::new(options, pool));
        let wakeups = Wakeups::shared(identity);
        Ok(Self {
            claims: Claims::new(database.clone(), wakeups.clone()),
            database,
            wakeups,
            histories,
            watcher: Watcher::new(),
            outage: Outage::default(),
        })
    }

    /// Drops everything that the installation created in the schema, and nothing else.
    pub(crate) async fn remove(options: Options) -> Result<(), Error> {
        let options = Arc::new(options);
        startup::open(&options, migrate::Task::Remove).await?;
        Ok(())
    }

    /// How a fetch that may take this long repeats its question; `None` when it asks once.
    pub(crate) fn repoll(&self, poll_timeout: Duration) -> Option<Repoll> {
        match self.database.options.polling {
            Polling::Short => None,
            Polling::Long { .. } if poll_timeout.is_zero() => None,
            Polling::Long {
                repoll_min,
                repoll_max,
            } => {
                self.watcher.start(&self.database, &self.wakeups);
                Some(Repoll {
                    min: repoll_min,
                    max: repoll_max.max(repoll_min),
                })
            }
        }
    }
}

/// Names the operation in an error that leaves the crate.
pub(crate) fn named<T>(operation: &str, result: Result<T, CallError>) -> Result<T, ProviderError> {
    result.map_err(|error| error.into_provider_error(operation))
}

impl fmt::Debug for MssqlProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MssqlProvider")
            .field("options", &self.database.options)
            .finish_non_exhaustive()
    }
}
