//! The settings of a provider: where the server is, how to log in, how much to use it.

mod address;
mod ado;
mod azure;
mod builder;
mod connection_string;
mod env;
mod error;
mod key;
mod login;
mod resolve;
mod url;

pub use builder::MssqlProviderBuilder;
pub use connection_string::Encrypt;
pub use error::OptionsError;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::auth::Identity;
use crate::schema_name::SchemaName;

/// The schema that is used when none is named.
pub const DEFAULT_SCHEMA: &str = "duroxide";

/// What a provider does with the schema when it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MigrationPolicy {
    /// Install or upgrade what is missing. Needs the right to create objects.
    #[default]
    Apply,
    /// Run no DDL; fail when the schema is not exactly what this release needs. EXECUTE on the
    /// procedures is enough.
    Verify,
}

/// How a fetch waits for work when there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Polling {
    /// Return at once; the runtime sleeps between its fetches.
    Short,
    /// Wait inside the fetch: a signal from this process ends the wait, and so does work of other
    /// processes, which a connection that waits in the database sees at once (see
    /// [`MssqlProviderBuilder::wait_for_work`]). Without that connection the database is asked again
    /// at growing intervals.
    Long {
        /// First interval after work was seen.
        repoll_min: Duration,
        /// Longest interval of an idle process that does not wait in the database. Bounds both its
        /// query rate and how late it notices work from another process.
        repoll_max: Duration,
    },
}

impl Default for Polling {
    fn default() -> Self {
        Self::Long {
            repoll_min: Duration::from_millis(100),
            repoll_max: Duration::from_millis(500),
        }
    }
}

/// Finds the addresses of a host's name.
pub(crate) type Lookup =
    Arc<dyn Fn(&str, u16) -> std::io::Result<Vec<std::net::SocketAddr>> + Send + Sync>;

/// The resolved settings: connection string, builder, environment and defaults merged.
#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) database: Option<String>,
    pub(crate) identity: Identity,
    pub(crate) encrypt: Encrypt,
    pub(crate) trust_server_certificate: bool,
    /// An authority to trust besides the system's.
    pub(crate) trust_ca_file: Option<PathBuf>,
    pub(crate) host_name_in_certificate: Option<String>,
    pub(crate) application_name: String,
    /// What the server lists as this client's host; the machine's name when absent.
    pub(crate) workstation_id: Option<String>,
    pub(crate) packet_size: Option<u32>,
    pub(crate) schema: SchemaName,
    pub(crate) pool_max: u32,
    pub(crate) pool_min_idle: u32,
    pub(crate) connect_timeout: Duration,
    pub(crate) acquire_timeout: Duration,
    pub(crate) command_timeout: Duration,
    pub(crate) startup_timeout: Duration,
    pub(crate) idle_timeout: Duration,
    pub(crate) max_lifetime: Duration,
    pub(crate) migration_policy: MigrationPolicy,
    pub(crate) polling: Polling,
    pub(crate) wait_for_work: bool,
    pub(crate) history_cache_bytes: usize,
    /// A call that takes longer is told.
    pub(crate) slow_call_limit: Duration,
    /// A wait for a connection that takes longer is told.
    pub(crate) pool_wait_limit: Duration,
    /// Asked instead of the system.
    pub(crate) lookup: Option<Lookup>,
}

impl Options {
    /// `host:port` for messages.
    pub(crate) fn server(&self) -> String {
        server_name(&self.host, self.port)
    }
}

/// `host:port` for messages, an IPv6 address in brackets.
pub(crate) fn server_name(host: &str, port: u16) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("server", &self.server())
            .field("database", &self.database)
            .field("identity", &self.identity)
            .field("encrypt", &self.encrypt)
            .field("trust_server_certificate", &self.trust_server_certificate)
            .field("trust_ca_file", &self.trust_ca_file)
            .field("schema", &self.schema)
            .field("pool_max", &self.pool_max)
            .field("migration_policy", &self.migration_policy)
            .field("polling", &self.polling)
            .field("wait_for_work", &self.wait_for_work)
            .field("history_cache_bytes", &self.history_cache_bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod secrets_tests;
