//! The builder: every setting of a provider, with its default.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::connection_string::ConnectionString;
use super::env::env;
use super::{Encrypt, Lookup, MigrationPolicy, OptionsError, Polling};
use crate::auth::TokenSource;

const ENV_URL: &str = "DATABASE_URL";

/// Collects the settings of an [`MssqlProvider`](crate::MssqlProvider).
///
/// What the builder's methods set wins over the connection string, which wins over the
/// environment (`DUROXIDE_SQL_SCHEMA`, `DUROXIDE_SQL_POOL_MAX`, `DUROXIDE_SQL_WAIT_FOR_WORK`),
/// which wins over the defaults.
#[derive(Clone)]
#[must_use = "a builder does nothing until build is called"]
pub struct MssqlProviderBuilder {
    pub(super) url: String,
    /// What was set here and could have been said in the connection string.
    pub(super) said: ConnectionString,
    pub(super) schema: Option<String>,
    pub(super) token_source: Option<Arc<dyn TokenSource>>,
    pub(super) acquire_timeout: Option<Duration>,
    pub(super) startup_timeout: Option<Duration>,
    pub(super) idle_timeout: Option<Duration>,
    pub(super) migration_policy: MigrationPolicy,
    pub(super) polling: Polling,
    pub(super) wait_for_work: Option<bool>,
    pub(super) history_cache_bytes: Option<usize>,
    pub(super) slow_call_limit: Option<Duration>,
    pub(super) pool_wait_limit: Option<Duration>,
    pub(super) lookup: Option<Lookup>,
}

impl MssqlProviderBuilder {
    /// Starts with a connection string: ADO.NET
    /// (`server=tcp:host,1433;database=…;user id=…;password=…`) or URL
    /// (`sqlserver://user:password@host:1433/database?encrypt=true`). What it leaves out can be set
    /// below; an empty one is fine where [`host`](Self::host) names the server.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            said: ConnectionString::default(),
            schema: None,
            token_source: None,
            acquire_timeout: None,
            startup_timeout: None,
            idle_timeout: None,
            migration_policy: MigrationPolicy::default(),
            polling: Polling::default(),
            wait_for_work: None,
            history_cache_bytes: None,
            slow_call_limit: None,
            pool_wait_limit: None,
            lookup: None,
        }
    }

    /// Starts with the connection string in `DATABASE_URL`.
    ///
    /// # Errors
    ///
    /// When the variable is not set, or is no text.
    pub fn from_env() -> Result<Self, OptionsError> {
        env(ENV_URL)?
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

    /// The server's name or address, without a port. Connection string: `server`.
    pub fn host(mut self, name: impl Into<String>) -> Self {
        self.said.host = name.into();
        self
    }

    /// The server's port. Default: 1433.
    pub fn port(mut self, port: u16) -> Self {
        self.said.port = Some(port);
        self
    }

    /// The database. Default: the one that the server has for the login.
    pub fn database(mut self, name: impl Into<String>) -> Self {
        self.said.database = Some(name.into());
        self
    }

    /// The SQL login. Connection string: `user id`.
    pub fn user(mut self, name: impl Into<String>) -> Self {
        self.said.user = Some(name.into());
        self
    }

    /// The login's password, where it comes from a vault and is not in the connection string. It is never
    /// shown.
    pub fn password(mut self, password: impl Into<String>) -> Self {
        self.said.password = Some(password.into());
        self
    }

    /// How the traffic is protected. Default: [`Encrypt::Required`].
    pub fn encrypt(mut self, encrypt: Encrypt) -> Self {
        self.said.encrypt = Some(encrypt);
        self
    }

    /// Accepts any certificate, without checking it. Default: false. [`trust_ca_file`](Self::trust_ca_file)
    /// is the better way.
    pub fn trust_server_certificate(mut self, trusts: bool) -> Self {
        self.said.trust_server_certificate = Some(trusts);
        self
    }

    /// The name that the server's certificate must have, where it is not the host's.
    pub fn host_name_in_certificate(mut self, name: impl Into<String>) -> Self {
        self.said.host_name_in_certificate = Some(name.into());
        self
    }

    /// What `sys.dm_exec_sessions.program_name` shows. Default: `duroxide-sql/` and the version.
    pub fn application_name(mut self, name: impl Into<String>) -> Self {
        self.said.application_name = Some(name.into());
        self
    }

    /// What `sys.dm_exec_sessions.host_name` shows. Default: the machine's name.
    pub fn workstation_id(mut self, name: impl Into<String>) -> Self {
        self.said.workstation_id = Some(name.into());
        self
    }

    /// The size of the packets to the server, 512 to 32767 bytes. Default: the driver's.
    pub fn packet_size(mut self, bytes: u32) -> Self {
        self.said.packet_size = Some(bytes);
        self
    }

    /// Trusts servers whose certificate this authority signed, besides those that the system
    /// trusts. The file holds one or several certificates as PEM, or one as DER (`.der`).
    pub fn trust_ca_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.said.trust_ca_file = Some(file.into());
        self
    }

    /// Most connections this provider opens. Default: 20.
    ///
    /// A quarter of them, and with at least four of them no fewer than two, are kept for acks and renewals, and one of those for renewals
    /// alone: however many dispatchers share few connections, their leases are renewed. With two or three, one is kept for acks and
    /// renewals together; a single one is everybody's.
    pub fn pool_max(mut self, connections: u32) -> Self {
        self.said.pool_max = Some(connections);
        self
    }

    /// Connections that are opened at the start and kept ready, at most [`pool_max`](Self::pool_max). Default: 2, or 1
    /// where that is all. Zero lets an idle serverless database pause.
    pub fn pool_min_idle(mut self, connections: u32) -> Self {
        self.said.pool_min = Some(connections);
        self
    }

    /// Longest time for one attempt to connect and log in. Default: 15 s.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.said.connect_timeout = Some(timeout);
        self
    }

    /// Longest wait for a free connection. Default: the connect timeout.
    pub fn acquire_timeout(mut self, timeout: Duration) -> Self {
        self.acquire_timeout = Some(timeout);
        self
    }

    /// Longest time for one call of a procedure. Default: 30 s.
    pub fn command_timeout(mut self, timeout: Duration) -> Self {
        self.said.command_timeout = Some(timeout);
        self
    }

    /// How long the start waits for a database that is resuming or failing over. Default: 90 s.
    /// Mistakes, such as a wrong password, are reported at once.
    pub fn startup_timeout(mut self, timeout: Duration) -> Self {
        self.startup_timeout = Some(timeout);
        self
    }

    /// Connections beyond the minimum are closed after this time without use. Default: 10 min.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = Some(timeout);
        self
    }

    /// Every connection is replaced after this time. Default: 30 min.
    pub fn max_lifetime(mut self, lifetime: Duration) -> Self {
        self.said.max_lifetime = Some(lifetime);
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
    /// it off where every worker thread of the server counts. A serverless database pauses only when
    /// no runtime is connected.
    pub fn wait_for_work(mut self, waits: bool) -> Self {
        self.wait_for_work = Some(waits);
        self
    }

    /// How many bytes of decoded histories this provider remembers, so that the database sends only
    /// what is new. Default: 64 MiB; zero switches it off. It is never wrong, whatever other processes
    /// do: the database decides what is still true.
    pub fn history_cache_bytes(mut self, bytes: usize) -> Self {
        self.history_cache_bytes = Some(bytes);
        self
    }

    /// A call that takes longer, with its repetitions, is logged at WARN and counted. Default: 1 s.
    pub fn slow_call_limit(mut self, limit: Duration) -> Self {
        self.slow_call_limit = Some(limit);
        self
    }

    /// A caller that waits longer for a connection is logged at WARN while it waits. Default: 1 s.
    pub fn pool_wait_limit(mut self, limit: Duration) -> Self {
        self.pool_wait_limit = Some(limit);
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
}

impl fmt::Debug for MssqlProviderBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MssqlProviderBuilder")
            .field("url", &"<hidden>")
            .field("schema", &self.schema)
            .field("pool_max", &self.said.pool_max)
            .field("migration_policy", &self.migration_policy)
            .field("polling", &self.polling)
            .finish_non_exhaustive()
    }
}
