//! Microsoft SQL Server and Azure SQL storage provider for the durable-execution runtime
//! [duroxide](https://docs.rs/duroxide).
//!
//! [`MssqlProvider`] keeps orchestrations, their queues, timers and key-values in one schema of
//! a database. Give it to duroxide's `Runtime` and `Client`; several processes may share a
//! schema, and several schemas a database.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use duroxide_sql::MssqlProvider;
//!
//! let url = "server=tcp:localhost,1433;database=orders;user id=app;password=secret";
//! let store = Arc::new(MssqlProvider::new(url).await?);
//! let client = duroxide::Client::new(store.clone());
//! client.start_orchestration("order-1", "ProcessOrder", "{}").await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Settings
//!
//! [`MssqlProvider::builder`] takes every setting: schema, pool, timeouts, polling, Entra ID
//! tokens, and whether the provider installs its schema itself ([`MigrationPolicy::Apply`]) or
//! only checks what a DBA installed ([`MigrationPolicy::Verify`]) with [`install_script`].
//!
//! # Cargo features
//!
//! - `rustls` (default): TLS by rustls, with the authorities that the system trusts.
//! - `native-tls`: TLS by the system's own library (Schannel, Security Framework, OpenSSL), for those who
//!   must use it. It takes the place of `rustls`, so it goes with `default-features = false`.
//! - `azure-identity`: `AzureIdentity`, for managed identities, workload identities and the developer's
//!   own login, and the kinds of `authentication` in a connection string that mean them.
//!
//! # Errors
//!
//! Constructors return [`Error`]. The provider's methods return duroxide's `ProviderError`, whose
//! `retryable` flag comes from [`classify`], for acks, abandons and renewals from
//! [`classify_settling`].

mod admin;
mod auth;
mod codec;
mod connect_error;
mod deadline;
mod dial;
mod error;
mod history_cache;
mod migrate;
mod operator;
mod options;
mod pool;
mod procedure;
mod provider;
mod retry;
mod schema_name;
mod server_errors;
mod time;
mod wakeup;

#[cfg(feature = "azure-identity")]
pub use auth::AzureIdentity;
pub use auth::{AccessToken, TokenError, TokenSource};
pub use migrate::{MigrateError, install_script, uninstall_script};
pub use operator::{Operator, Question, ServerFacts, View, ViewRow};
pub use options::{
    DEFAULT_SCHEMA, Encrypt, MigrationPolicy, MssqlProviderBuilder, OptionsError, Polling,
};
pub use provider::{Error, MssqlProvider};
pub use schema_name::{SchemaName, SchemaNameError};
pub use server_errors::{ErrorClass, classify, classify_settling};

/// Compiles the program in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
