//! The settings of a provider: where the server is, how to log in, how much to use it.

mod builder;
mod connection_string;

pub use builder::MssqlProviderBuilder;
pub use connection_string::Encrypt;

use std::fmt;
use std::time::Duration;

use crate::auth::Identity;
use crate::schema_name::{SchemaName, SchemaNameError};

/// The schema that is used when none is named.
pub const DEFAULT_SCHEMA: &str = "duroxide";

/// A setting is wrong. Nothing was sent to a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// The connection string names no server.
    #[error(
        "connection string names no server; write server=tcp:host,1433;… or sqlserver://host:1433/…"
    )]
    MissingServer,
    /// The URL is for another kind of database.
    #[error("connection string begins with {0}://, expected sqlserver://")]
    Scheme(String),
    /// A part of the connection string is not `key=value`.
    #[error("connection string has a part that is not key=value; quote values that contain ';'")]
    NotKeyValue,
    /// A quoted value does not end.
    #[error("value of connection string option {key:?} begins with {quote} and does not end well")]
    Quote {
        /// The option whose value is malformed.
        key: String,
        /// The character that opened the value.
        quote: char,
    },
    /// A percent escape in the URL is malformed.
    #[error("the {0} in the connection URL has a malformed %-escape; write % itself as %25")]
    Percent(String),
    /// No such option.
    #[error("connection string option {0:?} is unknown; check its spelling or remove it")]
    UnknownKey(String),
    /// The option exists in other drivers; what it asks for is not done here.
    #[error("connection string option {key:?} is not supported: {hint}")]
    Unsupported {
        /// The refused option.
        key: String,
        /// What to write instead.
        hint: &'static str,
    },
    /// The value does not fit the option.
    #[error("connection string option {key:?} is {value:?}, expected {expected}")]
    InvalidValue {
        /// The option.
        key: String,
        /// Its refused value.
        value: String,
        /// What would be accepted.
        expected: &'static str,
    },
    /// Neither a user name nor a token source.
    #[error("no user name; add user id=…;password=… or give the builder a token source")]
    MissingLogin,
    /// Both a user name and a token source.
    #[error("both a user name and a token source are given; remove one of them")]
    TwoLogins,
    /// An environment variable has an unusable value.
    #[error("environment variable {name} is {value:?}, expected {expected}")]
    Environment {
        /// The variable.
        name: &'static str,
        /// Its refused value.
        value: String,
        /// What would be accepted.
        expected: &'static str,
    },
    /// An environment variable that is needed is not set.
    #[error("environment variable {0} is not set; set it to a connection string")]
    MissingEnvironment(&'static str),
    /// A number given to the builder is out of its range.
    #[error("{name} is {value}, expected {expected}")]
    OutOfRange {
        /// The builder's method.
        name: &'static str,
        /// The refused value.
        value: String,
        /// What would be accepted.
        expected: &'static str,
    },
    /// The schema name is not usable.
    #[error(transparent)]
    Schema(#[from] SchemaNameError),
}

/// What a provider does with the schema when it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
pub enum Polling {
    /// Return at once; the runtime sleeps between its fetches.
    Short,
    /// Wait inside the fetch: a signal from this process ends the wait, and the database is
    /// asked again at growing intervals for work that other processes brought.
    Long {
        /// First interval after work was seen.
        repoll_min: Duration,
        /// Longest interval of an idle process. Bounds both its query rate and how late it
        /// notices work from another process.
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

/// The resolved settings: connection string, builder, environment and defaults merged.
#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) database: Option<String>,
    pub(crate) identity: Identity,
    pub(crate) encrypt: Encrypt,
    pub(crate) trust_server_certificate: bool,
    pub(crate) host_name_in_certificate: Option<String>,
    pub(crate) application_name: String,
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
    pub(crate) history_cache_bytes: usize,
}

impl Options {
    /// `host:port` for messages.
    pub(crate) fn server(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
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
            .field("schema", &self.schema)
            .field("pool_max", &self.pool_max)
            .field("migration_policy", &self.migration_policy)
            .field("polling", &self.polling)
            .field("history_cache_bytes", &self.history_cache_bytes)
            .finish_non_exhaustive()
    }
}
