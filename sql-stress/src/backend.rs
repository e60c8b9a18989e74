//! Where the load goes: our provider on an embedded or a given server. The trait lets other providers
//! be measured in the same way.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use duroxide::providers::Provider;
use duroxide_sql::{
    Error, MigrateError, MigrationPolicy, MssqlProvider, MssqlProviderBuilder, Polling,
};
use mssql_embedded::{Controls, Encryption, Server, Snapshot};
use serde_json::Value;

use crate::connection;
use crate::proxy::Proxy;

/// Where the embedded server's connection string leads.
const EMBEDDED_DATABASE: &str = "master";

/// A place that a run can store its orchestrations in.
#[async_trait::async_trait]
pub trait Backend: Send + Sync {
    /// What it is, without credentials.
    fn describe(&self) -> String;

    /// An empty store.
    async fn open(&self) -> Result<Arc<dyn Provider>>;

    /// A second provider on the same store that shares nothing with the first, as another process
    /// would have; `None` if there cannot be one.
    async fn open_second(&self) -> Result<Option<Arc<dyn Provider>>> {
        Ok(None)
    }

    /// Removes what the run stored.
    async fn close(&self) -> Result<()>;

    /// The server's counters, if it can be asked.
    fn counters(&self) -> Option<Snapshot> {
        None
    }

    /// Flushes of the log that commits have waited for, if the server can be asked.
    fn flushes(&self) -> Option<u64> {
        None
    }

    /// Requests that the server has seen so far, if somebody counts them.
    fn requests(&self) -> Option<u64> {
        None
    }

    /// Where the store is, for scenarios that go there by a way of their own; `None` if it is no
    /// SQL Server.
    fn target(&self) -> Option<Target> {
        None
    }
}

/// Where a store is.
pub struct Target {
    /// Connection string.
    pub url: String,
    /// The schema.
    pub schema: String,
    /// The embedded server's controls.
    pub controls: Option<Controls>,
    /// The database of the embedded server.
    pub database: String,
    /// How long any call may take, if not as long as the provider lets it.
    pub command_timeout: Option<Duration>,
}

/// Our provider, in a schema of its own that is dropped in the end.
pub struct SqlBackend {
    url: String,
    second_url: String,
    schema: String,
    options: SqlOptions,
    proxy: Option<Proxy>,
    /// Only so that it lives as long as its clients.
    _second_proxy: Proxy,
    embedded: Option<Server>,
    target: String,
}

/// How to reach a server, and what to do there.
#[derive(Debug, Clone, Default)]
pub struct SqlOptions {
    /// Connection string; an embedded server is started without one.
    pub url: Option<String>,
    /// The schema's name; random without one.
    pub schema: Option<String>,
    /// Do not drop the schema.
    pub keep_schema: bool,
    /// Added round-trip time.
    pub rtt: Option<Duration>,
    /// Most connections.
    pub pool_max: Option<u32>,
    /// Fetches return at once.
    pub short_poll: bool,
    /// READ_COMMITTED_SNAPSHOT off in the embedded server.
    pub no_rcsi: bool,
    /// What a durable commit waits for in the embedded server.
    pub commit_latency: Option<Duration>,
    /// Delayed durability is allowed in the embedded server.
    pub delayed_durability: bool,
    /// Other processes' work is asked for at intervals.
    pub no_wait_for_work: bool,
    /// Bytes of histories that the provider remembers.
    pub history_cache: Option<usize>,
    /// How long the start waits for a server that does not answer.
    pub startup_timeout: Option<Duration>,
    /// How long any call may take.
    pub command_timeout: Option<Duration>,
}

impl SqlOptions {
    /// What makes runs alike or not, by name, for the report. No credentials, and nothing that differs
    /// from run to run by itself.
    #[must_use]
    pub fn by_name(&self) -> BTreeMap<String, Value> {
        let ms = |time: Option<Duration>| Value::from(time.unwrap_or_default().as_secs_f64() * 1e3);
        let embedded = |value: Value| match self.url {
            None => value,
            Some(_) => Value::Null,
        };
        let named = [
            ("pool_max", self.pool_max.into()),
            ("short_poll", self.short_poll.into()),
            ("wait_for_work", (!self.no_wait_for_work).into()),
            ("history_cache_bytes", self.history_cache.into()),
            ("snapshot_reads", embedded((!self.no_rcsi).into())),
            ("commit_latency_ms", embedded(ms(self.commit_latency))),
            (
                "delayed_durability",
                embedded(self.delayed_durability.into()),
            ),
        ];
        // Told where it is set, so that earlier runs, which could not set it, stay alike.
        let timeout = self.command_timeout.map(|_| ms(self.command_timeout));
        let timeout = timeout.map(|timeout| ("command_timeout_ms", timeout));
        let named = named.into_iter().chain(timeout);
        named
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}

impl SqlBackend {
    /// Starts what is needed: the embedded server, the proxy. Nothing is sent to a server yet.
    ///
    /// # Errors
    ///
    /// When the embedded server does not start or the connection string names no server.
    pub fn start(options: SqlOptions) -> Result<Self> {
        let (url, embedded) = match &options.url {
            Some(url) => (url.clone(), None),
            None => {
                let server = embedded(&options)?;
                (server.connection_string(), Some(server))
            }
        };
        let real = connection::server(&url)?;
        let target = match &embedded {
            Some(_) => "embedded server".to_owned(),
            None => format!("{}:{}", real.host, real.port),
        };
        let proxy = match options.rtt.filter(|rtt| !rtt.is_zero()) {
            Some(rtt) => Some(Proxy::start(real.clone(), rtt)?),
            None => None,
        };
        let second_proxy = Proxy::start(real, options.rtt.unwrap_or_default())?;
        let second_url = connection::through(&url, second_proxy.port())?;
        let url = match &proxy {
            Some(proxy) => connection::through(&url, proxy.port())?,
            None => url,
        };
        let schema = options.schema.clone().unwrap_or_else(|| {
            let id = uuid::Uuid::new_v4().simple().to_string();
            format!("sql_stress_{}", &id[..8])
        });
        Ok(Self {
            url,
            second_url,
            schema,
            options,
            proxy,
            _second_proxy: second_proxy,
            embedded,
            target,
        })
    }

    /// The schema that is created and dropped.
    #[must_use]
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// The embedded server's controls.
    #[must_use]
    pub fn controls(&self) -> Option<Controls> {
        self.embedded.as_ref().map(Server::controls)
    }

    fn builder(&self, url: &str) -> MssqlProviderBuilder {
        let polling = match self.options.short_poll {
            true => Polling::Short,
            false => Polling::default(),
        };
        let mut builder = MssqlProvider::builder(url)
            .schema(self.schema.clone())
            .polling(polling);
        if self.options.no_wait_for_work {
            builder = builder.wait_for_work(false);
        }
        if let Some(max) = self.options.pool_max {
            builder = builder.pool_max(max);
        }
        if let Some(bytes) = self.options.history_cache {
            builder = builder.history_cache_bytes(bytes);
        }
        if let Some(timeout) = self.options.command_timeout {
            builder = builder.command_timeout(timeout);
        }
        match self.options.startup_timeout {
            Some(timeout) => builder.startup_timeout(timeout),
            None => builder,
        }
    }

    /// What the server says of itself: the parts that make runs alike or not, by name.
    ///
    /// # Errors
    ///
    /// When it cannot be reached or refuses the login.
    pub async fn server_facts(&self) -> Result<BTreeMap<String, Value>> {
        let operator = self.builder(&self.url).pool_min_idle(0).operator().await?;
        let facts = operator.facts().await?;
        let server = match &self.embedded {
            Some(_) => format!("embedded {}", facts.product_version),
            None => facts.product_version,
        };
        let mut named = BTreeMap::from([
            ("server".to_owned(), Value::from(server)),
            ("snapshot_reads".to_owned(), facts.snapshot_reads.into()),
        ]);
        if let Some(state) = facts.delayed_durability {
            named.insert(
                "delayed_durability".to_owned(),
                (state != "DISABLED").into(),
            );
        }
        Ok(named)
    }

    /// The tester drops its schema, so it must be nobody else's.
    async fn refuse_existing_schema(&self) -> Result<()> {
        let verify = self
            .builder(&self.url)
            .migration_policy(MigrationPolicy::Verify)
            .pool_min_idle(0);
        match verify.build().await {
            Err(Error::Migrate(MigrateError::NotInstalled { .. })) => Ok(()),
            Ok(_) | Err(Error::Migrate(_)) => bail!(
                "schema {} is already in use; sql-stress drops its schema in the end, so name one \
                 that does not exist",
                self.schema
            ),
            Err(error) => Err(error.into()),
        }
    }
}

#[async_trait::async_trait]
impl Backend for SqlBackend {
    fn describe(&self) -> String {
        format!("duroxide-sql on {}", self.target)
    }

    async fn open(&self) -> Result<Arc<dyn Provider>> {
        self.refuse_existing_schema().await?;
        Ok(Arc::new(self.builder(&self.url).build().await?))
    }

    async fn open_second(&self) -> Result<Option<Arc<dyn Provider>>> {
        let second = self.builder(&self.second_url).build().await?;
        Ok(Some(Arc::new(second)))
    }

    async fn close(&self) -> Result<()> {
        if self.options.keep_schema {
            return Ok(());
        }
        let uninstall = self.builder(&self.url).uninstall().await;
        uninstall.with_context(|| format!("schema {} could not be dropped", self.schema))
    }

    fn counters(&self) -> Option<Snapshot> {
        self.controls().map(|controls| controls.counters())
    }

    fn flushes(&self) -> Option<u64> {
        self.controls().map(|controls| controls.flushes())
    }

    fn target(&self) -> Option<Target> {
        Some(Target {
            url: self.url.clone(),
            schema: self.schema.clone(),
            controls: self.controls(),
            database: EMBEDDED_DATABASE.to_owned(),
            command_timeout: self.options.command_timeout,
        })
    }

    fn requests(&self) -> Option<u64> {
        match (self.counters(), &self.proxy) {
            (Some(counters), _) => Some(counters.total().calls),
            (None, Some(proxy)) => Some(proxy.requests()),
            (None, None) => None,
        }
    }
}

fn embedded(options: &SqlOptions) -> Result<Server> {
    let server = Server::builder()
        .encryption(Encryption::Off)
        .read_committed_snapshot(!options.no_rcsi)
        .commit_latency(options.commit_latency.unwrap_or_default())
        .start()
        .context("the embedded server did not start")?;
    if options.delayed_durability {
        let allowed = server
            .controls()
            .allow_delayed_durability(EMBEDDED_DATABASE, true);
        allowed.context("delayed durability cannot be allowed")?;
    }
    Ok(server)
}
