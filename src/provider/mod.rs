//! The provider: constructors, and one line per trait method.

mod build;
mod claims;
mod error;
mod floors;
pub(crate) mod history;
mod kv;
mod leases;
mod orchestration;
mod polling;
mod sessions;
mod startup;
mod token;
mod turn_history;
mod watcher;
mod worker;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use duroxide::providers::{
    DispatcherCapabilityFilter, ExecutionMetadata, OrchestrationItem, Provider, ProviderAdmin,
    ProviderError, ScheduledActivityIdentifier, SessionFetchConfig, TagFilter, WorkItem,
};
use duroxide::{Event, SystemStats};

use crate::error::CallError;
use crate::history_cache::HistoryCache;
use crate::migrate;
use crate::options::{MssqlProviderBuilder, Options, Polling};
use crate::procedure::Database;
use crate::wakeup::{Repoll, Wakeups};
use claims::Claims;
pub use error::Error;
use watcher::Watcher;

type Answer<T> = Result<T, ProviderError>;

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
    histories: HistoryCache,
    watcher: Watcher,
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

    /// Starts from a connection string; every other setting has a default.
    pub fn builder(url: impl Into<String>) -> MssqlProviderBuilder {
        MssqlProviderBuilder::new(url)
    }

    /// The schema that holds this provider's tables and procedures.
    #[must_use]
    pub fn schema_name(&self) -> &str {
        self.database.options.schema.as_str()
    }

    /// Gives back what this provider still holds, so that other processes can go on with it at
    /// once instead of waiting for the end of the leases. Call it when the runtime has been shut
    /// down; a runtime that still runs would lose its work to others.
    ///
    /// Waits for fetches under way, for ten seconds at most: a shutdown does not depend on the
    /// database being there. What could not be given back comes free when its lease ends.
    pub async fn close(&self) {
        self.watcher.close().await;
        if !self.claims.close().await {
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
        let options = Arc::new(options);
        let pool = startup::open(&options, task).await?;
        let identity = format!(
            "{}/{}/{}",
            options.server(),
            options.database.as_deref().unwrap_or_default(),
            options.schema
        );
        let histories = HistoryCache::new(options.history_cache_bytes);
        let database = Arc::new(Database::new(options, pool));
        let wakeups = Wakeups::shared(identity);
        Ok(Self {
            claims: Claims::new(database.clone(), wakeups.clone()),
            database,
            wakeups,
            histories,
            watcher: Watcher::new(),
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

impl fmt::Debug for MssqlProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MssqlProvider")
            .field("options", &self.database.options)
            .finish_non_exhaustive()
    }
}

/// Names the operation in an error that leaves the crate.
pub(crate) fn named<T>(operation: &str, result: Result<T, CallError>) -> Answer<T> {
    result.map_err(|error| error.into_provider_error(operation))
}

#[async_trait::async_trait]
impl Provider for MssqlProvider {
    fn name(&self) -> &str {
        "duroxide-sql"
    }

    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn as_management_capability(&self) -> Option<&dyn ProviderAdmin> {
        Some(self)
    }

    async fn fetch_orchestration_item(
        &self,
        lock_timeout: Duration,
        poll_timeout: Duration,
        filter: Option<&DispatcherCapabilityFilter>,
    ) -> Answer<Option<(OrchestrationItem, String, u32)>> {
        let result = orchestration::fetch(self, lock_timeout, poll_timeout, filter).await;
        named("fetch_orchestration_item", result)
    }

    async fn ack_orchestration_item(
        &self,
        lock_token: &str,
        execution_id: u64,
        history_delta: Vec<Event>,
        worker_items: Vec<WorkItem>,
        orchestrator_items: Vec<WorkItem>,
        metadata: ExecutionMetadata,
        cancelled_activities: Vec<ScheduledActivityIdentifier>,
    ) -> Answer<()> {
        let turn = orchestration::Turn {
            execution_id,
            history_delta: &history_delta,
            worker_items: &worker_items,
            orchestrator_items: &orchestrator_items,
            metadata: &metadata,
            cancelled_activities: &cancelled_activities,
        };
        named(
            "ack_orchestration_item",
            orchestration::ack(self, lock_token, &turn).await,
        )
    }

    async fn abandon_orchestration_item(
        &self,
        lock_token: &str,
        delay: Option<Duration>,
        ignore_attempt: bool,
    ) -> Answer<()> {
        let result = orchestration::abandon(self, lock_token, delay, ignore_attempt).await;
        named("abandon_orchestration_item", result)
    }

    async fn renew_orchestration_item_lock(&self, token: &str, extend_for: Duration) -> Answer<()> {
        let result = orchestration::renew(self, token, extend_for).await;
        named("renew_orchestration_item_lock", result)
    }

    async fn enqueue_for_orchestrator(
        &self,
        item: WorkItem,
        delay: Option<Duration>,
    ) -> Answer<()> {
        named(
            "enqueue_for_orchestrator",
            orchestration::enqueue(self, &item, delay).await,
        )
    }

    async fn read(&self, instance: &str) -> Answer<Vec<Event>> {
        named("read", history::read(self, instance).await)
    }

    async fn read_with_execution(&self, instance: &str, execution_id: u64) -> Answer<Vec<Event>> {
        let result = history::read_with_execution(self, instance, execution_id).await;
        named("read_with_execution", result)
    }

    async fn append_with_execution(
        &self,
        instance: &str,
        execution_id: u64,
        new_events: Vec<Event>,
    ) -> Answer<()> {
        let result = history::append(self, instance, execution_id, &new_events).await;
        named("append_with_execution", result)
    }

    async fn enqueue_for_worker(&self, item: WorkItem) -> Answer<()> {
        named("enqueue_for_worker", worker::enqueue(self, &item).await)
    }

    async fn fetch_work_item(
        &self,
        lock_timeout: Duration,
        poll_timeout: Duration,
        session: Option<&SessionFetchConfig>,
        tag_filter: &TagFilter,
    ) -> Answer<Option<(WorkItem, String, u32)>> {
        let result = worker::fetch(self, lock_timeout, poll_timeout, session, tag_filter).await;
        named("fetch_work_item", result)
    }

    async fn ack_work_item(&self, token: &str, completion: Option<WorkItem>) -> Answer<()> {
        named(
            "ack_work_item",
            worker::ack(self, token, completion.as_ref()).await,
        )
    }

    async fn renew_work_item_lock(&self, token: &str, extend_for: Duration) -> Answer<()> {
        named(
            "renew_work_item_lock",
            worker::renew(self, token, extend_for).await,
        )
    }

    async fn abandon_work_item(
        &self,
        token: &str,
        delay: Option<Duration>,
        ignore_attempt: bool,
    ) -> Answer<()> {
        named(
            "abandon_work_item",
            worker::abandon(self, token, delay, ignore_attempt).await,
        )
    }

    async fn renew_session_lock(
        &self,
        owner_ids: &[&str],
        extend_for: Duration,
        idle_timeout: Duration,
    ) -> Answer<usize> {
        let result = sessions::renew(self, owner_ids, extend_for, idle_timeout).await;
        named("renew_session_lock", result)
    }

    async fn cleanup_orphaned_sessions(&self, idle_timeout: Duration) -> Answer<usize> {
        named(
            "cleanup_orphaned_sessions",
            sessions::cleanup(self, idle_timeout).await,
        )
    }

    async fn get_custom_status(
        &self,
        instance: &str,
        last_seen_version: u64,
    ) -> Answer<Option<(Option<String>, u64)>> {
        named(
            "get_custom_status",
            kv::custom_status(self, instance, last_seen_version).await,
        )
    }

    async fn get_kv_value(&self, instance: &str, key: &str) -> Answer<Option<String>> {
        named("get_kv_value", kv::value(self, instance, key).await)
    }

    async fn get_kv_all_values(&self, instance: &str) -> Answer<HashMap<String, String>> {
        named("get_kv_all_values", kv::all_values(self, instance).await)
    }

    async fn get_instance_stats(&self, instance: &str) -> Answer<Option<SystemStats>> {
        named("get_instance_stats", kv::stats(self, instance).await)
    }
}
