//! The builder: every setting of a provider, with its default.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::connection_string::ConnectionString;
use super::login;
use super::{DEFAULT_SCHEMA, Lookup, MigrationPolicy, Options, OptionsError, Polling};
use crate::auth::TokenSource;
use crate::schema_name::SchemaName;

const ENV_URL: &str = "DATABASE_URL";
const ENV_SCHEMA: &str = "DUROXIDE_SQL_SCHEMA";
const ENV_POOL_MAX: &str = "DUROXIDE_SQL_POOL_MAX";
const ENV_WAIT_FOR_WORK: &str = "DUROXIDE_SQL_WAIT_FOR_WORK";

/// Enough for eight dispatchers, eight workers and their clients across a network, and still below the
/// 30 requests that the smallest Azure tiers serve at the same time.
const POOL_MAX: u32 = 20;
const POOL_MAX_LIMIT: u32 = 30_000;
const POOL_MIN_IDLE: u32 = 2;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);
/// A paused serverless database takes about a minute to resume.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(90);
/// Below the half hour after which Azure's gateway drops idle connections.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// Some ten thousand histories of a few events, or one of a hundred thousand.
const HISTORY_CACHE_BYTES: usize = 64 * 1024 * 1024;
const MAX_LIFETIME: Duration = Duration::from_secs(30 * 60);

/// Collects the settings of an [`MssqlProvider`](crate::MssqlProvider).
///
/// What the builder's methods set wins over the connection string, which wins over the
/// environment (`DUROXIDE_SQL_SCHEMA`, `DUROXIDE_SQL_POOL_MAX`, `DUROXIDE_SQL_WAIT_FOR_WORK`),
/// which wins over the defaults.
#[derive(Clone)]
#[must_use = "a builder does nothing until build is called"]
pub struct MssqlProviderBuilder {
    url: String,
    schema: Option<String>,
    token_source: Option<Arc<dyn TokenSource>>,
    trust_ca_file: Option<PathBuf>,
    pool_max: Option<u32>,
    pool_min_idle: Option<u32>,
    connect_timeout: Option<Duration>,
    acquire_timeout: Option<Duration>,
    command_timeout: Option<Duration>,
    startup_timeout: Duration,
    idle_timeout: Duration,
    max_lifetime: Option<Duration>,
    migration_policy: MigrationPolicy,
    polling: Polling,
    wait_for_work: Option<bool>,
    history_cache_bytes: usize,
    lookup: Option<Lookup>,
}

impl MssqlProviderBuilder {
    /// Starts with a connection string: ADO.NET
    /// (`server=tcp:host,1433;database=…;user id=…;password=…`) or URL
    /// (`sqlserver://user:password@host:1433/database?encrypt=true`).
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            schema: None,
            token_source: None,
            trust_ca_file: None,
            pool_max: None,
            pool_min_idle: None,
            connect_timeout: None,
            acquire_timeout: None,
            command_timeout: None,
            startup_timeout: STARTUP_TIMEOUT,
            idle_timeout: IDLE_TIMEOUT,
            max_lifetime: None,
            migration_policy: MigrationPolicy::default(),
            polling: Polling::default(),
            wait_for_work: None,
            history_cache_bytes: HISTORY_CACHE_BYTES,
            lookup: None,
        }
    }

    /// Starts with the connection string in `DATABASE_URL`.
    ///
    /// # Errors
    ///
    /// When the variable is not set.
    pub fn from_env() -> Result<Self, OptionsError> {
        env(ENV_URL)
            .map(Self::new)
            .ok_or(OptionsError::MissingEnvironment(ENV_URL))
    }

    /// The schema that holds this provider's tables and procedures. Default: `duroxide`.
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = Some(schema.into());
        self
    }

    /// Logs in with Entra ID tokens instead of a user name and password.
    pub fn token_source(mut self, source: Arc<dyn TokenSource>) -> Self {
        self.token_source = Some(source);
        self
    }

    /// Trusts servers whose certificate this authority signed, besides those that the system
    /// trusts. The file holds one or several certificates as PEM, or one as DER (`.der`).
    pub fn trust_ca_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.trust_ca_file = Some(file.into());
        self
    }

    /// Most connections this provider opens. Default: 20.
    pub fn pool_max(mut self, connections: u32) -> Self {
        self.pool_max = Some(connections);
        self
    }

    /// Connections that are opened at the start and kept ready. Default: 2. Zero lets an idle
    /// serverless database pause.
    pub fn pool_min_idle(mut self, connections: u32) -> Self {
        self.pool_min_idle = Some(connections);
        self
    }

    /// Longest time for one attempt to connect and log in. Default: 15 s.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = Some(timeout);
        self
    }

    /// Longest wait for a free connection. Default: the connect timeout.
    pub fn acquire_timeout(mut self, timeout: Duration) -> Self {
        self.acquire_timeout = Some(timeout);
        self
    }

    /// Longest time for one call of a procedure. Default: 30 s.
    pub fn command_timeout(mut self, timeout: Duration) -> Self {
        self.command_timeout = Some(timeout);
        self
    }

    /// How long the start waits for a database that is resuming or failing over. Default: 90 s.
    /// Mistakes, such as a wrong password, are reported at once.
    pub fn startup_timeout(mut self, timeout: Duration) -> Self {
        self.startup_timeout = timeout;
        self
    }

    /// Connections beyond the minimum are closed after this time without use. Default: 10 min.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Every connection is replaced after this time. Default: 30 min.
    pub fn max_lifetime(mut self, lifetime: Duration) -> Self {
        self.max_lifetime = Some(lifetime);
        self
    }

    /// What to do with the schema at the start. Default: [`MigrationPolicy::Apply`].
    pub fn migration_policy(mut self, policy: MigrationPolicy) -> Self {
        self.migration_policy = policy;
        self
    }

    /// How a fetch waits for work. Default: [`Polling::Long`].
    pub fn polling(mut self, polling: Polling) -> Self {
        self.polling = polling;
        self
    }

    /// Whether an idle process waits in the database for the work of other processes, on one connection
    /// beside the pool, instead of asking at intervals. Default: true; only with [`Polling::Long`]. Switch
    /// it off where every worker thread of the server counts, or where a serverless database should
    /// pause.
    pub fn wait_for_work(mut self, waits: bool) -> Self {
        self.wait_for_work = Some(waits);
        self
    }

    /// How many bytes of decoded histories this provider remembers, so that the database sends only
    /// what is new. Default: 64 MiB; zero switches it off. It is never wrong, whatever other processes
    /// do: the database decides what is still true.
    pub fn history_cache_bytes(mut self, bytes: usize) -> Self {
        self.history_cache_bytes = bytes;
        self
    }

    /// Finds the addresses of the server's name, and of those it redirects to, with this function
    /// instead of the system's, for names that only a service registry knows. It is asked for every
    /// new connection, so that a name that moves is followed; it must not block.
    pub fn lookup<F>(mut self, lookup: F) -> Self
    where
        F: Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync + 'static,
    {
        self.lookup = Some(Arc::new(lookup));
        self
    }

    /// Merges connection string, builder, environment and defaults.
    pub(crate) fn resolve(self) -> Result<Options, OptionsError> {
        let mut string = ConnectionString::parse(&self.url)?;
        let identity = login::identity(&mut string, self.token_source)?;
        let trust_ca_file = self
            .trust_ca_file
            .or_else(|| string.trust_ca_file.map(PathBuf::from));
        if string.trust_server_certificate && trust_ca_file.is_some() {
            return Err(OptionsError::TwoTrusts);
        }
        let schema = self.schema.or_else(|| env(ENV_SCHEMA));
        let schema = SchemaName::new(schema.unwrap_or_else(|| DEFAULT_SCHEMA.to_owned()))?;
        let pool_max = match self.pool_max.or(string.pool_max) {
            Some(max) => max,
            None => pool_max_from_env()?.unwrap_or(POOL_MAX),
        };
        if !(1..=POOL_MAX_LIMIT).contains(&pool_max) {
            return Err(OptionsError::OutOfRange {
                name: "pool_max",
                value: pool_max.to_string(),
                expected: "1 to 30000",
            });
        }
        let wait_for_work = match self.wait_for_work {
            Some(waits) => waits,
            None => wait_for_work_from_env()?.unwrap_or(true),
        };
        let pool_min_idle = self
            .pool_min_idle
            .or(string.pool_min)
            .unwrap_or(POOL_MIN_IDLE);
        let connect_timeout = self
            .connect_timeout
            .or(string.connect_timeout)
            .unwrap_or(CONNECT_TIMEOUT);
        let command_timeout = self
            .command_timeout
            .or(string.command_timeout)
            .unwrap_or(COMMAND_TIMEOUT);
        let max_lifetime = self
            .max_lifetime
            .or(string.max_lifetime)
            .unwrap_or(MAX_LIFETIME);
        check_durations(&[
            ("connect_timeout", connect_timeout),
            ("command_timeout", command_timeout),
            ("idle_timeout", self.idle_timeout),
            ("max_lifetime", max_lifetime),
        ])?;
        if let Polling::Long { repoll_min, .. } = self.polling {
            check_durations(&[("repoll_min", repoll_min)])?;
        }
        Ok(Options {
            host: string.host,
            port: string.port.unwrap_or(1433),
            database: string.database,
            identity,
            encrypt: string.encrypt,
            trust_server_certificate: string.trust_server_certificate,
            trust_ca_file,
            host_name_in_certificate: string.host_name_in_certificate,
            application_name: string
                .application_name
                .unwrap_or_else(|| concat!("duroxide-sql/", env!("CARGO_PKG_VERSION")).to_owned()),
            workstation_id: string.workstation_id,
            packet_size: string.packet_size,
            schema,
            pool_max,
            pool_min_idle: pool_min_idle.min(pool_max),
            connect_timeout,
            acquire_timeout: self.acquire_timeout.unwrap_or(connect_timeout),
            command_timeout,
            startup_timeout: self.startup_timeout,
            idle_timeout: self.idle_timeout,
            max_lifetime,
            migration_policy: self.migration_policy,
            polling: self.polling,
            wait_for_work,
            history_cache_bytes: self.history_cache_bytes,
            lookup: self.lookup,
        })
    }
}

impl fmt::Debug for MssqlProviderBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MssqlProviderBuilder")
            .field("url", &"<hidden>")
            .field("schema", &self.schema)
            .field("pool_max", &self.pool_max)
            .field("migration_policy", &self.migration_policy)
            .field("polling", &self.polling)
            .finish_non_exhaustive()
    }
}

fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn pool_max_from_env() -> Result<Option<u32>, OptionsError> {
    env(ENV_POOL_MAX)
        .map(|value| {
            value.parse().map_err(|_| OptionsError::Environment {
                name: ENV_POOL_MAX,
                expected: "a whole number",
            })
        })
        .transpose()
}

fn wait_for_work_from_env() -> Result<Option<bool>, OptionsError> {
    let parse = |value: String| match value.as_str() {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(OptionsError::Environment {
            name: ENV_WAIT_FOR_WORK,
            expected: "1, true, 0 or false",
        }),
    };
    env(ENV_WAIT_FOR_WORK).map(parse).transpose()
}

fn check_durations(durations: &[(&'static str, Duration)]) -> Result<(), OptionsError> {
    for (name, value) in durations {
        if value.is_zero() {
            return Err(OptionsError::OutOfRange {
                name,
                value: "zero".to_owned(),
                expected: "a duration above zero",
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "server=tcp:db,1500;user id=app;password=hunter2;max pool size=7";

    #[test]
    fn builder_wins_over_connection_string_and_defaults() {
        let options = MssqlProviderBuilder::new(URL).resolve().unwrap();
        assert_eq!((options.pool_max, options.port), (7, 1500));
        assert_eq!(options.schema.as_str(), DEFAULT_SCHEMA);
        let options = MssqlProviderBuilder::new(URL)
            .pool_max(3)
            .schema("x")
            .resolve()
            .unwrap();
        assert_eq!(options.pool_max, 3);
        assert_eq!(options.schema.as_str(), "x");
    }

    #[test]
    fn nonsense_is_refused_before_anything_is_sent() {
        let refuse = |builder: MssqlProviderBuilder| builder.resolve().unwrap_err().to_string();
        assert!(refuse(MssqlProviderBuilder::new("server=h")).contains("no user name"));
        for text in ["server=h;uid=a", "server=h;uid=a;pwd=", "sqlserver://a@h"] {
            assert!(refuse(MssqlProviderBuilder::new(text)).contains("without a password"));
        }
        let both = MssqlProviderBuilder::new(format!("{URL};trustServerCertificate=yes"));
        assert!(refuse(both.trust_ca_file("ca.pem")).contains("certificate authority"));
        assert!(refuse(MssqlProviderBuilder::new(URL).pool_max(0)).contains("pool_max is 0"));
        assert!(refuse(MssqlProviderBuilder::new(URL).schema("")).contains("schema name is empty"));
        let zero = MssqlProviderBuilder::new(URL).command_timeout(Duration::ZERO);
        assert!(refuse(zero).contains("command_timeout is zero"));
    }

    #[test]
    fn debug_never_shows_the_password() {
        let builder = MssqlProviderBuilder::new(URL);
        assert!(!format!("{builder:?}").contains("hunter2"));
        assert!(!format!("{:?}", builder.resolve().unwrap()).contains("hunter2"));
    }
}
